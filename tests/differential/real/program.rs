//! What a program is made of, and a program from a seed.

use std::fmt;
use std::time::Duration;

use support::Random;

/// What one task does, one thing after the other.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// The runtime of the task: 0 or 1.
    pub(super) rt: usize,
    pub(super) ops: Vec<Op>,
}

/// Durations are a few milliseconds, or less than one.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Sleep(Duration),
    SleepUntil {
        span: Duration,
        past: bool,
    },
    /// Around something that ends: the limit is an hour.
    InTime(Vec<Op>),
    /// Around something that never ends.
    Elapses {
        span: Duration,
        at: bool,
    },
    Interval {
        period: Duration,
        start: Option<Duration>,
        ticks: usize,
    },
    /// A sleep that is polled, and then put off or brought forward, again and again.
    Reset(Vec<Duration>),
    /// The first branch sleeps for so long, the others for an hour.
    Select {
        span: Duration,
        others: usize,
    },
    /// Sleeps that are polled by a set of futures.
    Unordered(Vec<Duration>),
    /// Timers that are armed and dropped.
    Cancel(usize),
    Yield(usize),
    /// In a task of its own, of either runtime.
    Spawn {
        rt: usize,
        ops: Vec<Op>,
    },
    /// A task that waits for an hour is aborted.
    Abort {
        rt: usize,
    },
    /// A timer is made here, polled or not, and awaited in a task of either runtime.
    Elsewhere {
        span: Duration,
        rt: usize,
        polled: bool,
    },
    /// A timer is made inside `enter()` of the other runtime, and awaited outside.
    Entered {
        span: Duration,
    },
    /// Polled in the context of the other runtime, as tokio-util's `RuntimeExt::wrap` does.
    Wrapped(Vec<Op>),
    /// `block_in_place(|| handle.block_on(..))` of either runtime.
    InPlace {
        rt: usize,
        ops: Vec<Op>,
    },
    /// The same on a blocking thread, or in a current-thread runtime made there.
    Blocking {
        rt: Option<usize>,
        ops: Vec<Op>,
    },
    /// Whose is a timer that is made here?
    Probe,
}

impl Program {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed.wrapping_add(1));
        // The first numbers of neighbours are alike.
        for _ in 0..8 {
            random.number();
        }
        let mut generator = Generator(random);
        let rt = generator.below(2);
        let mut ops = generator.ops(3, 8);
        ops.push(Op::Probe);
        Program { rt, ops }
    }
}

struct Generator(Random);

impl Generator {
    fn below(&mut self, end: usize) -> usize {
        self.0.below(end as u64) as usize
    }

    fn span(&mut self) -> Duration {
        match self.below(8) {
            0 => Duration::ZERO,
            1 | 2 => Duration::from_micros(self.0.below(1000)),
            _ => Duration::from_micros(self.0.below(6000)),
        }
    }

    fn spans(&mut self, most: usize) -> Vec<Duration> {
        (0..1 + self.below(most)).map(|_| self.span()).collect()
    }

    fn ops(&mut self, depth: usize, most: usize) -> Vec<Op> {
        (0..1 + self.below(most)).map(|_| self.op(depth)).collect()
    }

    fn op(&mut self, depth: usize) -> Op {
        let rt = self.below(2);
        match self.below(if depth > 0 { 22 } else { 14 }) {
            0 | 1 => Op::Sleep(self.span()),
            2 => Op::SleepUntil {
                span: self.span(),
                past: self.below(4) == 0,
            },
            3 => Op::Elapses {
                span: self.span(),
                at: self.below(2) == 0,
            },
            4 => Op::Interval {
                period: Duration::from_micros(250 + self.0.below(3000)),
                start: (self.below(2) == 0).then(|| self.span()),
                ticks: 1 + self.below(4),
            },
            5 => Op::Reset(self.spans(4)),
            6 => Op::Select {
                span: self.span(),
                others: 1 + self.below(3),
            },
            7 => Op::Unordered(self.spans(8)),
            8 => Op::Cancel(1 + self.below(40)),
            9 => Op::Yield(1 + self.below(5)),
            10 => Op::Abort { rt },
            11 => Op::Elsewhere {
                span: self.span(),
                rt,
                polled: self.below(2) == 0,
            },
            12 => Op::Entered { span: self.span() },
            13 => Op::Probe,
            14 | 15 => Op::InTime(self.ops(depth - 1, 3)),
            16 | 17 => Op::Spawn {
                rt,
                ops: self.ops(depth - 1, 4),
            },
            18 | 19 => Op::Wrapped(self.ops(depth - 1, 3)),
            20 => Op::InPlace {
                rt,
                ops: self.ops(depth - 1, 2),
            },
            _ => Op::Blocking {
                rt: (self.below(3) > 0).then_some(rt),
                ops: self.ops(depth - 1, 2),
            },
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "on runtime {}: {:#?}", self.rt, self.ops)
    }
}
