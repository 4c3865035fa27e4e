//! Runs this program in the emulator, and reads what the plugin counted.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use common::word;

use crate::code::{functions, holds_tokios_lock};
use crate::play::Case;

/// QEMU and the plugin, in the target directory.
pub(crate) struct Emulator {
    directory: PathBuf,
}

impl Emulator {
    /// Downloads what is missing, and compiles the plugin.
    pub(crate) fn new() -> Result<Self> {
        let executable = env::current_exe()?;
        // Cargo puts this program into TARGET/PROFILE/deps.
        let target = executable.ancestors().nth(2);
        let directory = target.context("a target directory")?.join("transfers");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("emulator");
        let status = Command::new(script).arg(&directory).status()?;
        ensure!(status.success(), "no emulator");
        Ok(Self { directory })
    }

    /// Simulates one run.
    pub(crate) fn count(&self, case: Case, implementation: &str) -> Result<Counted> {
        let (service, workers) = (word(&case.service), case.workers.to_string());
        eprintln!("{service} {implementation} {workers} …");
        let libraries = format!("usr/lib/{}-linux-gnu", env::consts::ARCH);
        let qemu = format!("usr/bin/qemu-{}", env::consts::ARCH);
        // A run takes seconds, but emulating 64 processors on two sometimes hangs.
        let output = Command::new("timeout")
            .arg("600")
            .arg(self.directory.join(qemu))
            .arg("-plugin")
            .arg(self.directory.join("plugin.so"))
            .arg(env::current_exe()?)
            .args(["--play", implementation, &service, "--workers", &workers])
            .env("LD_LIBRARY_PATH", self.directory.join(libraries))
            .output()?;
        let report = String::from_utf8_lossy(&output.stderr);
        let status = output.status;
        ensure!(status.success(), "{status}: {report}");
        let mut lines = report.lines().map(pair);
        let (transfers, overflows) = lines.next().context("no report")??;
        ensure!(overflows == 0, "the plugin's tables are too small");
        let code = lines.collect::<Result<_>>()?;
        // The lines before the last one only mark when the plugin counts.
        let said = String::from_utf8_lossy(&output.stdout);
        let (operations, start) = pair(said.lines().last().unwrap_or(""))?;
        Ok(Counted {
            transfers,
            code,
            operations,
            start,
        })
    }
}

fn pair(line: &str) -> Result<(u64, u64)> {
    let (one, other) = line.split_once(' ').context("two numbers")?;
    Ok((one.parse()?, other.parse()?))
}

/// What the plugin and the program report about a run.
pub(crate) struct Counted {
    transfers: u64,
    /// Addresses of instructions, and how many transfers each caused.
    code: Vec<(u64, u64)>,
    operations: u64,
    /// Where the program was loaded.
    start: u64,
}

impl Counted {
    fn per_operation(&self, transfers: u64) -> f64 {
        transfers as f64 / self.operations as f64
    }

    /// Returns the transfers per operation.
    pub(crate) fn transfers(&self) -> f64 {
        self.per_operation(self.transfers)
    }

    /// Returns the transfers per operation caused by code that takes or holds the lock of Tokio's timers.
    pub(crate) fn in_tokios_lock(&self) -> Result<f64> {
        let functions = functions(self.start, self.code.iter().map(|code| code.0))?;
        let of_holders = |code: &&(u64, u64)| holds_tokios_lock(&functions[&code.0]);
        let transfers = self.code.iter().filter(of_holders).map(|code| code.1).sum();
        Ok(self.per_operation(transfers))
    }
}
