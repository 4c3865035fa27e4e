//! Runs this program under the emulator, and reads what the plugin counted.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use common::word;

use crate::Case;
use crate::play::Peer;

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

    /// One run.
    pub(crate) fn count(&self, case: Case, peer: Peer, hot: usize) -> Result<Counted> {
        let what = [word(&case.service), word(&peer), case.workers.to_string()];
        eprintln!("{} …", what.join(" "));
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
            .arg("--play")
            .args(&what)
            .env("LD_LIBRARY_PATH", self.directory.join(libraries))
            .output()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        let status = output.status;
        ensure!(status.success(), "{}: {status}: {errors}", what.join(" "));
        Counted::read(&String::from_utf8_lossy(&output.stdout), &errors)
    }
}

/// What the plugin reports of a run.
#[derive(Default)]
pub(crate) struct Counted {
    /// Per operation.
    pub(crate) transfers: f64,
    /// Where the program's code was loaded.
    pub(crate) start: u64,
    pub(crate) operations: f64,
    /// The hottest first.
    pub(crate) lines: Vec<HotLine>,
}

pub(crate) struct HotLine {
    pub(crate) address: u64,
    pub(crate) transfers: u64,
    /// Which byte, which instruction, how often.
    pub(crate) sites: Vec<(u64, u64, u64)>,
}

impl Counted {
    fn read(output: &str, report: &str) -> Result<Self> {
        let mut lines = output.lines();
        let operations = lines.find_map(|line| line.strip_prefix("operations "));
        let mut counted = Self {
            operations: operations.context("no operations")?.parse()?,
            ..Self::default()
        };
        for line in report.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            counted.line(&words).with_context(|| line.to_owned())?;
        }
        counted.transfers /= counted.operations;
        Ok(counted)
    }

    fn line(&mut self, words: &[&str]) -> Result<()> {
        match *words {
            ["line", address, count] => self.lines.push(HotLine {
                address: hexadecimal(address)?,
                transfers: count.parse()?,
                sites: Vec::new(),
            }),
            ["site", _, offset, address, count] => {
                let line = self.lines.last_mut().context("a site without a line")?;
                let site = (offset.parse()?, hexadecimal(address)?, count.parse()?);
                line.sites.push(site);
            }
            ["transfers", count] => self.transfers = count.parse()?,
            ["start", address] => self.start = hexadecimal(address)?,
            ["overflows", _] => bail!("the plugin's tables are too small"),
            _ => bail!("not understood"),
        }
        Ok(())
    }
}

fn hexadecimal(text: &str) -> Result<u64> {
    Ok(u64::from_str_radix(text, 16)?)
}
