//! Moves a service's own code from `tokio::time` to `wheel::time`, and back.
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
pub(crate) mod manifest;
pub(crate) mod moves;
pub(crate) mod rewrite;
mod service;
mod tokens;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::ensure;

use self::service::Service;
pub(crate) use self::service::{is_source, shown};
use crate::tree;

#[derive(clap::Parser)]
pub(crate) struct Options {
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
    /// The files to change are below this directory, by default the manifest's
    directory: Option<PathBuf>,
}

pub(crate) fn main(manifest: Option<&Path>, options: &Options) -> anyhow::Result<u8> {
    let here = manifest.and_then(Path::parent).filter(|path| *path != Path::new(""));
    let directory = options.directory.as_deref().or(here).unwrap_or(Path::new("."));
    let (report, changes) = migrate(directory, options)?;
    // If the output is a closed pipe, this fails, so the files have been written before.
    io::stdout().write_all(report.as_bytes())?;
    Ok(u8::from(options.check && changes > 0))
}

/// Returns what to print, and the number of files that change.
pub(crate) fn migrate(directory: &Path, options: &Options) -> anyhow::Result<(String, usize)> {
    const SOURCE: &str = "name where tokio-wheel comes from, by --path DIRECTORY or by --git URL: this command is from a clone, whose version may not be published";
    let is_open =
        options.path.is_none() && options.git.is_none() && !options.back && tree::clone().is_some();
    ensure!(!(is_open && options.write), "{SOURCE}");
    let service = Service::migrate(directory, options)?;
    if options.write {
        service.write()?;
    }
    let changes = service.changes.len();
    let advice = match options.write {
        _ if changes == 0 => "No file changes.".to_owned(),
        true => format!("Changed {changes} files. Now run: cargo fmt && cargo check --all-targets"),
        false if is_open => {
            format!("{changes} files would change. To change them, run with --write, and {SOURCE}.")
        }
        false => format!("{changes} files would change. Run with --write to change them."),
    };
    Ok((format!("{}\n{advice}\n", service.report()), changes))
}
