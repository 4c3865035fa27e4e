//! Describes the machine, and the versions that a result depends on.

use std::env::consts::{ARCH, OS};
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::process::Command;

use crate::process::field;
use crate::processors;

/// The machine and the versions that a result depends on.
#[derive(Debug)]
pub struct Circumstances {
    /// The processor, the number of processors, the system.
    pub machine: String,
    /// The versions of tokio-wheel, of Tokio and of the compiler.
    pub versions: String,
}

impl Circumstances {
    /// Looks them up for this process.
    pub fn look() -> Self {
        let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cpu = field(&cpu, "model name").unwrap_or(ARCH);
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        // The rest is the name of the distribution or of the machine.
        let release = release.split(['-', '+', '\n']).next().unwrap_or_default();
        let locked = |package| locked(include_str!("../../Cargo.lock"), package);
        let (wheel, tokio) = (locked("tokio-wheel"), locked("tokio"));
        Self {
            machine: format!("{cpu}, {} processors, {OS} {release}", processors()),
            versions: format!("tokio-wheel {wheel}, tokio {tokio}, {}", compiler()),
        }
    }
}

impl Display for Circumstances {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.machine, self.versions)
    }
}

/// Returns the version of a package in a lock file.
fn locked<'a>(lock: &'a str, package: &str) -> &'a str {
    let begin = format!("name = \"{package}\"\nversion = \"");
    let version = lock
        .split_once(&begin)
        .and_then(|(_, rest)| rest.split('"').next());
    version.unwrap_or("unknown")
}

/// Returns the compiler's name and version.
fn compiler() -> String {
    let output = Command::new("rustc").arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    text.split(' ').take(2).collect::<Vec<_>>().join(" ")
}
