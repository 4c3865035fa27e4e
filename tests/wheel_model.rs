//! The wheel beside a sorted map that does the same naively, under random operations.
//!
//! After every step: what fired is what the map has first, nothing early, nothing late, ticks in
//! order; every invariant of the wheel holds; keys of what is gone find nothing.

use std::collections::BTreeMap;

use proptest::prelude::*;
use wheel::timing_wheel::{Key, Progress, Rescheduled, TimingWheel};

#[derive(Clone, Copy, Debug)]
enum Op {
    Insert {
        distance: Distance,
    },
    /// Many entries that share a slot or two, so that chains grow and thin out.
    Crowd {
        count: u8,
        distance: Distance,
    },
    Remove {
        pick: u16,
    },
    /// Removes this many entries, each at a random place of the order.
    Thin {
        count: u8,
        pick: u16,
    },
    Reschedule {
        pick: u16,
        distance: Distance,
    },
    Advance {
        distance: Distance,
        budget: usize,
    },
    /// Advances to what the wheel says is next.
    Follow {
        budget: usize,
    },
    /// Advances to a target in the past, which finishes what was left over and nothing else.
    Back {
        budget: usize,
    },
}

/// A number of ticks: `2^power` or `SLOTS^level`, with an offset.
#[derive(Clone, Copy, Debug)]
struct Distance {
    of_level: bool,
    power: u8,
    offset: i64,
}

impl Distance {
    fn ticks<const SLOTS: usize>(self) -> u64 {
        let (base, power) = if self.of_level {
            (SLOTS as u64, self.power % 12)
        } else {
            (2, self.power % 64)
        };
        base.saturating_pow(power.into())
            .saturating_add_signed(self.offset)
    }
}

struct Pair<const SLOTS: usize> {
    wheel: TimingWheel<u64, SLOTS>,
    model: BTreeMap<(u64, u64), Key>,
    gone: Vec<Key>,
    serial: u64,
}

impl<const SLOTS: usize> Pair<SLOTS> {
    fn starting_at(now: u64) -> Self {
        Self {
            wheel: TimingWheel::starting_at(now),
            model: BTreeMap::new(),
            gone: Vec::new(),
            serial: 0,
        }
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::Insert { distance } => self.insert(distance.ticks::<SLOTS>()),
            Op::Crowd { count, distance } => {
                (0..u64::from(count))
                    .for_each(|i| self.insert(distance.ticks::<SLOTS>().saturating_add(i % 3)));
            }
            Op::Remove { pick } => self.remove(pick.into()),
            Op::Thin { count, pick } => {
                (0..usize::from(count)).for_each(|i| self.remove(usize::from(pick) * 31 + i * 7));
            }
            Op::Reschedule { pick, distance } => {
                self.reschedule(pick.into(), distance.ticks::<SLOTS>());
            }
            Op::Advance { distance, budget } => {
                let to = self.wheel.now().saturating_add(distance.ticks::<SLOTS>());
                self.advance(to, budget);
            }
            Op::Follow { budget } => {
                let to = self.wheel.next_expiration().unwrap_or(self.wheel.now());
                self.advance(to, budget);
            }
            Op::Back { budget } => self.advance(self.wheel.now() / 2, budget),
        }
        self.compare();
    }

    fn insert(&mut self, distance: u64) {
        let deadline = self.wheel.now().saturating_add(distance);
        self.serial += 1;
        match self.wheel.insert(deadline, self.serial) {
            Ok(key) => {
                assert!(deadline > self.wheel.now(), "accepted what was due");
                assert_eq!(self.model.insert((deadline, self.serial), key), None);
            }
            Err(value) => {
                assert!(deadline <= self.wheel.now(), "refused what was not due");
                assert_eq!(value, self.serial);
            }
        }
    }

    fn pick(&self, pick: usize) -> Option<((u64, u64), Key)> {
        let at = pick.checked_rem(self.model.len())?;
        self.model.iter().nth(at).map(|(&id, &key)| (id, key))
    }

    fn remove(&mut self, pick: usize) {
        if let Some((id, key)) = self.pick(pick) {
            self.model.remove(&id);
            assert_eq!(self.wheel.remove(key), Some(id.1));
            self.gone.push(key);
        }
    }

    fn reschedule(&mut self, pick: usize, distance: u64) {
        let Some((id, key)) = self.pick(pick) else {
            return;
        };
        let deadline = self.wheel.now().saturating_add(distance);
        self.model.remove(&id);
        if deadline > self.wheel.now() {
            assert_eq!(self.wheel.reschedule(key, deadline), Rescheduled::Moved);
            self.model.insert((deadline, id.1), key);
        } else {
            assert_eq!(
                self.wheel.reschedule(key, deadline),
                Rescheduled::Expired(id.1)
            );
            self.gone.push(key);
        }
    }

    fn advance(&mut self, to: u64, budget: usize) {
        let (model, gone) = (&mut self.model, &mut self.gone);
        let before = self.wheel.now();
        let target = to.max(before);
        let mut count = 0;
        let progress = self.wheel.advance(to, budget, |expired| {
            let (&(first, _), _) = model.first_key_value().expect("fired one too many");
            assert_eq!(expired.deadline, first, "ticks out of order");
            assert!(first <= target, "fired early");
            assert_eq!(model.remove(&(first, expired.value)), Some(expired.key));
            gone.push(expired.key);
            count += 1;
        });
        assert!(count <= budget, "over budget");
        assert!(
            (before..=target).contains(&self.wheel.now()),
            "the clock went astray"
        );
        if progress == Progress::CaughtUp {
            self.assert_caught_up(target);
        }
    }

    fn assert_caught_up(&self, target: u64) {
        assert_eq!(self.wheel.now(), target);
        assert!(
            self.model.keys().all(|&(deadline, _)| deadline > target),
            "something is late"
        );
        assert!(
            self.wheel
                .next_expiration()
                .is_none_or(|next| next > target),
            "the next expiration is not ahead"
        );
    }

    fn compare(&self) {
        self.wheel.check();
        assert_eq!(self.wheel.len(), self.model.len());
        let earliest = self.model.keys().next().map(|id| id.0);
        assert!(
            self.wheel.next_expiration() <= earliest,
            "the earliest deadline is hidden"
        );
        for (&(deadline, serial), &key) in &self.model {
            assert_eq!(
                (self.wheel.deadline(key), self.wheel.get(key)),
                (Some(deadline), Some(&serial))
            );
        }
        for &key in self.gone.iter().rev().take(64) {
            assert_eq!(self.wheel.get(key), None, "a stale key came to life");
        }
    }

    /// Lets all that is left fire, a little at a time, and looks at every key that ever went.
    fn finish(mut self) {
        while !self.model.is_empty() {
            self.apply(Op::Follow { budget: 7 });
        }
        assert!(self.wheel.is_empty());
        for &key in &self.gone {
            assert_eq!(self.wheel.remove(key), None);
            assert_eq!(self.wheel.reschedule(key, u64::MAX), Rescheduled::Stale);
        }
    }
}

