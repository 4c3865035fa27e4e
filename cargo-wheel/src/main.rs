//! `cargo wheel`: tells a team whether its service gains from tokio-wheel, and switches it.
//!
//! | file | subject |
//! | --- | --- |
//! | `process.rs` | running programs; interruption |
//! | `packages.rs` | what cargo and the manifests say about packages |
//! | `service.rs` | the workspace of a service, and copies of it, in which everything happens |
//! | `tree.rs` | the packages that take Tokio's place, and lock files with and without them |
//! | `measure.rs` | a program that cargo runs, alone or under a load |
//! | `check.rs`, `patch.rs` | the commands of these names |
//! | `compare.rs`, `verdict.rs` | rounds on all sides, and the sentence |
//! | `counts.rs` | the counts that a tree reports, and the command `timers` |
//! | `migrate/` | the command that changes imports |

/// Prints a line, even to a pipe that is closed, on which std's macro panics.
macro_rules! println {
    ($($words:tt)*) => {{
        let line = format!($($words)*) + "\n";
        let _ = std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes());
    }};
}

mod check;
mod compare;
mod counts;
mod measure;
mod migrate;
mod packages;
mod patch;
mod process;
mod service;
mod tree;
mod verdict;

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use self::service::Service;
use self::tree::Kind;

/// Tells whether a Tokio service gains from tokio-wheel's timers, and switches it.
///
/// Exits with 0; with 1 if `check`, `migrate --check` or `patch --verify` finds something, or if the
/// service is slower; and with 2 on errors. `try` and `timers` exit as the program that they run.
/// All but `migrate --write` and `patch` work on a copy, and change nothing outside `target`. But the
/// copy's files are links, so what your program writes into them is written into the service.
#[derive(Parser)]
#[command(bin_name = "cargo wheel", version)]
struct Options {
    /// The service's Cargo.toml, by default that of the current directory
    #[arg(long, global = true, value_name = "PATH")]
    manifest_path: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Name the packages whose timers move, and the obstacles
    ///
    /// Example: cargo wheel check -- --features redis
    Check {
        /// Arguments of cargo metadata, such as --all-features
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Run a program in turns on Tokio's timers and on tokio-wheel's, and compare
    ///
    /// Examples:{n}  cargo wheel compare --alternative -- run --release{n}  cargo wheel compare --load
    /// 'oha -n 50000 http://localhost:3000' --metric Requests/sec -- run --release
    Compare(compare::Options),
    /// Run a program on tokio-wheel, and print which lines of code arm its timers
    ///
    /// Example: cargo wheel timers -- run --release
    Timers(counts::Options),
    /// Run cargo with all of tokio::time on tokio-wheel
    ///
    /// Example: cargo wheel try -- test --workspace
    Try(Cargo),
    /// Replace Tokio's timers in all crates: write sources and a [patch] section into the workspace
    ///
    /// Examples:{n}  cargo wheel patch{n}  cargo wheel patch --verify{n}  cargo wheel patch --undo
    Patch(patch::Options),
    /// Change imports of tokio::time to wheel::time, or back
    ///
    /// Examples:{n}  cargo wheel migrate{n}  cargo wheel migrate --write --path ../tokio-wheel
    Migrate(migrate::Options),
    /// Run a program for cargo, and write down what it takes
    #[command(hide = true)]
    Measure {
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        program: Vec<OsString>,
    },
}

#[derive(clap::Args)]
struct Cargo {
    /// Arguments of cargo
    #[arg(required = true, last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

fn main() -> ExitCode {
    // Cargo runs `cargo-wheel wheel …`.
    let mut words: Vec<_> = env::args_os().collect();
    if words.get(1).is_some_and(|word| word == "wheel") {
        words.remove(1);
    }
    let status = process::listen().and_then(|()| run(Options::parse_from(words)));
    let status = status.inspect_err(|error| eprintln!("error: {error:#}"));
    ExitCode::from(status.unwrap_or(2))
}

fn run(options: Options) -> Result<u8> {
    let service = || Service::open(options.manifest_path.as_deref());
    match options.command {
        Command::Check { arguments } => check::check(&service()?, &arguments),
        Command::Compare(options) => compare::compare(&service()?, &options),
        Command::Timers(options) => counts::timers(&service()?, &options),
        Command::Try(cargo) => {
            let service = tree::patched(&service()?, Kind::Patch)?;
            let metadata = service.metadata(&[])?;
            let moved = packages::timer_users(&metadata);
            let moved: Vec<_> = moved.iter().map(|user| user.name.as_str()).collect();
            eprintln!("timers moved: those of {}", moved.join(" "));
            packages::second_copies(&metadata).iter().for_each(|copy| eprintln!("note: {copy}"));
            process::run(&mut service.cargo(&cargo.arguments)?).map(process::code)
        }
        Command::Patch(options) => patch::patch(&service()?, &options),
        Command::Migrate(options) => migrate::migrate(&service()?, &options),
        Command::Measure { program } => measure::measure(&program),
    }
}
