//! Runs a service in turns on Tokio's timers and on others.

use std::fs;

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::builder::NonEmptyStringValueParser;
use regex_lite::Regex;

use crate::counts::{self, Report, short};
use crate::measure::{self, Load};
use crate::process::{self, Running, put};
use crate::service::Service;
use crate::tree::{self, Kind, TOKIO};
use crate::verdict::{Measure, Spread, TINY, verdict};

/// Gains begin at about this many timers per second.
const MANY: f64 = 200_000.0;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How often to run each side. A verdict takes six rounds or more
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Compare with Tokio's alternative timer as well (`--cfg tokio_unstable` and
    /// `enable_alt_timer()`)
    #[arg(long)]
    alternative: bool,
    /// What precedes a number that the service or the load prints, and of which more is better. The
    /// last such number counts. Its unit is not read, so it must always be the same. Needed if the
    /// program runs for a fixed time
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    metric: Vec<String>,
    /// The same for a number of which less is better
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    less: Vec<String>,
    /// Judge by the seconds of the load and of the server, because the load is a fixed amount of work
    #[arg(long, requires = "load")]
    seconds: bool,
    #[command(flatten)]
    load: Load,
    #[command(flatten)]
    cargo: crate::Cargo,
}

pub(crate) fn compare(service: &Service, options: &Options) -> Result<u8> {
    ensure!(cfg!(unix), "compare needs Unix: it reads CPU time and memory from getrusage");
    let wheel = tree::patched(service, Kind::Counting)?;
    let tokio = service.copy("tokio")?;
    put(&tokio.lock(), tree::unpatched(wheel.read_lock()?))?;
    // Cargo removes what only the tree needs, which `--locked` would forbid later.
    tokio.output(&["update", "--workspace"])?;
    let mut sides = vec![("tokio", tokio)];
    if options.alternative {
        sides.push(("alternative", tree::patched(service, Kind::Alternative)?));
    }
    sides.push(("tokio-wheel", wheel));
    let side = |(name, service)| Ok(Side { name, service: measure::measured(service)? });
    let sides = sides.into_iter().map(side).collect::<Result<Vec<_>>>()?;
    for (at, side) in sides.iter().enumerate() {
        eprintln!("building on {}", side.name);
        let built = process::run(&mut side.service.cargo(&options.cargo.arguments)?)?;
        ensure!(built.success(), "cargo has failed: {built}");
        // What is wrong with the command or the program is found before the next build.
        if at == 0 {
            side.round("a first run", options)?;
        }
    }
    let mut measures = Vec::new();
    for number in 0..usize::from(options.rounds) {
        let round = format!("round {} of {}", number + 1, options.rounds);
        // Each side is the first in turn.
        let mut order: Vec<_> = (0..sides.len()).collect();
        order.rotate_left(number % sides.len());
        let mut values = vec![Vec::new(); sides.len()];
        for at in order {
            values[at] = sides[at].round(&round, options)?;
        }
        add_round(&mut measures, &values);
    }
    let names: Vec<_> = sides.iter().map(|side| side.name).collect();
    print(&measures, &names);
    println!("All sides have tokio {TOKIO} and the same other packages.");
    if options.alternative {
        println!("alternative: with --cfg tokio_unstable and Builder::enable_alt_timer().");
    }
    let last = names.len() - 1;
    let armed = measures.iter().find(|one| one.name == "timers armed per second");
    let armed = armed.map_or(0.0, |one| one.side(last).median.max(0.0));
    if armed < MANY {
        let (armed, many) = (short(armed), short(MANY));
        println!("{armed} timers are armed per second. Gains begin at about {many}.");
    }
    let pairs = [[0, last], [0, 1], [1, last]];
    let pairs = pairs[..2 * last - 1].iter();
    let sentences = pairs.map(|pair| verdict(&measures, *pair, pair.map(|at| names[at])));
    let mut sentences: Vec<_> = sentences.collect();
    sentences.dedup();
    sentences.iter().for_each(|(sentence, _)| println!("{sentence}"));
    Ok(u8::from(sentences[0].1))
}

/// A number of a round: what it is, whether more is better (`None`: not judged), the least
/// difference that counts, and its value.
type Number = (String, Option<bool>, f64, f64);

fn add_round(measures: &mut Vec<Measure>, sides: &[Vec<Number>]) {
    for (at, (name, more_is_better, least, _)) in sides[0].iter().enumerate() {
        if at == measures.len() {
            let (name, more_is_better, least) = (name.clone(), *more_is_better, *least);
            measures.push(Measure { name, more_is_better, least, rounds: Vec::new() });
        }
        measures[at].rounds.push(sides.iter().map(|side| side[at].3).collect());
    }
}

