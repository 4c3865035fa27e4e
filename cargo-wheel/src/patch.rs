//! Puts a service on the tree for good, and takes it off again.

use std::{fs, mem};

use anyhow::{Context as _, Result, bail, ensure};

use crate::check;
use crate::process::{Saved, put};
use crate::service::{MARK, Service, without_the_tree};
use crate::tree::{self, Counting, TOKIO};

/// The folder of the tree in a workspace. It also has the lock file of before and after.
const FOLDER: &str = "whole-tree";

/// The tables of a manifest that may name the guard.
const TABLES: [&str; 5] =
    ["dependencies", "dev-dependencies", "build-dependencies", "target", "workspace"];

/// The lines around the section in the manifest, by which it is found again.
const BEGIN: &str = "# cargo wheel patch: the timers of all packages are tokio-wheel's\n";
const END: &str = "# cargo wheel patch: end\n";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Take back an earlier patch
    #[arg(long, conflicts_with = "git")]
    undo: bool,
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
            (None, _) => format!("path = \"{FOLDER}/{package}\""),
            (Some(url), None) => format!("git = \"{url}\""),
            (Some(url), Some(tag)) => format!("git = \"{url}\"\ntag = \"{tag}\""),
        }
    }
}

pub(crate) fn patch(service: &Service, options: &Options) -> Result<u8> {
    if options.undo {
        return undo(service);
    }
    service.has_no_other_patch()?;
    let folder = service.root.join(FOLDER);
    ensure!(!folder.exists(), "{}: this is in the way: remove it first", folder.display());
    let saved = [service.manifest(), service.lock()].map(Saved::of);
    if let Err(error) = write(service, options) {
        // It may not be there yet.
        let _ = fs::remove_dir_all(&folder);
        return Err(error);
    }
    // Nothing is to be restored.
    mem::forget(saved);
    println!("on the tree: {}, tokio {TOKIO}{MARK}", service.root.display());
    println!("If another tokio is ever locked, cargo only warns. This makes it an error:");
    println!("    tokio-wheel-guard = {{ {} }}", options.source("guard").replace('\n', ", "));
    Ok(0)
}

fn write(service: &Service, options: &Options) -> Result<()> {
    let folder = service.root.join(FOLDER);
    let before = fs::read_to_string(service.lock()).ok();
    if options.git.is_none() {
        tree::write(&folder, service, Counting::Off)?;
    }
    let manifest = fs::read_to_string(service.manifest())?;
    let end = if manifest.ends_with('\n') { "" } else { "\n" };
    let source = options.source("tokio");
    let section = format!("{BEGIN}[patch.crates-io.tokio]\n{source}\n{END}");
    put(&service.manifest(), manifest + end + &section)?;
    service.take_the_tree()?;
    if let Some(before) = before {
        put(&folder.join("before.lock"), before)?;
    }
    put(&folder.join("after.lock"), fs::read(service.lock())?)
}

/// Restores the lock file if it is as `patch` left it. Otherwise it keeps what changed since.
fn undo(service: &Service) -> Result<u8> {
    let (folder, lock, path) = (service.root.join(FOLDER), service.lock(), service.manifest());
    let manifest = fs::read_to_string(&path)?;
    let (before, rest) = manifest.split_once(BEGIN).unwrap_or_default();
    let (_, after) = rest.split_once(END).with_context(|| {
        format!("{}: cargo wheel patch has written nothing here", path.display())
    })?;
    if let Some(place) = check::place(&path, "tokio-wheel-guard", &TABLES) {
        bail!("{place}: remove the dependency on {FOLDER}/guard first");
    }
    put(&path, format!("{before}{after}"))?;
    let read = |name| fs::read_to_string(folder.join(name));
    let is_kept = read("after.lock").ok() == fs::read_to_string(&lock).ok();
    match read("before.lock") {
        Ok(before) if is_kept => put(&lock, before)?,
        Err(_) if is_kept => fs::remove_file(&lock)?,
        _ => put(&lock, without_the_tree(service.read_lock()?))?,
    }
    fs::remove_dir_all(&folder)?;
    println!("off the tree: {}", service.root.display());
    Ok(0)
}
