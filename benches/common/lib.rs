//! What the programs that measure have in common.

use std::fmt::Arguments;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::PathBuf;
use std::process::exit;

pub mod machine;

pub mod others;
pub mod picture;
pub mod process;
mod side;
pub mod table;

pub use self::side::Side;

/// As the standard library's, but where nothing reads on, as after `| head`, the program ends in silence.
#[macro_export]
macro_rules! println {
    ($($text:tt)*) => { $crate::print_line(::std::format_args!($($text)*)) };
}

/// What [`println!`] does.
#[doc(hidden)]
pub fn print_line(line: Arguments<'_>) {
    match writeln!(io::stdout(), "{line}") {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => exit(0),
        Err(error) => panic!("cannot print: {error}"),
    }
}

/// A path on the command line that can be written: it says so before the minutes that a run takes. The file and its folder
/// are made where there are none; what it holds stays.
pub fn writable(path: &str) -> io::Result<PathBuf> {
    let path = PathBuf::from(path);
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    OpenOptions::new().append(true).create(true).open(&path)?;
    Ok(path)
}

/// What stands for this value on the command line.
pub fn word(value: &impl clap::ValueEnum) -> String {
    let value = value.to_possible_value().expect("it is not skipped");
    value.get_name().to_owned()
}

/// What the help says of this value.
pub fn about(value: &impl clap::ValueEnum) -> String {
    let value = value.to_possible_value().expect("it is not skipped");
    value
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// The middle one, or what is half-way between the two.
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

/// The least and the most.
pub fn range(values: &[f64]) -> (f64, f64) {
    let all = values.iter().copied();
    (
        all.clone().fold(f64::MAX, f64::min),
        all.fold(f64::MIN, f64::max),
    )
}

/// Cargo runs a bench in its package's folder. A file's path is meant from where Cargo was called.
pub fn go_where_cargo_was_called() {
    if let Some(called) = std::env::var_os("PWD") {
        // Where that is gone, paths are meant from here.
        let _ = std::env::set_current_dir(called);
    }
}
