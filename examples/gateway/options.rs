//! The command line: every option, its default, and what makes a set of options impossible.

use std::fs;
use std::net::{SocketAddr, ToSocketAddrs};
use std::thread::available_parallelism;

use clap::builder::RangedU64ValueParser;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum};

use crate::plan::Plan;

/// Descriptors that are open besides the connections: listeners, epoll, standard streams.
const SPARE_FILES: u64 = 64;

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Choice {
    Wheel,
    Tokio,
    Both,
}

/// The timers of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    Tokio,
    Wheel,
}

/// An HTTP gateway with a timer per call, per request and per head: tokio's, and the wheel's
#[derive(Debug, Parser)]
#[command(name = "gateway", allow_negative_numbers = true)]
pub(crate) struct Options {
    /// Whose timers to run on; `both` does the same work twice
    #[arg(long, value_enum, default_value_t = Choice::Both)]
    timers: Choice,

    #[command(flatten)]
    pub(crate) plan: Plan,

    /// Worker threads of the runtime [default: one per core]
    #[arg(long, value_name = "N", default_value_t = cores(), hide_default_value = true, value_parser = count_to(1_024))]
    pub(crate) workers: u64,

    /// Wait for load from outside, at this address, until the process is ended; with `--timers both`
    /// the wheel's side is served at the next port
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) serve: Option<SocketAddr>,

    /// When to give a run up as stuck
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = count_to(86_400))]
    pub(crate) give_up: u64,
}

impl Options {
    /// From the command line; ends the program with a message where they are impossible.
    pub(crate) fn read() -> Self {
        let options = Options::parse();
        if let Some(reason) = options.impossible() {
            let mut command = Options::command();
            command.error(ErrorKind::ValueValidation, reason).exit();
        }
        options
    }

    pub(crate) fn sides(&self) -> &'static [Side] {
        match self.timers {
            Choice::Tokio => &[Side::Tokio],
            Choice::Wheel => &[Side::Wheel],
            Choice::Both => &[Side::Tokio, Side::Wheel],
        }
    }

    /// Which timer ends what must be clear, or no count follows from the options.
    fn impossible(&self) -> Option<String> {
        let plan = &self.plan;
        // Each client's connection, and those of its calls to the backends, have two ends in this process.
        let files = plan.connections * (1 + plan.backends) * 2 + SPARE_FILES;
        let limit = file_limit().unwrap_or(u64::MAX);
        let last = self.serve.is_some_and(|first| first.port() == u16::MAX);
        let reason = if !plan.never.and(plan.slow).is_possible() {
            "--slow and --never together exceed 100 percent".into()
        } else if plan.slow_delay >= plan.call_timeout.min(plan.request_timeout) {
            "--slow-delay must be below --call-timeout and --request-timeout".into()
        } else if plan.call_timeout == plan.request_timeout {
            "--call-timeout and --request-timeout must differ, or either may end a request".into()
        } else if files > limit {
            format!(
                "these sizes need {files} open files and the limit is {limit}: \
                 lower --connections or --backends, or raise the limit with `ulimit -n`"
            )
        } else if self.timers == Choice::Both && last {
            "--serve: there is no port after 65535 for the wheel's side".into()
        } else {
            return None;
        };
        Some(reason)
    }
}

fn cores() -> u64 {
    available_parallelism().map_or(1, |cores| cores.get() as u64)
}

/// How many files the process may have open; `None` too where there is no limit.
fn file_limit() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let mut lines = limits.lines();
    let line = lines.find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
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

pub(crate) fn count_to(most: u64) -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..=most)
}
