//! Moves a service from `tokio::time` to this crate, by its imports and its paths.
//!
//! ```sh
//! cargo install tokio-wheel --features migrate
//! wheel-migrate path/to/service            # says what it would change, and changes nothing
//! wheel-migrate --write path/to/service    # changes it
//! ```
//!
//! | file | one idea |
//! | --- | --- |
//! | `tokens.rs` | a file as a row of tokens that know where they are |
//! | `imports.rs` | a `use` declaration as a tree |
//! | `places.rs` | what moves, what stays, and what takes whose place |
//! | `rewrite.rs` | what becomes of a file, and what is left alone in it |
//! | `manifest.rs` | the line in `Cargo.toml` |

mod imports;
mod manifest;
mod places;
mod rewrite;
mod tokens;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fmt, fs, io};

use manifest::Needs;
use rewrite::{Change, Rewritten};

const USAGE: &str = "\
usage: wheel-migrate [--write] [--path CRATE] [DIRECTORY]

Moves the Rust sources below DIRECTORY (default: this one) from tokio::time to
the crate tokio-wheel, and says what it has left alone.

  --write       change the files; without it, only say what would change
  --path CRATE  depend on tokio-wheel in this directory, not on a published one
";

struct Options {
    write: bool,
    path: Option<String>,
    directory: PathBuf,
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
            return ExitCode::from(2);
        }
    };
    let mut found = Found::default();
    let result = migrate(&options, &mut found);
    // At the end: whoever reads only the first lines does not stop it half-way.
    if let Err(error) = io::stdout().write_all(found.told.as_bytes()) {
        if error.kind() != io::ErrorKind::BrokenPipe {
            eprintln!("wheel-migrate: standard output: {error}");
            return ExitCode::FAILURE;
        }
    }
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err((path, error)) => {
            eprintln!("wheel-migrate: {}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let (mut write, mut path, mut directory) = (false, None, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--help" | "-h" => return Ok(None),
            "--write" => write = true,
            "--path" => path = Some(arguments.next().ok_or("--path needs a directory")?),
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
        write,
        path,
        directory,
    }))
}

type Failed = (PathBuf, io::Error);

/// What was found in all files together.
#[derive(Default)]
struct Found {
    /// What is printed of it.
    told: String,
    changed: usize,
    changes: usize,
    left: Vec<String>,
    /// By package: the directory of its manifest.
    needs: BTreeMap<PathBuf, Needs>,
}

fn migrate(options: &Options, found: &mut Found) -> Result<(), Failed> {
    for path in sources(&options.directory)? {
        let source = fs::read_to_string(&path).map_err(|error| (path.clone(), error))?;
        let rewritten = match rewrite::rewrite(&source) {
            Ok(rewritten) => rewritten,
            Err(error) => {
                found.left.push(format!("{}: {error}", path.display()));
                continue;
            }
        };
        found.note(&path, &rewritten);
        if options.write && rewritten.text != source {
            fs::write(&path, &rewritten.text).map_err(|error| (path.clone(), error))?;
        }
    }
    depend(found, options)?;
    found.sum_up(options.write);
    Ok(())
}

impl Found {
    fn note(&mut self, path: &Path, rewritten: &Rewritten) {
        for change in &rewritten.changes {
            let Change {
                line,
                before,
                after,
            } = change;
            self.tell(format_args!("{}:{line}", path.display()));
            self.tell(format_args!("  - {before}\n  + {after}"));
        }
        self.changed += usize::from(!rewritten.changes.is_empty());
        self.changes += rewritten.changes.len();
        let left = rewritten.left.iter();
        self.left
            .extend(left.map(|left| format!("{}:{}: {}", path.display(), left.line, left.what)));
        if !rewritten.changes.is_empty() {
            let package = path
                .ancestors()
                .find(|above| above.join("Cargo.toml").is_file())
                .unwrap_or(Path::new("."));
            let needs = self.needs.entry(package.to_owned()).or_default();
            needs.add(&rewritten.needs);
            needs.library |= !is_for_tests(path, package);
        }
    }

    fn tell(&mut self, line: fmt::Arguments<'_>) {
        self.told += &format!("{line}\n");
    }

    fn sum_up(&mut self, written: bool) {
        let left = std::mem::take(&mut self.left);
        if !left.is_empty() {
            self.tell(format_args!("\nLeft alone; these stay on tokio's timers:"));
            left.iter()
                .for_each(|left| self.tell(format_args!("  {left}")));
        }
        let sum = format!("{} changes in {} files", self.changes, self.changed);
        match written {
            true => self.tell(format_args!(
                "\n{sum}. Now: cargo fmt && cargo check --all-targets"
            )),
            false => self.tell(format_args!("\n{sum} to be made. With --write they are.")),
        }
    }
}

/// Whether cargo builds a file for tests, examples or benches alone, by the folder it is in.
fn is_for_tests(path: &Path, package: &Path) -> bool {
    let inside = path.strip_prefix(package).unwrap_or(path);
    ["tests", "examples", "benches"]
        .iter()
        .any(|folder| inside.starts_with(folder))
}

/// Adds the dependency to each package that needs it.
fn depend(found: &mut Found, options: &Options) -> Result<(), Failed> {
    for (package, needs) in std::mem::take(&mut found.needs) {
        let path = package.join("Cargo.toml");
        let failed = |error| (path.clone(), error);
        let Ok(before) = fs::read_to_string(&path) else {
            found.left.push(format!(
                "{}: there is no manifest to add the dependency to",
                path.display()
            ));
            continue;
        };
        let added = manifest::add(&before, &needs, options.path.as_deref());
        for line in &added.lines {
            found.tell(format_args!("{}\n  + {line}", path.display()));
        }
        if options.write && added.text != before {
            fs::write(&path, &added.text).map_err(failed)?;
        }
    }
    Ok(())
}

/// Every Rust file below a directory, but for what is built or hidden.
fn sources(directory: &Path) -> Result<Vec<PathBuf>, Failed> {
    let (mut directories, mut files) = (vec![directory.to_owned()], Vec::new());
    while let Some(directory) = directories.pop() {
        let failed = |error| (directory.clone(), error);
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() && name != "target" && !name.starts_with('.') {
                directories.push(path);
            } else if kind.is_file() && name.ends_with(".rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
