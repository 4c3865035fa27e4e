//! The workspace of a service, and copies of it.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use anyhow::{Context as _, Result, ensure};
use cargo_lock::Lockfile;
use cargo_metadata::{Metadata, MetadataCommand, Package};

use crate::process;

/// Commands of cargo that edit the files of a package, which in a copy are links to the service's. Others
/// do with `--fix`.
const EDITORS: [&str; 5] = ["add", "remove", "rm", "fix", "fmt"];

#[derive(Clone)]
pub(crate) struct Service {
    /// The workspace's folder.
    pub(crate) root: PathBuf,
    /// This command's own folder, in the target directory.
    pub(crate) target: PathBuf,
    /// The packages of the workspace.
    pub(crate) packages: Vec<Package>,
    /// The manifest that cargo would take.
    manifest: PathBuf,
    /// Values of cargo's `--config`, which patch a copy.
    pub(crate) settings: Vec<String>,
    /// What stands before each path of a copy.
    top: String,
    /// Locked, so that one command at a time writes to `target`.
    _lock: Rc<File>,
}

impl Service {
    pub(crate) fn open(manifest: Option<&Path>) -> Result<Self> {
        let mut locate = process::cargo();
        locate.args(["locate-project", "--message-format=plain"]);
        if let Some(path) = manifest {
            locate.arg("--manifest-path").arg(path);
        }
        let manifest: PathBuf = printed(&mut locate)
            .context("name the service's Cargo.toml by --manifest-path")?
            .trim_end()
            .into();
        let found = MetadataCommand::new().manifest_path(&manifest).no_deps().exec();
        let found = found.with_context(|| manifest.display().to_string())?;
        let root = found.workspace_root.into_std_path_buf();
        let mut target = found.target_directory.join("cargo-wheel").into_std_path_buf();
        // In a target directory that others share, packages of the same name would clash.
        if !target.starts_with(&root) {
            target = below(&target, &root);
        }
        fs::create_dir_all(&target)?;
        // Cargo marks only a target directory that it has made itself.
        let tag = found.target_directory.join("CACHEDIR.TAG");
        if !tag.exists() {
            fs::write(tag, "Signature: 8a477f597d28d172789f06886806bc55\n")?;
        }
        let lock = File::create(target.join("lock"))?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            eprintln!("waiting for another cargo wheel in {}", root.display());
            lock.lock()?;
        }
        Ok(Service {
            root,
            target,
            packages: found.packages,
            manifest,
            settings: Vec::new(),
            top: String::new(),
            _lock: Rc::new(lock),
        })
    }

    /// Returns the same workspace below another root directory, with a lock file of its own, so that
    /// nothing that cargo does there changes the service. All other files and folders on the way to
    /// the workspace and in it are links, so relative paths lead to the same files.
    pub(crate) fn copy(&self, name: &str) -> Result<Self> {
        let top = self.target.join("copies").join(name);
        // It may not be there yet.
        let _ = fs::remove_dir_all(&top);
        let below = |path: &Path| below(&top, path);
        for folder in self.root.ancestors() {
            // A folder above may be closed to this user.
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if self.root.starts_with(&path) || self.target.starts_with(&path) {
                    fs::create_dir_all(below(&path))?;
                } else if path != self.lock() {
                    fs::create_dir_all(below(folder))?;
                    link(&path, &below(&path)).with_context(|| path.display().to_string())?;
                }
            }
        }
        let copy = Service {
            root: below(&self.root),
            manifest: below(&self.manifest),
            top: top.display().to_string(),
            ..self.clone()
        };
        if self.lock().exists() {
            // Without the permissions, because cargo may have to change it.
            process::put(&copy.lock(), fs::read(self.lock())?)?;
        }
        Ok(copy)
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

    /// Returns cargo, for a copy if this is one.
    pub(crate) fn cargo(&self, arguments: &[impl AsRef<OsStr>]) -> Result<Command> {
        suits_a_copy(arguments)?;
        let mut cargo = process::cargo();
        cargo.args(self.settings.iter().flat_map(|value| ["--config", value]));
        let (command, others) = arguments.split_at(1);
        cargo.args(command).arg("--manifest-path").arg(&self.manifest).args(others);
        cargo.env("CARGO_TARGET_DIR", self.target.join("build"));
        Ok(cargo)
    }

    /// Runs cargo, and returns what it prints, or the error that it prints, as for the service itself.
    pub(crate) fn output(&self, arguments: &[impl AsRef<OsStr>]) -> Result<String> {
        process::go_on()?;
        let printed = printed(&mut self.cargo(arguments)?);
        let own = |text: String| text.replace(&self.top, "");
        printed.map(own).map_err(|error| anyhow::anyhow!(own(error.to_string())))
    }

    pub(crate) fn metadata(&self, arguments: &[String]) -> Result<Metadata> {
        let platform = format!("--filter-platform={}", rustc_version::version_meta()?.host);
        let own = ["metadata", "--format-version=1", &platform].map(str::to_owned);
        Ok(MetadataCommand::parse(self.output(&[&own, arguments].concat())?)?)
    }
}

/// Fails if cargo would not work on the copy with these arguments.
fn suits_a_copy(arguments: &[impl AsRef<OsStr>]) -> Result<()> {
    let own = arguments.iter().map(|word| word.as_ref().to_string_lossy());
    let own: Vec<_> = own.take_while(|word| word != "--").collect();
    let is_named = own.iter().any(|word| word.starts_with("--manifest-path"));
    ensure!(!is_named, "write --manifest-path before the --, so that this command sees it");
    let command = own.first().map_or("", |command| command);
    // What follows `run` may be the program's.
    let fixes = command != "run" && own.iter().any(|word| word == "--fix");
    let edits = EDITORS.contains(&command) || fixes;
    let line = own.join(" ");
    ensure!(!edits, "cargo {line} would change the service itself: run it without cargo wheel");
    Ok(())
}

/// Returns an absolute path as one below another folder.
fn below(folder: &Path, path: &Path) -> PathBuf {
    let names = path.components().filter(|part| matches!(part, Component::Normal(_)));
    folder.join(names.collect::<PathBuf>())
}

fn printed(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(unix)]
fn link(file: &Path, at: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(file, at)
}

#[cfg(windows)]
fn link(file: &Path, at: &Path) -> std::io::Result<()> {
    use std::os::windows::fs::{symlink_dir, symlink_file};
    if file.is_dir() { symlink_dir(file, at) } else { symlink_file(file, at) }
}
