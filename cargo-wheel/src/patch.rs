//! Patches a service's tree to stay, proves what that has written, and undoes it.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use cargo_lock::Lockfile;

use crate::packages::{self, TABLES, shown};
use crate::process::put;
use crate::service::Service;
use crate::tree::{self, Files, Kind, MARK, TOKIO};

/// The folder of the tree in a workspace. It also has the lock file of before and after.
const FOLDER: &str = "whole-tree";
const LOCKS: [&str; 2] = ["before.lock", "after.lock"];

const GUARD: &str = "tokio-wheel-guard";

/// The lines around the section in the manifest, by which it is found again.
const BEGIN: &str = "# cargo wheel patch: the timers of all packages are tokio-wheel's\n";
const END: &str = "# cargo wheel patch: end\n";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Take back an earlier patch
    #[arg(long, conflicts_with = "git")]
    undo: bool,
    /// Prove by checksums that an earlier patch has the registry's Tokio, and write a lock file for
    /// cargo-audit
    #[arg(long, conflicts_with_all = ["git", "undo"])]
    verify: bool,
    /// Patch from tokio-wheel's repository, instead of writing sources into the workspace
    #[arg(long, value_name = "URL")]
    git: Option<String>,
    /// The release of tokio-wheel to take from there
    #[arg(long, requires = "git")]
    tag: Option<String>,
}

impl Options {
    /// Returns where a package of the tree comes from, as in its table in a manifest.
    fn source(&self, package: &str) -> String {
        match (&self.git, &self.tag) {
            (None, _) => format!("path = \"{package}\""),
            (Some(url), None) => format!("git = \"{url}\""),
            (Some(url), Some(tag)) => format!("git = \"{url}\"\ntag = \"{tag}\""),
        }
    }
}

pub(crate) fn patch(service: &Service, options: &Options) -> Result<u8> {
    if options.undo {
        return undo(service);
    }
    if options.verify {
        return verify(service);
    }
    tree::has_no_other_patch(service)?;
    let folder = service.root.join(FOLDER);
    ensure!(!folder.exists(), "{}: remove this first", folder.display());
    if let Err(error) = write(service, options) {
        // It may not be there yet.
        let _ = fs::remove_dir_all(&folder);
        return Err(error);
    }
    println!(
        "patched: all crates in {} now use tokio-wheel's timers, and tokio {TOKIO}{MARK}",
        service.root.display()
    );
    println!(
        "If another tokio is ever locked, cargo only warns. To make that an error, write in {}",
        guarded(service, options)
    );
    println!("For a proof of what was written, and for cargo-audit: cargo wheel patch --verify");
    Ok(0)
}

/// Returns where the guard may stand, and its line.
fn guarded(service: &Service, options: &Options) -> String {
    let uses = |package: &&cargo_metadata::Package| {
        package.dependencies.iter().any(|on| on.name == "tokio")
    };
    let package = service.packages.iter().find(uses).or(service.packages.first());
    let manifest =
        package.map_or(service.manifest(), |package| package.manifest_path.clone().into());
    let inside = manifest.parent().and_then(|folder| folder.strip_prefix(&service.root).ok());
    let up = inside.map(|inside| "../".repeat(inside.components().count()));
    let up = up.unwrap_or_else(|| format!("{}/", service.root.display()));
    let source = options.source(&format!("{up}{FOLDER}/guard")).replace('\n', ", ");
    format!("{}, below [dependencies]:\n    {GUARD} = {{ {source} }}", shown(&manifest))
}

/// Changes the workspace last, when all is known.
fn write(service: &Service, options: &Options) -> Result<()> {
    let folder = service.root.join(FOLDER);
    if options.git.is_none() {
        tree::write(&folder, &tree::files(service, Kind::Patch)?.0)?;
    }
    let manifest = fs::read_to_string(service.manifest())?;
    let end = if manifest.ends_with('\n') { "" } else { "\n" };
    let source = options.source(&format!("{FOLDER}/tokio"));
    let manifest = format!("{manifest}{end}{BEGIN}[patch.crates-io.tokio]\n{source}\n{END}");
    let copy = service.copy("patch")?;
    fs::remove_file(copy.manifest())?;
    put(&copy.manifest(), &manifest)?;
    tree::take(&copy)?;
    if let Ok(before) = fs::read(service.lock()) {
        put(&folder.join(LOCKS[0]), before)?;
    }
    let after = fs::read(copy.lock())?;
    put(&folder.join(LOCKS[1]), &after)?;
    put(&service.manifest(), manifest)?;
    put(&service.lock(), after)
}

