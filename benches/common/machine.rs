//! What figures depend on: the machine, and the versions of everything that takes part.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::process::Command;
use std::thread::available_parallelism;

/// Where figures are taken, and with what.
#[derive(Debug)]
pub struct Circumstances {
    /// The processor, how many of them, the system.
    pub machine: String,
    /// This crate's, tokio's and the compiler's.
    pub versions: String,
}

impl Circumstances {
    /// Those of this process.
    pub fn new() -> Self {
        Self {
            machine: format!("{}, {} processors, {}", processor(), processors(), system()),
            versions: format!(
                "tokio-wheel {}, tokio {}, {}",
                locked("tokio-wheel"),
                locked("tokio"),
                compiler()
            ),
        }
    }
}

impl Default for Circumstances {
    fn default() -> Self {
        Self::new()
    }
}

impl Display for Circumstances {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.machine, self.versions)
    }
}

const UNKNOWN: &str = "unknown";

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(": "));
    name.map_or(std::env::consts::ARCH, |(_, name)| name)
        .to_owned()
}

fn processors() -> usize {
    available_parallelism().map_or(1, usize::from)
}

fn system() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    // What follows is the distribution's or the machine's own name.
    let number = release.split(['-', '+']).next().unwrap_or_default();
    format!("{} {}", std::env::consts::OS, number.trim())
}

const LOCK: &str = include_str!("../../Cargo.lock");

/// The version that Cargo chose.
fn locked(package: &str) -> String {
    let name = format!("name = \"{package}\"");
    let mut lines = LOCK.lines().skip_while(|line| **line != name);
    let version = lines
        .nth(1)
        .and_then(|line| line.strip_prefix("version = "));
    version
        .map_or(UNKNOWN, |version| version.trim_matches('"'))
        .to_owned()
}

fn compiler() -> String {
    let output = Command::new("rustc").arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    let words: Vec<&str> = text.split(' ').take(2).collect();
    let [_, version] = words[..] else {
        return format!("rustc {UNKNOWN}");
    };
    format!("rustc {version}")
}
