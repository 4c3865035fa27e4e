//! The command line: every option, its default, and what makes a set of options impossible.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::thread::available_parallelism;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum, builder::RangedU64ValueParser};

use crate::machine;
use crate::plan::{Plan, Share};

/// Descriptors that are open besides the connections: listeners, epoll, standard streams.
const SPARE_FILES: u64 = 64;

/// An hour.
const MOST_MILLISECONDS: u64 = 3_600_000;

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Choice {
    Wheel,
    Tokio,
    Both,
}

/// The timers of one run.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    /// `tokio::time`.
    Tokio,
    /// This crate.
    Wheel,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Tokio => "tokio::time",
            Side::Wheel => "wheel",
        })
    }
}

/// An HTTP gateway with a timer per call, per request and per head: tokio's, and the wheel's
#[derive(Debug, Parser)]
#[command(name = "gateway", allow_negative_numbers = true)]
struct Arguments {
    /// Whose timers to run on; `both` does the same work twice
    #[arg(long, value_enum, default_value_t = Choice::Both)]
    timers: Choice,

    /// Client connections, all open at once
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = count_to(100_000))]
    connections: u64,

    /// Requests that each connection sends
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = count_to(1_000_000))]
    requests: u64,

    /// Backends, each of which gets one call of every request
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = count_to(100))]
    backends: u64,

    /// Share of the calls that are answered late, but in time
    #[arg(long, value_name = "%", default_value = "10", value_parser = Share::percent)]
    slow: Share,

    /// Share of the calls that are never answered
    #[arg(long, value_name = "%", default_value = "0.1", value_parser = Share::percent)]
    never: Share,

    /// Share of the clients that fall silent half-way
    #[arg(long, value_name = "%", default_value = "5", value_parser = Share::percent)]
    silent: Share,

    /// When a slow answer comes
    #[arg(long, value_name = "MS", default_value = "20", value_parser = milliseconds)]
    slow_delay: Duration,

    /// Limit of one call to one backend
    #[arg(long, value_name = "MS", default_value = "250", value_parser = milliseconds)]
    call_timeout: Duration,

    /// Limit of a request with all its calls
    #[arg(long, value_name = "MS", default_value = "1000", value_parser = milliseconds)]
    request_timeout: Duration,

    /// How long a connection may take for the head of its next request
    #[arg(long, value_name = "MS", default_value = "2000", value_parser = milliseconds)]
    head_timeout: Duration,

    /// Worker threads of the runtime [default: one per core]
    #[arg(long, value_name = "N", value_parser = count_to(1_024))]
    workers: Option<u64>,

    /// Wait for load from outside, at this address, until the process is ended; with `--timers both`
    /// the wheel's side is served at the next port
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    serve: Option<SocketAddr>,

    /// When to give a run up as stuck
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = count_to(86_400))]
    give_up: u64,
}

/// Options that can be run.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) plan: Plan,
    pub(crate) workers: usize,
    pub(crate) give_up: Duration,
    pub(crate) serve: Option<SocketAddr>,
    timers: Choice,
}

/// `127.0.0.1:8080`, or a name: `localhost:8080`.
fn address(text: &str) -> Result<SocketAddr, String> {
    let found = text.to_socket_addrs().map(|mut found| found.next());
    match found {
        Ok(Some(address)) => Ok(address),
        Ok(None) => Err("nothing has this name".into()),
        Err(error) => Err(format!("{error}; what is meant is as localhost:8080")),
    }
}

impl Options {
    /// From the command line; ends the program with a message where they are impossible.
    pub(crate) fn read() -> Self {
        let options = Arguments::parse().accept();
        options.unwrap_or_else(|reason| {
            Arguments::command()
                .error(ErrorKind::ValueValidation, reason)
                .exit()
        })
    }

    pub(crate) fn sides(&self) -> &'static [Side] {
        match self.timers {
            Choice::Tokio => &[Side::Tokio],
            Choice::Wheel => &[Side::Wheel],
            Choice::Both => &[Side::Tokio, Side::Wheel],
        }
    }
}

impl Arguments {
    fn accept(self) -> Result<Options, String> {
        let plan = self.plan()?;
        check_limits(&plan)?;
        check_files(&plan, machine::file_limit())?;
        if self.timers == Choice::Both && self.serve.is_some_and(|first| first.port() == u16::MAX) {
            return Err("--serve: there is no port after 65535 for the wheel's side".into());
        }
        let cores = available_parallelism().map_or(1, usize::from);
        let workers = self.workers.map_or(cores, |workers| workers as usize);
        Ok(Options {
            plan,
            workers,
            give_up: Duration::from_secs(self.give_up),
            serve: self.serve,
            timers: self.timers,
        })
    }

    fn plan(&self) -> Result<Plan, String> {
        let never_or_slow = self
            .never
            .and(self.slow)
            .ok_or("--slow and --never together exceed 100 percent")?;
        Ok(Plan {
            connections: self.connections,
            requests: self.requests,
            backends: self.backends,
            never: self.never,
            never_or_slow,
            silent: self.silent,
            slow_delay: self.slow_delay,
            call_timeout: self.call_timeout,
            request_timeout: self.request_timeout,
            head_timeout: self.head_timeout,
        })
    }
}

/// Which timer ends what must be clear, or the counts are anyone's guess.
fn check_limits(plan: &Plan) -> Result<(), String> {
    if plan.slow_delay >= plan.call_timeout.min(plan.request_timeout) {
        return Err("--slow-delay must be below --call-timeout and --request-timeout".into());
    }
    if plan.call_timeout == plan.request_timeout {
        return Err(
            "--call-timeout and --request-timeout must differ, or either may end a request".into(),
        );
    }
    Ok(())
}

/// Each client's connection, and those of its calls to the backends, have two ends in this process.
fn check_files(plan: &Plan, limit: Option<u64>) -> Result<(), String> {
    let needed = plan.connections * (1 + plan.backends) * 2 + SPARE_FILES;
    match limit {
        Some(limit) if needed > limit => Err(format!(
            "these sizes need {needed} open files and the limit is {limit}: \
             lower --connections or --backends, or raise the limit with `ulimit -n`"
        )),
        _ => Ok(()),
    }
}

fn count_to(most: u64) -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..=most)
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(number @ 1..=MOST_MILLISECONDS) => Ok(Duration::from_millis(number)),
        _ => Err(format!(
            "a time is a whole number of milliseconds from 1 to {MOST_MILLISECONDS}"
        )),
    }
}
