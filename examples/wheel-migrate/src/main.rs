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
//! | `tokens.rs` | a file as a row of tokens that know where they are |
//! | `imports.rs` | a `use` declaration as a tree |
//! | `moves.rs` | what moves and where to, and by which names |
//! | `scope.rs` | what names mean in a file; what of it is public |
//! | `streams.rs` | calls of tokio-stream's methods that have timers |
//! | `rewrite.rs` | what becomes of a file, and what is left alone in it |
//! | `manifest.rs` | the dependency, where tokio's stands |
//! | `lock.rs` | which tokio is locked |
//! | `service.rs` | all files and manifests together, and what is told of them |

mod imports;
mod lock;
mod manifest;
mod moves;
mod rewrite;
mod scope;
mod service;
mod streams;
mod tokens;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, io};

use manifest::Source;
use moves::Direction;
use service::Service;

const USAGE: &str = "\
usage: wheel-migrate [--write | --check] [--back] [--path CRATE | --git URL] [DIRECTORY]

Moves the Rust sources below DIRECTORY (default: this one) from tokio::time to
wheel::time of the crate tokio-wheel, and says what it has left alone. Without
--write it changes nothing.

  --write       change the files
  --check       for CI: exit status 1 if there is anything to change
  --back        the other way: from wheel::time to tokio::time
  --path CRATE  depend on tokio-wheel in this directory, not on a published one
  --git URL     depend on tokio-wheel in this repository

Exit status: 0, or 1 with --check, or 2 where something is wrong.
";

const TROUBLE: u8 = 2;

struct Options {
    mode: Mode,
    direction: Direction,
    source: Source,
    directory: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Show,
    Write,
    Check,
}

fn main() -> ExitCode {
    let options = match options(env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprint!("wheel-migrate: {message}\n\n{USAGE}");
            return ExitCode::from(TROUBLE);
        }
    };
    let mut service = Service::default();
    let result = service.go_through(&options);
    // At the end, so that a closed pipe does not stop the work half-way.
    if let Err(error) = io::stdout().write_all(service.told().as_bytes()) {
        if error.kind() != io::ErrorKind::BrokenPipe {
            eprintln!("wheel-migrate: standard output: {error}");
            return ExitCode::from(TROUBLE);
        }
    }
    match result {
        Ok(()) if options.mode == Mode::Check && service.has_changes() => ExitCode::FAILURE,
        Ok(()) => ExitCode::SUCCESS,
        Err((path, error)) => {
            eprintln!("wheel-migrate: {}: {error}", path.display());
            ExitCode::from(TROUBLE)
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let (mut mode, mut direction) = (Mode::Show, Direction::Forth);
    let (mut source, mut directory) = (Source::Registry, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--help" | "-h" => return Ok(None),
            "--write" | "--check" if mode != Mode::Show => {
                return Err("one of --write and --check, once".to_owned());
            }
            "--write" => mode = Mode::Write,
            "--check" => mode = Mode::Check,
            "--back" => direction = Direction::Back,
            "--path" | "--git" if !matches!(source, Source::Registry) => {
                return Err("one of --path and --git, once".to_owned());
            }
            "--path" => source = path(&arguments.next().ok_or("--path needs a directory")?)?,
            "--git" => source = Source::Git(arguments.next().ok_or("--git needs a URL")?),
            option if option.starts_with('-') => return Err(format!("{option} is no option")),
            _ if directory.is_some() => return Err("one directory at a time".to_owned()),
            _ => directory = Some(PathBuf::from(argument)),
        }
    }
    let directory = directory.unwrap_or_else(|| PathBuf::from("."));
    if !directory.is_dir() {
        return Err(format!("{} is no directory", directory.display()));
    }
    Ok(Some(Options {
        mode,
        direction,
        source,
        directory,
    }))
}

fn path(given: &str) -> Result<Source, String> {
    let given = PathBuf::from(given);
    let manifest = std::fs::read_to_string(given.join("Cargo.toml"))
        .map_err(|error| format!("--path: {}: {error}", given.join("Cargo.toml").display()))?;
    if !manifest.contains("name = \"tokio-wheel\"") {
        return Err(format!("--path: {} is not tokio-wheel", given.display()));
    }
    let absolute = absolute(&given).map_err(|error| format!("--path: {error}"))?;
    Ok(Source::Path(absolute, given))
}

fn absolute(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}
