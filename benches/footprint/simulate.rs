//! Builds the counted program, and runs it under the simulator.

use std::env;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use clap::ValueEnum;

use crate::trace::{self, Counts};

/// How the counted program is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Build {
    /// as `cargo build --release` does
    Release,
    /// with link-time optimisation, in one piece
    Lto,
}

/// The built program and its clock.
pub(crate) struct Simulator {
    /// The target directory.
    target: PathBuf,
}

const PROGRAM: &str = "footprint-played";
const CLOCK: &str = "clock.so";

impl Simulator {
    /// Builds the program. Returns `None` if the machine has no simulator.
    pub(crate) fn new() -> Result<Option<Self>> {
        let found = Command::new("valgrind").arg("--version").output();
        if !found.is_ok_and(|output| output.status.success()) {
            return Ok(None);
        }
        let executable = env::current_exe()?;
        // Cargo puts benches into TARGET/PROFILE/deps.
        let target = executable
            .ancestors()
            .nth(3)
            .context("a target directory")?;
        for &how in Build::value_variants() {
            build(target, how)?;
            compile_clock(&target.join(profile(how)))?;
        }
        let target = target.to_owned();
        Ok(Some(Self { target }))
    }

    /// Counts one run, per operation. The environment has always the same variables, because its contents move memory.
    /// It also tells libc which code copies memory, because that code otherwise depends on the processor.
    pub(crate) fn count(
        &self,
        how: Build,
        timers: &str,
        shape: &str,
        runtime: &str,
    ) -> Result<Counts> {
        let kept = ["PATH", "VALGRIND_LIB"].into_iter();
        let mut child = Command::new("valgrind")
            .args(["--tool=lackey", "--trace-mem=yes", "--basic-counts=no"])
            .arg(Path::new(".").join(PROGRAM))
            .args([timers, shape, runtime])
            .current_dir(self.target.join(profile(how)))
            .env_clear()
            .envs(kept.filter_map(|name| Some((name, env::var_os(name)?))))
            .env("LD_PRELOAD", Path::new(".").join(CLOCK))
            .env("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2,-ERMS,-FSRM")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let output = child.stderr.take().context("a pipe")?;
        let counts = trace::read(BufReader::with_capacity(1 << 20, output));
        let status = child.wait()?;
        let counts =
            counts.with_context(|| format!("{shape} with {timers} on a {runtime} runtime"))?;
        ensure!(status.success(), "{PROGRAM}: {status}");
        Ok(counts)
    }
}

/// Returns the profile of a build, which is also the name of its directory.
fn profile(how: Build) -> &'static str {
    match how {
        Build::Release => "release",
        Build::Lto => "footprint",
    }
}

/// Builds with the features of the program rather than those of the whole workspace.
fn build(target: &Path, how: Build) -> Result<()> {
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--quiet", "--profile", profile(how)])
        .args(["--package", PROGRAM])
        .arg("--target-dir")
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()?;
    ensure!(status.success(), "{PROGRAM} does not build");
    Ok(())
}

fn compile_clock(directory: &Path) -> Result<()> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("clock.c");
    let status = Command::new("cc")
        .args(["-O2", "-Wall", "-shared", "-fPIC", "-o"])
        .args([&directory.join(CLOCK), &source])
        .status()
        .context("cc")?;
    ensure!(status.success(), "clock.c: {status}");
    Ok(())
}
