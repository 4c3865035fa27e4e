//! The workspace of a service, and how its lock file takes the tree's tokio.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use anyhow::{Context as _, Result, bail, ensure};
use cargo_metadata::{CargoOpt, DependencyKind, Metadata, MetadataCommand, Node, Package};
use regex_lite::Regex;
use toml_edit::{DocumentMut, Value};

use crate::check;
use crate::lock::{Lock, MARK};
use crate::process::{self, Saved};
use crate::tree::{self, Counting, TOKIO};

#[derive(Clone)]
pub(crate) struct Service {
    /// The workspace's folder.
    pub(crate) root: PathBuf,
    /// This command's own folder, in the target directory.
    pub(crate) target: PathBuf,
    /// To be passed on to cargo.
    pub(crate) manifest: Option<PathBuf>,
    /// Arguments of cargo that make it use the tree, unless the manifest does.
    pub(crate) patch: Vec<String>,
}

impl Service {
    pub(crate) fn open(manifest: Option<&Path>) -> Result<Self> {
        let mut command = MetadataCommand::new();
        if let Some(path) = manifest {
            command.manifest_path(path);
        }
        let found = command
            .no_deps()
            .exec()
            .context("there is no Cargo package here: name its Cargo.toml by --manifest-path")?;
        Ok(Service {
            root: found.workspace_root.into(),
            target: found.target_directory.join("cargo-wheel").into(),
            manifest: manifest.map(Path::to_owned),
            patch: Vec::new(),
        })
    }

    /// Opens the workspace that cargo would with these arguments.
    pub(crate) fn of(manifest: Option<&Path>, arguments: &[OsString]) -> Result<Self> {
        if manifest.is_some() {
            return Service::open(manifest);
        }
        let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
        let words: Vec<_> = words
            .iter()
            .take_while(|word| *word != "--")
            .flat_map(|word| word.split('='))
            .collect();
        let at = words.iter().position(|word| *word == "--manifest-path");
        let named = at.and_then(|at| words.get(at + 1)).map(Path::new);
        let mut service = Service::open(named)?;
        service.manifest = None;
        Ok(service)
    }

    pub(crate) fn manifest(&self) -> PathBuf {
        self.root.join("Cargo.toml")
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.root.join("Cargo.lock")
    }

    pub(crate) fn read_lock(&self) -> Result<Lock> {
        let path = self.lock();
        let text = fs::read_to_string(&path);
        let text =
            text.with_context(|| format!("{}: run cargo generate-lockfile first", path.display()))?;
        Lock::parse(&text).with_context(|| path.display().to_string())
    }

    /// Returns cargo, on the tree if this service is.
    pub(crate) fn cargo(&self) -> Command {
        let mut cargo = process::cargo();
        cargo.args(&self.patch);
        cargo
    }

    pub(crate) fn cargo_with(&self, arguments: &[OsString]) -> Command {
        self.cargo_on(&[], arguments)
    }

    /// Returns cargo with arguments of its own and of its command.
    pub(crate) fn cargo_on(&self, own: &[OsString], arguments: &[OsString]) -> Command {
        let mut cargo = self.cargo();
        let (command, others) = arguments.split_at(1);
        cargo.args(own).args(command);
        if let Some(path) = &self.manifest {
            cargo.arg("--manifest-path").arg(path);
        }
        cargo.args(others);
        cargo
    }

    fn cargo_output(&self, arguments: &[&str]) -> Result<Output> {
        process::output(self.cargo().args(arguments).current_dir(&self.root))
    }

    pub(crate) fn metadata(&self, features: &[CargoOpt]) -> Result<Metadata> {
        let host = ["--filter-platform".to_owned(), host()?];
        let mut command = MetadataCommand::new();
        command.manifest_path(self.manifest()).other_options([&self.patch[..], &host].concat());
        for feature in features {
            command.features(feature.clone());
        }
        command.exec().with_context(|| self.manifest().display().to_string())
    }

    /// Writes the tree beside the build, and makes the lock file hold its tokio until the value that
    /// is returned is dropped.
    pub(crate) fn go_on_tree(&mut self, counting: Counting) -> Result<Saved> {
        self.has_no_other_patch()?;
        let folder = match counting {
            Counting::Off => "tree",
            Counting::Totals => "tree-totals",
            Counting::Lines => "tree-lines",
        };
        let folder = self.target.join(folder);
        tree::write(&folder, &self.root, &self.target, counting)?;
        let path = Value::from(folder.join("tokio").display().to_string());
        self.patch = vec!["--config".to_owned(), format!("patch.crates-io.tokio.path={path}")];
        let saved = Saved::of([self.lock()])?;
        self.take_the_tree()?;
        eprintln!("on the tree: tokio {TOKIO}{MARK}; Cargo.lock is restored at the end");
        Ok(saved)
    }

