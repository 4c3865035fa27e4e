//! Generates a random program from a seed.

use support::prelude::*;

use super::hand;
use crate::random::program::{Between, Body, Now, Op, Program, Rt, Slot, Step, Style, Task, Ticks};
use crate::random::world::LANES;

/// Number of timers that the tasks of a program share.
const SLOTS: u64 = 4;

pub(crate) fn program(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let program = match seed % 8 {
        7 => hand::program(&mut random),
        _ => tasks_and_threads(random),
    };
    let precise = seed % 5 == 4;
    Program { precise, ..program }
}

fn tasks_and_threads(mut random: Random) -> Program {
    let style = match random.below(10) {
        0..=4 => Style::Solo,
        5 => Style::Crowd,
        _ => Style::Lanes,
    };
    let runtimes = match style {
        Style::Crowd => 1,
        _ => 1 + random.below(3) as usize,
    };
    let tasks = match style {
        Style::Crowd => 2 + random.below(6) as usize,
        Style::Lanes => 1 + random.below(LANES as u64 - 1) as usize,
        _ => 0,
    };
    Generator {
        random,
        style,
        runtimes,
        tasks,
        unspawned: (0..tasks).collect(),
    }
    .program()
}

struct Generator {
    random: Random,
    style: Style,
    runtimes: usize,
    tasks: usize,
    /// The tasks that no operation spawns yet. Each is spawned in one place at most.
    unspawned: Vec<Task>,
}

/// The operations that a list may contain.
#[derive(Clone, Copy, Default)]
struct Allowed {
    /// How deeply they may be nested.
    depth: usize,
    /// Whether the future is a root's own, and not part of another future.
    root: bool,
    /// Whether no other task may notice them, because the futures are polled in any order.
    plain: bool,
    local: bool,
}

impl Allowed {
    fn root(self) -> Self {
        Allowed { root: true, ..self }
    }
}

impl Generator {
    fn program(mut self) -> Program {
        let tasks = (0..self.tasks).map(|_| self.task_body()).collect();
        let steps = match self.style {
            Style::Crowd => self.crowd(),
            _ => self.some(5, |it| it.step(2)),
        };
        Program {
            style: self.style,
            runtimes: self.runtimes,
            offset: self.offset(),
            precise: false,
            tasks,
            steps,
        }
    }

    /// Returns an offset for one program in eight, but none if it would move timers out of their lanes.
    fn offset(&mut self) -> Duration {
        let some = self.style != Style::Lanes && self.random.one_in(8);
        match self.below(3) {
            _ if !some => Duration::ZERO,
            0 => Duration::from_nanos(1),
            1 => Duration::from_nanos(999_999),
            _ => Duration::from_micros(300),
        }
    }

    fn below(&mut self, end: usize) -> usize {
        self.random.below(end as u64) as usize
    }

