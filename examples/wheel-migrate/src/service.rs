//! All files and manifests of a service together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Context as _;
use similar::TextDiff;
use walkdir::{DirEntry, WalkDir};

use crate::Source;
use crate::manifest::Manifest;
use crate::moves::{Direction, WHEEL};
use crate::rewrite::File;

#[derive(Default)]
pub(crate) struct Service {
    files: Vec<PathBuf>,
    /// By their directories.
    manifests: BTreeMap<PathBuf, Manifest>,
    packages: BTreeMap<PathBuf, Package>,
    /// The files that change, with their text before and after.
    pub(crate) changes: Vec<(PathBuf, String, String)>,
    left: Vec<String>,
}

/// What the files of a package come to.
#[derive(Default)]
struct Package {
    has_changed: bool,
    keeps_wheel: bool,
    needs: BTreeSet<&'static str>,
}

impl Service {
    /// Finds the files and manifests below `root`, and the manifests of what is around it.
    pub(crate) fn find(root: &Path) -> anyhow::Result<Self> {
        let root = dunce::canonicalize(root).with_context(|| shown(root))?;
        let mut service = Service::default();
        let above = root
            .ancestors()
            .skip(1)
            .map(|above| above.join("Cargo.toml"));
        let above: Vec<PathBuf> = above.filter(|path| path.is_file()).collect();
        for path in above.iter().rev() {
            service.read_manifest(path)?;
        }
        let order = |entry: &DirEntry| (entry.file_type().is_dir(), entry.file_name().to_owned());
        let entries = WalkDir::new(&root).sort_by_key(order).into_iter();
        for entry in entries.filter_entry(is_source) {
            let path = entry?.into_path();
            if path.ends_with("Cargo.toml") {
                service.read_manifest(&path)?;
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                service.files.push(path);
            }
        }
        Ok(service)
    }

    /// Reads a manifest, after those of the directories above, which may be a workspace's.
    fn read_manifest(&mut self, path: &Path) -> anyhow::Result<()> {
        let manifest = Manifest::parse(path.to_owned(), read(path)?);
        let mut manifest = manifest.with_context(|| shown(path))?;
        if let Some(workspace) = self.around(path, "workspace") {
            manifest.inherit(&self.manifests[&workspace]);
        }
        self.manifests
            .insert(path.parent().unwrap_or(path).to_owned(), manifest);
        Ok(())
    }

    /// The nearest directory around a file whose manifest has a section.
    fn around(&self, file: &Path, section: &str) -> Option<PathBuf> {
        let has = |above: &&Path| {
            self.manifests
                .get(*above)
                .is_some_and(|found| found.has(section))
        };
        file.ancestors().skip(1).find(has).map(Path::to_owned)
    }

    /// Moves everything. With `is_written`, the lines of the list are those of the new files.
    pub(crate) fn migrate(
        &mut self,
        to: Direction,
        source: &Source,
        is_written: bool,
    ) -> anyhow::Result<()> {
        for path in std::mem::take(&mut self.files) {
            self.file(path, to, is_written)?;
        }
        for (directory, package) in &self.packages {
            let manifest = self
                .manifests
                .get_mut(directory)
                .expect("`around` has found it");
            if to == Direction::Back && !package.keeps_wheel {
                manifest.remove_wheel(&package.needs);
            } else if to == Direction::Forth
                && package.has_changed
                && !manifest.add_wheel(&package.needs, source)
            {
                let path = shown(&manifest.path);
                self.left
                    .push(format!("{path}: it has no tokio; add {WHEEL} by hand"));
            }
        }
        for manifest in std::mem::take(&mut self.manifests).into_values() {
            let after = manifest.text();
            self.change(manifest.path, manifest.before, after);
        }
        Ok(())
    }

    fn file(&mut self, path: PathBuf, to: Direction, is_written: bool) -> anyhow::Result<()> {
        let before = read(&path)?;
        let file = File::read(&before, to);
        let after = file.text();
        if let Some(directory) = self.around(&path, "package") {
            let package = self.packages.entry(directory).or_default();
            package.has_changed |= after != before;
            package.keeps_wheel |= file.keeps_wheel;
            package.needs.extend(&file.needs);
        }
        let left = match is_written {
            // What is left alone is in the new file, too.
            true => File::read(&after, to).left,
            false => file.left,
        };
        let list = left
            .iter()
            .map(|(line, what)| format!("{}:{line}: {what}", shown(&path)));
        self.left.extend(list);
        self.change(path, before, after);
        Ok(())
    }

    fn change(&mut self, path: PathBuf, before: String, after: String) {
        if before != after {
            self.changes.push((path, before, after));
        }
    }

    /// The changes as a diff, and the list of what is left alone.
    pub(crate) fn told(&self) -> String {
        let mut told = String::new();
        for (path, before, after) in &self.changes {
            let difference = TextDiff::from_lines(before, after);
            let mut difference = difference.unified_diff();
            told += &difference
                .context_radius(0)
                .header(&shown(path), &shown(path))
                .to_string();
        }
        if !self.left.is_empty() {
            told += &format!("\nLeft alone:\n  {}\n", self.left.join("\n  "));
        }
        told
    }

    pub(crate) fn write(&self) -> anyhow::Result<()> {
        for (path, _, after) in &self.changes {
            fs::write(path, after).with_context(|| shown(path))?;
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

/// Returns `false` for what cargo builds and for what is hidden.
fn is_source(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    entry.depth() == 0 || name != "target" && !name.starts_with('.')
}
