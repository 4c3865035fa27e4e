//! Runs a service in turns on tokio and on the tree.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{IsTerminal as _, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, thread};

use anyhow::{Context as _, Result, bail, ensure};
use indicatif::ProgressBar;
use regex_lite::Regex;
use toml_edit::{Array, Value};

use crate::counts::{Counts, Report, VARIABLE, fresh, grouped, table};
use crate::measure;
use crate::process::{self, Running};
use crate::service::{Service, host};
use crate::tree::{Counting, TOKIO};
use crate::verdict::{Measure, verdict};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How often to run each side
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// A number that the service or the load prints, and of which more is better
    #[arg(long, value_name = "REGEX")]
    metric: Vec<Regex>,
    /// A number of which less is better
    #[arg(long, value_name = "REGEX")]
    less: Vec<Regex>,
    /// The service is a server: start it, run this shell command beside it, and end it
    #[arg(long, value_name = "COMMAND")]
    load: Option<String>,
    /// How long a server starts before the load does
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, requires = "load")]
    warm_up: f64,
    /// The signal that ends the server
    #[arg(long, default_value = "SIGTERM", requires = "load")]
    signal: String,
    #[command(flatten)]
    pub(crate) cargo: crate::Cargo,
}

struct Side {
    name: &'static str,
    /// Arguments of cargo.
    patch: Vec<String>,
    lock: String,
    target: PathBuf,
}

/// What a round on one side takes: the measures, in the order of the table, and the tree's counts.
struct Round {
    numbers: Vec<f64>,
    counts: Counts,
}

pub(crate) fn compare(service: &Service, options: &Options) -> Result<u8> {
    ensure!(cfg!(unix), "compare needs a Unix, because it asks the system what a program takes");
    let mut on_tree = Service::of(Some(&service.manifest()), &[])?;
    let _saved = on_tree.go_on_tree(Counting::Totals)?;
    let tree = fs::read_to_string(service.lock())?;
    let tokio = on_tree.read_lock()?.without_the_tree();
    let side = |name, patch, lock| Side { name, patch, lock, target: service.target.join(name) };
    let sides = [side("tokio", Vec::new(), tokio), side("tokio-wheel", on_tree.patch, tree)];
    for side in &sides {
        eprintln!("building on {}", side.name);
        let status = process::run(cargo(service, side, options, None)?)?;
        ensure!(status.success(), "cargo has failed on {}", side.name);
    }
    let bar = if stderr().is_terminal() {
        ProgressBar::new(2 * u64::from(options.rounds))
    } else {
        ProgressBar::hidden()
    };
    let mut rounds = Vec::new();
    let mut counts = Counts::default();
    let mut seconds = 0.0;
    for number in 0..options.rounds {
        let mut pair = [Vec::new(), Vec::new()];
        // Each side is the first in every second round.
        for at in [0, 1].map(|at| (at + usize::from(number)) % 2) {
            bar.set_message(sides[at].name);
            let round = round(service, &sides[at], options)?;
            bar.inc(1);
            counts.armed += round.counts.armed;
            counts.cancelled += round.counts.cancelled;
            counts.fired += round.counts.fired;
            seconds += if at == 1 { round.numbers[0] } else { 0.0 };
            pair[at] = round.numbers;
        }
        bar.suspend(|| {
            eprintln!(
                "round {}: {:.2} s on tokio, {:.2} s on tokio-wheel",
                number + 1,
                pair[0][0],
                pair[1][0]
            )
        });
        rounds.push(pair);
    }
    bar.finish_and_clear();
    let measures = measures(options, &rounds);
    print(&measures);
    let rate = |count: u64| grouped(count as f64 / f64::max(seconds, 1e-6));
    println!(
        "tokio-wheel, per second: {} timers armed, {} cancelled, {} fired. Both sides are on tokio {TOKIO}.",
        rate(counts.armed),
        rate(counts.cancelled),
        rate(counts.fired)
    );
    let (sentence, is_slower) = verdict(&measures);
    println!("{sentence}");
    Ok(u8::from(is_slower))
}

/// Turns rounds of all measures into measures of all rounds. What decides first is first.
fn measures(options: &Options, rounds: &[[Vec<f64>; 2]]) -> Vec<Measure> {
    let named = |regexes: &[Regex], is_more: bool| {
        let name = |regex: &Regex| (regex.to_string(), Some(is_more));
        regexes.iter().map(name).collect::<Vec<_>>()
    };
    let own = [
        ("wall time, s", Some(false)),
        ("CPU time, s", Some(false)),
        ("user CPU, s", None),
        ("system CPU, s", None),
        ("voluntary context switches", None),
        ("peak memory, MB", None),
    ];
    let own = own.map(|(name, is_more)| (name.to_owned(), is_more));
    let names =
        own.into_iter().chain(named(&options.metric, true)).chain(named(&options.less, false));
    let measures = names.enumerate().map(|(at, (name, more_is_better))| Measure {
        name,
        rounds: rounds.iter().map(|pair| [pair[0][at], pair[1][at]]).collect(),
        more_is_better,
    });
    let mut measures: Vec<_> = measures.collect();
    measures.rotate_left(6);
    measures
}

