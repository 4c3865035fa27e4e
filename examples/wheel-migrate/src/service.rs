//! All files and manifests of a service together, and what is told of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Context as _;
use similar::TextDiff;
use walkdir::{DirEntry, WalkDir};

use crate::lock;
use crate::manifest::{Manifest, Source};
use crate::moves::{Direction, WHEEL};
use crate::rewrite::{Note, rewrite};

/// What was found in all files together.
#[derive(Default)]
pub(crate) struct Service {
    root: PathBuf,
    /// By their directories.
    manifests: BTreeMap<PathBuf, Manifest>,
    told: String,
    /// What is written once all has been read: where something is wrong, nothing is.
    pub(crate) changed: Vec<(PathBuf, String)>,
    left: Vec<Told>,
    by_hand: Vec<Told>,
    public: Vec<Told>,
}

/// A note, and the file that it is about.
type Told = (String, Note);

impl Service {
    pub(crate) fn read(directory: &Path) -> anyhow::Result<(Self, Vec<PathBuf>)> {
        let root = dunce::canonicalize(directory).with_context(|| shown(directory))?;
        let mut sources = Vec::new();
        let files = WalkDir::new(&root).sort_by_file_name().into_iter();
        for entry in files.filter_entry(is_source) {
            let entry = entry?;
            let is_rust = entry.path().extension().is_some_and(|end| end == "rs");
            if is_rust && entry.file_type().is_file() {
                sources.push(entry.into_path());
            }
        }
        let mut service = Service {
            root,
            ..Service::default()
        };
        service.read_manifests(&sources)?;
        Ok((service, sources))
    }

    /// All that are around a source.
    fn read_manifests(&mut self, sources: &[PathBuf]) -> anyhow::Result<()> {
        let directories = sources.iter().flat_map(|path| path.ancestors().skip(1));
        for directory in directories.collect::<BTreeSet<_>>() {
            let path = directory.join("Cargo.toml");
            if path.is_file() {
                let manifest = Manifest::parse(path.clone(), read(&path)?);
                let manifest = manifest.with_context(|| shown(&path))?;
                self.manifests.insert(directory.to_owned(), manifest);
            }
        }
        let directories: Vec<PathBuf> = self.manifests.keys().cloned().collect();
        for directory in directories {
            let root = self.around(&directory.join("Cargo.toml"), Manifest::is_workspace);
            let inherited = root.map(|root| self.manifests[&root].inheritance());
            let manifest = self.manifests.get_mut(&directory).expect("read above");
            manifest.inherited = inherited;
        }
        Ok(())
    }

    pub(crate) fn tell_of_the_lock(&mut self) -> anyhow::Result<()> {
        let mut locks = self.root.ancestors().map(|above| above.join("Cargo.lock"));
        if let Some(path) = locks.find(|path| path.is_file()) {
            self.told += &format!("{}\n\n", lock::advice(&read(&path)?));
        }
        Ok(())
    }

    pub(crate) fn file(&mut self, path: &Path, to: Direction) -> anyhow::Result<()> {
        let Ok(source) = String::from_utf8(fs::read(path).with_context(|| shown(path))?) else {
            // Not text, and so not Rust.
            return Ok(());
        };
        let package = self.around(path, Manifest::is_package);
        let names = package
            .as_ref()
            .map(|package| self.manifests[package].names());
        let rewritten = match rewrite(&source, to, &names.unwrap_or_default()) {
            Ok(rewritten) => rewritten,
            Err(error) => {
                // A template, which has no timers if it does not say so.
                if source.contains("tokio") && source.contains("time") {
                    self.left.push((shown(path), Note::of_line(1, error)));
                }
                return Ok(());
            }
        };
        let tell = |notes: Vec<Note>| notes.into_iter().map(|note| (shown(path), note));
        if let Some(directory) = package {
            let manifest = self.manifests.get_mut(&directory).expect("found above");
            let kind = manifest.kind_of(path);
            if manifest.publishes(path) {
                self.public.extend(tell(rewritten.public));
            }
            manifest.keeps_wheel |= to == Direction::Back && !rewritten.left.is_empty();
            manifest.need(kind, &rewritten.needs);
        }
        self.left.extend(tell(rewritten.left));
        self.by_hand.extend(tell(rewritten.by_hand));
        self.change(path, &source, rewritten.text);
        Ok(())
    }

