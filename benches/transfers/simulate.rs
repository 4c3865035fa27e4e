//! Runs this program under the emulator, and reads what the plugin counted.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use common::word;
use serde::Deserialize;

use crate::code::{functions, holds_tokios_lock};
use crate::play::{Case, Peer};

/// QEMU and the plugin, in a directory of the build's own.
pub(crate) struct Emulator {
    directory: PathBuf,
}

impl Emulator {
    /// Fetches what is not there yet.
    pub(crate) fn new() -> Result<Self> {
        let executable = env::current_exe()?;
        // Cargo puts it into TARGET/PROFILE.
        let target = executable.ancestors().nth(2);
        let directory = target.context("a target directory")?.join("transfers");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("emulator");
        let status = Command::new(script).arg(&directory).status()?;
        ensure!(status.success(), "no emulator");
        Ok(Self { directory })
    }

    /// One run, with so many of the lines that went most often.
    pub(crate) fn count(&self, case: Case, peer: Peer, hot: usize) -> Result<Counted> {
        let (service, peer) = (word(&case.service), word(&peer));
        let workers = case.workers.to_string();
        eprintln!("{service} {peer} {workers} …");
        let libraries = format!("usr/lib/{}-linux-gnu", env::consts::ARCH);
        let plugin = self.directory.join("plugin.so");
        // A run takes seconds; the emulator of 64 processors on two now and then takes for ever.
        let qemu = format!("usr/bin/qemu-{}", env::consts::ARCH);
        let output = Command::new("timeout")
            .arg("600")
            .arg(self.directory.join(qemu))
            .arg("-plugin")
            .arg(format!("{},hot={hot}", plugin.display()))
            .arg(env::current_exe()?)
            .args(["--play", &peer, &service, "--workers", &workers])
            .env("LD_LIBRARY_PATH", self.directory.join(libraries))
            .output()?;
        let report = String::from_utf8_lossy(&output.stderr);
        let status = output.status;
        ensure!(status.success(), "{status}: {report}");
        let mut counted: Counted = serde_json::from_str(&report)?;
        ensure!(counted.overflows == 0, "the plugin's tables are too small");
        // What it said was for the plugin, up to the last line.
        let said = String::from_utf8_lossy(&output.stdout);
        (counted.operations, counted.start) =
            serde_json::from_str(said.lines().last().unwrap_or(""))?;
        Ok(counted)
    }
}

/// What the plugin and the program report of a run.
#[derive(Deserialize)]
pub(crate) struct Counted {
    transfers: u64,
    overflows: u64,
    /// The hottest first, where they are asked for.
    #[serde(default)]
    pub(crate) lines: Vec<HotLine>,
    /// Which instruction, how often; where no lines are asked for.
    #[serde(default)]
    code: Vec<(u64, u64)>,
    #[serde(skip)]
    operations: u64,
    /// Where the program was loaded.
    #[serde(skip)]
    pub(crate) start: u64,
}

#[derive(Deserialize)]
pub(crate) struct HotLine {
    pub(crate) address: u64,
    pub(crate) transfers: u64,
    /// Which byte, which instruction, how often.
    pub(crate) sites: Vec<(u64, u64, u64)>,
}

impl Counted {
    pub(crate) fn per_operation(&self, transfers: u64) -> f64 {
        transfers as f64 / self.operations as f64
    }

    /// Per operation.
    pub(crate) fn transfers(&self) -> f64 {
        self.per_operation(self.transfers)
    }

    /// Those of code that holds the lock of tokio's timers, per operation.
    pub(crate) fn in_tokios_lock(&self) -> Result<f64> {
        let functions = functions(self.start, self.code.iter().map(|code| code.0))?;
        let of_holders = |code: &&(u64, u64)| holds_tokios_lock(&functions[&code.0]);
        let transfers = self.code.iter().filter(of_holders).map(|code| code.1).sum();
        Ok(self.per_operation(transfers))
    }
}
