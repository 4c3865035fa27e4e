//! The workspace of a service, and its lock file with the tree's tokio and without it.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use cargo_lock::{Lockfile, Name, Patch, SourceId, Version};
use cargo_metadata::semver::BuildMetadata;
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Node, Package};
use regex_lite::Regex;
use toml_edit::Value;
use walkdir::{DirEntry, WalkDir};

use crate::check;
use crate::process::{self, Saved};
use crate::tree::{self, Counting, TOKIO};

/// The tree's packages beside tokio.
const OURS: [&str; 2] = ["tokio-wheel-whole-tree", "tokio-wheel-guard"];

/// What the version of the tree's tokio ends in.
pub(crate) const MARK: &str = "+wheel";

#[derive(Clone)]
pub(crate) struct Service {
    /// The workspace's folder.
    pub(crate) root: PathBuf,
    /// This command's own folder, in the target directory.
    pub(crate) target: PathBuf,
    /// The packages of the workspace.
    pub(crate) packages: Vec<Package>,
    /// To be passed on to cargo.
    manifest: Option<PathBuf>,
    /// Values of cargo's `--config`. On the tree they name the tree, unless the manifest does.
    pub(crate) settings: Vec<String>,
}

impl Service {
    pub(crate) fn open(manifest: Option<&Path>) -> Result<Self> {
        let mut command = MetadataCommand::new();
        if let Some(path) = manifest {
            command.manifest_path(path);
        }
        let found = command.no_deps().exec();
        let found = found.context("name the service's Cargo.toml by --manifest-path")?;
        Ok(Service {
            root: found.workspace_root.into(),
            target: found.target_directory.join("cargo-wheel").into(),
            packages: found.packages,
            manifest: manifest.map(Path::to_owned),
            settings: Vec::new(),
        })
    }

    pub(crate) fn manifest(&self) -> PathBuf {
        self.root.join("Cargo.toml")
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.root.join("Cargo.lock")
    }

    pub(crate) fn read_lock(&self) -> Result<Lockfile> {
        Lockfile::load(self.lock()).with_context(|| self.lock().display().to_string())
    }

    /// Returns cargo, on the tree if this service is.
    pub(crate) fn cargo(&self, arguments: &[impl AsRef<OsStr>]) -> Result<Command> {
        let mut own = arguments.iter().map(AsRef::as_ref).take_while(|word| *word != "--");
        let is_named = own.any(|word| word.to_string_lossy().starts_with("--manifest-path"));
        ensure!(!is_named, "write --manifest-path before the --, so that this command sees it");
        let mut cargo = process::cargo();
        cargo.args(self.settings.iter().flat_map(|value| ["--config", value]));
        let (command, others) = arguments.split_at(1);
        cargo.args(command);
        if let Some(path) = &self.manifest {
            cargo.arg("--manifest-path").arg(path);
        }
        cargo.args(others);
        Ok(cargo)
    }

    /// Changes the lock file, or returns the error that cargo prints.
    pub(crate) fn relock(&self, arguments: &[&str]) -> Result<()> {
        process::go_on()?;
        let output = self.cargo(arguments)?.output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
        Ok(())
    }

    pub(crate) fn metadata(&self, arguments: &[String]) -> Result<Metadata> {
        let host = rustc_version::version_meta()?.host;
        let settings = self.settings.iter().map(|value| format!("--config={value}"));
        let options = settings.chain([format!("--filter-platform={host}")]);
        let options: Vec<_> = options.chain(arguments.iter().cloned()).collect();
        let mut command = MetadataCommand::new();
        command.manifest_path(self.manifest()).other_options(options);
        command.exec().with_context(|| self.manifest().display().to_string())
    }

    /// Writes the tree beside the build, and makes the lock file hold its tokio until the value that
    /// is returned is dropped.
    pub(crate) fn go_on_tree(&mut self, counting: Counting) -> Result<Saved> {
        self.has_no_other_patch()?;
        // A tree of another version may have files that this one has not.
        let version = format!("{}-{TOKIO}", env!("CARGO_PKG_VERSION"));
        let folder = self.target.join(format!("tree-{version}-{counting:?}"));
        tree::write(&folder, self, counting)?;
        let path = Value::from(folder.join("tokio").display().to_string());
        self.settings.push(format!("patch.crates-io.tokio.path={path}"));
        let saved = Saved::of(self.lock());
        self.take_the_tree()?;
        eprintln!("on the tree: tokio {TOKIO}{MARK}; Cargo.lock is restored at the end");
        Ok(saved)
    }

    pub(crate) fn has_no_other_patch(&self) -> Result<()> {
        if let Some(place) = check::place(&self.manifest(), "tokio", &["patch"]) {
            bail!("{place} patches tokio already: remove that, or run cargo wheel patch --undo");
        }
        Ok(())
    }

