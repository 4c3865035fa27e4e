//! The command line.

use std::path::PathBuf;
use std::thread::available_parallelism;

use clap::Parser;
use clap::builder::RangedU64ValueParser;
use common::Side;

/// A million tasks under timeouts, nearly all cancelled: on tokio's timers, and on the wheel's
#[derive(Clone, Debug, Parser)]
#[command(name = "fanout")]
pub(crate) struct Options {
    /// Tasks, each under a timeout
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = count_to(100_000_000))]
    pub(crate) tasks: u64,

    /// Calls of each task at a time, each under a timeout of its own
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = count_to(30))]
    pub(crate) calls: u64,

    /// One task in so many has a call that is never answered
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = count_to(100_000_000))]
    pub(crate) lost: u64,

    /// Measure with 1, 2, 4, … and so many workers [default: one per core]
    #[arg(long, value_name = "N", value_parser = count_to(1_024))]
    workers: Option<u64>,

    /// How often throughput and expiry are measured; the median counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = count_to(1_000))]
    pub(crate) rounds: u64,

    /// Where the picture goes
    #[arg(long, value_name = "PATH", default_value = "target/fanout.svg", value_parser = common::writable)]
    pub(crate) svg: PathBuf,

    /// Run one side in this process, and print what came of it as JSON
    #[arg(long, value_enum, hide = true)]
    pub(crate) side: Option<Side>,
}

impl Options {
    pub(crate) fn workers(&self) -> usize {
        let cores = || available_parallelism().map_or(1, usize::from);
        self.workers.map_or_else(cores, |workers| workers as usize)
    }

    /// The numbers of workers to measure with: powers of two, and the most.
    pub(crate) fn worker_counts(&self) -> Vec<usize> {
        let most = self.workers();
        let powers = std::iter::successors(Some(1), |workers| Some(workers * 2));
        let mut counts: Vec<_> = powers.take_while(|&workers| workers < most).collect();
        counts.push(most);
        counts
    }

    /// Whether a call of this task is never answered.
    pub(crate) fn is_lost(&self, task: u64) -> bool {
        task % self.lost == 0
    }

    pub(crate) fn lost_tasks(&self) -> u64 {
        self.tasks.div_ceil(self.lost)
    }

    /// Timeouts that the load arms: one around each task and one around each call.
    pub(crate) fn timeouts(&self) -> u64 {
        self.tasks * (1 + self.calls)
    }
}

fn count_to(most: u64) -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..=most)
}
