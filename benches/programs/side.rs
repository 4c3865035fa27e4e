//! The implementations that are compared, and how each is built.
//!
//! The runner is tokio's own build. Every other side is built beside it from a copy of the manifest and of the lock file, so
//! that the committed ones do not change.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Whose timers a program runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Side {
    #[value(skip)]
    Tokio,
    #[value(skip)]
    Tree,
    /// tokio's timer per worker: `--cfg tokio_unstable` and `enable_alt_timer`
    PerWorker,
    /// tokio 1.44.2, the last with sharded timers; for the programs whose crates allow it
    Sharded,
}

impl Side {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Side::Tokio => "tokio",
            Side::Tree => "tokio-wheel (whole tree)",
            Side::PerWorker => "tokio, timer per worker",
            Side::Sharded => "tokio 1.44.2, sharded timers",
        }
    }

    /// Builds this side, and returns the path of its binary.
    pub(crate) fn build(self) -> Result<PathBuf> {
        let runner = env::current_exe()?;
        let target = runner.ancestors().nth(2).context("a target directory")?;
        match self {
            Side::Tokio => Ok(runner),
            Side::Tree => {
                let folder = copy(&target.join("tree"), |_| true)?;
                let manifest = Path::new(HERE).join("../../Cargo.toml");
                let mut tool = Command::new("cargo");
                tool.args([
                    "run",
                    "--quiet",
                    "--package",
                    "cargo-wheel",
                    "--manifest-path",
                ])
                .arg(manifest)
                .arg("--target-dir")
                .arg(target.join("cargo-wheel"))
                .args(["--", "try", "--"]);
                build(&folder, &mut tool)
            }
            Side::PerWorker => {
                let folder = copy(&target.join("per-worker"), |_| true)?;
                build(
                    &folder,
                    Command::new("cargo").env("RUSTFLAGS", "--cfg tokio_unstable"),
                )
            }
            Side::Sharded => {
                let newer = ["default", "newer", "kameo", "redis"];
                let folder = copy(&target.join("sharded"), |line| {
                    !newer.iter().any(|name| line.starts_with(name))
                })?;
                let update = ["update", "--quiet", "tokio", "--precise", "1.44.2"];
                finished(Command::new("cargo").args(update).current_dir(&folder))?;
                build(&folder, &mut Command::new("cargo"))
            }
        }
    }
}

/// A folder with the lock file and with the lines of the manifest that `keeps` names, whose paths lead here.
fn copy(folder: &Path, keeps: impl Fn(&str) -> bool) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let manifest = fs::read_to_string(Path::new(HERE).join("Cargo.toml"))?;
    let kept: Vec<_> = manifest.lines().filter(|line| keeps(line)).collect();
    let manifest = kept
        .join("\n")
        .replace("path = \"", &format!("path = \"{HERE}/"));
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::copy(
        Path::new(HERE).join("Cargo.lock"),
        folder.join("Cargo.lock"),
    )?;
    Ok(folder.to_owned())
}

fn build(folder: &Path, cargo: &mut Command) -> Result<PathBuf> {
    let target = folder.join("target");
    finished(
        cargo
            .args(["build", "--release"])
            .env("CARGO_TARGET_DIR", &target)
            .current_dir(folder),
    )?;
    Ok(target.join("release/programs"))
}

fn finished(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?}"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}
