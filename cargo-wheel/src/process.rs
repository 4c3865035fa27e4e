//! Running programs, stopping them when the user interrupts, and restoring files afterwards.

use std::fs::{self, File};
use std::io::{IsTerminal as _, stdin};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{env, thread};

use anyhow::{Context as _, Result, ensure};

static IS_STOPPED: AtomicBool = AtomicBool::new(false);

/// The programs that have a process group each. A terminal signals to the others itself.
static APART: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Makes an interruption stop the programs that run, after which the command restores its files.
pub(crate) fn listen() -> Result<()> {
    let stop = || {
        IS_STOPPED.store(true, Relaxed);
        let apart = APART.lock().unwrap_or_else(PoisonError::into_inner);
        // A program that has just ended is no error.
        apart.iter().for_each(|id| _ = signal(-id.cast_signed(), "SIGINT"));
    };
    ctrlc::set_handler(stop).context("cannot handle interruptions")
}

/// Signals to a process, or to the group of a negative number.
#[cfg(unix)]
pub(crate) fn signal(id: i32, name: &str) -> Result<()> {
    use nix::{sys::signal, unistd::Pid};
    let signal: signal::Signal =
        name.parse().with_context(|| format!("there is no signal {name}"))?;
    Ok(signal::kill(Pid::from_raw(id), signal)?)
}

#[cfg(not(unix))]
pub(crate) fn signal(_id: i32, _name: &str) -> Result<()> {
    Ok(())
}

/// Fails if the user has interrupted this command.
pub(crate) fn go_on() -> Result<()> {
    ensure!(!IS_STOPPED.load(Relaxed), "interrupted");
    Ok(())
}

/// A program that runs. It is stopped when this is dropped.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn start(command: Command) -> Result<Self> {
        match stdin().is_terminal() {
            true => Running::spawn(command),
            false => Running::start_apart(command),
        }
    }

    /// Starts a program in a process group of its own, which no terminal signals to.
    pub(crate) fn start_apart(mut command: Command) -> Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut apart = APART.lock().unwrap_or_else(PoisonError::into_inner);
        let running = Running::spawn(command)?;
        apart.push(running.0.id());
        Ok(running)
    }

    fn spawn(mut command: Command) -> Result<Self> {
        go_on()?;
        command.spawn().map(Running).with_context(|| format!("cannot run {command:?}"))
    }

    /// Returns the status if the program has ended.
    pub(crate) fn poll(&mut self) -> Result<Option<ExitStatus>> {
        thread::sleep(Duration::from_millis(20));
        Ok(self.0.try_wait()?)
    }

    pub(crate) fn wait(&mut self) -> Result<ExitStatus> {
        Ok(self.0.wait()?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let id = self.0.id();
        let mut apart = APART.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(self.0.try_wait(), Ok(None)) {
            let is_apart = apart.contains(&id);
            let stopped = if is_apart { signal(-id.cast_signed(), "SIGKILL") } else { Ok(()) };
            let _ = stopped.and_then(|()| Ok(self.0.kill()?)).and_then(|()| self.wait());
        }
        apart.retain(|other| *other != id);
    }
}

/// Says what runs, and runs it to its end.
pub(crate) fn run(command: Command) -> Result<ExitStatus> {
    eprintln!("running {command:?}");
    Running::start(command)?.wait()
}

/// Runs a command for its output.
pub(crate) fn output(command: &mut Command) -> Result<Output> {
    go_on()?;
    command.output().with_context(|| format!("cannot run {command:?}"))
}

/// Makes a program print to a file, and read nothing.
pub(crate) fn log_to(command: &mut Command, file: &Path) -> Result<()> {
    let log = File::create(file)?;
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    Ok(())
}

/// The status with which to exit as a program did.
pub(crate) fn code(status: ExitStatus) -> u8 {
    const INTERRUPTED: u8 = 130;
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(INTERRUPTED)
}

pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Restores files as they were, unless they are to be kept.
pub(crate) struct Saved(Vec<(PathBuf, Option<Vec<u8>>)>);

impl Saved {
    pub(crate) fn of<const N: usize>(files: [PathBuf; N]) -> Self {
        Saved(files.map(|file| (file.clone(), fs::read(file).ok())).into())
    }

    pub(crate) fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        for (file, text) in &self.0 {
            let restored = match text {
                Some(text) if fs::read(file).ok().as_ref() != Some(text) => fs::write(file, text),
                None if file.exists() => fs::remove_file(file),
                _ => Ok(()),
            };
            if let Err(error) = restored {
                eprintln!("error: {} is not restored: {error}", file.display());
            }
        }
    }
}
