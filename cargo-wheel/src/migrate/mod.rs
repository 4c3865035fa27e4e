//! Moves a service's own code from `tokio::time` to `wheel::time`, and back.
//!
//! | file | subject |
//! | --- | --- |
//! | `moves.rs` | tables of the paths that move, and advice on those that stay |
//! | `rewrite.rs` | the changes of one file |
//! | `imports.rs` | its `use` statements |
//! | `manifest.rs` | how cargo changes one `Cargo.toml` |

mod imports;
mod manifest;
mod moves;
mod rewrite;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use cargo_metadata::Package;
use similar::TextDiff;

use self::manifest::{WHEEL, back, forth};
use self::moves::Direction;
use self::rewrite::File;
use crate::packages::{shown, sources};
use crate::process::{self, restore};
use crate::service::Service;
use crate::tree;

#[derive(clap::Args)]
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
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "git")]
    path: Option<PathBuf>,
    /// Depend on tokio-wheel in this git repository
    #[arg(long, value_name = "URL")]
    git: Option<String>,
}

/// Why a package with such a module stays as it is.
const MODULE: &str = "`mod wheel`: this package stays as it is, because tokio-wheel's library has the same name: rename the module first";

impl Options {
    fn direction(&self) -> Direction {
        if self.back { Direction::Back } else { Direction::Forth }
    }

    /// Returns how to add tokio-wheel, as arguments of `cargo add`.
    fn source(&self) -> Vec<String> {
        let from = match (&self.path, &self.git) {
            (Some(path), _) => format!("--path={}", path.display()),
            (_, Some(url)) => format!("--git={url}"),
            _ if tree::clone().is_some() => "--path=<DIRECTORY>".to_owned(),
            _ => return vec![format!("tokio-wheel@{}", env!("CARGO_PKG_VERSION"))],
        };
        vec!["tokio-wheel".to_owned(), from]
    }
}

/// Returns the lines of calls that turn on tokio's alternative timer.
pub(crate) fn alternative_timers(text: &str) -> Vec<usize> {
    // Most files need not be parsed.
    if !text.contains(".enable_alt_timer()") {
        return Vec::new();
    }
    let left = File::read(text, Direction::Forth).left.into_iter();
    let calls = left.filter(|(_, what)| what.starts_with("`enable_alt_timer`"));
    calls.map(|(line, _)| line).collect()
}

/// What changes in a service, and what is left alone.
#[derive(Default)]
struct Changes {
    /// The files, with their text before and after.
    files: Vec<(PathBuf, String, String)>,
    left: Vec<String>,
    /// Cargo's arguments, which change the manifests.
    commands: Vec<Vec<String>>,
}

pub(crate) fn migrate(service: &Service, options: &Options) -> Result<u8> {
    const SOURCE: &str = "name where tokio-wheel comes from, by --path DIRECTORY or by --git URL: this command is from a clone, whose version may not be published";
    let is_named = options.path.is_some() || options.git.is_some();
    let is_open = !is_named && !options.back && tree::clone().is_some();
    ensure!(!(is_open && options.write), "{SOURCE}");
    let mut changes = Changes::default();
    for package in &service.packages {
        changes.add_package(package, options)?;
    }
    if options.write {
        changes.write(service, options)?;
    }
    let is_nothing = changes.files.is_empty() && changes.commands.is_empty();
    let source = if is_open { format!(", and {SOURCE}") } else { String::new() };
    let advice = match (is_nothing, options.write) {
        (true, _) => "Nothing changes.".to_owned(),
        (_, true) => "Changed. Now: cargo fmt && cargo test".to_owned(),
        (_, false) => format!("To make these changes, use --write{source}."),
    };
    println!("{}\n{advice}", changes.report());
    Ok(u8::from(options.check && !is_nothing))
}

