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
    /// one task arms a timer and cancels it, again and again
    Same,
    /// arm and cancel, each time for another task
    Fresh,
    /// arm for 64 tasks, then cancel all; per timer
    Crowd,
    /// arm on one worker, drop on another; the greater of two counts
    Elsewhere,
    /// a timeout around a ready future
    Ready,
    /// as `ready`, but on tokio-wheel with `timeout_if_pending`
    ReadyPending,
    /// poll a pending timer again
    Repoll,
    /// as `repoll`, but with a waker that belongs to no task
    RepollOwn,
    /// reset a pending timer to a later deadline and poll it
    Reset,
    /// 64 timers that are due together fire; per timer, without arming
    Fire,
    /// arm a timer, which fires alone
    Alone,
    /// 64 calls under timeouts in a `FuturesUnordered`, then their answers; per call
    Set,
}

impl Shape {
    /// Returns the name, and what the operation consists of.
    pub(crate) fn heading(self) -> String {
        let value = self.to_possible_value();
        let help = value.as_ref().and_then(|value| value.get_help());
        let help = help.map(ToString::to_string).unwrap_or_default();
        format!("`{}`: {help}", word(&self))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Runtime {
    MultiThread,
    CurrentThread,
}

/// A build, and the runtime on which it runs.
pub(crate) type Setting = (Build, Runtime);

/// All but link-time optimisation on a current-thread runtime, which would find nothing that these do not.
pub(crate) const SETTINGS: [Setting; 3] = [
    (Build::Release, Runtime::MultiThread),
    (Build::Release, Runtime::CurrentThread),
    (Build::Lto, Runtime::MultiThread),
];

pub(crate) type Operation = (Setting, Shape);

/// What an operation costs: each of the [`Counts`](crate::trace::Counts) with Tokio's timers and then with tokio-wheel, both
/// less the same run without a timer.
pub(crate) type Row = [[f64; 2]; 3];

pub(crate) type Rows = BTreeMap<Operation, Row>;

/// Returns the operations of these shapes, or of all if the list is empty. On a current-thread runtime, only firing is
/// counted, because the others execute nearly the same.
pub(crate) fn operations(shapes: &[Shape]) -> Vec<Operation> {
    let shapes = match shapes {
        [] => Shape::value_variants(),
        _ => shapes,
    };
    let of = |setting| shapes.iter().map(move |&shape| (setting, shape));
    let mut all: Vec<_> = SETTINGS.into_iter().flat_map(of).collect();
    all.retain(|(setting, shape)| match setting {
        (_, Runtime::CurrentThread) => matches!(shape, Shape::Fire | Shape::Alone),
        (Build::Lto, _) => matches!(shape, Shape::Same | Shape::Ready | Shape::Fire),
        _ => true,
    });
    all
}

/// Counts these shapes, one operation per processor at a time, because a busy machine does not change a simulation.
pub(crate) fn count(simulator: &Simulator, shapes: &[Shape]) -> Result<Rows> {
    let operations = operations(shapes).into_par_iter();
    let count = |operation| Ok((operation, row(simulator, operation)?));
    operations.map(count).collect()
}

fn row(simulator: &Simulator, ((build, runtime), shape): Operation) -> Result<Row> {
    let count = |timers| simulator.count(build, timers, &word(&shape), &word(&runtime));
    let [bare, tokio, wheel] = [count("bare")?, count("tokio")?, count("wheel")?];
    Ok(std::array::from_fn(|at| {
        [tokio, wheel].map(|with| with[at] - bare[at])
    }))
}
