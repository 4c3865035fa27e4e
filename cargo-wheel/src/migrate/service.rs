//! Migrates all files and manifests of a service.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs, mem};

use anyhow::Context as _;
use similar::TextDiff;
use walkdir::{DirEntry, WalkDir};

use super::Options;
use super::manifest::Manifest;
use super::moves::Direction;
use super::rewrite::File;

#[derive(Default)]
pub(crate) struct Service {
    /// By their directories.
    manifests: BTreeMap<PathBuf, Manifest>,
    packages: BTreeMap<PathBuf, Package>,
    /// The files that change, with their text before and after.
    pub(crate) changes: Vec<(PathBuf, String, String)>,
    left: Vec<String>,
}

/// What the files of a package use and need.
#[derive(Default)]
struct Package {
    uses_wheel: bool,
    needs: BTreeSet<&'static str>,
}

impl Service {
    /// Moves all files, and then their manifests, which may be in directories above.
    pub(crate) fn migrate(root: &Path, options: &Options) -> anyhow::Result<Self> {
        let root = dunce::canonicalize(root).with_context(|| shown(root))?;
        let to = match options.back {
            true => Direction::Back,
            false => Direction::Forth,
        };
        let mut service = Service::default();
        for above in root.ancestors().skip(1) {
            service.read_manifest(above)?;
        }
        let entries = WalkDir::new(&root).sort_by_file_name().into_iter();
        for entry in entries.filter_entry(is_source) {
            let path = entry?.into_path();
            if path.is_dir() {
                service.read_manifest(&path)?;
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                service.file(path, to, options.write)?;
            }
        }
        for (directory, package) in mem::take(&mut service.packages) {
            service.package(&directory, package, to, options);
        }
        for manifest in mem::take(&mut service.manifests).into_values() {
            let after = manifest.text();
            service.change(manifest.path, manifest.before, after);
        }
        Ok(service)
    }

    fn read_manifest(&mut self, directory: &Path) -> anyhow::Result<()> {
        let path = directory.join("Cargo.toml");
        if path.is_file() {
            let manifest = Manifest::parse(path.clone(), read(&path)?);
            let manifest = manifest.with_context(|| shown(&path))?;
            self.manifests.insert(directory.to_owned(), manifest);
        }
        Ok(())
    }

    /// Returns the nearest directory around a path whose manifest has a section.
    fn around(&self, path: &Path, section: &str) -> Option<PathBuf> {
        let has = |above: &&Path| Some(self.manifests.get(*above)?.document.contains_key(section));
        let above = path.ancestors().find(|above| has(above) == Some(true));
        above.map(Path::to_owned)
    }

    fn file(&mut self, path: PathBuf, to: Direction, is_written: bool) -> anyhow::Result<()> {
        let before = read(&path)?;
        let file = File::read(&before, to);
        let after = file.text();
        if let Some(directory) = self.around(&path, "package") {
            let package = self.packages.entry(directory).or_default();
            package.uses_wheel |= file.uses_wheel;
            package.needs.extend(&file.needs);
        }
        // With --write, the lines are those of the new file.
        let listed = if is_written { &after } else { &before };
        for (line, what) in File::read(listed, to).left {
            self.left.push(format!("{}:{line}: {what}", shown(&path)));
        }
        self.change(path, before, after);
        Ok(())
    }

    fn package(&mut self, directory: &Path, package: Package, to: Direction, options: &Options) {
        let inherited = self.around(directory, "workspace").and_then(|workspace| {
            let workspace = &self.manifests[&workspace].document["workspace"];
            workspace.get("dependencies").cloned()
        });
        let inherited = inherited.unwrap_or_default();
        let Some(manifest) = self.manifests.get_mut(directory) else {
            return;
        };
        match to {
            Direction::Forth if package.uses_wheel => {
                manifest.add_wheel(&package.needs, options, &inherited);
            }
            Direction::Back if !package.uses_wheel => {
                manifest.remove_wheel(package.needs, &inherited)
            }
            _ => {}
        }
    }

    fn change(&mut self, path: PathBuf, before: String, after: String) {
        if before != after {
            self.changes.push((path, before, after));
        }
    }

    /// Returns the changes as a diff, and the list of what is left alone.
    pub(crate) fn report(&self) -> String {
        let mut report = String::new();
        for (path, before, after) in &self.changes {
            let (lines, path) = (TextDiff::from_lines(before, after), shown(path));
            let mut diff = lines.unified_diff();
            report += &diff.context_radius(0).header(&path, &path).to_string();
        }
        if !self.left.is_empty() {
            report += &format!("\nLook at these:\n  {}\n", self.left.join("\n  "));
        }
        report
    }

    pub(crate) fn write(&self) -> anyhow::Result<()> {
        for (path, _, after) in &self.changes {
            fs::write(path, after).with_context(|| shown(path))?;
        }
        Ok(())
    }
}

/// Returns a path relative to the current directory, if it is below.
pub(crate) fn shown(path: &Path) -> String {
    let here = env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(here).unwrap_or(path);
    path.display().to_string()
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| shown(path))
}

/// Returns `false` for what is hidden, built, vendored, or written by `cargo wheel patch`.
pub(crate) fn is_source(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    let is_ours = ["target", "whole-tree"].contains(&&*name) || name.starts_with('.');
    let is_vendored = || entry.path().join(".cargo-checksum.json").exists();
    entry.depth() == 0 || !is_ours && !is_vendored()
}
