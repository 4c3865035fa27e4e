//! `cargo wheel`: tells a team whether its service gains from tokio-wheel, and switches it.
//!
//! | file | subject |
//! | --- | --- |
//! | `tree.rs` | the packages that take tokio's place, written from the sources of tokio-wheel and of tokio |
//! | `service.rs` | the workspace of a service, and how its lock file takes the tree's tokio |
//! | `process.rs` | running programs; interruption; files that are restored |
//! | `check.rs`, `patch.rs` | the commands of these names |
//! | `compare.rs`, `verdict.rs` | rounds on both sides, what a round takes, and the sentence |
//! | `counts.rs` | the counts that a counting tree reports, and the command `timers` |
//! | `migrate/` | the command that changes imports |

mod check;
mod compare;
mod counts;
mod migrate;
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
use self::tree::Counting;

/// Tells whether a Tokio service gains from tokio-wheel's timers, and switches it.
///
/// Exits with 0; with 1 if `check` or `migrate --check` finds something, or if the service is
/// slower; and with 2 on errors. `try`, `timers` and `audit` exit as the program that they run.
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
    /// Name the packages whose timers move, and what is in the way
    ///
    /// Example: cargo wheel check -- --features redis
    Check {
        /// Arguments of cargo metadata, such as --all-features
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Run a program in turns on tokio's timers and on tokio-wheel's, and compare
    ///
    /// Examples:{n}  cargo wheel compare -- bench --bench calls{n}  cargo wheel compare --load 'oha
    /// -n 50000 http://localhost:3000' --metric 'Requests/sec:\s*([0-9.]+)' -- run --release
    Compare(compare::Options),
    /// Run a program on tokio-wheel, and print which lines of code arm its timers
    ///
    /// Example: cargo wheel timers -- run --release
    Timers(Cargo),
    /// Run cargo with all of tokio::time on tokio-wheel, then restore Cargo.lock
    ///
    /// Example: cargo wheel try -- test --workspace
    Try(Cargo),
    /// Write tokio's replacement into the workspace, and a [patch] section into its manifest
    ///
    /// Examples:{n}  cargo wheel patch{n}  cargo wheel patch --undo
    Patch(patch::Options),
    /// Audit the lock file as it is without the patch (needs cargo-audit)
    ///
    /// Example: cargo wheel audit -- --deny warnings
    Audit {
        /// Arguments of cargo audit
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Change imports of tokio::time to wheel::time, or back
    ///
    /// Examples:{n}  cargo wheel migrate{n}  cargo wheel migrate --write --path ../tokio-wheel
    Migrate(migrate::Options),
    /// Run a program in cargo's stead, and write down what it takes
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
        Command::Timers(cargo) => counts::timers(service()?, &cargo.arguments),
        Command::Try(cargo) => {
            let mut service = service()?;
            let _saved = service.go_on_tree(Counting::Off)?;
            service.tell_what_moved()?;
            process::run(service.cargo(&cargo.arguments)?).map(process::code)
        }
        Command::Patch(options) => patch::patch(&service()?, &options),
        Command::Audit { arguments } => audit(&service()?, &arguments),
        Command::Migrate(options) => migrate::migrate(&service()?, &options),
        Command::Measure { program } => compare::measure(&program),
    }
}

/// cargo-audit looks up packages of the registry only, and the tree's tokio comes from elsewhere.
fn audit(service: &Service, arguments: &[OsString]) -> Result<u8> {
    let file = service.target.join("without-the-tree.lock");
    process::put(&file, service::without_the_tree(service.read_lock()?))?;
    let mut command = process::cargo();
    command.arg("audit").arg("--file").arg(&file).args(arguments);
    process::run(command).map(process::code)
}
