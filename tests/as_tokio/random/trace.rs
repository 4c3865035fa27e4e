//! The trace of a program: the operations that it has finished, by which two runs are compared.

use std::fmt;

/// An operation that has finished.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    /// The runtime whose clock gave the time: the one that was current, if its clock is paused.
    pub(crate) clock: Option<usize>,
    /// The time, in half milliseconds since the program began.
    pub(crate) at: i128,
    pub(crate) task: usize,
    /// The position of the operation in the task's program.
    pub(crate) path: Vec<usize>,
    pub(crate) what: String,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.clock {
            Some(clock) => write!(f, "rt {clock} {:>7} ms", self.at as f64 / 2.0)?,
            None => write!(f, "               ")?,
        }
        write!(f, "  task {} at {:?}: {}", self.task, self.path, self.what)
    }
}

/// Events in the order of clock and time. Those at the same time on the same clock may happen in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trace(Vec<Event>);

impl Trace {
    pub(crate) fn new(mut events: Vec<Event>) -> Self {
        events.sort();
        Trace(events)
    }

    /// Returns the events that only one of the two traces has.
    pub(crate) fn difference(&self, ours: &Trace) -> String {
        let only = |mark, one: &Trace, other: &Trace| {
            let missing = one.0.iter().filter(|event| !other.0.contains(event));
            let lines = missing.map(|event| format!("{mark} {event}\n"));
            lines.collect::<String>()
        };
        only("tokio", self, ours) + &only("wheel", ours, self)
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|event| writeln!(f, "  {event}"))
    }
}
