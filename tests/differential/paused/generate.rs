//! Random programs.

use std::time::Duration;

use tokio::time::MissedTickBehavior;

use super::program::{Between, Now, Op, Program, Step, Style, Ticks};
use super::world::LANES;
use support::{Random, ms};

/// Timers that programs share.
const SLOTS: u64 = 4;

pub(crate) fn program(seed: u64) -> Program {
    let mut random = Random::new(seed.wrapping_add(1));
    // The first numbers of neighbours are alike.
    for _ in 0..8 {
        random.number();
    }
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
        Style::Solo => 0,
        Style::Crowd => 2 + random.below(6) as usize,
        Style::Lanes => 1 + random.below(LANES as u64 - 1) as usize,
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
    /// Each task is spawned in one place at most.
    unspawned: Vec<usize>,
}

/// What a list of operations may contain.
#[derive(Clone, Copy)]
struct Allowed {
    /// How deep they may be nested.
    depth: usize,
    /// The future is a root's own, not a part of another one.
    root: bool,
    /// Nothing that others notice: for what is polled in any order.
    plain: bool,
    local: bool,
}

impl Generator {
    fn program(mut self) -> Program {
        let tasks = (0..self.tasks).map(|_| self.task_body()).collect();
        let steps = match self.style {
            Style::Crowd => self.crowd(),
            _ => {
                let count = 1 + self.below(5);
                (0..count).map(|_| self.step(2)).collect()
            }
        };
        Program {
            style: self.style,
            runtimes: self.runtimes,
            offset: self.offset(),
            tasks,
            steps,
        }
    }

    /// Seldom any, and not where it would bring timers out of their lanes.
    fn offset(&mut self) -> Duration {
        let some = self.style != Style::Lanes && self.one_in(8);
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

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn rt(&mut self) -> usize {
        self.below(self.runtimes)
    }

    fn slot(&mut self) -> usize {
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
            _ => ms(1 + self.random.below(40)),
        }
    }

    fn short(&mut self) -> Duration {
        ms(1 + self.random.below(40))
    }

    fn crowd(&mut self) -> Vec<Step> {
        let mut body = vec![Op::JoinSet {
            tasks: (0..self.tasks).collect(),
        }];
        if self.one_in(2) {
            body.insert(0, Op::Advance(self.short()));
        }
        vec![Step::Drive { rt: 0, body }]
    }

    fn task_body(&mut self) -> Vec<Op> {
        let allowed = Allowed {
            depth: 2,
            root: false,
            plain: self.style == Style::Crowd,
            local: false,
        };
        self.ops(allowed, 6)
    }

    fn step(&mut self, depth: usize) -> Step {
        let rt = self.rt();
        match self.below(12) {
            0..=4 => {
                let body = self.root_body(false);
                Step::Drive { rt, body }
            }
            5 => {
                let body = self.root_body(true);
                Step::DriveLocal { rt, body }
            }
            6 | 7 if depth > 0 => {
                let count = 1 + self.below(3);
                let steps = (0..count).map(|_| self.step(depth - 1)).collect();
                Step::Enter { rt, steps }
            }
            8 => Step::End { rt },
            9 if self.tasks > 0 => match self.unspawned() {
                Some(task) => Step::Spawn { rt, task },
                None => Step::Now(self.now()),
            },
            _ => Step::Now(self.now()),
        }
    }

    fn unspawned(&mut self) -> Option<usize> {
        let at = self.unspawned.len().checked_sub(1)?;
        let at = self.below(at + 1);
        Some(self.unspawned.swap_remove(at))
    }

    fn root_body(&mut self, local: bool) -> Vec<Op> {
        let allowed = Allowed {
            depth: 3,
            root: true,
            plain: false,
            local,
        };
        self.ops(allowed, 7)
    }

    fn ops(&mut self, allowed: Allowed, most: usize) -> Vec<Op> {
        let mut ops = Vec::new();
        for _ in 0..1 + self.below(most) {
            match self.below(12) {
                0 if !allowed.plain && self.runtimes > 1 => self.outlive(&mut ops),
                _ => ops.push(self.op(allowed)),
            }
        }
        ops
    }

    /// A timer whose runtime ends.
    fn outlive(&mut self, ops: &mut Vec<Op>) {
        let (slot, rt, span) = (self.slot(), self.rt(), self.span());
        let until = self.one_in(2);
        let within = Some(rt);
        ops.push(Op::Now(Now::Make {
            slot,
            span,
            until,
            within,
        }));
        if self.one_in(2) {
            ops.push(Op::Now(Now::Poll { slot }));
        }
        ops.push(Op::End { rt });
        if self.one_in(4) {
            ops.push(Op::Now(Now::Reset {
                slot,
                span: self.span(),
            }));
        }
        if self.one_in(4) {
            ops.push(Op::Now(Now::Look { slot }));
        }
        ops.push(Op::Await { slot });
    }

