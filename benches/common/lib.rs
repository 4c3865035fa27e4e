//! Code that the benchmarks share.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write as _};
use std::process::exit;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use clap::builder::{PossibleValue, PossibleValuesParser, RangedU64ValueParser};

pub mod conditions;
pub mod line;
pub mod machine;
pub mod probe;
pub mod process;
pub mod table;

/// Prints like the standard library's macro, but ends the program silently if nobody reads its output any more, for example
/// after `| head`.
#[macro_export]
macro_rules! println {
    ($($text:tt)*) => { $crate::print_line(::std::format_args!($($text)*)) };
}

/// Implements [`println!`].
#[doc(hidden)]
pub fn print_line(line: Arguments<'_>) {
    match writeln!(io::stdout(), "{line}") {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => exit(0),
        Err(error) => panic!("cannot print: {error}"),
    }
}

/// Returns pairs of a round and an implementation. Every second round is reversed, so that disturbances affect all.
pub fn alternate(rounds: usize, implementations: usize) -> impl Iterator<Item = (usize, usize)> {
    let last = implementations - 1;
    let index = move |round, at| if round % 2 == 0 { at } else { last - at };
    (0..rounds).flat_map(move |round| (0..=last).map(move |at| (round, index(round, at))))
}

/// Returns the number of processors, or 1 if it is not known.
pub fn processors() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Keeps this thread's processor busy for this time.
pub fn compute(time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

/// Returns names for the command line, with their descriptions.
pub fn names(all: impl IntoIterator<Item = (&'static str, &'static str)>) -> PossibleValuesParser {
    let all = all.into_iter();
    let all = all.map(|(name, about)| PossibleValue::new(name).help(about));
    all.collect::<Vec<_>>().into()
}

/// Returns a parser for numbers in this range, for the command line.
pub fn within<T: TryFrom<u64>>(range: std::ops::RangeInclusive<u64>) -> RangedU64ValueParser<T> {
    RangedU64ValueParser::new().range(range)
}

/// Returns the word that stands for this value on the command line.
pub fn word(value: &impl clap::ValueEnum) -> String {
    let value = value
        .to_possible_value()
        .expect("a value that is not skipped");
    value.get_name().to_owned()
}

/// Returns the middle value, or the mean of the two middle values.
pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        (values[middle - 1] + values[middle]) / 2.0
    }
}

/// Returns the minimum and the maximum.
pub fn range(values: &[f64]) -> (f64, f64) {
    let all = values.iter().copied();
    (
        all.clone().fold(f64::MAX, f64::min),
        all.fold(f64::MIN, f64::max),
    )
}

/// Formats a number with separators: 1,234,567.
pub fn thousands(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", thousands(number / 1_000), number % 1_000),
    }
}