    /// Makes the lock file hold the tree's tokio, or says what is in the way.
    pub(crate) fn take_the_tree(&self) -> Result<()> {
        if !self.lock().exists() {
            self.relock(&["generate-lockfile"])?;
        }
        let locked = self.read_lock()?.packages;
        let mut tokios = locked.iter().filter(|package| package.name.as_str() == "tokio");
        let has_tokio = tokios.any(|tokio| tokio.version.major == 1);
        ensure!(has_tokio, "{}: there is no tokio 1", self.lock().display());
        const OLD: &str = "registry+https://github.com/rust-lang/crates.io-index#tokio@1";
        let tree = format!("{TOKIO}{MARK}");
        let mut failed = String::new();
        // This may fail, too, which the loop notices.
        let _ = self.relock(&["update", "--recursive", OLD]);
        // The error names either an older package that the lock file holds, or a requirement.
        let held = Regex::new(r"previously selected package `(\S+) v([^\s`]+)")?;
        for _ in 0..5 {
            if is_on_tree(&self.read_lock()?) {
                return Ok(());
            }
            let Err(error) = self.relock(&["update", OLD, "--precise", &tree]) else {
                continue;
            };
            failed = error.to_string();
            let Some(held) = held.captures(&failed) else {
                break;
            };
            let _ = self.relock(&["update", &format!("{}@{}", &held[1], &held[2])]);
        }
        let off = Service { settings: Vec::new(), ..self.clone() };
        let excluded = check::requirements(&off.metadata(&[])?);
        ensure!(excluded.is_empty(), "{}", excluded.join("\n"));
        bail!("cargo does not take tokio {tree}: {failed}")
    }

    /// Says whose timers are on the tree, and whether tokio-wheel is there twice.
    pub(crate) fn tell_what_moved(&self) -> Result<()> {
        let metadata = self.metadata(&[])?;
        let moved: Vec<_> = timer_users(&metadata).iter().map(|user| user.name.as_str()).collect();
        eprintln!("timers moved: those of {}", moved.join(" "));
        check::second_copies(&metadata).iter().for_each(|copy| eprintln!("WARNING: {copy}"));
        Ok(())
    }
}

fn is_facade(name: &Name, version: &Version) -> bool {
    name.as_str() == "tokio" && version.to_string().ends_with(MARK)
}

/// Returns `true` if every crate has the tree's tokio.
fn is_on_tree(lock: &Lockfile) -> bool {
    lock.packages.iter().any(|package| is_facade(&package.name, &package.version))
        && !lock.patch.unused.iter().any(|patch| is_facade(&patch.name, &patch.version))
}

/// Returns the same lock file with the real tokio as the registry's, without the package in its
/// place and tokio-wheel. When cargo uses the file, it removes what only tokio-wheel needs.
pub(crate) fn without_the_tree(mut lock: Lockfile) -> String {
    let facade =
        lock.packages.iter().position(|package| is_facade(&package.name, &package.version));
    let facade = facade.map(|index| lock.packages.remove(index).version);
    let real = facade.map(|version| Version { build: BuildMetadata::EMPTY, ..version });
    lock.packages.retain(|package| !OURS.contains(&package.name.as_str()));
    for package in &mut lock.packages {
        package.dependencies.retain(|on| !OURS.contains(&on.name.as_str()));
        for on in package.dependencies.iter_mut().filter(|on| on.name.as_str() == "tokio") {
            on.version.build = BuildMetadata::EMPTY;
        }
        if package.name.as_str() == "tokio" && Some(&package.version) == real.as_ref() {
            package.source = Some(SourceId::default());
        }
    }
    lock.patch = Patch::default();
    lock.to_string()
}

/// Returns the packages that ask for tokio's feature `time`, in their manifest or by one of their own
/// features that is on. Without `time` there is no `tokio::time`. A package that relies on another
/// package's request is not counted.
pub(crate) fn timer_users(metadata: &Metadata) -> Vec<&Package> {
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let users = nodes.filter(|node| asks_for_timers(metadata, node));
    let mut users: Vec<&Package> = users.map(|node| &metadata[&node.id]).collect();
    users.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    users
}

fn asks_for_timers(metadata: &Metadata, node: &Node) -> bool {
    let package = &metadata[&node.id];
    let is_tokio = |package: &Package| package.name == "tokio" && package.version.major == 1;
    // The tree's own packages do not count, nor does another copy of tokio-wheel.
    let is_ours =
        is_tokio(package) || package.name == "tokio-wheel" || OURS.contains(&package.name.as_str());
    if is_ours || !node.deps.iter().any(|on| is_tokio(&metadata[&on.pkg])) {
        return false;
    }
    let own = node.features.iter().filter_map(|name| package.features.get(name.as_str()));
    let own: Vec<_> = own.flatten().map(|feature| feature.replace('?', "")).collect();
    let tokios = package.dependencies.iter().filter(|on| on.name == "tokio");
    tokios.filter(|on| on.kind != DependencyKind::Development).any(|on| {
        let key = on.rename.as_deref().unwrap_or("tokio");
        let asks = |feature: &&str| {
            on.features.iter().any(|asked| asked == feature)
                || own.contains(&format!("{key}/{feature}"))
        };
        ["time", "full", "test-util"].iter().any(asks)
    })
}

/// Returns a package's Rust files, in order, except those of packages inside of it.
pub(crate) fn sources(package: &Package) -> impl Iterator<Item = PathBuf> {
    let is_source = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        let is_inner = || entry.path().join("Cargo.toml").exists();
        entry.depth() == 0 || !(name == "target" || name.starts_with('.') || is_inner())
    };
    let files = WalkDir::new(package.manifest_path.with_file_name("")).sort_by_file_name();
    let files = files.into_iter().filter_entry(is_source).filter_map(Result::ok);
    let files = files.map(DirEntry::into_path);
    files.filter(|file| file.extension().is_some_and(|ending| ending == "rs"))
}

/// Returns a path relative to the current directory, if it is below.
pub(crate) fn shown(path: &Path) -> String {
    let here = env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}
