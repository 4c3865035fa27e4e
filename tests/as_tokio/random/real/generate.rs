//! Generates a random program for workers from a seed.

use support::prelude::*;

use crate::random::program::{Between, Body, Now, Op, Program, Rt, Slot, Step, Style, Task, Ticks};

pub(super) fn program(seed: u64) -> Program {
    let mut generator = Generator {
        random: Random::new(seed),
        tasks: Vec::new(),
        slots: 0,
    };
    let mut body = generator.ops(3, 8, true);
    body.push(Op::Probe);
    let steps = vec![Step::Spawn(generator.task(body), generator.rt())];
    Program {
        style: Style::Workers,
        runtimes: 2,
        tasks: generator.tasks,
        steps,
        ..Program::default()
    }
}

struct Generator {
    random: Random,
    tasks: Vec<Body>,
    /// The number of shared timers so far. Each has a place of its own.
    slots: Slot,
}

impl Generator {
    fn below(&mut self, end: u64) -> usize {
        self.random.below(end) as usize
    }

    fn rt(&mut self) -> Rt {
        self.below(2)
    }

    fn task(&mut self, body: Body) -> Task {
        self.tasks.push(body);
        self.tasks.len() - 1
    }

    /// Returns a few milliseconds, or less than one.
    fn span(&mut self) -> Duration {
        let micros = match self.below(8) {
            0 => 0,
            1 | 2 => self.random.below(1000),
            _ => self.random.below(6000),
        };
        Duration::from_micros(micros)
    }

    /// Generates operations of a worker, or of a thread that drives a runtime meanwhile.
    fn ops(&mut self, depth: u32, most: u64, on_worker: bool) -> Body {
        let groups = 0..1 + self.below(most);
        groups.flat_map(|_| self.group(depth, on_worker)).collect()
    }

    /// Generates an operation, or several that belong together.
    fn group(&mut self, depth: u32, on_worker: bool) -> Body {
        let deeper = depth.saturating_sub(1);
        let op = match self.below(if depth > 0 { 23 } else { 14 }) {
            0 | 1 => Op::Sleep(self.span()),
            2 if self.random.one_in(4) => Op::SleepUntilPast(self.span()),
            2 => Op::SleepUntil(self.span()),
            3 => Op::Timeout(self.span(), vec![Op::Pending]),
            4 => Op::TimeoutAt(self.span(), vec![Op::Pending]),
            5 => Op::Interval(self.ticks()),
            6 => Op::Yield(1 + self.below(5)),
            7 => {
                let soon = Op::Sleep(self.span());
                self.race(soon, 3)
            }
            // This cancels many timers.
            8 => self.race(Op::Yield(1), 40),
            9 => return self.reset_often(),
            10 => return self.await_elsewhere(),
            11 => return self.abort(),
            12 => return self.make_for(),
            13 if on_worker => Op::Probe,
            14 | 15 => Op::Timeout(HOUR, self.ops(deeper, 3, on_worker)),
            16 => {
                let body = self.ops(deeper, 4, true);
                return self.spawn(body);
            }
            17 => Op::JoinSet((0..3).map(|_| self.child(deeper, on_worker)).collect()),
            18 => Op::Unordered(self.bodies(deeper, on_worker)),
            19 => Op::JoinAll(self.bodies(deeper, on_worker)),
            20 => Op::Wrapped(self.rt(), self.ops(deeper, 3, on_worker)),
            21 if on_worker => Op::InPlace(self.driven(), self.ops(deeper, 2, false)),
            22 if on_worker => Op::Blocking(self.driven(), self.ops(deeper, 2, false)),
            _ => Op::Sleep(self.span()),
        };
        vec![op]
    }

    fn bodies(&mut self, depth: u32, on_worker: bool) -> Vec<Body> {
        let bodies = 0..1 + self.below(8);
        bodies.map(|_| self.ops(depth, 2, on_worker)).collect()
    }

    /// Generates a task that is spawned in the current runtime, which may be a new one.
    fn child(&mut self, depth: u32, on_worker: bool) -> Task {
        let body = self.ops(depth, 2, on_worker);
        self.task(body)
    }

    fn driven(&mut self) -> Option<Rt> {
        (!self.random.one_in(3)).then(|| self.rt())
    }

    /// Lets an operation race against waits of an hour, which are then cancelled.
    fn race(&mut self, first: Op, most: u64) -> Op {
        let others = 1 + self.below(most);
        let mut branches = vec![vec![first]];
        branches.resize(1 + others, vec![Op::Sleep(HOUR)]);
        Op::Select(branches)
    }

    fn ticks(&mut self) -> Ticks {
        let between = |it: &mut Self| match it.below(6) {
            0 => Between::Sleep(it.span()),
            1 => Between::Reset,
            2 => Between::ResetImmediately,
            3 => Between::ResetAfter(it.span()),
            _ => Between::Nothing,
        };
        Ticks {
            period: Duration::from_micros(250 + self.random.below(3000)),
            behavior: MissedTickBehavior::Burst,
            start: self.random.one_in(2).then(|| self.span()),
            between: (0..1 + self.below(4)).map(|_| between(self)).collect(),
        }
    }

    /// Makes a timer that is not awaited yet, perhaps inside another runtime's `enter()`.
    fn make(&mut self, within: Option<Rt>, span: Duration) -> (Slot, Body) {
        self.slots += 1;
        let make = Op::Now(self.slots, Now::Make(within, span));
        (self.slots, vec![make])
    }

    fn reset_often(&mut self) -> Body {
        let (slot, mut ops) = self.make(None, HOUR);
        for _ in 0..1 + self.below(4) {
            ops.push(Op::Now(slot, Now::Poll));
            ops.push(Op::Now(slot, Now::Reset(self.span())));
        }
        ops.push(Op::Await(slot));
        ops
    }

    fn make_for(&mut self) -> Body {
        let (rt, span) = (self.rt(), self.span());
        let (slot, mut ops) = self.make(Some(rt), span);
        ops.push(Op::Await(slot));
        ops
    }

    /// Makes a timer here, polls it or not, and awaits it in a task of either runtime.
    fn await_elsewhere(&mut self) -> Body {
        let span = self.span();
        let (slot, mut ops) = self.make(None, span);
        if self.random.one_in(2) {
            ops.push(Op::Now(slot, Now::Poll));
        }
        ops.extend(self.spawn(vec![Op::Await(slot)]));
        ops
    }

    fn spawn(&mut self, body: Body) -> Body {
        let task = self.task(body);
        vec![Op::Spawn(task, Some(self.rt())), Op::Join(task)]
    }

    /// Spawns a task that waits for an hour, and aborts it.
    fn abort(&mut self) -> Body {
        let task = self.task(vec![Op::Sleep(HOUR)]);
        let spawn = Op::Spawn(task, Some(self.rt()));
        vec![spawn, Op::Yield(1), Op::Abort(task), Op::Join(task)]
    }
}
