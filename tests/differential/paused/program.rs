//! What a random program is made of.

use std::fmt;
use std::time::Duration;

use tokio::time::MissedTickBehavior;

/// What a thread does: it drives runtimes, one at a time, and does things between.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Program {
    pub(crate) style: Style,
    /// How many runtimes there are, each with a paused clock of its own.
    pub(crate) runtimes: usize,
    /// By how much less than a millisecond each clock is ahead of its runtime's own count.
    pub(crate) offset: Duration,
    /// What is spawned, by number.
    pub(crate) tasks: Vec<Vec<Op>>,
    pub(crate) steps: Vec<Step>,
}

/// Which orders are promised, and so which things a program may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// No tasks: only what one thread does, at any time.
    Solo,
    /// Tasks that have nothing to do with each other, whose timers meet in a millisecond.
    Crowd,
    /// Tasks that spawn, await and abort each other and share timers. Each has milliseconds of
    /// its own in which its timers are due, so that there is one right order.
    Lanes,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// `runtime.block_on(..)`
    Drive {
        rt: usize,
        body: Vec<Op>,
    },
    /// `runtime.block_on(local_set.run_until(..))`
    DriveLocal {
        rt: usize,
        body: Vec<Op>,
    },
    /// `let _guard = handle.enter();` around the steps, or around no step but the moment.
    Enter {
        rt: usize,
        steps: Vec<Step>,
    },
    /// Something that needs no runtime to drive it.
    Now(Now),
    Spawn {
        rt: usize,
        task: usize,
    },
    /// `drop(runtime)`
    End {
        rt: usize,
    },
}

/// What a thread or a task does without waiting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Now {
    /// A sleep is made and put on the shelf; for another runtime, with a guard that is held no longer.
    Make {
        slot: usize,
        span: Duration,
        until: bool,
        within: Option<usize>,
    },
    /// Polled once, with a waker that nobody hears.
    Poll {
        slot: usize,
    },
    /// To so long from now, by its own runtime's clock.
    Reset {
        slot: usize,
        span: Duration,
    },
    /// To so long before now.
    ResetToPast {
        slot: usize,
        span: Duration,
    },
    /// `deadline` and `is_elapsed`
    Look {
        slot: usize,
    },
    Drop {
        slot: usize,
    },
}

/// What a task does, which may take its time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    Sleep(Duration),
    SleepUntil {
        span: Duration,
        past: bool,
    },
    Timeout {
        span: Duration,
        at: bool,
        body: Vec<Op>,
    },
    Interval(Ticks),
    Now(Now),
    /// A timer from the shelf is awaited and put back.
    Await {
        slot: usize,
    },
    /// Entered, and the guard is held over awaits: a root's own future alone may do that.
    Held {
        rt: usize,
        body: Vec<Op>,
    },
    /// Entered around each poll, as tokio-util's `RuntimeExt::wrap` does.
    Wrapped {
        rt: usize,
        body: Vec<Op>,
    },
    Select(Vec<Vec<Op>>),
    JoinAll(Vec<Vec<Op>>),
    Unordered(Vec<Vec<Op>>),
    /// On the runtime of this place, or another one.
    Spawn {
        task: usize,
        on: Option<usize>,
    },
    SpawnLocal {
        task: usize,
    },
    JoinSet {
        tasks: Vec<usize>,
    },
    Join {
        task: usize,
    },
    Abort {
        task: usize,
    },
    Advance(Duration),
    Yield(usize),
    /// Another runtime is driven on a thread of `spawn_blocking`.
    Blocking {
        rt: usize,
        body: Vec<Op>,
    },
    /// `runtime.shutdown_background()`
    End {
        rt: usize,
    },
    Pending,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticks {
    pub(crate) period: Duration,
    pub(crate) behavior: MissedTickBehavior,
    /// When the first is due; without, at once.
    pub(crate) start: Option<Duration>,
    /// What is done between the ticks.
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

/// A line for each thing, with what is inside it further to the right.
impl Program {
    /// Whether two threads are at work at a time: one drives a runtime while a future that waits
    /// for it may be dropped. Then even tokio may do one thing or another.
    pub(crate) fn may_race(&self) -> bool {
        self.to_string().contains("Blocking ")
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Program {
            style,
            runtimes,
            offset,
            ..
        } = self;
        writeln!(
            f,
            "{style:?}, {runtimes} runtimes, clocks ahead by {offset:?}"
        )?;
        for (number, task) in self.tasks.iter().enumerate() {
            if !task.is_empty() {
                writeln!(f, "  task {number}:")?;
                show_ops(f, 4, task)?;
            }
        }
        writeln!(f, "  thread:")?;
        show_steps(f, 4, &self.steps)
    }
}

fn show_steps(f: &mut fmt::Formatter<'_>, indent: usize, steps: &[Step]) -> fmt::Result {
    for step in steps {
        write!(f, "{:indent$}", "")?;
        match step {
            Step::Drive { rt, body } => {
                writeln!(f, "Drive {rt}:")?;
                show_ops(f, indent + 2, body)?;
            }
            Step::DriveLocal { rt, body } => {
                writeln!(f, "DriveLocal {rt}:")?;
                show_ops(f, indent + 2, body)?;
            }
            Step::Enter { rt, steps } => {
                writeln!(f, "Enter {rt}:")?;
                show_steps(f, indent + 2, steps)?;
            }
            plain => writeln!(f, "{plain:?}")?,
        }
    }
    Ok(())
}

fn show_ops(f: &mut fmt::Formatter<'_>, indent: usize, ops: &[Op]) -> fmt::Result {
    for op in ops {
        write!(f, "{:indent$}", "")?;
        let (title, bodies) = match op {
            Op::Timeout { span, at, body } => {
                (format!("Timeout {span:?}, at: {at}"), vec![body.clone()])
            }
            Op::Held { rt, body } => (format!("Held {rt}"), vec![body.clone()]),
            Op::Wrapped { rt, body } => (format!("Wrapped {rt}"), vec![body.clone()]),
            Op::Blocking { rt, body } => (format!("Blocking {rt}"), vec![body.clone()]),
            Op::Select(bodies) => ("Select".into(), bodies.clone()),
            Op::JoinAll(bodies) => ("JoinAll".into(), bodies.clone()),
            Op::Unordered(bodies) => ("Unordered".into(), bodies.clone()),
            plain => (format!("{plain:?}"), Vec::new()),
        };
        writeln!(f, "{title}")?;
        let many = bodies.len() > 1;
        for body in &bodies {
            if many {
                writeln!(f, "{:indent$}  of:", "")?;
            }
            show_ops(f, indent + if many { 4 } else { 2 }, body)?;
        }
    }
    Ok(())
}
