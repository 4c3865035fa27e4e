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

const BARE: &str = "bare";
pub(crate) const TOKIO: &str = "tokio";
pub(crate) const WHEEL: &str = "wheel";

/// An operation: a shape on a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Operation {
    pub(crate) runtime: usize,
    pub(crate) shape: usize,
}

impl Operation {
    pub(crate) fn runtime(self) -> &'static str {
        RUNTIMES[self.runtime]
    }

    pub(crate) fn shape(self) -> &'static str {
        SHAPES[self.shape].0
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

/// What an operation costs with tokio's timers and with ours, each less the same run without a timer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Row {
    pub(crate) tokio: Counts,
    pub(crate) wheel: Counts,
}

pub(crate) type Rows = BTreeMap<Operation, Row>;

/// Counts all of them, as many at a time as there are processors: a simulated program is the same on a busy machine.
pub(crate) fn count(simulator: &Simulator, operations: &[Operation]) -> Result<Rows> {
    let runs = operations
        .iter()
        .flat_map(|&operation| [BARE, TOKIO, WHEEL].map(|side| (operation, side)));
    let queue = Mutex::new(runs);
    let next = || queue.lock().expect("nothing panics in next").next();
    let work = || -> Result<Vec<_>> {
        let mut counted = Vec::new();
        while let Some((operation, side)) = next() {
            let counts = simulator.count(side, operation.shape(), operation.runtime())?;
            counted.push(((operation, side), counts));
        }
        Ok(counted)
    };
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let counted = thread::scope(|scope| {
        let threads: Vec<_> = (0..processors).map(|_| scope.spawn(work)).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().expect("no panic");
        threads.into_iter().map(join).collect::<Result<Vec<_>>>()
    })?;
    Ok(rows(operations, &counted.into_iter().flatten().collect()))
}

fn rows(operations: &[Operation], counted: &BTreeMap<(Operation, &str), Counts>) -> Rows {
    let row = |&operation: &Operation| {
        let own = |side| counted[&(operation, side)].less(counted[&(operation, BARE)]);
        let row = Row {
            tokio: own(TOKIO),
            wheel: own(WHEEL),
        };
        (operation, row)
    };
    operations.iter().map(row).collect()
}