impl Changes {
    /// Writes all changes, or none if that fails.
    fn write(&self, service: &Service, options: &Options) -> Result<()> {
        let paths = service.packages.iter().map(|package| package.manifest_path.clone().into());
        let paths = paths.chain([service.manifest(), service.lock()]);
        let paths = paths.chain(self.files.iter().map(|(path, ..)| path.clone()));
        let before: Vec<_> = paths.map(|path| (fs::read(&path), path)).collect();
        self.apply(options).map_err(|error| {
            let restored = before.into_iter().map(|(before, path)| restore(&path, before));
            let differ = restored.filter(Result::is_err);
            error.context(match differ.count() {
                0 => "Nothing has changed",
                _ => "Some files have changed: run this again, which does the rest",
            })
        })
    }

    /// A manifest first gets what the sources need, and loses last what they no longer need. So when
    /// this is killed, another run does the rest.
    fn apply(&self, options: &Options) -> Result<()> {
        let mut files = self.files.iter();
        let mut sources = || files.try_for_each(|(path, _, after)| process::put(path, after));
        if options.back {
            sources()?;
        }
        for arguments in &self.commands {
            let failed = || format!("this has failed: cargo {}", arguments.join(" "));
            let status = process::run(process::cargo().args(arguments)).with_context(failed)?;
            ensure!(status.success(), "{}: {status}", failed());
        }
        sources()
    }

    fn add_package(&mut self, package: &Package, options: &Options) -> Result<()> {
        let to = options.direction();
        // Without tokio-wheel, a `wheel` is another.
        if options.back && !package.dependencies.iter().any(|on| on.name == WHEEL) {
            return Ok(());
        }
        let texts = sources(package).map(|path| Ok((read(&path)?, path)));
        let texts = texts.collect::<Result<Vec<_>>>()?;
        let files: Vec<_> = texts.iter().map(|(text, _)| File::read(text, to)).collect();
        let both = || files.iter().zip(&texts);
        if let Some((line, path)) = both().find_map(|(file, (_, path))| Some((file.module?, path)))
        {
            if files.iter().any(|file| !file.edits.is_empty()) {
                self.left.push(format!("{}:{}: {MODULE}", shown(path), line));
            }
            for (before, path) in &texts {
                self.add_file(path, before, before.clone(), options);
            }
            return Ok(());
        }
        both().for_each(|(file, (before, path))| self.add_file(path, before, file.text(), options));
        self.add_commands(package, &files, options);
        Ok(())
    }

    fn add_file(&mut self, path: &Path, before: &str, after: String, options: &Options) {
        // With --write, the lines are those of the new file.
        let listed = if options.write { &after } else { before };
        let mut listed = File::read(listed, options.direction());
        if before != after {
            listed.list_public();
        }
        for (line, what) in listed.left {
            self.left.push(format!("{}:{line}: {what}", shown(path)));
        }
        if before != after {
            self.files.push((path.to_owned(), before.to_owned(), after));
        }
    }

    fn add_commands(&mut self, package: &Package, files: &[File], options: &Options) {
        let uses_wheel = files.iter().any(|file| file.uses_wheel);
        let needs = files.iter().flat_map(|file| &file.needs).copied().collect();
        let is_optional = package.dependencies.iter().any(|on| on.name == "tokio" && on.optional);
        if is_optional && uses_wheel && !options.back {
            let manifest = shown(package.manifest_path.as_std_path());
            let told = format!("{manifest}: tokio is optional: make tokio-wheel optional, too");
            self.left.push(told);
        }
        self.commands.extend(match options.direction() {
            Direction::Forth if uses_wheel => forth(package, &needs, &options.source()),
            Direction::Back if !uses_wheel => back(package, &needs),
            _ => Vec::new(),
        });
    }

    /// Returns the changes as a diff, and the list of what is left alone.
    fn report(&self) -> String {
        let mut report = String::new();
        for (path, before, after) in &self.files {
            let (lines, path) = (TextDiff::from_lines(before, after), shown(path));
            let mut diff = lines.unified_diff();
            report += &diff.context_radius(0).header(&path, &path).to_string();
        }
        for command in &self.commands {
            report += &format!("cargo {}\n", command.join(" "));
        }
        if !self.left.is_empty() {
            report += &format!("\nLook at these:\n  {}\n", self.left.join("\n  "));
        }
        report
    }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| shown(path))
}
