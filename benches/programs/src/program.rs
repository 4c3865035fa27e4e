//! The programs, by name.

use clap::builder::PossibleValuesParser;

/// A published crate, or a program with timers of its own, under load.
pub(crate) struct Program {
    /// The name of the row. A name that ends with `-200k` is a program at 200,000 operations per second.
    pub(crate) name: &'static str,
    /// What an operation is, or what it needs, for the command line.
    about: &'static str,
    /// Whether its timers, or its queues, are in its own code, so that changing the import replaces them.
    pub(crate) imports: bool,
}

/// All programs, in the order of the table.
pub(crate) const ALL: &[Program] = &[
    published("ractor", "`call_t!`"),
    published("ractor-200k", "`call_t!`"),
    published("ractor-500k", "`call_t!`"),
    published("kameo", "`ask`, with a reply timeout"),
    published("spawned", "`request`, 5 s by default"),
    published("rsactor", "`ask_with_timeout`"),
    published("tower", "timeout, hedge, retry, timeout"),
    published("tower-200k", "timeout, hedge, retry, timeout"),
    published("sftp-64", "requests, a session per caller"),
    own("actor", "calls to tasks over channels"),
    own("actor-500k", "calls to tasks over channels"),
    own("pool", "waits for one of 16 connections"),
    own("spawn-timeout", "`spawn(timeout(30 s, work))`"),
    own("dq-churn", "`DelayQueue`, few entries expire"),
    own("dq-packets", "`DelayQueue`, every entry expires"),
    published("redis-64", "`GET` by 64 tasks"),
    own("delay", "hyper, a sleep of 5 ms per answer"),
    own("rpc", "calls that share one connection"),
    own("nested", "an echo under four timeouts"),
    published("turmoil", "simulations with paused time"),
];

const fn published(name: &'static str, about: &'static str) -> Program {
    Program {
        name,
        about,
        imports: false,
    }
}

const fn own(name: &'static str, about: &'static str) -> Program {
    Program {
        imports: true,
        ..published(name, about)
    }
}

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

    /// Whether it also runs without its timeouts, which shows how long calls take by themselves.
    pub(crate) fn has_bare(&self) -> bool {
        ["actor", "ractor"].contains(&self.binary().0)
    }
}
