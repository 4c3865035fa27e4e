//! The programs, by name.

use clap::builder::PossibleValuesParser;
use common::machine;

/// A published crate under load.
pub(crate) struct Program {
    /// The name of the row. A name that ends with `-200k` is a program at 200,000 operations per second.
    pub(crate) name: &'static str,
    /// The crate whose timers are measured: `tokio` if the timers are in the program's own code.
    package: &'static str,
    /// What an operation is, or what it needs.
    about: &'static str,
}

/// An entry: name, package, description.
macro_rules! programs {
    ($($name:literal, $package:literal, $about:literal;)*) => {
        &[$(Program { name: $name, package: $package, about: $about }),*]
    };
}

/// All programs, in the order of the table.
pub(crate) const ALL: &[Program] = programs! {
    "ractor", "ractor", "`call_t!`";
    "ractor-200k", "ractor", "`call_t!`";
    "ractor-500k", "ractor", "`call_t!`";
    "kameo", "kameo", "`ask`, with a reply timeout";
    "spawned", "spawned-concurrency", "`request`, 5 s by default";
    "rsactor", "rsactor", "`ask_with_timeout`";
    "tower", "tower", "timeout, hedge, retry, timeout";
    "tower-200k", "tower", "timeout, hedge, retry, timeout";
    "sftp-64", "russh-sftp", "requests, a session per caller";
    "actor", "tokio", "calls to tasks over channels";
    "actor-500k", "tokio", "calls to tasks over channels";
    "pool", "tokio", "waits for one of 16 connections";
    "spawn-timeout", "tokio", "`spawn(timeout(30 s, work))`";
    "dq-churn", "tokio-util", "`DelayQueue`, few entries expire";
    "dq-packets", "tokio-util", "`DelayQueue`, every entry expires";
    "redis-64", "redis", "`GET` by 64 tasks";
    "delay", "tokio", "hyper, a sleep of 5 ms per answer";
    "rpc", "tokio", "calls that share one connection";
    "nested", "tokio", "an echo under four timeouts";
    "turmoil", "turmoil", "simulations with paused time";
};

impl Program {
    /// Returns the names, for the command line.
    pub(crate) fn names() -> PossibleValuesParser {
        common::names(ALL.iter().map(|one| (one.name, one.about)))
    }

    /// Returns the name of the program in `src/bin`, which is also that of its feature, and its rate if that is fixed.
    pub(crate) fn binary(&self) -> (&'static str, Option<String>) {
        let (name, rate) = self.name.rsplit_once('-').unwrap_or_default();
        match rate.strip_suffix('k') {
            Some(thousands) => (name, Some(format!("{thousands}000"))),
            None => (self.name, None),
        }
    }

    /// Whether it has workers, and so can have Tokio's alternative timer. The others have current-thread runtimes.
    pub(crate) fn has_workers(&self) -> bool {
        !["delay", "turmoil"].contains(&self.name)
    }

    /// Whether its timers, or its queues, are in its own code, so that changing the import replaces them.
    pub(crate) fn imports(&self) -> bool {
        ["tokio", "tokio-util"].contains(&self.package)
    }

    /// Whether it also runs without its timeouts, which shows how long calls take by themselves.
    pub(crate) fn has_bare(&self) -> bool {
        ["actor", "ractor"].contains(&self.binary().0)
    }

    /// Returns whose timers are measured, the program's own or a crate's, and in which operation.
    pub(crate) fn operation(&self) -> String {
        match self.package {
            "tokio" => format!("our own: {}", self.about),
            package => format!("{package} {}: {}", locked(package), self.about),
        }
    }
}

/// Returns the version of a package in the lock file.
fn locked(package: &str) -> &'static str {
    machine::locked(include_str!("../Cargo.lock"), package)
}