    pub(crate) fn has_no_other_patch(&self) -> Result<()> {
        let path = self.manifest();
        let manifest: DocumentMut =
            fs::read_to_string(&path)?.parse().with_context(|| path.display().to_string())?;
        let patch = manifest.get("patch").and_then(|patch| patch.get("crates-io")?.get("tokio"));
        ensure!(
            patch.is_none(),
            "{} patches tokio already: remove that first, or run cargo wheel patch --undo if this command wrote it",
            check::place(&path, "tokio", &["patch"])
        );
        Ok(())
    }

    /// Makes the lock file hold the tree's tokio, or says what is in the way.
    pub(crate) fn take_the_tree(&self) -> Result<()> {
        if !self.lock().exists() {
            let made = self.cargo_output(&["generate-lockfile"])?;
            ensure!(made.status.success(), "{}", errors(&made));
        }
        let lock = self.read_lock()?;
        let old = lock.tokio().map(str::to_owned);
        let old = match old {
            _ if lock.is_on_tree() => return Ok(()),
            None => bail!("{}: there is no tokio 1: nothing would move", self.lock().display()),
            Some(old) => old,
        };
        // If this fails, what follows says why.
        self.cargo_output(&["update", "--recursive", &format!("tokio@{old}")])?;
        let mut log = String::new();
        for _ in 0..5 {
            let lock = self.read_lock()?;
            if lock.is_on_tree() {
                return Ok(());
            }
            let old = format!("tokio@{}", lock.tokio().unwrap_or(&old));
            let updated =
                self.cargo_output(&["update", &old, "--precise", &format!("{TOKIO}{MARK}")])?;
            if updated.status.success() {
                continue;
            }
            log = errors(&updated);
            // The error names either an older package that the lock file holds, or a requirement.
            let held = Regex::new(r"previously selected package `(\S+) v([^\s`]+)")?;
            let Some(held) = held.captures(&log) else {
                break;
            };
            self.cargo_output(&["update", &format!("{}@{}", &held[1], &held[2])])?;
        }
        let without = Service { patch: Vec::new(), ..self.clone() };
        let excluded = without
            .metadata(&[])
            .map(|metadata| check::requirements(&metadata))
            .unwrap_or_default();
        ensure!(excluded.is_empty(), "{}", excluded.join("\nerror: "));
        ensure!(
            log.is_empty() && self.read_lock()?.is_on_tree(),
            "cargo does not take tokio {TOKIO}{MARK}: {log}"
        );
        Ok(())
    }

    /// Says whose timers are on the tree, and whether there is another copy of this crate.
    pub(crate) fn tell_what_moved(&self) -> Result<()> {
        let metadata = self.metadata(&[])?;
        let moved = timer_users(&metadata);
        let names: Vec<_> = moved.iter().map(|package| package.name.as_str()).collect();
        eprintln!("timers moved: those of {}", names.join(" "));
        for place in check::second_copies(&metadata) {
            eprintln!("WARNING: {place}");
        }
        Ok(())
    }
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

/// Returns the packages that ask for tokio's feature `time`, in their manifest or by one of their own
/// features that is on. Without `time` there is no `tokio::time`. A package that relies on another
/// package's request is not counted.
pub(crate) fn timer_users(metadata: &Metadata) -> Vec<&Package> {
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let users = nodes.filter(|node| asks_for_timers(metadata, node) == Some(true));
    let mut users: Vec<&Package> = users.map(|node| &metadata[&node.id]).collect();
    users.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    users
}

fn asks_for_timers(metadata: &Metadata, node: &Node) -> Option<bool> {
    let package = &metadata[&node.id];
    if package.name == "tokio" || package.name == "tokio-wheel-whole-tree" {
        return None;
    }
    let is_used = |dependency: &cargo_metadata::NodeDep| {
        let target = &metadata[&dependency.pkg];
        let is_normal =
            dependency.dep_kinds.iter().any(|kind| kind.kind != DependencyKind::Development);
        target.name == "tokio" && target.version.major == 1 && is_normal
    };
    node.deps.iter().find(|dependency| is_used(dependency))?;
    let asks = |feature: &str| ["time", "full", "test-util"].contains(&feature);
    let mut tokios = package.dependencies.iter().filter(|dependency| dependency.name == "tokio");
    let enabled = node.features.iter().filter_map(|name| package.features.get(name.as_str()));
    let mut enabled = enabled.flatten().filter_map(|value| value.split_once('/'));
    Some(tokios.any(|tokio| {
        let key = tokio.rename.as_deref().unwrap_or("tokio");
        tokio.kind != DependencyKind::Development
            && tokio.features.iter().any(|feature| asks(feature))
            || enabled.any(|(name, feature)| name.trim_end_matches('?') == key && asks(feature))
    }))
}

/// Returns the name of the platform that programs are built for.
pub(crate) fn host() -> Result<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let told = process::output(Command::new(rustc).arg("-vV"))?;
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}