fn print(measures: &[Measure]) {
    let mut table = table(["median (minimum-maximum)", "tokio", "tokio-wheel", "ratio"]);
    for measure in measures {
        let [tokio, tree, ratio] = [measure.side(0), measure.side(1), measure.ratio()];
        let shown = |of: crate::verdict::Spread| {
            format!("{} ({}-{})", grouped(of.median), grouped(of.least), grouped(of.most))
        };
        table.add_row([measure.name.clone(), shown(tokio), shown(tree), shown(ratio)]);
    }
    println!("{table}");
}

/// Returns the command that builds a side, and runs it if there is a folder for what that takes.
/// Cargo runs the program by the `runner` of the platform.
fn cargo(
    service: &Service,
    side: &Side,
    options: &Options,
    folder: Option<&Path>,
) -> Result<Command> {
    fs::write(service.lock(), &side.lock).with_context(|| service.lock().display().to_string())?;
    let this = env::current_exe()?.display().to_string();
    let mut runner: Vec<String> = vec![this, "measure".to_owned()];
    if let Some(folder) = folder {
        runner.extend(["--folder".to_owned(), folder.display().to_string()]);
    }
    runner.push("--".to_owned());
    let runner: Array = runner.into_iter().map(Value::from).collect();
    let service = Service { patch: side.patch.clone(), ..service.clone() };
    let mut cargo = service.cargo_on(
        &[OsString::from("--config"), format!("target.{}.runner={runner}", host()?).into()],
        &options.cargo.arguments,
    );
    cargo.env("CARGO_TARGET_DIR", &side.target);
    if let Some(folder) = folder {
        let log = File::create(folder.join("log"))?;
        cargo.env(VARIABLE, folder).stdout(log.try_clone()?).stderr(log);
    }
    Ok(cargo)
}

fn round(service: &Service, side: &Side, options: &Options) -> Result<Round> {
    let folder = fresh(service, "round")?;
    let mut running = Running::start_apart(cargo(service, side, options, Some(&folder))?)?;
    let log = || fs::read_to_string(folder.join("log")).unwrap_or_default();
    let under_load = match &options.load {
        None => {
            let status = running.wait()?;
            process::go_on()?;
            ensure!(
                status.success(),
                "{}\nthe program has failed on {}: {status}",
                log(),
                side.name
            );
            None
        }
        Some(load) => Some(serve(&folder, &mut running, load, options).with_context(|| log())?),
    };
    process::go_on()?;
    let [wall, user, system, switches, peak] = measure::read(&folder)?;
    let (wall, printed) = under_load.unwrap_or_else(|| (wall, String::new()));
    let mut numbers = vec![wall, user + system, user, system, switches, peak];
    let printed = log() + &printed;
    for metric in options.metric.iter().chain(&options.less) {
        numbers.push(number(metric, &printed).with_context(|| printed.clone())?);
    }
    Ok(Round { numbers, counts: Report::read(&folder)?.sum() })
}

/// Returns the last number that a regular expression finds: its first group, or all of it.
fn number(metric: &Regex, printed: &str) -> Result<f64> {
    let found = metric.captures_iter(printed).last();
    let found = found.with_context(|| format!("nothing above matches --metric '{metric}'"))?;
    let text = found.get(1).or(found.get(0)).map_or("", |group| group.as_str());
    text.replace([',', '_'], "").parse().with_context(|| format!("`{text}` is no number"))
}

/// Runs the load beside a server, and ends the server. Returns the seconds of the load, and what it
/// printed.
fn serve(
    folder: &Path,
    server: &mut Running,
    load: &str,
    options: &Options,
) -> Result<(f64, String)> {
    while !folder.join("id").exists() {
        ensure!(server.poll()?.is_none(), "the server has not started");
        process::go_on()?;
    }
    thread::sleep(Duration::from_secs_f64(options.warm_up));
    ensure!(server.poll()?.is_none(), "the server has ended before the load");
    let printed = folder.join("load");
    let mut command = Command::new("sh");
    let file = File::create(&printed)?;
    command.arg("-c").arg(load).stdout(file.try_clone()?).stderr(file);
    let start = Instant::now();
    let status = Running::start_apart(command)?.wait()?;
    let seconds = start.elapsed().as_secs_f64();
    let printed = fs::read_to_string(&printed)?;
    eprint!("{printed}");
    process::go_on()?;
    ensure!(status.success(), "the load has failed: {status}");
    end(fs::read_to_string(folder.join("id"))?.parse()?, &options.signal)?;
    let start = Instant::now();
    while server.poll()?.is_none() {
        if start.elapsed() > Duration::from_secs(10) {
            bail!(
                "the server has not ended 10 s after {}: name the signal that ends it by --signal",
                options.signal
            );
        }
    }
    Ok((seconds, printed))
}

#[cfg(unix)]
fn end(id: i32, signal: &str) -> Result<()> {
    let signal: nix::sys::signal::Signal = signal.parse()?;
    Ok(nix::sys::signal::kill(nix::unistd::Pid::from_raw(id), signal)?)
}

#[cfg(not(unix))]
fn end(_id: i32, _signal: &str) -> Result<()> {
    Ok(())
}
