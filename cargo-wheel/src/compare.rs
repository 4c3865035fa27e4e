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
use crate::process::{self, Running};
use crate::service::{Service, host};
use crate::tree::{Counting, TOKIO};
use crate::verdict::{Measure, Spread, verdict};

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

/// What a round takes, and whether more is better if the verdict depends on it.
const TAKEN: [(&str, Option<bool>); 6] = [
    ("seconds", Some(false)),
    ("seconds of CPU", Some(false)),
    ("of these, user", None),
    ("of these, system", None),
    ("voluntary context switches", None),
    ("peak memory in MB", None),
];

const COUNTED: [&str; 3] = ["timers armed per second", "cancelled per second", "fired per second"];

struct Side {
    service: Service,
    lock: String,
    target: PathBuf,
}

pub(crate) fn compare(service: &Service, options: &Options) -> Result<u8> {
    ensure!(cfg!(unix), "compare needs a Unix, because it asks the system what a program takes");
    let mut on_tree = service.clone();
    let _saved = on_tree.go_on_tree(Counting::Totals)?;
    let tree = fs::read_to_string(service.lock())?;
    let tokio = on_tree.read_lock()?.without_the_tree();
    let [tokio, tree] = [(service.clone(), tokio, "tokio"), (on_tree, tree, "tokio-wheel")]
        .map(|(service, lock, name)| Side { lock, target: service.target.join(name), service });
    for side in [&tokio, &tree] {
        let built = process::run(side.cargo(options, None)?)?;
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
    let measures = measures(options, &rounds);
    print(&measures);
    println!("Both sides are on tokio {TOKIO}, with the same lock file.");
    if options.metric.is_empty() && options.less.is_empty() {
        println!(
            "A program that runs for a fixed time does more in it: name what it prints by --metric or --less."
        );
    }
    let (sentence, is_slower) = verdict(&measures);
    println!("{sentence}");
    Ok(u8::from(is_slower))
}

/// Turns rounds of all measures into measures of all rounds. The first that differs decides.
fn measures(options: &Options, rounds: &[[Vec<f64>; 2]]) -> Vec<Measure> {
    let of = |regexes: &[Regex], is_more: bool| -> Vec<_> {
        regexes.iter().map(|regex| (regex.to_string(), Some(is_more))).collect()
    };
    let taken = TAKEN.map(|(name, is_more)| (name.to_owned(), is_more));
    let counted = COUNTED.map(|name| (name.to_owned(), None));
    let metrics = [of(&options.metric, true), of(&options.less, false)].concat();
    let names = metrics.into_iter().chain(taken).chain(counted).enumerate();
    let rounds = |at: usize| rounds.iter().map(|pair| [pair[0][at], pair[1][at]]).collect();
    names
        .map(|(at, (name, more))| Measure { name, rounds: rounds(at), more_is_better: more })
        .collect()
}

fn print(measures: &[Measure]) {
    let mut table = counts::table(["median (minimum–maximum)", "tokio", "tokio-wheel", "ratio"]);
    for measure in measures {
        let shown = |of: Spread| match of.median.is_nan() {
            true => "-".to_owned(),
            false => {
                format!("{} ({}–{})", short(of.median), short(of.least), short(of.most))
            }
        };
        let sides = [measure.side(0), measure.side(1), measure.ratio()];
        table.add_row([measure.name.clone()].into_iter().chain(sides.map(shown)));
    }
    println!("{table}");
}

impl Side {
    /// Returns the command that builds this side, and runs it if there is a folder for what it takes.
    /// Cargo runs the program by this command, as the `runner` of the platform.
    fn cargo(&self, options: &Options, folder: Option<&Path>) -> Result<Command> {
        process::go_on()?;
        fs::write(self.service.lock(), &self.lock)?;
        let path = |path: &Path| Value::from(path.display().to_string());
        let mut runner = Array::from_iter([path(&env::current_exe()?), "measure".into()]);
        runner.extend(folder.iter().flat_map(|folder| ["--folder".into(), path(folder)]));
        runner.push("--");
        let mut service = self.service.clone();
        service.settings.push(format!("target.{}.runner={runner}", host()?));
        let mut cargo = service.cargo_with(&options.cargo.arguments);
        cargo.env("CARGO_TARGET_DIR", &self.target);
        if let Some(folder) = folder {
            process::log_to(&mut cargo, &folder.join("log"))?;
            cargo.env(VARIABLE, folder);
        }
        Ok(cargo)
    }

    /// Returns the numbers of a round, in the order of the table.
    fn round(&self, options: &Options) -> Result<Vec<f64>> {
        let folder = counts::fresh(&self.service, "round")?;
        let mut running = Running::start_apart(self.cargo(options, Some(&folder))?)?;
        let log = || fs::read_to_string(folder.join("log")).unwrap_or_default();
        let load = match &options.load {
            None => {
                let status = running.wait()?;
                process::go_on()?;
                ensure!(status.success(), "{}\nthe program has failed: {status}", log());
                None
            }
            Some(load) => Some(serve(&folder, &mut running, load, options).with_context(log)?),
        };
        process::go_on()?;
        let [mut wall, user, system, switches, peak] = crate::measure::read(&folder)?;
        let mut printed = log();
        if let Some((seconds, text)) = load {
            (wall, printed) = (seconds, printed + &text);
        }
        let is_on_tree = !self.service.settings.is_empty();
        let counted = Report::read(&folder)?.totals();
        let counted = counted.map(|count| if is_on_tree { count as f64 / wall } else { f64::NAN });
        let metrics = options.metric.iter().chain(&options.less);
        let metrics =
            metrics.map(|metric| number(metric, &printed).with_context(|| printed.clone()));
        let mut numbers = metrics.collect::<Result<Vec<f64>>>()?;
        numbers.extend([wall, user + system, user, system, switches, peak]);
        numbers.extend(counted);
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
    }
    thread::sleep(Duration::from_secs_f64(options.warm_up));
    ensure!(server.poll()?.is_none(), "the server has ended before the load");
    let mut command = Command::new("sh");
    command.arg("-c").arg(load);
    process::log_to(&mut command, &folder.join("load"))?;
    let start = Instant::now();
    let status = Running::start_apart(command)?.wait()?;
    let seconds = start.elapsed().as_secs_f64();
    let printed = fs::read_to_string(folder.join("load"))?;
    eprint!("{printed}");
    ensure!(status.success(), "the load has failed: {status}");
    process::signal(fs::read_to_string(folder.join("id"))?.parse()?, &options.signal)?;
    let start = Instant::now();
    while server.poll()?.is_none() {
        let is_late = start.elapsed() > Duration::from_secs(10);
        ensure!(!is_late, "the server runs 10 s after {}: name another --signal", options.signal);
    }
    Ok((seconds, printed))
}
