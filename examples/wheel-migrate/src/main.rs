//! Moves a service from `tokio::time` to `wheel::time`, and back.
//!
//! ```sh
//! cargo install --locked --path examples/wheel-migrate
//! wheel-migrate path/to/service            # says what it would change, and changes nothing
//! wheel-migrate --write path/to/service    # changes it
//! ```
//!
//! | file | one idea |
//! | --- | --- |
//! | `syntax.rs` | what is in a file: imports, paths, calls, public items |
//! | `moves.rs` | what moves and where to, and by which names |
//! | `scope.rs` | what names mean in a file |
//! | `streams.rs` | which calls are of tokio-stream's methods that have timers |
//! | `rewrite.rs` | what becomes of a file, and what is left alone in it |
//! | `imports.rs` | what becomes of its imports |
//! | `only_here.rs` | going back: what types of this crate can do, and others cannot |
//! | `manifest.rs` | a manifest's dependencies |
//! | `manifest/change.rs` | what is added to them and taken out |
//! | `lock.rs` | which tokio is locked |
//! | `service.rs` | all files and manifests together, and what is told of them |

#[cfg(test)]
mod forms;
mod imports;
mod lock;
mod manifest;
mod moves;
mod only_here;
mod rewrite;
mod scope;
mod service;
mod streams;
mod syntax;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Parser;

use manifest::Source;
use moves::Direction;
use service::Service;

/// To be changed with the first release; a test compares it with the library's manifest.
const IS_PUBLISHED: bool = false;

/// Moves the Rust sources below DIRECTORY from tokio::time to wheel::time of the crate
/// tokio-wheel, and says what it has left alone. Without --write it changes nothing.
///
/// Exit status: 0, or 1 with --check, or 2 where something is wrong.
#[derive(Parser)]
struct Options {
    /// Change the files
    #[arg(long)]
    write: bool,
    /// For CI: exit status 1 if there is anything to change
    #[arg(long, conflicts_with = "write")]
    check: bool,
    /// The other way: from wheel::time to tokio::time
    #[arg(long)]
    back: bool,
    #[command(flatten)]
    source: Source,
    #[arg(default_value = ".")]
    directory: PathBuf,
}

fn main() -> ExitCode {
    const TROUBLE: u8 = 2;
    let options = Options::parse();
    // Once the work is done, so that a closed pipe does not stop it half-way.
    let told = migrate(&options).and_then(|(told, has_changes)| {
        write!(io::stdout(), "{told}")?;
        Ok(has_changes)
    });
    match told {
        Ok(has_changes) if options.check && has_changes => ExitCode::FAILURE,
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wheel-migrate: {error:#}");
            ExitCode::from(TROUBLE)
        }
    }
}

/// What to tell, and whether there was anything to change.
fn migrate(options: &Options) -> anyhow::Result<(String, bool)> {
    let (mut service, sources) = Service::read(&options.directory)?;
    let direction = match options.back {
        false => Direction::Forth,
        true => Direction::Back,
    };
    if direction == Direction::Forth {
        service.tell_of_the_lock()?;
    }
    for path in sources {
        service.file(&path, direction)?;
    }
    service.depend(direction, &options.source);
    if options.write && !IS_PUBLISHED && service.takes_published() {
        bail!(
            "nothing is changed: tokio-wheel is not published yet, so say where it is from, by \
             --path DIRECTORY of a clone, or by --git URL"
        );
    }
    service.change_manifests();
    let changed = service.changed.len();
    let advice = match options.write {
        _ if changed == 0 => "",
        true => " Now: cargo fmt && cargo check --all-targets",
        false => " With --write they are changed.",
    };
    if options.write {
        service.write()?;
    }
    let told = service.told(direction, options.write);
    let told = format!("{told}\n{changed} files change.{advice}\n");
    Ok((told, changed > 0))
}

#[cfg(test)]
mod tests;
