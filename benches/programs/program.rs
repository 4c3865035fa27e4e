//! The programs, by name.

use anyhow::Result;
use clap::ValueEnum;

use crate::{delay, nested, ractor, sntp};
#[cfg(feature = "newer")]
use crate::{kameo, redis};

/// A published crate under load. The texts are what the table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Program {
    /// `call_t!`, 64 callers and 64 actors
    Ractor,
    /// `ask` with a reply timeout, 64 callers and 64 actors
    #[cfg(feature = "newer")]
    Kameo,
    /// default timeout per command, 64 tasks on a connection
    #[cfg(feature = "newer")]
    #[value(name = "redis-64")]
    Redis64,
    /// default timeout per command, 256 tasks on a connection
    #[cfg(feature = "newer")]
    #[value(name = "redis-256")]
    Redis256,
    /// `GET /delay/5` on a current-thread server, 500 connections; every timer fires
    Delay,
    /// four nested timeouts around a loopback echo, 64 tasks
    Nested,
    /// a UDP socket and a timeout per query, 64 tasks
    Sntp,
}

impl Program {
    /// The published crate whose timeouts are measured.
    pub(crate) fn package(self) -> &'static str {
        match self {
            Program::Ractor => "ractor",
            #[cfg(feature = "newer")]
            Program::Kameo => "kameo",
            #[cfg(feature = "newer")]
            Program::Redis64 | Program::Redis256 => "redis",
            Program::Delay => "hyper",
            Program::Nested => "tokio",
            Program::Sntp => "rsntp",
        }
    }

    /// Whether a build on tokio 1.44 has this program.
    pub(crate) fn runs_on_sharded(self) -> bool {
        !matches!(self.package(), "kameo" | "redis")
    }

    /// Whether more than one processor runs the measured timers.
    pub(crate) fn has_two_workers(self) -> bool {
        self != Program::Delay
    }

    /// Runs this program under load, and prints what was measured.
    pub(crate) fn run(self, seconds: f64) -> Result<()> {
        match self {
            Program::Ractor => ractor::run(seconds),
            #[cfg(feature = "newer")]
            Program::Kameo => kameo::run(seconds),
            #[cfg(feature = "newer")]
            Program::Redis64 => redis::run(64, seconds),
            #[cfg(feature = "newer")]
            Program::Redis256 => redis::run(256, seconds),
            Program::Delay => delay::run(seconds),
            Program::Nested => nested::run(seconds),
            Program::Sntp => sntp::run(seconds),
        }
    }

    /// Runs the other end of this program's connections, until its standard input ends.
    pub(crate) fn peer(self, number: u16) -> Result<()> {
        match self {
            #[cfg(feature = "newer")]
            Program::Redis64 | Program::Redis256 => redis::peer(),
            Program::Delay => delay::peer(number),
            Program::Nested => nested::peer(),
            Program::Sntp => sntp::peer(),
            _ => anyhow::bail!("this program runs in one process"),
        }
    }
}
