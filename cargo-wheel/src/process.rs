//! Running programs, and stopping them when the user interrupts.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal as _, stdin};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use std::{env, thread};

use anyhow::{Context as _, Result, ensure};

static IS_STOPPED: AtomicBool = AtomicBool::new(false);

/// Notes an interruption. Programs that run apart are then stopped.
pub(crate) fn listen() -> Result<()> {
    ctrlc::set_handler(|| IS_STOPPED.store(true, Relaxed)).context("cannot handle interruptions")
}

/// Fails if the user has interrupted this command.
pub(crate) fn go_on() -> Result<()> {
    ensure!(!IS_STOPPED.load(Relaxed), "interrupted");
    Ok(())
}

/// Signals a process, or the group `-id` if `id` is negative. Without a signal, this fails if there is
/// none.
#[cfg(unix)]
pub(crate) fn signal(id: i32, name: &str) -> Result<()> {
    use nix::{sys::signal, unistd::Pid};
    let signal: Option<signal::Signal> = name.parse().ok();
    Ok(signal::kill(Pid::from_raw(id), signal)?)
}

/// Returns the name of a signal, if there is one.
pub(crate) fn signal_name(name: &str) -> Result<String> {
    #[cfg(unix)]
    name.parse::<nix::sys::signal::Signal>().context("write it as in SIGTERM or SIGINT")?;
    Ok(name.to_owned())
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
}

impl Running {
    /// Starts a program. A terminal's Ctrl-C reaches it, unless it runs apart.
    pub(crate) fn start(command: &mut Command, is_apart: bool) -> Result<Self> {
        go_on()?;
        #[cfg(unix)]
        if is_apart {
            std::os::unix::process::CommandExt::process_group(command, 0);
        }
        let child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
        Ok(Running { child, is_apart })
    }

    /// Returns the status if the program has ended. Fails if this command was interrupted, except for
    /// a program that a terminal has interrupted, too.
    pub(crate) fn poll(&mut self) -> Result<Option<ExitStatus>> {
        thread::sleep(Duration::from_millis(10));
        if self.is_apart {
            go_on()?;
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
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            if self.is_apart {
                // A program that has just ended is no error.
                let _ = signal(-self.child.id().cast_signed(), "SIGKILL");
            }
            let _ = self.child.kill().and_then(|()| self.child.wait());
        }
    }
}

/// Runs a program to its end.
pub(crate) fn run(command: &mut Command) -> Result<ExitStatus> {
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
    replace(file, text.as_ref()).with_context(|| file.display().to_string())
}

/// Gives a file back what was read of it before. If there was none, removes it.
pub(crate) fn restore(file: &Path, before: io::Result<Vec<u8>>) -> Result<()> {
    match before {
        Ok(text) => put(file, text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Perhaps it was not made either.
            let _ = fs::remove_file(file);
            Ok(())
        }
        Err(error) => Err(error).with_context(|| file.display().to_string()),
    }
}

/// Replaces a file, or the one that a link leads to, in one step, so that a failure keeps the old text.
fn replace(file: &Path, text: &[u8]) -> io::Result<()> {
    file.parent().map_or(Ok(()), fs::create_dir_all)?;
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let new = file.with_extension("cargo-wheel");
    let written = fs::write(&new, text).and_then(|()| {
        if file.exists() {
            // One that is not to be written stays.
            OpenOptions::new().write(true).open(&file)?;
            fs::set_permissions(&new, fs::metadata(&file)?.permissions())?;
        }
        fs::rename(&new, &file)
    });
    written.inspect_err(|_| drop(fs::remove_file(&new)))
}
