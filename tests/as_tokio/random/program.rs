//! The parts of a random program.

use support::prelude::*;

use std::{fmt, slice};

#[cfg(feature = "test-util")]
use crate::random::paused::hand::Hand;

/// The steps of a thread, which drives one runtime after another, and does things in between; or which spawns a
/// task on runtimes that have workers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Program {
    pub(crate) style: Style,
    /// How many runtimes there are.
    pub(crate) runtimes: usize,
    /// By how much less than a millisecond each paused clock is ahead of its runtime's own count.
    pub(crate) offset: Duration,
    /// Whether timers of this crate are of high resolution, which a paused clock does not show.
    pub(crate) precise: bool,
    /// The tasks to spawn, by number.
    pub(crate) tasks: Vec<Body>,
    pub(crate) steps: Vec<Step>,
}

/// Which orders are promised, and so which things a program may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// No tasks: only the steps of a single thread, at any time.
    Solo,
    /// Tasks that have nothing to do with each other, whose timers meet in a millisecond.
    Crowd,
    /// Tasks that spawn, await and abort each other and share timers. Each has milliseconds of
    /// its own in which its timers are due, so that a single order is right.
    Lanes,
    /// Timers that are polled by hand: `Step::Hands` alone, in a single runtime.
    Hand,
    /// Tasks on workers, in real time. Each race is between a wait that is over soon and a wait of
    /// an hour, and a task waits for each task that it has spawned.
    Workers,
}

/// The number of a runtime.
pub(crate) type Rt = usize;
/// The number of a task.
pub(crate) type Task = usize;
/// The place of a timer that is shared.
pub(crate) type Slot = usize;
pub(crate) type Body = Vec<Op>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// `runtime.block_on(..)`
    Drive(Rt, Body),
    /// `runtime.block_on(local_set.run_until(..))`
    DriveLocal(Rt, Body),
    /// `let _guard = handle.enter();` around the steps, or around no step but the moment.
    Enter(Rt, Vec<Step>),
    /// Something that needs no runtime to drive it.
    Now(Slot, Now),
    Spawn(Task, Rt),
    /// `drop(runtime)`
    End(Rt),
    /// Done to timers in the first runtime, which the thread drives.
    #[cfg(feature = "test-util")]
    Hands(Vec<Hand>),
}

/// An operation of a thread or a task on a shared timer, without waiting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Now {
    /// `sleep`; for another runtime, with a guard that is held no longer.
    Make(Option<Rt>, Duration),
    /// `sleep_until`, in the same way.
    MakeUntil(Option<Rt>, Duration),
    /// Once, with a waker that does nothing.
    Poll,
    /// Resets to this long from now, by the clock of the timer's own runtime.
    Reset(Duration),
    /// Resets to this long before now.
    ResetToPast(Duration),
    /// `deadline` and `is_elapsed`
    Look,
    Drop,
}

/// An operation of a task, which may take time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    Sleep(Duration),
    SleepUntil(Duration),
    /// `sleep_until` an instant this long before now.
    SleepUntilPast(Duration),
    Timeout(Duration, Body),
    TimeoutAt(Duration, Body),
    Interval(Ticks),
    Now(Slot, Now),
    /// A shared timer is awaited and put back.
    Await(Slot),
    /// Entered, and the guard is held over awaits: a root's own future alone may do that.
    Held(Rt, Body),
    /// Entered around each poll, as tokio-util's `RuntimeExt::wrap` does.
    Wrapped(Rt, Body),
    /// Another runtime is driven on a thread of `spawn_blocking`, or a runtime that is made there.
    Blocking(Option<Rt>, Body),
    /// The same inside `block_in_place`.
    InPlace(Option<Rt>, Body),
    /// Whose is a timer that is made on this worker?
    Probe,
    Select(Vec<Body>),
    JoinAll(Vec<Body>),
    Unordered(Vec<Body>),
    /// On the runtime of this place, or another.
    Spawn(Task, Option<Rt>),
    SpawnLocal(Task),
    JoinSet(Vec<Task>),
    Join(Task),
    Abort(Task),
    Advance(Duration),
    Yield(usize),
    /// `runtime.shutdown_background()`
    End(Rt),
    Pending,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticks {
    pub(crate) period: Duration,
    pub(crate) behavior: MissedTickBehavior,
    /// When the first tick is due; `None`: immediately.
    pub(crate) start: Option<Duration>,
    /// Done between the ticks.
    pub(crate) between: Vec<Between>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Between {
    Nothing,
    Sleep(Duration),
    Advance(Duration),
    Reset,
    ResetImmediately,
    ResetAfter(Duration),
}

/// A line for each thing that the thread does, and for each task.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (style, runtimes, offset) = (self.style, self.runtimes, self.offset);
        let precise = if self.precise { ", precise" } else { "" };
        writeln!(
            f,
            "{style:?}, {runtimes} runtimes{precise}, clocks ahead by {offset:?}"
        )?;
        for (number, task) in self.tasks.iter().enumerate() {
            writeln!(f, "  task {number}: {task:?}")?;
        }
        self.steps
            .iter()
            .try_for_each(|step| writeln!(f, "  thread: {step:?}"))
    }
}

impl Op {
    /// The bodies inside the operation.
    pub(crate) fn bodies(&mut self) -> &mut [Body] {
        match self {
            Op::Timeout(_, body) | Op::TimeoutAt(_, body) => slice::from_mut(body),
            Op::Held(_, body) | Op::Wrapped(_, body) => slice::from_mut(body),
            Op::Blocking(_, body) | Op::InPlace(_, body) => slice::from_mut(body),
            Op::Select(bodies) | Op::JoinAll(bodies) | Op::Unordered(bodies) => bodies,
            _ => &mut [],
        }
    }
}
