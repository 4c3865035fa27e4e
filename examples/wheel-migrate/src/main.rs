//! Moves a service from `tokio::time` to `wheel::time`, and back.
//!
//! ```sh
//! cargo install --locked --path examples/wheel-migrate
//! wheel-migrate path/to/service                    # shows the changes without making them
//! wheel-migrate --write --path . path/to/service   # makes them
//! ```
//!
//! | file | subject |
//! | --- | --- |
//! | `tokens.rs` | the tokens of a Rust file, and their byte ranges |
//! | `moves.rs` | tables of the paths that move, and advice on those that stay |
//! | `imports.rs` | `use` statements |
//! | `rewrite.rs` | the changes of one file |
//! | `manifest.rs` | the changes of one `Cargo.toml` |
//! | `service.rs` | all files and manifests of a service |

mod imports;
mod manifest;
mod moves;
mod rewrite;
mod service;
#[cfg(test)]
mod tests;
mod tokens;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::ensure;
use clap::Parser;

use service::Service;

/// Moves the Rust files below DIRECTORY from tokio::time to wheel::time of the crate tokio-wheel,
/// and lists what it leaves alone. Without --write it only shows the changes.
///
/// The exit status is 0 on success, 1 if --check finds something to change, and 2 on errors.
#[derive(Parser)]
struct Options {
    /// Write the changes to the files
    #[arg(long)]
    write: bool,
    /// Exit with status 1 if there is anything to change, for CI
    #[arg(long, conflicts_with = "write")]
    check: bool,
    /// Move from wheel::time to tokio::time instead
    #[arg(long)]
    back: bool,
    /// Depend on tokio-wheel in this directory
    #[arg(long, value_name = "CRATE", conflicts_with = "git", value_parser = |given: &str| dunce::canonicalize(given))]
    path: Option<PathBuf>,
    /// Depend on tokio-wheel in this git repository
    #[arg(long, value_name = "URL")]
    git: Option<String>,
    #[arg(default_value = ".")]
    directory: PathBuf,
}

fn main() -> ExitCode {
    const ERROR: u8 = 2;
    let options = Options::parse();
    let status = migrate(&options).and_then(|(report, changes)| {
        // If the output is a closed pipe, this fails, so the files have been written before.
        io::stdout().write_all(report.as_bytes())?;
        Ok(u8::from(options.check && changes > 0))
    });
    ExitCode::from(status.unwrap_or_else(|error| {
        eprintln!("wheel-migrate: {error:#}");
        ERROR
    }))
}

/// Returns what to print, and the number of files that change.
fn migrate(options: &Options) -> anyhow::Result<(String, usize)> {
    let has_source = options.path.is_some() || options.git.is_some();
    ensure!(
        has_source || options.back || !options.write,
        "tokio-wheel is not published yet; name its directory by --path, or its repository by --git"
    );
    let service = Service::migrate(options)?;
    if options.write {
        service.write()?;
    }
    let changes = service.changes.len();
    let advice = match options.write {
        _ if changes == 0 => "No file changes.".to_owned(),
        true => format!("Changed {changes} files. Now run: cargo fmt && cargo check --all-targets"),
        false => format!("{changes} files would change. Run with --write to change them."),
    };
    Ok((format!("{}\n{advice}\n", service.report()), changes))
}
