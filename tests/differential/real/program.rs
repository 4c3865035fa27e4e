//! The parts of a program, and a program from a seed.

use support::prelude::*;

use std::fmt;

/// The number of a runtime: 0 or 1.
pub(super) type Rt = usize;

/// The operations of a task, in turn.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// The task's runtime.
    pub(super) rt: Rt,
    pub(super) ops: Vec<Op>,
}

/// Durations are a few milliseconds, or less than a millisecond.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Sleep(Duration),
    SleepUntil(Duration),
    /// Until so long before now.
    SleepUntilPast(Duration),
    /// A timeout of an hour around something that ends.
    InTime(Vec<Op>),
    /// A timeout around something that never ends.
    Elapses(Duration),
    ElapsesAt(Duration),
    Interval(Ticks),
    /// A sleep that is polled, and then put off or brought forward, again and again.
    Reset(Vec<Duration>),
    /// The first branch sleeps for so long, so many others for an hour.
    Select(Duration, usize),
    /// Sleeps that are polled by a set of futures.
    Unordered(Vec<Duration>),
    /// So many timers are armed and dropped.
    Cancel(usize),
    Yield(usize),
    /// In a task of its own, of either runtime.
    Spawn(Rt, Vec<Op>),
    /// A task that waits for an hour is aborted.
    Abort(Rt),
    /// A timer is made here, polled or not, and awaited in a task of either runtime.
    Elsewhere(Rt, Duration, bool),
    /// A timer is made inside `enter()` of the other runtime, and awaited outside.
    Entered(Duration),
    /// Polled in the context of the other runtime, as tokio-util's `RuntimeExt::wrap` does.
    Wrapped(Vec<Op>),
    /// `block_in_place(|| handle.block_on(..))` of either runtime.
    InPlace(Rt, Vec<Op>),
    /// The same on a blocking thread, or in a current-thread runtime made there.
    Blocking(Option<Rt>, Vec<Op>),
    /// Whose is a timer that is made here?
    Probe,
}

#[derive(Clone, Debug)]
pub(super) struct Ticks {
    pub(super) period: Duration,
    /// When the first is due; without, at once.
    pub(super) start: Option<Duration>,
    pub(super) count: usize,
}

impl Program {
    pub(super) fn new(seed: u64) -> Self {
        let mut generator = Generator(crate::random(seed));
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

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn span(&mut self) -> Duration {
        let micros = match self.below(8) {
            0 => 0,
            1 | 2 => self.0.below(1000),
            _ => self.0.below(6000),
        };
        Duration::from_micros(micros)
    }

    fn spans(&mut self, most: usize) -> Vec<Duration> {
        (0..1 + self.below(most)).map(|_| self.span()).collect()
    }

    fn ticks(&mut self) -> Ticks {
        Ticks {
            period: Duration::from_micros(250 + self.0.below(3000)),
            start: self.one_in(2).then(|| self.span()),
            count: 1 + self.below(4),
        }
    }

    fn ops(&mut self, depth: usize, most: usize) -> Vec<Op> {
        (0..1 + self.below(most)).map(|_| self.op(depth)).collect()
    }

    fn op(&mut self, depth: usize) -> Op {
        let rt = self.below(2);
        match self.below(if depth > 0 { 22 } else { 14 }) {
            0 | 1 => Op::Sleep(self.span()),
            2 if self.one_in(4) => Op::SleepUntilPast(self.span()),
            2 => Op::SleepUntil(self.span()),
            3 if self.one_in(2) => Op::ElapsesAt(self.span()),
            3 => Op::Elapses(self.span()),
            4 => Op::Interval(self.ticks()),
            5 => Op::Reset(self.spans(4)),
            6 => Op::Select(self.span(), 1 + self.below(3)),
            7 => Op::Unordered(self.spans(8)),
            8 => Op::Cancel(1 + self.below(40)),
            9 => Op::Yield(1 + self.below(5)),
            10 => Op::Abort(rt),
            11 => Op::Elsewhere(rt, self.span(), self.one_in(2)),
            12 => Op::Entered(self.span()),
            13 => Op::Probe,
            14 | 15 => Op::InTime(self.ops(depth - 1, 3)),
            16 | 17 => Op::Spawn(rt, self.ops(depth - 1, 4)),
            18 | 19 => Op::Wrapped(self.ops(depth - 1, 3)),
            20 => Op::InPlace(rt, self.ops(depth - 1, 2)),
            _ if self.one_in(3) => Op::Blocking(None, self.ops(depth - 1, 2)),
            _ => Op::Blocking(Some(rt), self.ops(depth - 1, 2)),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "on runtime {}: {:#?}", self.rt, self.ops)
    }
}
