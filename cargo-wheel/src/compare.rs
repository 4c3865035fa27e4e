//! Runs a service in turns on tokio and on the tree.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, thread};

use anyhow::{Context as _, Result, ensure};
use indicatif::ProgressBar;
use regex_lite::Regex;
use toml_edit::{Array, Value};

use crate::counts::{self, Report, VARIABLE, short};
use crate::process::{self, Running, put};
use crate::service::{MARK, Service, without_the_tree};
use crate::tree::{Counting, TOKIO};
use crate::verdict::{Measure, Spread, TINY, verdict};

/// A server's time to start before the load.
const START: Duration = Duration::from_secs(1);

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How often to run each side
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// A number that the service or the load prints, and of which more is better: the first group
    /// of the last match. Needed if the program runs for a fixed time
    #[arg(long, value_name = "REGEX")]
    metric: Vec<Regex>,
    /// A number of which less is better
    #[arg(long, value_name = "REGEX")]
    less: Vec<Regex>,
    /// The service is a server: start it, run this shell command beside it, and end it
    #[arg(long, value_name = "COMMAND")]
    load: Option<String>,
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
    let tree = Side::new(&on_tree, "tokio-wheel")?;
    put(&service.lock(), without_the_tree(service.read_lock()?))?;
    // Cargo removes what only the tree needs, which `--locked` would forbid later.
    service.relock(&["update", "--workspace"])?;
    let tokio = Side::new(service, "tokio")?;
    for side in [&tokio, &tree] {
        let built = process::run(side.cargo(options)?)?;
        ensure!(built.success(), "cargo has failed: {built}");
    }
    // Hidden unless this is a terminal.
    let bar = ProgressBar::new(options.rounds.into());
    let mut measures = Vec::new();
    for number in 0..options.rounds {
        bar.suspend(|| eprintln!("round {} of {}", number + 1, options.rounds));
        // Each side is the first in every second round.
        let is_swapped = number % 2 == 1;
        let [first, second] = if is_swapped { [&tree, &tokio] } else { [&tokio, &tree] };
        let mut pair = [first.round(options)?, second.round(options)?];
        pair.rotate_left(usize::from(is_swapped));
        bar.inc(1);
        add_round(&mut measures, pair);
    }
    bar.finish_and_clear();
    print(&measures);
    println!("Both sides are on tokio {TOKIO}, with the same lock file.");
    let (sentence, is_slower) = verdict(&measures);
    println!("{sentence}");
    Ok(u8::from(is_slower))
}

/// A number of a round: what it is, whether more is better (`None`: not judged), the least
/// difference that counts, and its value.
type Number = (String, Option<bool>, f64, f64);

fn add_round(measures: &mut Vec<Measure>, [tokio, tree]: [Vec<Number>; 2]) {
    for (at, ((name, more_is_better, least, tokio), (.., tree))) in
        tokio.into_iter().zip(tree).enumerate()
    {
        if at == measures.len() {
            measures.push(Measure { name, more_is_better, least, rounds: Vec::new() });
        }
        measures[at].rounds.push([tokio, tree]);
    }
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
    /// Cargo runs the program through `measure`, the platform's `runner`.
    fn new(service: &Service, name: &str) -> Result<Self> {
        let lock = fs::read_to_string(service.lock())?;
        let mut service = service.clone();
        let measure = env::current_exe()?.display().to_string();
        let runner = Array::from_iter([Value::from(measure), "measure".into()]);
        let host = rustc_version::version_meta()?.host;
        service.settings.push(format!("target.{host}.runner={runner}"));
        Ok(Side { lock, target: service.target.join(name), service })
    }

    /// Returns the command that builds this side, and with `VARIABLE` set also runs and measures it.
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
        let [wall, user, system, switches, peak] = taken(&folder)?;
        let wall = load.unwrap_or(wall);
        let mut numbers = Vec::new();
        let more = options.metric.iter().map(|regex| (regex, true));
        for (regex, is_more) in more.chain(options.less.iter().map(|regex| (regex, false))) {
            let number = number(regex, &printed).with_context(|| printed.clone())?;
            numbers.push((regex.to_string(), Some(is_more), 0.0, number));
        }
        let mut add =
            |name: &str, is_more, number| numbers.push((name.to_owned(), is_more, TINY, number));
        add("seconds", Some(false), wall);
        add("seconds of CPU", Some(false), user + system);
        add("of these, user", None, user);
        add("of these, system", None, system);
        add("voluntary context switches", None, switches);
        add("peak memory in MB", None, peak);
        let is_counted = self.lock.contains(MARK);
        let rate = |count: u64| if is_counted { count as f64 / wall } else { f64::NAN };
        let [armed, cancelled, fired] = Report::read(&folder)?.totals().map(rate);
        add("timers armed per second", None, armed);
        add("cancelled per second", None, cancelled);
        add("fired per second", None, fired);
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
    thread::sleep(START);
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

/// Wall time, user CPU and system CPU in seconds, context switches, and peak memory in megabytes.
type Taken = [f64; 5];

/// Runs a program for cargo, and writes down what it takes if `VARIABLE` names a folder.
pub(crate) fn measure(program: &[OsString]) -> Result<u8> {
    let Some(folder) = env::var_os(VARIABLE).map(PathBuf::from) else {
        return Ok(0);
    };
    let (before, start) = (usage()?, Instant::now());
    let child = Command::new(&program[0]).args(&program[1..]).spawn();
    let mut child = child.with_context(|| program[0].display().to_string())?;
    fs::write(folder.join("id"), child.id().to_string())?;
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
    use nix::sys::time::{TimeVal, TimeValLike as _};
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |time: TimeVal| time.num_microseconds() as f64 / 1e6;
    let (user, system) = (seconds(usage.user_time()), seconds(usage.system_time()));
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
fn taken(folder: &Path) -> Result<Taken> {
    const NONE: &str = "cargo has run no program: name a command that does, such as run or bench";
    let text = fs::read_to_string(folder.join("taken")).context(NONE)?;
    let mut sum: Taken = [0.0; 5];
    for line in text.lines() {
        for (at, number) in line.split(' ').enumerate() {
            let number: f64 = number.parse()?;
            sum[at] = if at == 4 { sum[at].max(number) } else { sum[at] + number };
        }
    }
    Ok(sum)
}
