//! The workspace of a service, and how its lock file takes the tree's tokio.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use anyhow::{Context as _, Result, bail, ensure};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Node, NodeDep, Package};
use regex_lite::Regex;
use toml_edit::Value;

use crate::check;
use crate::lock::{Lock, MARK, REGISTRY};
use crate::process::{self, Saved};
use crate::tree::{self, Counting, TOKIO};

#[derive(Clone)]
pub(crate) struct Service {
    /// The workspace's folder.
    pub(crate) root: PathBuf,
    /// This command's own folder, in the target directory.
    pub(crate) target: PathBuf,
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

    pub(crate) fn read_lock(&self) -> Result<Lock> {
        let shown = || self.lock().display().to_string();
        Lock::parse(&fs::read_to_string(self.lock()).with_context(shown)?).with_context(shown)
    }

    /// Returns cargo, on the tree if this service is.
    fn cargo(&self) -> Command {
        let mut cargo = process::cargo();
        cargo.args(self.settings.iter().flat_map(|value| ["--config", value]));
        cargo
    }

    pub(crate) fn cargo_with(&self, arguments: &[OsString]) -> Command {
        let mut cargo = self.cargo();
        let (command, others) = arguments.split_at(1);
        cargo.args(command);
        if let Some(path) = &self.manifest {
            cargo.arg("--manifest-path").arg(path);
        }
        cargo.args(others);
        cargo
    }

    fn cargo_output(&self, arguments: &[&str]) -> Result<Output> {
        process::output(self.cargo().args(arguments).current_dir(&self.root))
    }

    pub(crate) fn metadata(&self, arguments: &[String]) -> Result<Metadata> {
        let settings = self.settings.iter().map(|value| format!("--config={value}"));
        let options = settings.chain([format!("--filter-platform={}", host()?)]);
        let options: Vec<_> = options.chain(arguments.iter().cloned()).collect();
        let mut command = MetadataCommand::new();
        command.manifest_path(self.manifest()).other_options(options);
        command.exec().with_context(|| self.manifest().display().to_string())
    }

    /// Writes the tree beside the build, and makes the lock file hold its tokio until the value that
    /// is returned is dropped.
    pub(crate) fn go_on_tree(&mut self, counting: Counting) -> Result<Saved> {
        self.has_no_other_patch()?;
        let folder = self.target.join(format!("tree-{counting:?}").to_lowercase());
        tree::write(&folder, self, counting)?;
        let path = Value::from(folder.join("tokio").display().to_string());
        self.settings.push(format!("patch.crates-io.tokio.path={path}"));
        let saved = Saved::of([self.lock()]);
        self.take_the_tree()?;
        eprintln!("on the tree: tokio {TOKIO}{MARK}; Cargo.lock is restored at the end");
        Ok(saved)
    }

    pub(crate) fn has_no_other_patch(&self) -> Result<()> {
        let place = check::place(&self.manifest(), "tokio", &["patch"]);
        let is_patched = place.ends_with(|last: char| last.is_ascii_digit());
        ensure!(
            !is_patched,
            "{place} patches tokio already: remove that, or run cargo wheel patch --undo"
        );
        Ok(())
    }

    /// Makes the lock file hold the tree's tokio, or says what is in the way.
    pub(crate) fn take_the_tree(&self) -> Result<()> {
        if !self.lock().exists() {
            let made = self.cargo_output(&["generate-lockfile"])?;
            ensure!(made.status.success(), "{}", errors(&made));
        }
        let mut log = String::new();
        for attempt in 0..5 {
            let lock = self.read_lock()?;
            if lock.is_on_tree() {
                return Ok(());
            }
            let shown = self.lock();
            let old = lock
                .tokio()
                .with_context(|| format!("{}: there is no tokio 1", shown.display()))?;
            let old = format!("{REGISTRY}#tokio@{old}");
            let version = format!("{TOKIO}{MARK}");
            let updated = self.cargo_output(&match attempt {
                0 => ["update", "--recursive", &old, "--quiet"],
                _ => ["update", &old, "--precise", &version],
            })?;
            log = errors(&updated);
            // The error names either an older package that the lock file holds, or a requirement.
            let held = Regex::new(r"previously selected package `(\S+) v([^\s`]+)")?;
            match held.captures(&log) {
                _ if updated.status.success() || attempt == 0 => {}
                Some(held) => {
                    _ = self.cargo_output(&["update", &format!("{}@{}", &held[1], &held[2])])?
                }
                None => break,
            }
        }
        let off = Service { settings: Vec::new(), ..self.clone() };
        let excluded = off.metadata(&[]).map(|metadata| check::requirements(&metadata));
        match excluded {
            Ok(excluded) if !excluded.is_empty() => bail!("{}", excluded.join("\n")),
            _ if self.read_lock()?.is_on_tree() => Ok(()),
            _ => bail!("cargo does not take tokio {TOKIO}{MARK}: {log}"),
        }
    }

    /// Says whose timers are on the tree, and whether there is another copy of this crate.
    pub(crate) fn tell_what_moved(&self) -> Result<()> {
        let metadata = self.metadata(&[])?;
        let moved: Vec<_> = timer_users(&metadata).iter().map(|user| user.name.as_str()).collect();
        eprintln!("timers moved: those of {}", moved.join(" "));
        check::second_copies(&metadata).iter().for_each(|copy| eprintln!("WARNING: {copy}"));
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
    let users = nodes.filter(|node| asks_for_timers(metadata, node));
    let mut users: Vec<&Package> = users.map(|node| &metadata[&node.id]).collect();
    users.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    users
}

fn asks_for_timers(metadata: &Metadata, node: &Node) -> bool {
    let package = &metadata[&node.id];
    let is_tokio = |on: &NodeDep| {
        let is_normal = on.dep_kinds.iter().any(|kind| kind.kind != DependencyKind::Development);
        metadata[&on.pkg].name == "tokio" && metadata[&on.pkg].version.major == 1 && is_normal
    };
    // The tree's own packages do not count.
    let is_ours = ["tokio", "tokio-wheel-whole-tree"].contains(&package.name.as_str());
    if is_ours || !node.deps.iter().any(is_tokio) {
        return false;
    }
    let asks = |feature: &str| ["time", "full", "test-util"].contains(&feature);
    let enabled = node.features.iter().filter_map(|name| package.features.get(name.as_str()));
    let enabled: Vec<_> = enabled.flatten().filter_map(|value| value.split_once('/')).collect();
    let tokios = package.dependencies.iter().filter(|on| on.name == "tokio");
    tokios.filter(|on| on.kind != DependencyKind::Development).any(|on| {
        let key = on.rename.as_deref().unwrap_or("tokio");
        let by_feature =
            |(name, feature): &(&str, &str)| name.trim_end_matches('?') == key && asks(feature);
        on.features.iter().any(|feature| asks(feature)) || enabled.iter().any(by_feature)
    })
}

/// Returns the name of the platform that programs are built for.
pub(crate) fn host() -> Result<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let told = process::output(Command::new(rustc).arg("-vV"))?;
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}
