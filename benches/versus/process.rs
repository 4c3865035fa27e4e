//! What the kernel counts for this process, and the cost of doing nothing.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use common::others::Neighbours;
use common::process;

use crate::figure::{Did, Measured, Scale};
use crate::peer::{Peer, WORKER};
use crate::race::Workload;
use crate::stage::Stage;

/// CPU time of all worker threads so far.
pub(crate) fn worker_cpu() -> Duration {
    process::cpu_of_threads(Some(WORKER)).expect("Linux's schedstat")
}

/// How often worker threads have gone to sleep so far.
fn worker_switches() -> u64 {
    let switches = |thread: PathBuf| {
        let status = fs::read_to_string(thread.join("status")).expect("Linux's /proc");
        let mut lines = status.lines();
        let line = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.and_then(|count| count.trim().parse::<u64>().ok())
            .expect("a count in status")
    };
    process::threads(Some(WORKER))
        .into_iter()
        .map(switches)
        .sum()
}

/// Context switches of the workers in a second (a quarter when quick): without a timer, and with one an hour away.
#[derive(Clone, Copy)]
pub(crate) struct Idle;

impl Workload for Idle {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let time = scale.time(Duration::from_secs(1));
        let stage = Stage::bare::<P>(2);
        let arm = || stage.crowd::<P>(1);
        drop(arm());
        let without = switches_in(time);
        let hour = arm();
        let with = switches_in(time);
        drop(hour);
        Measured::new([without, with], Did::cancelled(2))
    }
}

fn switches_in(time: Duration) -> f64 {
    thread::sleep(Duration::from_millis(100));
    let before = worker_switches();
    thread::sleep(time);
    (worker_switches() - before) as f64
}

/// Takes a round when the machine is quiet, and again if others disturbed it; a few times at most.
pub(crate) fn undisturbed<R>(round: impl Fn() -> R) -> R {
    const QUIET: f64 = 0.2;
    for _ in 0..3 {
        wait_for_quiet(QUIET);
        let neighbours = Neighbours::watch();
        let result = round();
        if neighbours.is_none_or(|neighbours| neighbours.busy() < QUIET) {
            return result;
        }
    }
    round()
}

/// Waits until others use less than `quiet` processors, ten seconds at most.
fn wait_for_quiet(quiet: f64) {
    for _ in 0..50 {
        let neighbours = Neighbours::watch();
        thread::sleep(Duration::from_millis(200));
        if neighbours.is_none_or(|neighbours| neighbours.busy() < quiet) {
            return;
        }
    }
}