    /// The directory of the nearest manifest around a file that is such a one.
    fn around(&self, file: &Path, is_wanted: fn(&Manifest) -> bool) -> Option<PathBuf> {
        let mut above = file.ancestors().skip(1);
        let found = above.find(|above| self.manifests.get(*above).is_some_and(is_wanted));
        found.map(Path::to_owned)
    }

    /// Adds the dependencies to each package that has changed; going back takes tokio-wheel out of
    /// each package that has nothing of it left, and out of a workspace none of whose packages has.
    pub(crate) fn depend(&mut self, to: Direction, from: &Source) {
        let beside = match to {
            Direction::Forth => "tokio",
            Direction::Back => WHEEL,
        };
        let mut inheriting = Vec::new();
        for manifest in self.manifests.values_mut() {
            for package in manifest.add(beside, from) {
                inheriting.push((manifest.path.clone(), package));
            }
        }
        for (path, package) in inheriting {
            let root = self.around(&path, Manifest::is_workspace);
            let root = root.and_then(|root| self.manifests.get_mut(&root));
            root.expect("inherited from it")
                .add_to_workspace(package, from);
        }
        if to == Direction::Back {
            self.no_longer_depend();
        }
    }

    fn no_longer_depend(&mut self) {
        let keep = self.manifests.iter().filter(|(_, each)| each.keeps_wheel);
        let keep: Vec<PathBuf> = keep.map(|(directory, _)| directory.clone()).collect();
        for (directory, manifest) in &mut self.manifests {
            let is_inside = directory.starts_with(&self.root);
            if is_inside && !keep.iter().any(|kept| kept.starts_with(directory)) {
                manifest.remove();
            }
        }
    }

    /// Whether a manifest has come to depend on a published tokio-wheel.
    pub(crate) fn takes_published(&self) -> bool {
        let mut manifests = self.manifests.values();
        manifests.any(|manifest| manifest.takes_published)
    }

    pub(crate) fn change_manifests(&mut self) {
        for manifest in std::mem::take(&mut self.manifests).values() {
            self.change(&manifest.path, &manifest.before, manifest.text());
        }
    }

    fn change(&mut self, path: &Path, before: &str, after: String) {
        if before == after {
            return;
        }
        let name = shown(path);
        let difference = TextDiff::from_lines(before, &after);
        let mut lines = difference.unified_diff();
        self.told += &lines.context_radius(0).header(&name, &name).to_string();
        self.changed.push((path.to_owned(), after));
    }

    pub(crate) fn write(&self) -> anyhow::Result<()> {
        for (path, text) in &self.changed {
            fs::write(path, text).with_context(|| shown(path))?;
        }
        Ok(())
    }

    /// What was told of the files, and after that the lists, with the lines as they are once the
    /// command has run.
    pub(crate) fn told(&self, direction: Direction, is_written: bool) -> String {
        let stays = match direction {
            Direction::Forth => "Left alone; these stay on tokio's timers:",
            Direction::Back => "Left alone; these stay on tokio-wheel, and so does the dependency:",
        };
        let by_hand = "To be looked at; these may not compile on tokio's timers:";
        let public = "Public, as far as they can be reached from outside, and their types change; for a \
             library that is a new major version:";
        let lists = [
            (stays, &self.left),
            (by_hand, &self.by_hand),
            (public, &self.public),
        ];
        let mut told = self.told.clone();
        for (head, items) in lists.into_iter().filter(|(_, items)| !items.is_empty()) {
            told += &format!("\n{head}\n");
            for (file, note) in items {
                let line = if is_written { note.new_line } else { note.line };
                told += &format!("  {file}:{line}: {}\n", note.what);
            }
        }
        told
    }
}

/// From where the command runs.
fn shown(path: &Path) -> String {
    let here = env::current_dir().unwrap_or_default();
    let below = path.strip_prefix(here).unwrap_or(path);
    below.display().to_string()
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| shown(path))
}

/// Not what is built or hidden.
fn is_source(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    entry.depth() == 0 || name != "target" && !name.starts_with('.')
}

#[cfg(test)]
mod tests {
    use std::path::{MAIN_SEPARATOR_STR, Path};

    use super::{Service, shown};

    #[test]
    fn files_are_shown_from_where_the_command_runs() {
        let (_, sources) = Service::read(Path::new("src")).unwrap();
        let expected = ["src", "imports.rs"].join(MAIN_SEPARATOR_STR);
        assert!(sources.iter().any(|path| shown(path) == expected));
    }
}