/// Clocks at the edges of levels, of powers of two, and of time.
const CLOCKS: [u64; 9] = [
    0,
    1,
    63,
    (1 << 12) - 1,
    1 << 30,
    (1 << 36) - 1,
    (1 << 60) + 5,
    u64::MAX - 1_000,
    u64::MAX - 1,
];

fn run(slots: usize, now: u64, ops: &[Op]) {
    match slots {
        2 => run_with::<2>(now, ops),
        3 => run_with::<3>(now, ops),
        10 => run_with::<10>(now, ops),
        60 => run_with::<60>(now, ops),
        _ => run_with::<64>(now, ops),
    }
}

fn run_with<const SLOTS: usize>(now: u64, ops: &[Op]) {
    let mut pair = Pair::<SLOTS>::starting_at(now);
    for &op in ops {
        pair.apply(op);
    }
    pair.finish();
}

fn distance() -> impl Strategy<Value = Distance> {
    (any::<bool>(), 0..30_u8, -3..4_i64, 0..8_u8).prop_map(|(of_level, power, offset, far)| {
        // One in eight reaches further than the rest.
        let power = if far == 0 { power * 2 + 5 } else { power / 2 };
        Distance {
            of_level,
            power,
            offset,
        }
    })
}

fn budget() -> impl Strategy<Value = usize> {
    prop_oneof![0..4_usize, 0..100_usize, Just(usize::MAX)]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => distance().prop_map(|distance| Op::Insert { distance }),
        1 => (1..=200_u8, distance()).prop_map(|(count, distance)| Op::Crowd { count, distance }),
        3 => any::<u16>().prop_map(|pick| Op::Remove { pick }),
        1 => (1..=200_u8, any::<u16>()).prop_map(|(count, pick)| Op::Thin { count, pick }),
        2 => (any::<u16>(), distance()).prop_map(|(pick, distance)| Op::Reschedule { pick, distance }),
        3 => (distance(), budget()).prop_map(|(distance, budget)| Op::Advance { distance, budget }),
        2 => budget().prop_map(|budget| Op::Follow { budget }),
        1 => budget().prop_map(|budget| Op::Back { budget }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn does_as_the_model_does(
        slots in prop::sample::select(vec![2, 3, 10, 60, 64]),
        now in prop::sample::select(CLOCKS.to_vec()),
        ops in prop::collection::vec(op(), 1..60),
    ) {
        run(slots, now, &ops);
    }
}

/// The same with fixed seeds: every kind of wheel at every clock, each time the same.
#[test]
fn does_as_the_model_does_from_every_clock() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for round in 0..4 * 5 * CLOCKS.len() {
        let ops = prop::collection::vec(op(), 50)
            .new_tree(&mut runner)
            .unwrap()
            .current();
        run(
            [2, 3, 10, 60, 64][round % 5],
            CLOCKS[round / 5 % CLOCKS.len()],
            &ops,
        );
    }
}

/// A random timer waits for its very tick, from wherever the clock stands.
#[test]
fn a_lone_timer_fires_at_its_tick_and_not_before() {
    let mut wheel: TimingWheel<()> = TimingWheel::new();
    let mut random = 1_u64;
    for round in 0..10_000_u32 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let due = wheel.now() + 1 + (random >> 32) % (1 << (round % 20));
        wheel.insert(due, ()).unwrap();
        assert_eq!(wheel.next_expiration(), Some(due));
        assert!(
            wheel
                .advance(due - 1, usize::MAX, |_| panic!("early"))
                .is_caught_up()
        );
        let mut fired = 0;
        assert!(
            wheel
                .advance(due, usize::MAX, |_| fired += 1)
                .is_caught_up()
        );
        assert_eq!(fired, 1);
    }
}
