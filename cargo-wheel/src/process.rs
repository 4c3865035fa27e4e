//! Running programs, stopping them when the user interrupts, and restoring files afterwards.

use std::io::{IsTerminal as _, stdin};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{env, fs, thread};

use anyhow::{Context as _, Result, bail, ensure};

static IS_STOPPED: AtomicBool = AtomicBool::new(false);
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Makes an interruption stop the programs that run, after which the command restores its files.
pub(crate) fn listen() -> Result<()> {
    let stop = || {
        IS_STOPPED.store(true, Relaxed);
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        #[cfg(unix)]
        running.iter().for_each(|id| signal_group(*id, nix::sys::signal::SIGINT));
    };
    ctrlc::set_handler(stop).context("cannot handle interruptions")
}

/// A terminal sends the signal to all of its programs. Where there is none, this process does, so
/// its programs have a process group each.
fn is_alone() -> bool {
    !stdin().is_terminal()
}

#[cfg(unix)]
fn signal_group(id: u32, signal: nix::sys::signal::Signal) {
    // Fails if the program has ended.
    let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(id.cast_signed()), signal);
}

/// Fails if the user has interrupted this command.
pub(crate) fn go_on() -> Result<()> {
    ensure!(!IS_STOPPED.load(Relaxed), "interrupted");
    Ok(())
}

/// A program that runs. It is stopped when this is dropped.
pub(crate) struct Running {
    child: Child,
    has_group: bool,
}

impl Running {
    pub(crate) fn start(command: Command) -> Result<Self> {
        Running::start_with(command, is_alone())
    }

    /// Starts a program that gets no input and no signal of the terminal's.
    pub(crate) fn start_apart(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::null());
        Running::start_with(command, true)
    }

    fn start_with(mut command: Command, has_group: bool) -> Result<Self> {
        go_on()?;
        #[cfg(unix)]
        if has_group {
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let child = command.spawn().with_context(|| format!("cannot run {}", shown(&command)))?;
        running.extend(has_group.then_some(child.id()));
        Ok(Running { child, has_group })
    }

    /// Returns the status if the program has ended.
    pub(crate) fn poll(&mut self) -> Result<Option<ExitStatus>> {
        thread::sleep(Duration::from_millis(20));
        Ok(self.child.try_wait()?)
    }

    pub(crate) fn wait(&mut self) -> Result<ExitStatus> {
        Ok(self.child.wait()?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|id| *id != self.child.id());
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            #[cfg(unix)]
            if self.has_group {
                signal_group(self.child.id(), nix::sys::signal::SIGKILL);
            }
            let _ = self.child.kill().and_then(|()| self.child.wait());
        }
    }
}

/// Says what runs, and runs it to its end.
pub(crate) fn run(command: Command) -> Result<ExitStatus> {
    eprintln!("> {}", shown(&command));
    Running::start(command)?.wait()
}

/// Runs a command for its output.
pub(crate) fn output(command: &mut Command) -> Result<Output> {
    go_on()?;
    command.output().with_context(|| format!("cannot run {}", shown(command)))
}

/// The status with which to exit as a program did.
pub(crate) fn code(status: ExitStatus) -> u8 {
    const INTERRUPTED: u8 = 130;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.unwrap_or(INTERRUPTED)
}

pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn shown(command: &Command) -> String {
    let words = command.get_args().map(|word| match word.to_string_lossy() {
        word if word.contains([' ', '"']) => format!("'{word}'"),
        word => word.into_owned(),
    });
    let program = PathBuf::from(command.get_program());
    let program = program.file_stem().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    [program].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// Restores files as they were, unless they are to be kept.
pub(crate) struct Saved(Vec<(PathBuf, Option<Vec<u8>>)>);

impl Saved {
    pub(crate) fn of<const N: usize>(files: [PathBuf; N]) -> Result<Self> {
        let mut saved = Vec::new();
        for file in files {
            let text = match fs::read(&file) {
                Ok(text) => Some(text),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                Err(error) => bail!("{}: {error}", file.display()),
            };
            saved.push((file, text));
        }
        Ok(Saved(saved))
    }

    pub(crate) fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        for (file, text) in &self.0 {
            let restored = match (text, fs::read(file).ok()) {
                (Some(text), now) if now.as_ref() != Some(text) => fs::write(file, text),
                (None, Some(_)) => fs::remove_file(file),
                _ => continue,
            };
            if let Err(error) = restored {
                eprintln!("error: {} is not restored: {error}", file.display());
            }
        }
    }
}
