//! The parts of a random program.

use support::prelude::*;

use std::{fmt, slice};

#[cfg(feature = "test-util")]
use crate::random::paused::hand::Hand;

/// The steps of a thread. It drives one runtime after another and uses timers in between, or spawns a task on runtimes
/// that have workers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Program {
    pub(crate) style: Style,
    /// Number of runtimes.
    pub(crate) runtimes: usize,
    /// The time by which each paused clock is past a whole millisecond of its runtime when the program begins.
    pub(crate) offset: Duration,
    /// Whether this crate's timers are of high resolution. On a paused clock that makes no difference.
    pub(crate) precise: bool,
    /// The tasks to spawn, by number.
    pub(crate) tasks: Vec<Body>,
    pub(crate) steps: Vec<Step>,
}

/// Which orders are promised, and therefore what a program may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    #[default]
    /// There are no tasks, only the steps of a single thread, at any time.
    Solo,
    /// Tasks share nothing, and their timers may be due in the same millisecond.
    Crowd,
    /// Tasks spawn, await and abort each other and share timers. Each has a lane: milliseconds of its own in which its
    /// timers are due, so that only one order is right.
    Lanes,
    /// Timers are polled by hand in a single runtime. The only step is `Step::Hands`.
    Hand,
    /// Tasks run on workers, in real time. Each race is between a wait that ends soon and a wait of an hour, and a
    /// task waits for each task that it spawned.
    Workers,
}

/// The number of a runtime.
pub(crate) type Rt = usize;
/// The number of a task.
pub(crate) type Task = usize;
/// The place of a shared timer on the shelf.
pub(crate) type Slot = usize;
pub(crate) type Body = Vec<Op>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// `runtime.block_on(..)`
    Drive(Rt, Body),
    /// `runtime.block_on(local_set.run_until(..))`
    DriveLocal(Rt, Body),
    /// `let _guard = handle.enter();` around the steps
    Enter(Rt, Vec<Step>),
    /// An operation that needs no runtime to drive it.
    Now(Slot, Now),
    Spawn(Task, Rt),
    /// `drop(runtime)`
    End(Rt),
    /// Operations on timers by hand in the first runtime, which the thread drives.
    #[cfg(feature = "test-util")]
    Hands(Vec<Hand>),
}

/// An operation of a thread or a task on a shared timer, without waiting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Now {
    /// `sleep`, perhaps inside another runtime's `enter()`.
    Make(Option<Rt>, Duration),
    /// `sleep_until`, likewise.
    MakeUntil(Option<Rt>, Duration),
    /// Polls once, with a waker that does nothing.
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
    /// Awaits a shared timer and puts it back.
    Await(Slot),
    /// Enters a runtime and holds the guard over awaits. Only a root's own future may do that.
    Held(Rt, Body),
    /// Enters a runtime around each poll, as tokio-util's `RuntimeExt::wrap` does.
    Wrapped(Rt, Body),
    /// Drives another runtime, or a new one, on a thread of `spawn_blocking`.
    Blocking(Option<Rt>, Body),
    /// Drives it inside `block_in_place`.
    InPlace(Option<Rt>, Body),
    /// Checks which runtime a timer that is made on this worker belongs to.
    Probe,
    Select(Vec<Body>),
    JoinAll(Vec<Body>),
    Unordered(Vec<Body>),
    /// Spawns on the current runtime, or on the given one.
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
    /// When the first tick is due: immediately if this is `None`.
    pub(crate) start: Option<Duration>,
    /// What happens between the ticks.
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

/// Writes a line for each task, and for each step of the thread.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (style, runtimes, offset) = (self.style, self.runtimes, self.offset);
        let precise = if self.precise { ", precise" } else { "" };
        writeln!(
            f,
            "{style:?}, {runtimes} runtimes{precise}, clocks {offset:?} past a millisecond"
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
    /// Returns the bodies inside the operation.
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
