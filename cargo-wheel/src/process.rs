//! Running programs, stopping them when the user interrupts, and restoring files afterwards.

use std::fs::{self, File};
use std::io::{IsTerminal as _, stdin};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use std::{env, thread};

use anyhow::{Context as _, Result, ensure};

static IS_STOPPED: AtomicBool = AtomicBool::new(false);

/// Notes an interruption. Programs that run apart are then stopped, and the command restores its files.
pub(crate) fn listen() -> Result<()> {
    ctrlc::set_handler(|| IS_STOPPED.store(true, Relaxed)).context("cannot handle interruptions")
}

/// Fails if the user has interrupted this command.
pub(crate) fn go_on() -> Result<()> {
    ensure!(!IS_STOPPED.load(Relaxed), "interrupted");
    Ok(())
}

/// Signals a process, or the group `-id` if `id` is negative.
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

/// A program that runs. It is killed when this is dropped.
pub(crate) struct Running {
    child: Child,
    /// Whether the program has a process group of its own.
    is_apart: bool,
    is_interrupted: bool,
}

impl Running {
    /// Starts a program. A terminal's Ctrl-C reaches it, unless it runs apart.
    pub(crate) fn start(mut command: Command, is_apart: bool) -> Result<Self> {
        go_on()?;
        #[cfg(unix)]
        if is_apart {
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        let child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
        Ok(Running { child, is_apart, is_interrupted: false })
    }

    /// Returns the status if the program has ended. If it runs apart, it is interrupted if this
    /// command is.
    pub(crate) fn poll(&mut self) -> Result<Option<ExitStatus>> {
        thread::sleep(Duration::from_millis(10));
        if !self.is_interrupted && go_on().is_err() {
            self.is_interrupted = true;
            self.signal("SIGINT");
        }
        Ok(self.child.try_wait()?)
    }

    pub(crate) fn wait(&mut self) -> Result<ExitStatus> {
        loop {
            if let Some(status) = self.poll()? {
                return Ok(status);
            }
        }
    }

    /// A program that has just ended is no error.
    fn signal(&self, name: &str) {
        if self.is_apart {
            let _ = signal(-self.child.id().cast_signed(), name);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.signal("SIGKILL");
            let _ = self.child.kill().and_then(|()| self.child.wait());
        }
    }
}

/// Says what runs, and runs it to its end.
pub(crate) fn run(command: Command) -> Result<ExitStatus> {
    eprintln!("running {command:?}");
    Running::start(command, !stdin().is_terminal())?.wait()
}

/// Makes a program print to a file, and read nothing.
pub(crate) fn log_to(command: &mut Command, file: &Path) -> Result<()> {
    let log = File::create(file)?;
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    Ok(())
}

/// The exit status that repeats a program's. 130 stands for a signal.
pub(crate) fn code(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(130)
}

pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Writes a file unless it has that text, so that Cargo builds only what changes.
pub(crate) fn put(file: &Path, text: impl AsRef<[u8]>) -> Result<()> {
    if fs::read(file).is_ok_and(|old| old == text.as_ref()) {
        return Ok(());
    }
    let made = file.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(file, text)).with_context(|| file.display().to_string())
}

/// A file's text, which is restored on drop.
pub(crate) struct Saved {
    file: PathBuf,
    text: Option<Vec<u8>>,
}

impl Saved {
    pub(crate) fn of(file: PathBuf) -> Self {
        Saved { text: fs::read(&file).ok(), file }
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        let restored = match &self.text {
            Some(text) => put(&self.file, text),
            None if self.file.exists() => fs::remove_file(&self.file).map_err(Into::into),
            None => Ok(()),
        };
        let _ = restored.inspect_err(|error| eprintln!("error: not restored: {error:#}"));
    }
}
