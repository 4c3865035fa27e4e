//! All files and manifests of a service together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Context as _;
use similar::TextDiff;
use walkdir::{DirEntry, WalkDir};

use crate::Source;
use crate::manifest::Manifest;
use crate::moves::Direction;
use crate::rewrite::{Rewritten, rewrite};

pub(crate) struct Service {
    root: PathBuf,
    /// By their directories.
    manifests: BTreeMap<PathBuf, Manifest>,
    files: Vec<PathBuf>,
}

/// What becomes of a service, and what to tell the user.
#[derive(Default)]
pub(crate) struct Migration {
    changed: Vec<Change>,
    left: Vec<String>,
    /// Whether a manifest comes to depend on a published tokio-wheel.
    pub(crate) takes_published: bool,
}

struct Change {
    path: PathBuf,
    before: String,
    after: String,
}

/// What the files of a package come to.
#[derive(Default)]
struct Package {
    has_changed: bool,
    keeps_wheel: bool,
    needs: BTreeSet<&'static str>,
}

impl Service {
    /// Finds the files below `root`, and the manifests there and above.
    pub(crate) fn find(root: &Path) -> anyhow::Result<Self> {
        let root = dunce::canonicalize(root).with_context(|| shown(root))?;
        let mut service = Service {
            root: root.clone(),
            manifests: BTreeMap::new(),
            files: Vec::new(),
        };
        for above in root.ancestors().skip(1) {
            service.read_manifest(&above.join("Cargo.toml"))?;
        }
        for entry in WalkDir::new(&root)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(is_source)
        {
            let path = entry?.into_path();
            service.read_manifest(&path)?;
            if path.extension().is_some_and(|extension| extension == "rs") {
                service.files.push(path);
            }
        }
        Ok(service)
    }

    fn read_manifest(&mut self, path: &Path) -> anyhow::Result<()> {
        if path.ends_with("Cargo.toml") && path.is_file() {
            let manifest = Manifest::parse(path.to_owned(), read(path)?);
            let manifest = manifest.with_context(|| shown(path))?;
            self.manifests.insert(directory(path), manifest);
        }
        Ok(())
    }

    /// Moves everything. With `is_written`, the lines of the list are those of the new files.
    pub(crate) fn migrate(
        mut self,
        to: Direction,
        source: &Source,
        is_written: bool,
    ) -> anyhow::Result<Migration> {
        let mut migration = Migration::default();
        let mut packages: BTreeMap<PathBuf, Package> = BTreeMap::new();
        for path in &self.files {
            let directory = self.around(path, "package");
            let names = directory
                .as_ref()
                .map(|directory| self.manifests[directory].names());
            let names = names.unwrap_or_default();
            let before = read(path)?;
            let rewritten = rewrite(&before, to, &names);
            if let Some(directory) = directory {
                let package = packages.entry(directory).or_default();
                package.note(&rewritten, rewritten.text != before);
            }
            migration.list(
                path,
                match is_written {
                    // What is left alone is in the new file, too.
                    true => rewrite(&rewritten.text, to, &names).left,
                    false => rewritten.left,
                },
            );
            migration.change(path, before, rewritten.text);
        }
        match to {
            Direction::Forth => self.depend(&packages, source, &mut migration),
            Direction::Back => self.no_longer_depend(&packages),
        }
        for manifest in self.manifests.into_values() {
            let after = manifest.text();
            migration.takes_published |= manifest.takes_published;
            migration.change(&manifest.path, manifest.before, after);
        }
        Ok(migration)
    }

    /// The nearest directory around a file whose manifest has a section.
    fn around(&self, file: &Path, section: &str) -> Option<PathBuf> {
        let mut above = file.ancestors().skip(1);
        let found = above.find(|above| {
            self.manifests
                .get(*above)
                .is_some_and(|found| found.has(section))
        });
        found.map(Path::to_owned)
    }

