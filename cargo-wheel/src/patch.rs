//! Patches a service's tree to stay, proves what that has written, and undoes it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use cargo_lock::Lockfile;
use cargo_metadata::Package;

use crate::packages::{self, TABLES, shown};
use crate::process::{put, restore};
use crate::service::Service;
use crate::tree::{self, MARK, TOKIO};

/// The folder of the tree in a workspace. It also has the lock file of before and after.
const FOLDER: &str = "whole-tree";
const LOCKS: [&str; 2] = ["before.lock", "after.lock"];

const GUARD: &str = "tokio-wheel-guard";

/// The lines around the section in the manifest, by which it is found again.
const BEGIN: &str = "# cargo wheel patch: the timers of all packages are tokio-wheel's";
const END: &str = "# cargo wheel patch: end";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Take back an earlier patch
    #[arg(long)]
    undo: bool,
    /// Prove by checksums that an earlier patch has the registry's Tokio, and write a lock file for
    /// cargo-audit
    #[arg(long, conflicts_with = "undo")]
    verify: bool,
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
    if let Err(error) = write(service, &folder) {
        // It may not be there yet.
        let _ = fs::remove_dir_all(&folder);
        return Err(error);
    }
    let (root, guard) = (service.root.display(), guard(service));
    println!("patched: all crates in {root} now use tokio-wheel's timers, and tokio {TOKIO}{MARK}");
    println!(
        "If another tokio is ever locked, cargo only warns. To make that an error, write in {guard}"
    );
    println!("For a proof of what was written, and for cargo-audit: cargo wheel patch --verify");
    Ok(0)
}

/// Returns where the guard may stand, and its line.
fn guard(service: &Service) -> String {
    let uses = |package: &&Package| package.dependencies.iter().any(|on| on.name == "tokio");
    let package = service.packages.iter().find(uses).or(service.packages.first());
    let manifest = package.map(|package| package.manifest_path.clone().into());
    let manifest: PathBuf = manifest.unwrap_or(service.manifest());
    let depth = manifest.strip_prefix(&service.root).ok().map(|path| path.components().count() - 1);
    let up = depth.map_or(format!("{}/", service.root.display()), |depth| "../".repeat(depth));
    let manifest = shown(&manifest);
    format!("{manifest}, below [dependencies]:\n    {GUARD} = {{ path = \"{up}{FOLDER}/guard\" }}")
}

/// Changes the workspace last, when all is known.
fn write(service: &Service, folder: &Path) -> Result<()> {
    tree::write(folder, &tree::files(service)?.0)?;
    let manifest = fs::read_to_string(service.manifest())?;
    let end = if manifest.ends_with('\n') { "" } else { "\n" };
    let section = format!("[patch.crates-io.tokio]\npath = \"{FOLDER}/tokio\"\n");
    let manifest = format!("{manifest}{end}{BEGIN}\n{section}{END}\n");
    let copy = service.copy("patch")?;
    fs::remove_file(copy.manifest())?;
    put(&copy.manifest(), &manifest)?;
    tree::take(&copy)?;
    let before = fs::read(service.lock());
    if let Ok(before) = &before {
        put(&folder.join(LOCKS[0]), before)?;
    }
    let after = fs::read(copy.lock())?;
    put(&folder.join(LOCKS[1]), &after)?;
    // First what is more often read-only.
    put(&service.lock(), after)?;
    put(&service.manifest(), manifest).inspect_err(|_| {
        let _ = restore(&service.lock(), before);
    })
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
    // The lines may end in \r\n by now.
    let (_, after) = after.split_once('\n').unwrap_or_default();
    let members = service.packages.iter().map(|package| package.manifest_path.as_std_path());
    let guards = members.chain([&*path]).filter_map(|path| packages::place(path, GUARD, &TABLES));
    let guards: Vec<_> = guards.collect();
    ensure!(guards.is_empty(), "{}: remove the dependency on {GUARD} first", guards.join(", "));
    let unguarded = |file: &Path| {
        let mut lock = Lockfile::load(file).ok()?;
        tree::remove(&mut lock, &[GUARD]);
        Some(lock.to_string())
    };
    let found = unguarded(&lock);
    let is_same = found.is_some() && found == unguarded(&folder.join(LOCKS[1]));
    let is_kept = is_same || !lock.exists();
    // The manifest last, so that another run finishes this one.
    if is_kept {
        restore(&lock, fs::read(folder.join(LOCKS[0])))?;
    } else {
        put(&lock, tree::unpatched(service.read_lock()?))?;
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    put(&path, format!("{before}{after}"))?;
    let lock = if is_kept { "is as before" } else { "has changed since, and keeps its versions" };
    let root = service.root.display();
    println!("no longer patched: all crates in {root} use Tokio's timers. Cargo.lock {lock}");
    Ok(0)
}

/// Writes a lock file in which Tokio comes from the registry, and compares what `patch` has written.
fn verify(service: &Service) -> Result<u8> {
    let lock = service.read_lock()?;
    ensure!(tree::is_patched(&lock), "{}: not patched", service.root.display());
    let folder = service.root.join(FOLDER);
    let is_right = !folder.exists() || is_written(service, &folder)?;
    let file = service.target.join("audit.lock");
    put(&file, tree::unpatched(lock))?;
    let file = shown(&file);
    println!("Advisories for Tokio, which the patch hides: cargo audit --file '{file}'");
    Ok(u8::from(!is_right))
}

/// Compares the folder with what `patch` would write now, from the package whose checksum is the
/// index's.
fn is_written(service: &Service, folder: &Path) -> Result<bool> {
    let found = tree::read(folder)?;
    let (files, checksum) = tree::files(service)?;
    let names: BTreeSet<_> = found.keys().chain(files.keys()).collect();
    let names = names.into_iter().filter(|name| !LOCKS.iter().any(|lock| name.ends_with(lock)));
    let differing: Vec<_> = names.filter(|name| found.get(*name) != files.get(*name)).collect();
    println!("tokio-{TOKIO}.crate has the SHA-256 of the registry's index: {checksum}");
    let folder = shown(folder);
    if differing.is_empty() {
        let count = files.keys().filter(|name| name.starts_with("real")).count();
        println!("{folder}/real: {count} files, each as in that package, which also has tests");
        println!("{folder}: all other files are those that this cargo wheel writes");
    }
    differing.iter().for_each(|name| println!("{folder}/{}: this differs", name.display()));
    Ok(differing.is_empty())
}
