//! Runs a service in turns on tokio and on the tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, thread};

use anyhow::{Context as _, Result, ensure};
use indicatif::ProgressBar;
use regex_lite::Regex;
use toml_edit::{Array, Value};

use crate::counts::{self, Report, VARIABLE, short};
use crate::measure;
use crate::process::{self, Running, put};
use crate::service::{Service, without_the_tree};
use crate::tree::{Counting, TOKIO};
use crate::verdict::{Measure, Spread, verdict};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How often to run each side
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// A number that the service or the load prints, and of which more is better. A program that runs
    /// for a fixed time does more in it, but takes no less
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

pub(crate) fn compare(service: &Service, options: &Options) -> Result<u8> {
    ensure!(cfg!(unix), "compare needs a Unix, because it asks the system what a program takes");
    let mut on_tree = service.clone();
    let _saved = on_tree.go_on_tree(Counting::Totals)?;
    let tokio = Side::new(service, "tokio", without_the_tree(service.read_lock()?))?;
    let tree = Side::new(&on_tree, "tokio-wheel", fs::read_to_string(service.lock())?)?;
    for side in [&tokio, &tree] {
        let built = process::run(side.cargo(options)?)?;
        ensure!(built.success(), "cargo has failed: {built}");
    }
    // Hidden unless this is a terminal.
    let bar = ProgressBar::new(options.rounds.into());
    let mut rounds = Vec::new();
    for number in 0..options.rounds {
        bar.suspend(|| eprintln!("round {} of {}", number + 1, options.rounds));
        // Each side is the first in every second round.
        let mut pair = match number % 2 {
            0 => [tokio.round(options)?, tree.round(options)?],
            _ => [tree.round(options)?, tokio.round(options)?],
        };
        pair.rotate_left(usize::from(number % 2));
        bar.inc(1);
        rounds.push(pair);
    }
    bar.finish_and_clear();
    let measures = measures(&rounds);
    print(&measures);
    println!("Both sides are on tokio {TOKIO}, with the same lock file.");
    let (sentence, is_slower) = verdict(&measures);
    println!("{sentence}");
    Ok(u8::from(is_slower))
}

/// A number of a round: what it is, whether more is better if the verdict depends on it, and its value.
type Number = (String, Option<bool>, f64);

/// Turns rounds of all measures into measures of all rounds.
fn measures(rounds: &[[Vec<Number>; 2]]) -> Vec<Measure> {
    let numbers = rounds[0][0].iter().enumerate();
    let measures = numbers.map(|(at, (name, more_is_better, _))| Measure {
        name: name.clone(),
        more_is_better: *more_is_better,
        rounds: rounds.iter().map(|pair| [pair[0][at].2, pair[1][at].2]).collect(),
    });
    measures.collect()
}

fn print(measures: &[Measure]) {
    let mut table = counts::table(["median (minimum–maximum)", "tokio", "tokio-wheel", "ratio"]);
    for measure in measures {
        let shown = |of: Spread| match of.median.is_nan() {
            true => "-".to_owned(),
            false => format!("{} ({}–{})", short(of.median), short(of.least), short(of.most)),
        };
        let sides = [measure.side(0), measure.side(1), measure.ratio()];
        table.add_row([measure.name.clone()].into_iter().chain(sides.map(shown)));
    }
    println!("{table}");
}

struct Side {
    service: Service,
    lock: String,
    target: PathBuf,
}

impl Side {
    /// Cargo runs the program by this command, as the `runner` of the platform.
    fn new(service: &Service, name: &str, lock: String) -> Result<Self> {
        let mut service = service.clone();
        let measure = env::current_exe()?.display().to_string();
        let runner = Array::from_iter([Value::from(measure), "measure".into()]);
        let host = rustc_version::version_meta()?.host;
        service.settings.push(format!("target.{host}.runner={runner}"));
        Ok(Side { lock, target: service.target.join(name), service })
    }

    /// Returns the command that builds this side, and runs it if there is a folder for what it takes.
    fn cargo(&self, options: &Options) -> Result<Command> {
        process::go_on()?;
        put(&self.service.lock(), &self.lock)?;
        let mut cargo = self.service.cargo(&options.cargo.arguments)?;
        cargo.env("CARGO_TARGET_DIR", &self.target);
        Ok(cargo)
    }

    fn round(&self, options: &Options) -> Result<Vec<Number>> {
        let folder = counts::fresh(&self.service)?;
        let mut cargo = self.cargo(options)?;
        process::log_to(cargo.env(VARIABLE, &folder), &folder.join("log"))?;
        let mut running = Running::start(cargo, true)?;
        let load = drive(&folder, &mut running, options);
        process::go_on()?;
        let read = |name| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let printed = ["log", "load"].map(read).concat();
        let load = load.with_context(|| printed.clone())?;
        let [wall, user, system, switches, peak] = measure::read(&folder)?;
        let wall = load.unwrap_or(wall);
        let mut numbers = Vec::new();
        let more = options.metric.iter().map(|regex| (regex, true));
        for (regex, is_more) in more.chain(options.less.iter().map(|regex| (regex, false))) {
            let number = number(regex, &printed).with_context(|| printed.clone())?;
            numbers.push((regex.to_string(), Some(is_more), number));
        }
        let mut add =
            |name: &str, is_more, number| numbers.push((name.to_owned(), is_more, number));
        add("seconds", Some(false), wall);
        add("seconds of CPU", Some(false), user + system);
        add("of these, user", None, user);
        add("of these, system", None, system);
        add("voluntary context switches", None, switches);
        add("peak memory in MB", None, peak);
        let [armed, cancelled, fired] = Report::read(&folder)?.totals();
        add("timers armed per second", None, armed / wall);
        add("cancelled per second", None, cancelled / wall);
        add("fired per second", None, fired / wall);
        Ok(numbers)
    }
}

/// Returns the last number that a regular expression finds: its first group, or all of it.
fn number(metric: &Regex, printed: &str) -> Result<f64> {
    let found = metric.captures_iter(printed).last();
    let found = found.with_context(|| format!("nothing that was printed matches '{metric}'"))?;
    let text = found.get(1).or(found.get(0)).map_or("", |group| group.as_str());
    text.replace([',', '_'], "")
        .parse()
        .with_context(|| format!("'{metric}': `{text}` is no number"))
}

/// Runs a program to its end. A server runs as long as the load, whose seconds this returns.
fn drive(folder: &Path, program: &mut Running, options: &Options) -> Result<Option<f64>> {
    let Some(load) = &options.load else {
        let status = program.wait()?;
        ensure!(status.success(), "the program has failed: {status}");
        return Ok(None);
    };
    while !folder.join("id").exists() {
        ensure!(program.poll()?.is_none(), "the server has not started");
    }
    thread::sleep(Duration::from_secs_f64(options.warm_up));
    ensure!(program.poll()?.is_none(), "the server has ended before the load");
    let mut command = Command::new("sh");
    process::log_to(command.args(["-c", load]), &folder.join("load"))?;
    let start = Instant::now();
    let status = Running::start(command, true)?.wait()?;
    let seconds = start.elapsed().as_secs_f64();
    eprint!("{}", fs::read_to_string(folder.join("load"))?);
    ensure!(status.success(), "the load has failed: {status}");
    process::signal(fs::read_to_string(folder.join("id"))?.parse()?, &options.signal)?;
    let start = Instant::now();
    while program.poll()?.is_none() {
        let is_late = start.elapsed() > Duration::from_secs(10);
        ensure!(!is_late, "the server runs 10 s after {}: name another --signal", options.signal);
    }
    Ok(Some(seconds))
}
