//! Puts a service on the tree for good, and takes it off again.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use toml_edit::{DocumentMut, Item, Table, TableLike, value};

use crate::lock::Lock;
use crate::process::Saved;
use crate::service::Service;
use crate::tree::{self, Counting, TOKIO, put};

/// The folder of the tree in a workspace. It also has the lock file of before and after.
const FOLDER: &str = "whole-tree";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Remove the section and the tree
    #[arg(long, conflicts_with = "git")]
    undo: bool,
    /// Take the tree from tokio-wheel's repository, instead of writing it into the workspace
    #[arg(long, value_name = "URL")]
    git: Option<String>,
    /// The release of tokio-wheel to take from there
    #[arg(long, requires = "git")]
    tag: Option<String>,
}

pub(crate) fn patch(service: &mut Service, options: &Options) -> Result<()> {
    if options.undo {
        return undo(service);
    }
    service.has_no_other_patch()?;
    let (folder, lock) = (service.root.join(FOLDER), service.lock());
    ensure!(!folder.exists(), "{}: this is in the way: remove it first", folder.display());
    let saved = Saved::of([service.manifest(), lock.clone()])?;
    let written = || -> Result<()> {
        let before = fs::read_to_string(&lock).ok();
        let mut manifest = Manifest::read(service)?;
        match &options.git {
            Some(url) => manifest.add("git", url)?,
            None => {
                manifest.add("path", &format!("{FOLDER}/tokio"))?;
                tree::write(&folder, &service.root, &service.target, Counting::Off)?;
            }
        }
        options.tag.iter().try_for_each(|tag| manifest.add("tag", tag))?;
        manifest.write(service)?;
        service.take_the_tree()?;
        if let Some(before) = before {
            put(&folder.join("before.lock"), &before)?;
            put(&folder.join("after.lock"), &fs::read_to_string(&lock)?)?;
        }
        Ok(())
    };
    let written = written();
    if written.is_err() && folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    written?;
    saved.keep();
    println!(
        "on the tree: {}, tokio {TOKIO}+wheel. To go back: cargo wheel patch --undo",
        service.root.display()
    );
    println!(
        "If cargo ever falls back to another tokio, it only warns. A dependency makes that an error:\n"
    );
    match &options.git {
        Some(url) => println!("tokio-wheel-guard = {{ git = \"{url}\" }}"),
        None => println!(
            "tokio-wheel-guard = {{ path = \"{FOLDER}/guard\" }} # from the workspace's folder"
        ),
    }
    Ok(())
}

/// Restores the lock file if it is as `patch` left it. Otherwise it keeps what changed since.
fn undo(service: &Service) -> Result<()> {
    let (folder, lock) = (service.root.join(FOLDER), service.lock());
    let mut manifest = Manifest::read(service)?;
    let was_there = manifest.remove();
    ensure!(
        was_there || folder.exists(),
        "{}: there is no [patch] of tokio to remove",
        service.manifest().display()
    );
    manifest.write(service)?;
    if let Ok(now) = fs::read_to_string(&lock) {
        match fs::read_to_string(folder.join("after.lock")) {
            Ok(after) if after == now => {
                put(&lock, &fs::read_to_string(folder.join("before.lock"))?)?
            }
            Err(_) if folder.join("tokio").exists() => fs::remove_file(&lock)?,
            _ => put(&lock, &Lock::parse(&now)?.without_the_tree())?,
        }
    }
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    println!("off the tree: {}", service.root.display());
    Ok(())
}

/// The workspace's manifest, in which the section is one table more.
struct Manifest(DocumentMut);

impl Manifest {
    fn read(service: &Service) -> Result<Self> {
        let path = service.manifest();
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(Manifest(text.parse().with_context(|| path.display().to_string())?))
    }

    fn write(&self, service: &Service) -> Result<()> {
        put(&service.manifest(), &self.0.to_string())
    }

    fn add(&mut self, key: &str, text: &str) -> Result<()> {
        let patch = below(self.0.as_table_mut(), "patch", true)?;
        let registry = below(patch, "crates-io", true)?;
        below(registry, "tokio", false)?.insert(key, value(text));
        Ok(())
    }

    /// Removes the section, and those around it that are empty then.
    fn remove(&mut self) -> bool {
        let root = self.0.as_table_mut();
        let Some(patch) = root.get_mut("patch").and_then(Item::as_table_like_mut) else {
            return false;
        };
        let Some(registry) = patch.get_mut("crates-io").and_then(Item::as_table_like_mut) else {
            return false;
        };
        let was_there = registry.remove("tokio").is_some();
        if registry.is_empty() {
            patch.remove("crates-io");
        }
        if patch.is_empty() {
            root.remove("patch");
        }
        was_there
    }
}

fn below<'a>(
    table: &'a mut dyn TableLike,
    name: &str,
    is_implicit: bool,
) -> Result<&'a mut dyn TableLike> {
    let item = table.entry(name).or_insert_with(|| {
        let mut new = Table::new();
        new.set_implicit(is_implicit);
        Item::Table(new)
    });
    item.as_table_like_mut().with_context(|| format!("`{name}` in the manifest is no table"))
}
