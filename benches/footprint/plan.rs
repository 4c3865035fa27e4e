//! What there is to be counted, and counting all of it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;

use anyhow::Result;

use crate::simulate::Simulator;
use crate::trace::Counts;

/// The shapes, with a few words about each.
pub(crate) const SHAPES: [(&str, &str); 9] = [
    ("same", "one task arms and cancels"),
    ("fresh", "the same, each time another task"),
    ("crowd", "64 tasks arm, then all cancel; per pair"),
    ("elsewhere", "armed here, dropped on another worker"),
    ("ready", "a timeout around what is ready"),
    ("repoll", "a pending timer is polled again"),
    ("reset", "a pending timer is put off and polled"),
    ("fire", "64 timers are due together; per timer"),
    (
        "set",
        "64 calls under timeouts in a FuturesUnordered, then their answers; per pair",
    ),
];

const RUNTIMES: [&str; 2] = ["multi-thread", "current-thread"];

/// An operation: a shape on a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Operation {
    pub(crate) runtime: usize,
    pub(crate) shape: usize,
}

impl Operation {
    /// The runtime's and the shape's.
    pub(crate) fn names(self) -> [&'static str; 2] {
        [RUNTIMES[self.runtime], SHAPES[self.shape].0]
    }

    /// Of the shapes with these names, or of all; a current-thread runtime has no other worker.
    pub(crate) fn all(names: &[String]) -> Vec<Self> {
        let asked = |name: &str| names.is_empty() || names.iter().any(|asked| asked == name);
        let mut all = Vec::new();
        for runtime in 0..RUNTIMES.len() {
            for (shape, (name, _)) in SHAPES.iter().enumerate() {
                if asked(name) && (runtime == 0 || *name != "elsewhere") {
                    all.push(Self { runtime, shape });
                }
            }
        }
        all
    }
}

/// What an operation costs with tokio's timers and then with ours, each less the same run without a timer.
pub(crate) type Row = [f64; 6];

pub(crate) type Rows = BTreeMap<Operation, Row>;

/// Counts all of them, as many at a time as there are processors: a simulated program is the same on a busy machine.
pub(crate) fn count(simulator: &Simulator, operations: &[Operation]) -> Result<Rows> {
    let queue = Mutex::new(operations.iter());
    let next = || queue.lock().expect("nothing panics in next").next();
    let work = || -> Result<Rows> {
        let mut rows = Rows::new();
        while let Some(&operation) = next() {
            rows.insert(operation, row(simulator, operation)?);
        }
        Ok(rows)
    };
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let mut rows = Rows::new();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..processors).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            rows.extend(thread.join().expect("no panic")?);
        }
        Ok(rows)
    })
}

fn row(simulator: &Simulator, operation: Operation) -> Result<Row> {
    let [runtime, shape] = operation.names();
    let count = |side| simulator.count(side, shape, runtime);
    let (bare, tokio, wheel) = (count("bare")?, count("tokio")?, count("wheel")?);
    let own = |of: Counts, index: usize| of[index] - bare[index];
    Ok(std::array::from_fn(|index| match index {
        0..3 => own(tokio, index),
        _ => own(wheel, index - 3),
    }))
}
