//! What is counted, and how often.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::ValueEnum;
use common::word;
use rayon::prelude::*;

use crate::simulate::{Build, Simulator};

/// What an operation consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Shape {
    /// one task arms and cancels
    Same,
    /// the same, each time another task
    Fresh,
    /// 64 tasks arm, then all cancel; per pair
    Crowd,
    /// armed on one worker, dropped on another
    Elsewhere,
    /// a timeout around a ready future
    Ready,
    /// the same with `timeout_if_pending`, which Tokio lacks
    ReadyPending,
    /// a pending timer is polled again
    Repoll,
    /// the same with a waker that belongs to no task
    RepollOwn,
    /// a pending timer is reset to a later deadline and polled
    Reset,
    /// 64 timers are due together; per timer
    Fire,
    /// a timer is armed and fires alone
    Alone,
    /// 64 calls under timeouts in a FuturesUnordered, then their answers; per pair
    Set,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Runtime {
    MultiThread,
    CurrentThread,
}

/// A shape on a runtime, in a build.
pub(crate) type Operation = (Build, Runtime, Shape);

/// What an operation costs with Tokio's timers and then with tokio-wheel, each less the same run without a timer.
pub(crate) type Row = [f64; 6];

pub(crate) type Rows = BTreeMap<Operation, Row>;

/// Returns the operations of these shapes, or of all if the list is empty. A current-thread runtime has no other worker.
fn operations(shapes: &[Shape]) -> Vec<Operation> {
    let mut all = Vec::new();
    for &build in Build::value_variants() {
        for &runtime in Runtime::value_variants() {
            let shapes = Shape::value_variants().iter();
            all.extend(shapes.map(|&shape| (build, runtime, shape)));
        }
    }
    all.retain(|(.., shape)| shapes.is_empty() || shapes.contains(shape));
    all.retain(|(_, runtime, shape)| {
        (*runtime, *shape) != (Runtime::CurrentThread, Shape::Elsewhere)
    });
    all
}

/// Counts these shapes, one operation per processor at a time, because a busy machine does not change a simulation.
pub(crate) fn count(simulator: &Simulator, shapes: &[Shape]) -> Result<Rows> {
    let operations = operations(shapes).into_par_iter();
    let count = |operation| Ok((operation, row(simulator, operation)?));
    operations.map(count).collect()
}

fn row(simulator: &Simulator, (build, runtime, shape): Operation) -> Result<Row> {
    let count = |timers| simulator.count(build, timers, &word(&shape), &word(&runtime));
    let [bare, tokio, wheel] = [count("bare")?, count("tokio")?, count("wheel")?];
    Ok(std::array::from_fn(|index| match index {
        0..3 => tokio[index] - bare[index],
        _ => wheel[index - 3] - bare[index - 3],
    }))
}