/// Restores the lock file if it is as `patch` left it, except for the guard. Otherwise it keeps what
/// changed since.
fn undo(service: &Service) -> Result<u8> {
    let (folder, lock, path) = (service.root.join(FOLDER), service.lock(), service.manifest());
    let manifest = fs::read_to_string(&path)?;
    let (before, rest) = manifest.split_once(BEGIN).unwrap_or_default();
    let (_, after) = rest.split_once(END).with_context(|| {
        format!("{}: cargo wheel patch has written nothing here", path.display())
    })?;
    let members = service.packages.iter().map(|package| package.manifest_path.as_std_path());
    let guards = members.chain([&*path]).filter_map(|path| packages::place(path, GUARD, &TABLES));
    let guards: Vec<_> = guards.collect();
    ensure!(guards.is_empty(), "{}: remove the dependency on {GUARD} first", guards.join(", "));
    let unguarded = |file: &Path| {
        let mut lock = Lockfile::load(file).ok()?;
        tree::remove(&mut lock, &[GUARD]);
        Some(lock.to_string())
    };
    let is_kept = !lock.exists() || unguarded(&folder.join(LOCKS[1])) == unguarded(&lock);
    put(&path, format!("{before}{after}"))?;
    match fs::read(folder.join(LOCKS[0])) {
        Ok(before) if is_kept => put(&lock, before)?,
        Err(_) if is_kept && lock.exists() => fs::remove_file(&lock)?,
        Err(_) if is_kept => {}
        _ => put(&lock, tree::unpatched(service.read_lock()?))?,
    }
    fs::remove_dir_all(&folder)?;
    let lock = if is_kept { "is as before" } else { "has changed since, and keeps its versions" };
    println!(
        "no longer patched: all crates in {} use Tokio's timers. Cargo.lock {lock}",
        service.root.display()
    );
    Ok(0)
}

/// Compares the folder with what `patch` would write now, from the package whose checksum is the
/// index's.
fn verify(service: &Service) -> Result<u8> {
    let lock = service.read_lock()?;
    ensure!(tree::is_patched(&lock), "{}: not patched", service.root.display());
    let folder = service.root.join(FOLDER);
    let found: Files = tree::read(&folder)?;
    let mut differing = Vec::new();
    if found.contains_key(Path::new("tokio/Cargo.toml")) {
        let (files, checksum) = tree::files(service, Kind::Patch)?;
        let names = found.keys().chain(files.keys().filter(|name| !found.contains_key(*name)));
        let names = names.filter(|name| !LOCKS.iter().any(|lock| name.ends_with(lock)));
        differing.extend(names.filter(|name| found.get(*name) != files.get(*name)).cloned());
        println!("tokio-{TOKIO}.crate has the SHA-256 of the registry's index: {checksum}");
        match differing.is_empty() {
            true => println!(
                "{}: the {} files of real are those of that package, without its tests. All others are what this cargo wheel writes.",
                shown(&folder),
                files.keys().filter(|name| name.starts_with("real")).count()
            ),
            false => println!("{}: these files differ:", shown(&folder)),
        }
        differing.iter().for_each(|name| println!("  {}", name.display()));
    } else {
        println!(
            "The patch is not from {}, so there are no sources to compare. Cargo.lock names their commit.",
            shown(&folder)
        );
    }
    let file = service.target.join("audit.lock");
    put(&file, tree::unpatched(lock))?;
    println!("Advisories for Tokio, which the patch hides: cargo audit --file {}", shown(&file));
    Ok(u8::from(!differing.is_empty()))
}
