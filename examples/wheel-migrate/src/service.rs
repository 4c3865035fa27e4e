//! All files and manifests of a service together, and what is told of them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};

use crate::lock;
use crate::manifest::{Kind, Manifest, PackageNeeds};
use crate::moves::{Direction, Names};
use crate::rewrite::{Rewritten, rewrite};
use crate::{Mode, Options};

pub(crate) type Failed = (PathBuf, String);

/// What was found in all files together.
#[derive(Default)]
pub(crate) struct Service {
    told: Vec<String>,
    changed: usize,
    changes: usize,
    left: Vec<String>,
    public: Vec<String>,
    /// By the directory of its manifest.
    packages: BTreeMap<PathBuf, Package>,
    manifests: BTreeMap<PathBuf, Manifest>,
    /// What is written once all has been read: where something is wrong, nothing is.
    written: Vec<(PathBuf, String)>,
    /// The directory as it was given, and as an absolute path.
    root: (PathBuf, PathBuf),
}

struct Package {
    names: Names,
    workspace: Option<PathBuf>,
    needs: PackageNeeds,
    /// On the way back: something stays that only tokio-wheel has.
    keeps_wheel: bool,
}

impl Service {
    pub(crate) fn told(&self) -> String {
        self.told.iter().map(|line| format!("{line}\n")).collect()
    }

    pub(crate) fn has_changes(&self) -> bool {
        self.changes > 0
    }

    pub(crate) fn go_through(&mut self, options: &Options) -> Result<(), Failed> {
        let directory = &options.directory;
        let absolute = crate::absolute(directory).map_err(|error| failed(directory, &error))?;
        self.root = (directory.clone(), absolute.clone());
        self.tell_of_the_lock(&absolute, options.direction)?;
        for path in sources(&absolute)? {
            let source = match fs::read_to_string(&path) {
                Ok(source) => source,
                // Not text, and so not Rust.
                Err(error) if error.kind() == io::ErrorKind::InvalidData => continue,
                Err(error) => return Err(failed(&path, &error)),
            };
            self.file(&path, &source, options)?;
        }
        match options.direction {
            Direction::Forth => self.depend(options),
            Direction::Back => self.no_longer_depend(),
        }
        for manifest in self.manifests.values().filter(|each| each.has_changed()) {
            self.told.push(self.shown(&manifest.path));
            let lines = manifest.difference().into_iter();
            self.told.extend(lines.map(|line| format!("  {line}")));
            self.written.push((manifest.path.clone(), manifest.text()));
        }
        if options.mode == Mode::Write {
            for (path, text) in &self.written {
                fs::write(path, text).map_err(|error| failed(path, &error))?;
            }
        }
        self.sum_up(options);
        Ok(())
    }