fn print(measures: &[Measure], names: &[&str]) {
    let others = 1..names.len();
    let ratios = names[1..].iter().map(|name| format!("{name} ÷ tokio"));
    let titles = ["median (minimum–maximum)"].iter().chain(names).map(|&title| title.to_owned());
    let mut table = counts::table(titles.chain(ratios));
    for measure in measures {
        let shown = |of: Spread| match of.median.is_nan() {
            true => "-".to_owned(),
            false => format!("{} ({}–{})", short(of.median), short(of.least), short(of.most)),
        };
        let sides = (0..names.len()).map(|side| measure.side(side));
        let sides = sides.chain(others.clone().map(|side| measure.ratio([0, side])));
        table.add_row([measure.name.clone()].into_iter().chain(sides.map(shown)));
    }
    println!("{table}");
}

struct Side {
    name: &'static str,
    service: Service,
}

impl Side {
    fn round(&self, round: &str, options: &Options) -> Result<Vec<Number>> {
        eprintln!("{round}: on {}", self.name);
        let mut cargo = self.service.cargo(&options.cargo.arguments)?;
        let folder = measure::report_to(&self.service, &mut cargo)?;
        process::log_to(&mut cargo, &folder.join("log"))?;
        let mut running = Running::start(&mut cargo, true)?;
        let load = measure::drive(&folder, &mut running, &options.load);
        process::go_on()?;
        let read = |name| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let printed = ["log", "load"].map(read).join("\n");
        // The cause stands first.
        let failed = |error: anyhow::Error| anyhow!("{error:#}\n{printed}");
        let (status, load) = load.map_err(failed)?;
        if load.is_none() && !status.success() {
            return Err(failed(anyhow!("the program has failed: {status}")));
        }
        let [wall, user, system, switches, peak] = measure::taken(&folder).map_err(failed)?;
        let wall = load.unwrap_or(wall);
        let mut numbers = Vec::new();
        let more = options.metric.iter().map(|name| (name, true));
        for (name, is_more) in more.chain(options.less.iter().map(|name| (name, false))) {
            let number = number(name, &printed).map_err(failed)?;
            numbers.push((name.clone(), Some(is_more), 0.0, number));
        }
        let mut add =
            |name: &str, is_more, number| numbers.push((name.to_owned(), is_more, TINY, number));
        let is_judged = (load.is_none() || options.seconds).then_some(false);
        add("seconds", is_judged, wall);
        add("seconds of CPU", is_judged, user + system);
        add("of these, user", None, user);
        add("of these, system", None, system);
        add("voluntary context switches", None, switches);
        add("peak memory in MB", None, peak);
        let counts = Report::read(&folder)?.totals();
        let [armed, cancelled, fired] = counts.map(|count| count / wall);
        add("timers armed per second", None, armed);
        add("cancelled per second", None, cancelled);
        add("fired per second", None, fired);
        Ok(numbers)
    }
}

/// Returns the last number that follows a name on its line, after blanks and a separator.
fn number(name: &str, printed: &str) -> Result<f64> {
    // Loggers emphasise names.
    let printed = Regex::new(r"\x1b\[[0-9;]*m")?.replace_all(printed, "");
    let name_and_gap = format!(r#"(?m)(?:^|[^\w.]){}["' \t:=|]+"#, regex_lite::escape(name));
    let number = r"(-?[0-9.][0-9_]*(?:,[0-9]{3})*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)";
    let regex = Regex::new(&(name_and_gap + number))?;
    let found = regex.captures_iter(&printed).last();
    let found = found.with_context(|| format!("no number follows '{name}' in what was printed"))?;
    Ok(found[1].replace([',', '_'], "").parse()?)
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn a_number_follows_its_name() {
        let of = |name, printed: &str| number(name, printed).ok();
        for printed in ["rate 5", "rate: 4\nrate=5.0 ms", r#"{"rate": 5}"#, "| rate | 5e0 |"] {
            assert_eq!(of("rate", printed), Some(5.0), "{printed}");
        }
        assert_eq!(of("calls", "\x1b[3mcalls\x1b[0m\x1b[2m=\x1b[0m3,840,000"), Some(3_840_000.0));
        assert_eq!(of("Requests/sec", "Requests/sec:   1234.5"), Some(1234.5));
        assert_eq!(of("p99", "p99 1.2 p999 9.8 p99.9 9.8"), Some(1.2));
        assert_eq!(of("99%", "99% -1.2\n99.99% 8.1"), Some(-1.2));
        assert_eq!(of("rate", "rate_limit 5, accurate 3, rate NaN, rate 5%5"), Some(5.0));
        assert_eq!(of("rate", "rate_limit 5, accurate 3, rate NaN"), None);
    }
}
