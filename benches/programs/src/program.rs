//! The programs, by name.

use clap::builder::PossibleValuesParser;
use common::machine;

/// A published crate under load.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// The program in `src/bin`, and the feature that it needs.
    pub(crate) binary: &'static str,
    /// How many tasks, actors, sessions or packets there are; see each program.
    pub(crate) size: usize,
    /// The published crate whose timers are measured.
    pub(crate) package: &'static str,
    /// What an operation is, or what it needs.
    pub(crate) about: &'static str,
}

/// An entry: name, binary, size, package, description.
macro_rules! programs {
    ($($name:literal, $binary:literal, $size:literal, $package:literal, $about:literal;)*) => {
        &[$(Program { name: $name, binary: $binary, size: $size, package: $package, about: $about }),*]
    };
}

pub(crate) const ALL: &[Program] = programs! {
    "ractor", "ractor", 64, "ractor", "`call_t!`";
    "kameo", "kameo", 64, "kameo", "`ask`, with a reply timeout";
    "spawned", "spawned", 64, "spawned-concurrency", "`request`, 5 s by default";
    "acton", "acton", 64, "acton-reactive", "`ask`, 30 s by default";
    "rsactor", "rsactor", 64, "rsactor", "`ask_with_timeout`";
    "atomr", "atomr", 64, "atomr-core", "`ask_with`";
    "tower", "tower", 64, "tower", "timeout, hedge, retry, timeout";
    "sftp-64", "sftp", 64, "russh-sftp", "requests, a session per caller";
    "sftp-1", "sftp", 1, "russh-sftp", "requests, all by one session";
    "actor", "actor", 64, "tokio", "calls to tasks over channels";
    "pool", "pool", 64, "tokio", "waits for one of 16 connections";
    "spawn-timeout", "spawn-timeout", 64, "tokio", "`spawn(timeout(30 s, work))`";
    "dq-churn-1", "dq", 1, "tokio-util", "a `DelayQueue` of 100,000 entries";
    "dq-churn-2", "dq", 2, "tokio-util", "two tasks, a `DelayQueue` each";
    "dq-packets", "dq", 200_000, "tokio-util", "`DelayQueue`, every entry expires";
    "raft", "raft", 64, "openraft", "writes to three nodes";
    "redis-64", "redis", 64, "redis", "`GET` by 64 tasks";
    "redis-256", "redis", 256, "redis", "`GET` by 256 tasks";
    "delay", "delay", 500, "hyper", "hyper, a sleep of 5 ms per answer";
    "rpc", "rpc", 64, "tokio", "calls that share one connection";
    "nested", "nested", 64, "tokio", "an echo under four timeouts";
    "sntp", "sntp", 64, "rsntp", "queries, a socket for each";
    "turmoil", "turmoil", 9, "turmoil", "simulations with paused time";
};

impl Program {
    /// Returns the names, for the command line.
    pub(crate) fn names() -> PossibleValuesParser {
        common::names(ALL.iter().map(|one| (one.name, one.about)))
    }

    /// Whether it can have Tokio's alternative timer: `delay` and `turmoil` have current-thread runtimes.
    pub(crate) fn runs_on_alt(&self) -> bool {
        !["delay", "turmoil"].contains(&self.binary)
    }

    /// Whether its timers, or its queues, are in its own code, so that changing the import replaces them.
    pub(crate) fn imports(&self) -> bool {
        self.package == "tokio" || ["delay", "dq"].contains(&self.binary)
    }

    /// Returns whose timers are measured, the program's own or a crate's, and in which operation.
    pub(crate) fn operation(&self) -> String {
        match self.imports() {
            true => format!("our own: {}", self.about),
            false => format!("{} {}: {}", self.package, locked(self.package), self.about),
        }
    }
}

/// Returns the version of a package in the lock file.
fn locked(package: &str) -> &'static str {
    machine::locked(include_str!("../Cargo.lock"), package)
}
