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
    pub(crate) about: &'static str,
}

/// An entry: name, binary, size, package, description.
macro_rules! programs {
    ($($name:literal, $binary:literal, $size:literal, $package:literal, $about:literal;)*) => {
        &[$(Program { name: $name, binary: $binary, size: $size, package: $package, about: $about }),*]
    };
}

pub(crate) const ALL: &[Program] = programs! {
    "ractor", "ractor", 64, "ractor", "`call_t!`, 64 callers and 64 actors";
    "kameo", "kameo", 64, "kameo", "`ask` with a reply timeout, 64 callers and 64 actors";
    "spawned", "spawned", 64, "spawned-concurrency", "`request` under its default timeout, 64 callers and 64 actors";
    "acton", "acton", 64, "acton-reactive", "`ask` under its default timeout, 64 callers and 64 actors";
    "rsactor", "rsactor", 64, "rsactor", "`ask_with_timeout`, 64 callers and 64 actors";
    "atomr", "atomr", 64, "atomr-core", "`ask_with`, 64 callers and 64 actors";
    "hydra", "hydra", 64, "hydra", "calls under its default timeout, 64 callers and 64 servers; on Tokio as published, with pingora-timeout";
    "tower", "tower", 64, "tower", "timeout, hedge, retry and timeout around a service behind channels, 64 callers";
    "sftp-64", "sftp", 64, "russh-sftp", "requests under its default timeout, 64 callers with a session each";
    "sftp-1", "sftp", 1, "russh-sftp", "requests under its default timeout, 64 callers with one session";
    "actor", "actor", 64, "tokio", "`timeout` around calls to tasks over channels, 64 callers and 64 tasks";
    "pool", "pool", 64, "tokio", "`timeout` around the wait for one of 16 connections, 64 users";
    "spawn-timeout", "spawn-timeout", 64, "tokio", "an acceptor that calls `spawn(timeout(30 s, work))`, 64 units of work";
    "dq-churn-1", "dq", 1, "tokio-util", "a task with a `DelayQueue` of 100,000 entries: remove, insert, reset; tokio-wheel's own queue on tokio-wheel";
    "dq-churn-2", "dq", 2, "tokio-util", "the same in two tasks, with a queue each";
    "dq-packets", "dq", 200_000, "tokio-util", "200,000 packets that a `DelayQueue` delays by up to 100 ms; every entry expires";
    "raft", "raft", 64, "openraft", "three nodes, 64 clients that write";
    "redis-64", "redis", 64, "redis", "default timeout per command, 64 tasks on a connection";
    "redis-256", "redis", 256, "redis", "default timeout per command, 256 tasks on a connection";
    "delay", "delay", 500, "hyper", "`GET /delay/5` on a current-thread server, 500 connections; every timer fires";
    "rpc", "rpc", 64, "tokio", "`timeout` around each call of a client with one connection, 64 callers";
    "nested", "nested", 64, "tokio", "four nested timeouts around a loopback echo, 64 tasks";
    "sntp", "sntp", 64, "rsntp", "a UDP socket and a timeout per query, 64 tasks";
    "turmoil", "turmoil", 9, "turmoil", "a simulation with paused time and nine clients, whole simulations per second; most timers fire";
};

impl Program {
    /// Returns the names, for the command line.
    pub(crate) fn names() -> PossibleValuesParser {
        common::names(ALL.iter().map(|one| (one.name, one.about)))
    }

    /// Whether it can have Tokio's alternative timer. `delay` and `turmoil` have current-thread runtimes, and hydra's timers
    /// are pingora's.
    pub(crate) fn runs_on_alt(&self) -> bool {
        !["delay", "hydra", "turmoil"].contains(&self.binary)
    }

    /// Whether its timers, or its queues, are in its own code, so that changing the import replaces them.
    pub(crate) fn imports(&self) -> bool {
        self.package == "tokio" || ["delay", "dq"].contains(&self.binary)
    }

    /// Returns where the timers are: in the program, or in a crate.
    pub(crate) fn place(&self) -> String {
        match self.imports() {
            true => "its own code".to_owned(),
            false => format!("{} {}", self.package, locked(self.package)),
        }
    }
}

/// Returns the version of a package in the lock file.
pub(crate) fn locked(package: &str) -> &'static str {
    machine::locked(include_str!("../Cargo.lock"), package)
}