    fn depend(
        &mut self,
        packages: &BTreeMap<PathBuf, Package>,
        source: &Source,
        migration: &mut Migration,
    ) {
        for (directory, package) in packages.iter().filter(|(_, package)| package.has_changed) {
            let manifest = self
                .manifests
                .get_mut(directory)
                .expect("`around` has found it");
            let path = manifest.path.clone();
            if !manifest.add_wheel(&package.needs, source) {
                migration.left.push(format!(
                    "{}: tokio-wheel is to be added by hand",
                    shown(&path)
                ));
            }
            if manifest.inherits_wheel()
                && let Some(root) = self.around(&path, "workspace")
            {
                let root = self
                    .manifests
                    .get_mut(&root)
                    .expect("`around` has found it");
                root.add_wheel_to_workspace(source);
            }
        }
    }

    fn no_longer_depend(&mut self, packages: &BTreeMap<PathBuf, Package>) {
        let keeps = |directory: &PathBuf| {
            packages
                .get(directory)
                .is_some_and(|package| package.keeps_wheel)
        };
        let inside = self
            .manifests
            .keys()
            .filter(|directory| directory.starts_with(&self.root));
        // The root of a workspace comes after its members, and keeps what one of them inherits.
        for directory in inside.cloned().rev().collect::<Vec<_>>() {
            let mut manifest = self
                .manifests
                .remove(&directory)
                .expect("its key is from there");
            let is_inherited =
                manifest.has("workspace") && self.manifests.values().any(Manifest::inherits_wheel);
            if !keeps(&directory) && !is_inherited {
                let root = self.around(&manifest.path, "workspace");
                let root = root.map(|root| &self.manifests[&root]);
                let none = Package::default();
                let needs = &packages.get(&directory).unwrap_or(&none).needs;
                manifest.remove_wheel(needs, root);
            }
            self.manifests.insert(directory, manifest);
        }
    }
}

impl Package {
    fn note(&mut self, file: &Rewritten, has_changed: bool) {
        self.has_changed |= has_changed;
        self.keeps_wheel |= file.keeps_wheel;
        self.needs.extend(&file.needs);
    }
}

impl Migration {
    fn list(&mut self, path: &Path, left: Vec<(usize, String)>) {
        let lines = left
            .into_iter()
            .map(|(line, what)| format!("{}:{line}: {what}", shown(path)));
        self.left.extend(lines);
    }

    fn change(&mut self, path: &Path, before: String, after: String) {
        if before != after {
            let path = path.to_owned();
            self.changed.push(Change {
                path,
                before,
                after,
            });
        }
    }

    pub(crate) fn changes(&self) -> usize {
        self.changed.len()
    }

    /// The changes as a diff, and the list of what is left alone.
    pub(crate) fn told(&self) -> String {
        let mut told = String::new();
        for change in &self.changed {
            let name = shown(&change.path);
            let difference = TextDiff::from_lines(&change.before, &change.after);
            told += &difference
                .unified_diff()
                .context_radius(0)
                .header(&name, &name)
                .to_string();
        }
        if !self.left.is_empty() {
            told += &format!("\nLeft alone:\n  {}\n", self.left.join("\n  "));
        }
        told
    }

    pub(crate) fn write(&self) -> anyhow::Result<()> {
        for change in &self.changed {
            fs::write(&change.path, &change.after).with_context(|| shown(&change.path))?;
        }
        Ok(())
    }
}

/// A path as seen from where the command runs.
fn shown(path: &Path) -> String {
    let here = env::current_dir()
        .and_then(dunce::canonicalize)
        .unwrap_or_default();
    path.strip_prefix(here)
        .unwrap_or(path)
        .display()
        .to_string()
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| shown(path))
}

fn directory(file: &Path) -> PathBuf {
    file.parent().unwrap_or(file).to_owned()
}

/// Returns `false` for what cargo builds and for what is hidden.
fn is_source(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    entry.depth() == 0 || name != "target" && !name.starts_with('.')
}