    fn tell_of_the_lock(&mut self, directory: &Path, direction: Direction) -> Result<(), Failed> {
        if direction == Direction::Back {
            return Ok(());
        }
        if let Some(path) = lock::find(directory) {
            let lock = fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
            self.told.push(lock::advice(&lock) + "\n");
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, source: &str, options: &Options) -> Result<(), Failed> {
        let package = self.package_of(path)?;
        let names = match &package {
            Some(directory) => self.packages[directory].names.clone(),
            None => Names::default(),
        };
        let rewritten = match rewrite(source, options.direction, &names) {
            Ok(rewritten) => rewritten,
            Err(error) => {
                // A template, which has no timers if it does not say so.
                if source.contains("tokio") && source.contains("time") {
                    self.left.push(format!("{}: {error}", self.shown(path)));
                }
                return Ok(());
            }
        };
        self.note(path, &rewritten);
        match package {
            Some(directory) => self.need(&directory, path, &rewritten, options.direction),
            None if !rewritten.changes.is_empty() => self.left.push(format!(
                "{}: there is no package around it, and so no manifest to change",
                self.shown(path)
            )),
            None => {}
        }
        if rewritten.text != source {
            self.written.push((path.to_owned(), rewritten.text));
        }
        Ok(())
    }

    fn note(&mut self, path: &Path, rewritten: &Rewritten) {
        let shown = self.shown(path);
        for change in &rewritten.changes {
            self.told.push(format!("{shown}:{}", change.line));
            self.told.push(format!("  - {}", change.before));
            self.told.push(format!("  + {}", change.after));
        }
        self.changed += usize::from(!rewritten.changes.is_empty());
        self.changes += rewritten.changes.len();
        self.left
            .extend(rewritten.left.iter().map(|note| note.say(&shown)));
    }

    fn need(&mut self, directory: &Path, path: &Path, rewritten: &Rewritten, to: Direction) {
        let inside = path.strip_prefix(directory).unwrap_or(path);
        let is_in = |folders: &[&str]| folders.iter().any(|folder| inside.starts_with(folder));
        let kind = match is_in(&["tests", "examples", "benches"]) {
            true => Kind::Dev,
            false if inside == Path::new("build.rs") => Kind::Build,
            false => Kind::Normal,
        };
        let is_program = is_in(&["src/main.rs", "src/bin"]);
        let manifest = &self.manifests[&directory.join("Cargo.toml")];
        let is_library = kind == Kind::Normal && !is_program && manifest.has_library();
        if to == Direction::Forth && is_library {
            let shown = self.shown(path);
            self.public
                .extend(rewritten.public.iter().map(|note| note.say(&shown)));
        }
        let package = self.packages.get_mut(directory).expect("read before");
        package.keeps_wheel |= rewritten.keeps_wheel;
        let features = rewritten.needs.clone();
        if !rewritten.changes.is_empty() {
            package.needs.entry(kind).or_default().extend(features);
        } else if features.contains("test-util") && !package.needs.is_empty() {
            // A paused clock in a file that names no timer is for those of other files.
            let tests = package.needs.entry(Kind::Dev).or_default();
            tests.insert("test-util");
        }
    }

    /// The directory of the package that a file belongs to, whose manifest is read.
    fn package_of(&mut self, file: &Path) -> Result<Option<PathBuf>, Failed> {
        for directory in file.ancestors().skip(1) {
            if self
                .read_manifest(directory)?
                .is_some_and(Manifest::is_package)
            {
                self.read_package(directory)?;
                return Ok(Some(directory.to_owned()));
            }
        }
        Ok(None)
    }

    fn read_package(&mut self, directory: &Path) -> Result<(), Failed> {
        if self.packages.contains_key(directory) {
            return Ok(());
        }
        let mut workspace = None;
        for above in directory.ancestors() {
            if self
                .read_manifest(above)?
                .is_some_and(Manifest::is_workspace)
            {
                workspace = Some(above.join("Cargo.toml"));
                break;
            }
        }
        let root = workspace.as_ref().map(|path| &self.manifests[path]);
        let names = self.manifests[&directory.join("Cargo.toml")].names(root);
        let package = Package {
            names,
            workspace,
            needs: PackageNeeds::default(),
            keeps_wheel: false,
        };
        self.packages.insert(directory.to_owned(), package);
        Ok(())
    }

    fn read_manifest(&mut self, directory: &Path) -> Result<Option<&Manifest>, Failed> {
        let path = directory.join("Cargo.toml");
        if !self.manifests.contains_key(&path) {
            if !path.is_file() {
                return Ok(None);
            }
            let text = fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
            let manifest =
                Manifest::parse(path.clone(), text).map_err(|error| (path.clone(), error))?;
            self.manifests.insert(path.clone(), manifest);
        }
        Ok(self.manifests.get(&path))
    }

    /// Adds the dependency to each package that has changed.
    fn depend(&mut self, options: &Options) {
        for (directory, package) in &self.packages {
            if package.needs.is_empty() {
                continue;
            }
            // A package may be the root of its workspace.
            let workspace = package.workspace.as_ref();
            let root = workspace.map(|root| self.manifests[root].clone());
            let manifest = self.manifests.get_mut(&directory.join("Cargo.toml"));
            let manifest = manifest.expect("read before");
            let inherited = manifest.add(&package.needs, &options.source, root.as_ref());
            if let Some(root) = workspace.filter(|_| inherited) {
                let root = self.manifests.get_mut(root).expect("read before");
                root.add_to_workspace(&options.source);
            }
        }
    }

    /// Takes the dependency out of each package that has nothing of tokio-wheel left, and out of a
    /// workspace none of whose packages has.
    fn no_longer_depend(&mut self) {
        let all = self.packages.values();
        let keep = all.filter(|package| package.keeps_wheel);
        let kept: Vec<_> = keep
            .filter_map(|package| package.workspace.as_ref())
            .collect();
        let mut roots = Vec::new();
        for (directory, package) in &self.packages {
            let path = directory.join("Cargo.toml");
            let workspace = package.workspace.as_ref();
            roots.extend(workspace.filter(|root| !kept.contains(root)));
            if !package.keeps_wheel && !kept.contains(&&path) {
                let root = workspace.map(|root| self.manifests[root].clone());
                let manifest = self.manifests.get_mut(&path).expect("read before");
                manifest.remove(root.as_ref());
            }
        }
        for root in roots {
            let manifest = self.manifests.get_mut(root).expect("read before");
            manifest.remove(None);
        }
    }

    fn sum_up(&mut self, options: &Options) {
        let stays = match options.direction {
            Direction::Forth => "Left alone; these stay on tokio's timers:",
            Direction::Back => "Left alone; these stay on tokio-wheel, and so does the dependency:",
        };
        let public = "Public, as far as they can be reached from outside, and their types change; for a \
             library that is a new major version:";
        let left = mem::take(&mut self.left);
        self.list(stays, &left);
        let signatures = mem::take(&mut self.public);
        self.list(public, &signatures);
        let sum = format!("{} changes in {} files", self.changes, self.changed);
        self.told.push(match options.mode {
            Mode::Write if self.changes == 0 => format!("\n{sum}."),
            Mode::Write => format!("\n{sum}. Now: cargo fmt && cargo check --all-targets"),
            Mode::Show => format!("\n{sum} to be made. With --write they are."),
            Mode::Check => format!("\n{sum} to be made."),
        });
    }

    fn list(&mut self, head: &str, items: &[String]) {
        if !items.is_empty() {
            self.told.push(format!("\n{head}"));
            self.told
                .extend(items.iter().map(|item| format!("  {item}")));
        }
    }

    /// A path below the directory as it was given.
    fn shown(&self, path: &Path) -> String {
        let (given, absolute) = &self.root;
        let shown = match path.strip_prefix(absolute) {
            Ok(below) if given == Path::new(".") => below.to_owned(),
            Ok(below) => given.join(below),
            Err(_) => path.to_owned(),
        };
        shown.display().to_string()
    }
}

fn failed(path: &Path, error: &io::Error) -> Failed {
    (path.to_owned(), error.to_string())
}

/// Every Rust file below a directory, but for what is built or hidden.
fn sources(directory: &Path) -> Result<Vec<PathBuf>, Failed> {
    let (mut directories, mut files) = (vec![directory.to_owned()], Vec::new());
    while let Some(directory) = directories.pop() {
        let failed = |error| failed(&directory, &error);
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
