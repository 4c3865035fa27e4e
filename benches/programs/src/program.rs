//! The programs, by name.

use clap::builder::PossibleValuesParser;

/// A published crate under load.
pub(crate) struct Program {
    /// The name of the row. A name that ends with `-200k` is a program at 200,000 operations per second.
    pub(crate) name: &'static str,
    /// What an operation is, or what it needs, for the command line.
    about: &'static str,
}

/// An entry: name, description.
macro_rules! programs {
    ($($name:literal, $about:literal;)*) => {
        &[$(Program { name: $name, about: $about }),*]
    };
}

/// All programs, in the order of the table.
pub(crate) const ALL: &[Program] = programs! {
    "ractor", "`call_t!`";
    "ractor-200k", "`call_t!`";
    "ractor-500k", "`call_t!`";
    "kameo", "`ask`, with a reply timeout";
    "spawned", "`request`, 5 s by default";
    "rsactor", "`ask_with_timeout`";
    "tower", "timeout, hedge, retry, timeout";
    "tower-200k", "timeout, hedge, retry, timeout";
    "sftp-64", "requests, a session per caller";
    "actor", "calls to tasks over channels";
    "actor-500k", "calls to tasks over channels";
    "pool", "waits for one of 16 connections";
    "spawn-timeout", "`spawn(timeout(30 s, work))`";
    "dq-churn", "tokio-util's `DelayQueue`, few entries expire";
    "dq-packets", "tokio-util's `DelayQueue`, every entry expires";
    "redis-64", "`GET` by 64 tasks";
    "delay", "hyper, a sleep of 5 ms per answer";
    "rpc", "calls that share one connection";
    "nested", "an echo under four timeouts";
    "turmoil", "simulations with paused time";
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
        let (name, _) = self.binary();
        matches!(
            name,
            "actor"
                | "delay"
                | "dq-churn"
                | "dq-packets"
                | "nested"
                | "pool"
                | "rpc"
                | "spawn-timeout"
        )
    }

    /// Whether it also runs without its timeouts, which shows how long calls take by themselves.
    pub(crate) fn has_bare(&self) -> bool {
        ["actor", "ractor"].contains(&self.binary().0)
    }
}
