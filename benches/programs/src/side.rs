//! The implementations that are compared, and how a program is built on each.
//!
//! The side `tokio` is built where the program is committed. Every other side is built from a copy of the manifest and the lock
//! file, so that the committed ones do not change.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

use crate::program::{Program, locked};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// The timers that a program runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Side {
    #[value(skip)]
    Tokio,
    #[value(skip)]
    Tree,
    /// Tokio's timer per worker: `--cfg tokio_unstable` and `enable_alt_timer`
    PerWorker,
    /// tokio 1.44.2, the last with sharded timers; for the programs whose crates allow it
    Sharded,
}

/// Builds the program on each side that it runs on, and returns the paths of the binaries.
pub(crate) fn build_all(program: &Program, sides: &[Side]) -> Result<Vec<(Side, PathBuf)>> {
    let sides = sides.iter().copied();
    let sides = sides.filter(|&side| side != Side::Sharded || program.runs_on_sharded());
    sides.map(|side| Ok((side, side.build(program)?))).collect()
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

    fn build(self, program: &Program) -> Result<PathBuf> {
        let runner = env::current_exe()?;
        let target = runner.ancestors().nth(2).context("a target directory")?;
        let mut cargo = Command::new("cargo");
        let folder = match self {
            Side::Tokio => {
                cargo.current_dir(HERE).env("CARGO_TARGET_DIR", target);
                return build(program, &mut cargo, target);
            }
            Side::Tree => {
                let tool = ["run", "--quiet", "--package", "cargo-wheel"];
                cargo.args(tool).arg("--manifest-path");
                cargo.arg(Path::new(HERE).join("../../Cargo.toml"));
                cargo.arg("--target-dir").arg(target.join("cargo-wheel"));
                cargo.args(["--", "try", "--"]);
                let folder = copy(&target.join("tree"), |_| true)?;
                let hydra = change_hydra(&folder)?.display().to_string();
                let patch = format!("\n[patch.crates-io]\nhydra = {{ path = \"{hydra}\" }}\n");
                let manifest = folder.join("Cargo.toml");
                let text = fs::read_to_string(&manifest)?;
                fs::write(manifest, text + &patch)?;
                folder
            }
            Side::PerWorker => {
                cargo.env("RUSTFLAGS", "--cfg tokio_unstable");
                copy(&target.join("per-worker"), |_| true)?
            }
            Side::Sharded => {
                // Of the optional crates, only these stay, because many others do not allow this Tokio.
                let kept = ["delay", "http", "hyper", "ractor", "rsntp", "sntp"];
                let folder = copy(&target.join("sharded"), |line| {
                    kept.iter().any(|name| line.starts_with(name))
                        || !line.contains("optional") && !line.contains("\"dep:")
                })?;
                let update = ["update", "--quiet", "tokio", "--precise", "1.44.2"];
                finished(Command::new("cargo").args(update).current_dir(&folder))?;
                folder
            }
        };
        let target = folder.join("target");
        cargo.current_dir(&folder).env("CARGO_TARGET_DIR", &target);
        build(program, &mut cargo, &target)
    }
}

/// Creates a folder with the sources, the lock file, and the lines of the manifest that `keeps` selects.
fn copy(folder: &Path, keeps: impl Fn(&str) -> bool) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let here = Path::new(HERE);
    let manifest = fs::read_to_string(here.join("Cargo.toml"))?;
    let kept: Vec<_> = manifest.lines().filter(|line| keeps(line)).collect();
    let manifest = kept
        .join("\n")
        .replace("path = \"", &format!("path = \"{HERE}/"));
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::copy(here.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    if !folder.join("src").exists() {
        symlink(here.join("src"), folder.join("src"))?;
    }
    Ok(folder.to_owned())
}

/// Creates a copy of hydra's package in which one line differs: it calls Tokio's timeout instead of pingora-timeout's.
fn change_hydra(folder: &Path) -> Result<PathBuf> {
    let (copy, version) = (folder.join("hydra"), locked("hydra"));
    let source = copy.join("src/process.rs");
    if !source.exists() {
        let script =
            "target=$1; . \"$2/../../.ci/package.sh\"; cp -Rp \"$(package hydra \"$3\")\" \"$4\"";
        finished(Command::new("bash").args(["-euc", script, "bash"]).args([
            folder,
            Path::new(HERE),
            Path::new(version),
            &copy,
        ]))?;
    }
    let text = fs::read_to_string(&source)?;
    let [from, to] = ["pingora_timeout::timeout(", "tokio::time::timeout("];
    if text.contains(from) {
        ensure!(
            text.matches(from).count() == 1,
            "hydra {version} has more than one timeout"
        );
        fs::write(source, text.replace(from, to))?;
    }
    Ok(copy)
}

fn build(program: &Program, cargo: &mut Command, target: &Path) -> Result<PathBuf> {
    let binary = program.binary;
    finished(cargo.args(["build", "--release", "--bin", binary, "--features", binary]))?;
    Ok(target.join("release").join(binary))
}

fn finished(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?}"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}