    /// Returns from 1 to `most` values.
    fn some<T>(&mut self, most: usize, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..1 + self.below(most)).map(|_| one(self)).collect()
    }

    fn rt(&mut self) -> Rt {
        self.below(self.runtimes)
    }

    fn another_rt(&mut self, one_in: u64) -> Option<Rt> {
        self.random.one_in(one_in).then(|| self.rt())
    }

    fn slot(&mut self) -> Slot {
        self.random.below(SLOTS) as usize
    }

    fn span(&mut self) -> Duration {
        match self.below(20) {
            0 | 1 => Duration::ZERO,
            2 => Duration::from_nanos(1),
            3 => Duration::from_micros(500),
            4 => ms(self.random.below(40)) + Duration::from_micros(500),
            5 => ms(self.random.below(2000)),
            6 => Duration::from_secs(1 << self.random.below(20)),
            _ => self.short(),
        }
    }

    fn short(&mut self) -> Duration {
        ms(1 + self.random.below(40))
    }

    fn crowd(&mut self) -> Vec<Step> {
        let mut body = vec![Op::JoinSet((0..self.tasks).collect())];
        if self.random.one_in(2) {
            body.insert(0, Op::Advance(self.short()));
        }
        vec![Step::Drive(0, body)]
    }

    fn task_body(&mut self) -> Body {
        let allowed = Allowed {
            depth: 2,
            plain: self.style == Style::Crowd,
            ..Allowed::default()
        };
        self.ops(allowed, 6)
    }

    fn root_body(&mut self, local: bool) -> Body {
        let allowed = Allowed {
            depth: 3,
            local,
            ..Allowed::default()
        };
        self.ops(allowed.root(), 7)
    }

    fn step(&mut self, depth: usize) -> Step {
        let rt = self.rt();
        match self.below(12) {
            0..=4 => Step::Drive(rt, self.root_body(false)),
            5 => Step::DriveLocal(rt, self.root_body(true)),
            6 | 7 if depth > 0 => Step::Enter(rt, self.some(3, |it| it.step(depth - 1))),
            8 => Step::End(rt),
            9 if !self.unspawned.is_empty() => Step::Spawn(self.unspawned().unwrap(), rt),
            _ => Step::Now(self.slot(), self.now()),
        }
    }

    fn unspawned(&mut self) -> Option<Task> {
        let at = self.random.place(self.unspawned.len())?;
        Some(self.unspawned.swap_remove(at))
    }

    fn ops(&mut self, allowed: Allowed, most: usize) -> Body {
        let mut ops = Vec::new();
        for _ in 0..1 + self.below(most) {
            match self.below(12) {
                0 if !allowed.plain && self.runtimes > 1 => self.outlive(&mut ops),
                _ => ops.push(self.op(allowed)),
            }
        }
        ops
    }

    /// Makes a timer, ends its runtime, and awaits the timer.
    fn outlive(&mut self, ops: &mut Body) {
        let (slot, rt) = (self.slot(), self.rt());
        ops.push(Op::Now(slot, self.make(Some(rt), 2)));
        if self.random.one_in(2) {
            ops.push(Op::Now(slot, Now::Poll));
        }
        ops.push(Op::End(rt));
        if self.random.one_in(4) {
            ops.push(Op::Now(slot, Now::Reset(self.span())));
        }
        if self.random.one_in(4) {
            ops.push(Op::Now(slot, Now::Look));
        }
        ops.push(Op::Await(slot));
    }

    fn op(&mut self, allowed: Allowed) -> Op {
        let (deep, depth) = (allowed.depth > 0, allowed.depth.saturating_sub(1));
        let root = false;
        let inner = Allowed {
            depth,
            root,
            ..allowed
        };
        let plain = Allowed {
            plain: true,
            ..inner
        };
        match self.below(if allowed.plain { 10 } else { 28 }) {
            0 | 1 => Op::Sleep(self.span()),
            2 if self.random.one_in(4) => Op::SleepUntilPast(self.span()),
            2 => Op::SleepUntil(self.span()),
            3 | 4 if deep => self.timeout(inner),
            5 => Op::Interval(self.ticks(allowed)),
            6 => Op::Yield(1 + self.below(3)),
            7 if deep => Op::Select(self.bodies(inner)),
            8 if deep => Op::JoinAll(self.bodies(inner)),
            9 if deep => Op::Unordered(self.bodies(plain)),
            10..=12 => Op::Now(self.slot(), self.now()),
            13..=15 => Op::Await(self.slot()),
            16 if deep && allowed.root => Op::Held(self.rt(), self.ops(inner.root(), 4)),
            17 | 18 if deep => Op::Wrapped(self.rt(), self.ops(inner, 4)),
            19 if deep && allowed.root && self.style == Style::Solo => {
                Op::Blocking(Some(self.rt()), self.ops(inner.root(), 4))
            }
            20 if self.random.one_in(3) => Op::End(self.rt()),
            21 => Op::Advance(self.short()),
            22.. if self.style == Style::Lanes => self.about_tasks(allowed),
            _ => Op::Sleep(self.short()),
        }
    }

    fn bodies(&mut self, inner: Allowed) -> Vec<Body> {
        self.some(3, |it| it.ops(inner, 2))
    }

    fn timeout(&mut self, inner: Allowed) -> Op {
        let body = match self.random.one_in(4) {
            true => vec![Op::Pending],
            false => self.ops(inner, 2),
        };
        match self.random.one_in(2) {
            true => Op::TimeoutAt(self.span(), body),
            false => Op::Timeout(self.span(), body),
        }
    }

    fn make(&mut self, within: Option<Rt>, until_one_in: u64) -> Now {
        match self.random.one_in(until_one_in) {
            true => Now::MakeUntil(within, self.span()),
            false => Now::Make(within, self.span()),
        }
    }

    fn now(&mut self) -> Now {
        match self.below(9) {
            0..=2 => {
                let within = self.another_rt(3);
                self.make(within, 3)
            }
            3 | 4 => Now::Poll,
            5 => Now::Reset(self.span()),
            6 => Now::ResetToPast(self.short()),
            7 => Now::Look,
            _ => Now::Drop,
        }
    }

    fn about_tasks(&mut self, allowed: Allowed) -> Op {
        let task = self.below(self.tasks);
        match self.below(8) {
            0..=3 => match self.unspawned() {
                None => Op::Join(task),
                Some(task) if allowed.local && self.random.one_in(2) => Op::SpawnLocal(task),
                Some(task) => Op::Spawn(task, self.another_rt(4)),
            },
            4 => {
                let tasks = [self.unspawned(), self.unspawned()];
                Op::JoinSet(tasks.into_iter().flatten().collect())
            }
            5 => Op::Abort(task),
            _ => Op::Join(task),
        }
    }

    fn ticks(&mut self, allowed: Allowed) -> Ticks {
        let lanes = self.style == Style::Lanes;
        let period = match self.below(4) {
            // All ticks stay in the lane of the first.
            _ if lanes => ms(2 * LANES as u64 * (1 + self.random.below(2))),
            0 => Duration::from_micros(500),
            _ => self.short(),
        };
        Ticks {
            period,
            behavior: hand::behavior(&mut self.random),
            start: (lanes || self.random.one_in(2)).then(|| self.span()),
            between: self.some(4, |it| it.between(allowed)),
        }
    }

    fn between(&mut self, allowed: Allowed) -> Between {
        let lanes = self.style == Style::Lanes;
        match self.below(8) {
            0 | 1 => Between::Sleep(self.span()),
            2 if !allowed.plain => Between::Advance(self.short()),
            3 if !lanes => Between::Reset,
            4 => Between::ResetImmediately,
            5 => Between::ResetAfter(self.span()),
            _ => Between::Nothing,
        }
    }
}
