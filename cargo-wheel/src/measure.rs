//! Runs a program for cargo, alone or under a load, and what it takes.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};
use std::{env, thread};

use anyhow::{Context as _, Result, ensure};
use toml_edit::{Array, Value};

use crate::process::{self, Running};
use crate::service::Service;

/// The environment variable that names the folder of the reports.
pub(crate) const VARIABLE: &str = "CARGO_WHEEL_REPORT";

/// A server's time to start before the load.
const START: Duration = Duration::from_secs(1);

/// A server's time to end after the signal.
const END: Duration = Duration::from_secs(10);

/// After this time, a program that runs without a load may be a server.
const LONG: Duration = Duration::from_secs(30);

#[derive(clap::Args)]
pub(crate) struct Load {
    /// The service is a server: start it, run this shell command beside it, and end it
    #[arg(long, value_name = "COMMAND")]
    pub(crate) load: Option<String>,
    /// The signal that ends the server
    #[arg(long, default_value = "SIGTERM", requires = "load", value_parser = process::signal_name)]
    signal: String,
}

/// Makes cargo run the program through `measure`, the platform's `runner`.
pub(crate) fn measured(mut service: Service) -> Result<Service> {
    let this = env::current_exe()?.display().to_string();
    let runner = Array::from_iter([Value::from(this), "measure".into()]);
    let host = rustc_version::version_meta()?.host;
    service.settings.push(format!("target.{host}.runner={runner}"));
    Ok(service)
}

/// Makes an empty folder for reports, and cargo report to it.
pub(crate) fn report_to(service: &Service, cargo: &mut Command) -> Result<PathBuf> {
    let folder = service.target.join("report");
    // It may not be there yet.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    cargo.env(VARIABLE, &folder).env("CARGO_WHEEL_PARENT", std::process::id().to_string());
    Ok(folder)
}

/// Runs a program to its end, and returns its status. A server runs as long as the load, whose seconds
/// this returns.
pub(crate) fn drive(
    folder: &Path,
    program: &mut Running,
    load: &Load,
) -> Result<(ExitStatus, Option<f64>)> {
    let start = Instant::now();
    let Some(command) = &load.load else {
        let mut is_told = false;
        loop {
            if let Some(status) = program.poll()? {
                return Ok((status, None));
            }
            if !is_told && start.elapsed() > LONG {
                is_told = true;
                eprintln!(
                    "the program is still running: a server needs --load, which also ends it"
                );
            }
        }
    };
    while !folder.join("id").exists() {
        ensure!(program.poll()?.is_none(), "the server has not started");
    }
    thread::sleep(START);
    ensure!(program.poll()?.is_none(), "the server has ended before the load");
    let mut shell = Command::new("sh");
    process::log_to(shell.args(["-c", command]), &folder.join("load"))?;
    let start = Instant::now();
    let status = Running::start(&mut shell, true)?.wait()?;
    let seconds = start.elapsed().as_secs_f64();
    eprint!("{}", fs::read_to_string(folder.join("load"))?);
    ensure!(status.success(), "the load has failed: {status}");
    process::signal(fs::read_to_string(folder.join("id"))?.parse()?, &load.signal)?;
    let start = Instant::now();
    loop {
        if let Some(status) = program.poll()? {
            return Ok((status, Some(seconds)));
        }
        let (is_late, signal) = (start.elapsed() > END, &load.signal);
        ensure!(!is_late, "the server is still running 10 s after {signal}: try another --signal");
    }
}

/// Wall time, user CPU and system CPU in seconds, context switches, and peak memory in megabytes.
pub(crate) type Taken = [f64; 5];

/// Runs a program for cargo, and writes down what it takes if `VARIABLE` names a folder. If the
/// command that wants to know has been killed, the program is, too.
pub(crate) fn measure(program: &[OsString]) -> Result<u8> {
    let Some(folder) = env::var_os(VARIABLE).map(PathBuf::from) else {
        return Ok(0);
    };
    let parent: i32 = env::var("CARGO_WHEEL_PARENT")?.parse()?;
    let (before, start) = (usage()?, Instant::now());
    let child = Command::new(&program[0]).args(&program[1..]).spawn();
    let mut child = child.with_context(|| program[0].display().to_string())?;
    let id = child.id();
    fs::write(folder.join("id"), id.to_string())?;
    thread::spawn(move || {
        while process::signal(parent, "").is_ok() {
            thread::sleep(Duration::from_millis(200));
        }
        let _ = process::signal(id.cast_signed(), "SIGKILL");
    });
    let status = child.wait()?;
    let wall = start.elapsed().as_secs_f64();
    let [_, user, system, switches, peak] = usage()?;
    // A peak adds nothing up.
    let taken = [wall, user - before[1], system - before[2], switches - before[3], peak];
    let mut file = File::options().create(true).append(true).open(folder.join("taken"))?;
    writeln!(file, "{}", taken.map(|number| number.to_string()).join(" "))?;
    Ok(process::code(status))
}

/// What the children that this process has waited for have taken.
#[cfg(unix)]
fn usage() -> Result<Taken> {
    use nix::sys::resource::{UsageWho, getrusage};
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let [user, system] = [usage.user_time(), usage.system_time()]
        .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6);
    // In kilobytes, except on Apple's systems.
    let unit = if cfg!(target_vendor = "apple") { 1e6 } else { 1e3 };
    let switches = usage.voluntary_context_switches() as f64;
    Ok([0.0, user, system, switches, usage.max_rss() as f64 / unit])
}

#[cfg(not(unix))]
fn usage() -> Result<Taken> {
    Ok([0.0; 5])
}

/// Reads what was written down. `cargo bench` and `cargo test` run several programs.
pub(crate) fn taken(folder: &Path) -> Result<Taken> {
    const NONE: &str = "cargo has run no program: name a command that does, such as run or bench";
    let text = fs::read_to_string(folder.join("taken")).ok().context(NONE)?;
    let mut sum: Taken = [0.0; 5];
    for line in text.lines() {
        for (at, number) in line.split(' ').enumerate() {
            let number: f64 = number.parse()?;
            sum[at] = if at == 4 { sum[at].max(number) } else { sum[at] + number };
        }
    }
    Ok(sum)
}