    fn op(&mut self, allowed: Allowed) -> Op {
        let inner = Allowed {
            depth: allowed.depth.saturating_sub(1),
            root: false,
            ..allowed
        };
        let deep = allowed.depth > 0;
        match self.below(if allowed.plain { 10 } else { 28 }) {
            0 | 1 => Op::Sleep(self.span()),
            2 => Op::SleepUntil {
                span: self.span(),
                past: self.one_in(4),
            },
            3 | 4 if deep => self.timeout(inner),
            5 => Op::Interval(self.ticks(allowed)),
            6 => Op::Yield(1 + self.below(3)),
            7 if deep => Op::Select(self.bodies(inner)),
            8 if deep => Op::JoinAll(self.bodies(inner)),
            9 if deep => {
                let plain = Allowed {
                    plain: true,
                    ..inner
                };
                Op::Unordered(self.bodies(plain))
            }
            10..=12 => Op::Now(self.now()),
            13..=15 => Op::Await { slot: self.slot() },
            16 if deep && allowed.root => {
                let inner = Allowed {
                    root: true,
                    ..inner
                };
                self.nested(inner, |rt, body| Op::Held { rt, body })
            }
            17 | 18 if deep => self.nested(inner, |rt, body| Op::Wrapped { rt, body }),
            19 if deep && allowed.root && self.style == Style::Solo => {
                let inner = Allowed {
                    root: true,
                    ..inner
                };
                self.nested(inner, |rt, body| Op::Blocking { rt, body })
            }
            20 if self.one_in(3) => Op::End { rt: self.rt() },
            21 => Op::Advance(self.short()),
            22.. if self.style == Style::Lanes => self.about_tasks(allowed),
            _ => Op::Sleep(self.short()),
        }
    }

    fn nested(&mut self, inner: Allowed, make: fn(usize, Vec<Op>) -> Op) -> Op {
        let rt = self.rt();
        make(rt, self.ops(inner, 4))
    }

    fn bodies(&mut self, inner: Allowed) -> Vec<Vec<Op>> {
        let count = 1 + self.below(3);
        (0..count).map(|_| self.ops(inner, 2)).collect()
    }

    fn timeout(&mut self, inner: Allowed) -> Op {
        let body = match self.one_in(4) {
            true => vec![Op::Pending],
            false => self.ops(inner, 2),
        };
        Op::Timeout {
            span: self.span(),
            at: self.one_in(2),
            body,
        }
    }

    fn now(&mut self) -> Now {
        let slot = self.slot();
        match self.below(9) {
            0..=2 => Now::Make {
                slot,
                span: self.span(),
                until: self.one_in(3),
                within: self.one_in(3).then(|| self.rt()),
            },
            3 | 4 => Now::Poll { slot },
            5 => Now::Reset {
                slot,
                span: self.span(),
            },
            6 => Now::ResetToPast {
                slot,
                span: self.short(),
            },
            7 => Now::Look { slot },
            _ => Now::Drop { slot },
        }
    }

    fn about_tasks(&mut self, allowed: Allowed) -> Op {
        let task = self.below(self.tasks);
        match self.below(8) {
            0..=3 => {
                let Some(task) = self.unspawned() else {
                    return Op::Join { task };
                };
                if allowed.local && self.one_in(2) {
                    return Op::SpawnLocal { task };
                }
                let on = self.one_in(4).then(|| self.rt());
                Op::Spawn { task, on }
            }
            4 => {
                let tasks = [self.unspawned(), self.unspawned()];
                Op::JoinSet {
                    tasks: tasks.into_iter().flatten().collect(),
                }
            }
            5 => Op::Abort { task },
            _ => Op::Join { task },
        }
    }

    fn ticks(&mut self, allowed: Allowed) -> Ticks {
        let behaviors = [
            MissedTickBehavior::Burst,
            MissedTickBehavior::Delay,
            MissedTickBehavior::Skip,
        ];
        let lanes = self.style == Style::Lanes;
        let period = match self.below(4) {
            // Ticks stay in the lane that the first is in.
            _ if lanes => ms(2 * LANES as u64 * (1 + self.random.below(2))),
            0 => Duration::from_micros(500),
            _ => self.short(),
        };
        let count = 1 + self.below(4);
        Ticks {
            period,
            behavior: behaviors[self.below(3)],
            start: (lanes || self.one_in(2)).then(|| self.span()),
            between: (0..count).map(|_| self.between(allowed)).collect(),
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
