//! `RawWheel` as the driver uses it: with a grain, and with wakers as values.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Progress;
use super::raw::RawWheel;
use super::{Key, Rescheduled, TimingWheel};

/// A wheel, and a naive model of it: a map from keys to deadlines and values.
struct Grained<const SLOTS: usize> {
    raw: RawWheel<u64, SLOTS>,
    model: BTreeMap<u32, (u64, u64)>,
    random: u64,
}

impl<const SLOTS: usize> Grained<SLOTS> {
    fn starting_at(now: u64, seed: u64) -> Self {
        Self {
            raw: RawWheel::starting_at(now),
            model: BTreeMap::new(),
            random: seed,
        }
    }

    fn random(&mut self, below: u64) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 20) % below
    }

    /// Chooses a deadline between one nanosecond and a minute away, all orders of magnitude equally
    /// likely.
    fn deadline(&mut self) -> u64 {
        let scale = self.random(36);
        let distance = 1 + self.random(1 << scale);
        self.raw.now().saturating_add(distance)
    }

    fn step(&mut self) {
        match self.random(8) {
            0..4 => self.insert(),
            4 => self.remove(),
            5 => self.reschedule(),
            _ => self.advance(),
        }
        self.raw.check();
        assert_eq!(self.raw.len(), self.model.len());
        let left = self.raw.inserted() - self.raw.removed();
        assert_eq!(left, self.model.len() as u64);
        let earliest = self.model.values().map(|&(deadline, _)| deadline).min();
        assert!(self.raw.next_expiration() <= earliest);
    }

    fn insert(&mut self) {
        let deadline = self.deadline();
        for deadline in deadline..deadline + 1 + self.random(3) * 40 {
            let key = self.raw.insert(deadline, deadline);
            assert_eq!(self.model.insert(key, (deadline, deadline)), None);
        }
    }

    fn pick(&mut self) -> Option<u32> {
        let at = self.random(u64::MAX >> 20) as usize;
        self.model
            .keys()
            .nth(at.checked_rem(self.model.len())?)
            .copied()
    }

    fn remove(&mut self) {
        for _ in 0..self.random(60) {
            if let Some(key) = self.pick() {
                let (deadline, value) = self.model.remove(&key).unwrap();
                assert_eq!(self.raw.deadline(key), deadline);
                assert_eq!(self.raw.remove(key), value);
            }
        }
    }

    fn reschedule(&mut self) {
        let deadline = self.deadline();
        let Some(key) = self.pick() else { return };
        let (before, mut value) = self.model[&key];
        match self.random(4) {
            0 => self.raw.reschedule(key, deadline),
            1 => self.raw.reschedule_lazily(key, deadline, |_| ()),
            2 => {
                let set = |value: &mut u64| std::mem::replace(value, deadline);
                assert_eq!(self.raw.reschedule_lazily(key, deadline, set), value);
                value = deadline;
            }
            _ => {
                if !self.raw.extend(key, deadline) {
                    let survived = self.raw.entries.in_page_mut(key).is_none();
                    assert!(deadline < before || survived);
                    return;
                }
                assert!(deadline >= before);
            }
        }
        self.model.insert(key, (deadline, value));
    }

    fn advance(&mut self) {
        let to = self.deadline();
        let budget = [0, 1, 16, usize::MAX][self.random(4) as usize];
        let apart = [0, 63, 1 << 16, u64::MAX][self.random(4) as usize];
        let model = &mut self.model;
        let deadlines = model.values().map(|&(deadline, _)| deadline);
        let earliest = deadlines.min().unwrap_or(0);
        let (mut touched, mut latest) = (0, 0);
        let progress =
            self.raw
                .advance(to, earliest, apart, budget, &mut |key, deadline, value| {
                    assert!(deadline <= to, "fired early");
                    assert!(latest <= deadline.saturating_add(apart), "out of order");
                    latest = latest.max(deadline);
                    let expected = model.remove(&key);
                    assert_eq!(expected, Some((deadline, value)), "fired twice");
                    touched += 1;
                });
        assert!(touched <= budget);
        drop(self.raw.take_garbage());
        match progress {
            Progress::CaughtUp => assert!(
                self.model.values().all(|&(deadline, _)| deadline > to),
                "fired late"
            ),
            Progress::Unfinished => assert!(self.raw.now() <= to),
        }
    }
}

fn everything_due_fires_once_and_nothing_else<const SLOTS: usize>() {
    for seed in 0..40 {
        let now = [0, (1 << 36) - 1, 1 << 50, u64::MAX >> 1][seed as usize % 4];
        let mut grained = Grained::<SLOTS>::starting_at(now, seed);
        (0..150).for_each(|_| grained.step());
        let mut left: Vec<_> = grained.raw.into_values().collect();
        let mut expected: Vec<_> = grained.model.into_values().collect();
        left.sort_unstable();
        expected.sort_unstable();
        assert_eq!(left, expected);
    }
}

#[test]
fn with_a_grain_everything_due_fires_once_and_nothing_else() {
    everything_due_fires_once_and_nothing_else::<64>();
    everything_due_fires_once_and_nothing_else::<256>();
}

#[test]
fn a_slot_within_the_grain_is_emptied_in_one_go() {
    let mut raw: RawWheel<(), 64> = RawWheel::starting_at(0);
    raw.insert(70, ());
    raw.insert(100, ());
    let mut fired = Vec::new();
    // The budget is used up by firing both entries, so a cascade would make the advance stop early.
    assert!(
        raw.advance(100, 0, 63, 2, &mut |_, deadline, ()| fired.push(deadline))
            .is_caught_up()
    );
    fired.sort_unstable();
    assert_eq!(fired, [70, 100]);
}

#[test]
fn between_two_halves_the_clock_stands_at_the_slot_and_what_comes_in_before_the_target_fires() {
    let mut raw: RawWheel<(), 64> = RawWheel::starting_at(0);
    (64..128).for_each(|deadline| _ = raw.insert(deadline, ()));
    let progress = raw.advance(200, 0, 63, 10, &mut |_, _, ()| {});
    assert_eq!(progress, Progress::Unfinished);
    assert!(!progress.is_caught_up());
    assert_eq!(raw.now(), 64);
    raw.insert(65, ());
    let mut fired = 0;
    assert!(
        raw.advance(200, 0, 63, 100, &mut |_, _, ()| fired += 1)
            .is_caught_up()
    );
    assert_eq!((fired, raw.now(), raw.len()), (55, 200, 0));
}

#[test]
fn an_extended_timer_does_not_hide_the_timers_of_later_slots() {
    let mut raw: RawWheel<(), 64> = RawWheel::starting_at(0);
    let extended = raw.insert(2 * 4096, ());
    raw.insert(3 * 4096 + 5, ());
    raw.reschedule_lazily(extended, 50 * 4096, |()| ());
    assert_eq!(raw.next_expiration(), Some(3 * 4096 + 5));
    let mut fired = Vec::new();
    let progress = raw.advance(3 * 4096 + 5, 0, 63, 100, &mut |_, deadline, ()| {
        fired.push(deadline)
    });
    assert!(progress.is_caught_up());
    assert_eq!(fired, [3 * 4096 + 5]);
    raw.check();
}

/// This holds even on the lowest level, where a slot is one tick wide.
#[test]
fn an_extended_timer_is_not_due_when_its_slot_starts() {
    let mut raw: RawWheel<(), 64> = RawWheel::starting_at(0);
    let extended = raw.insert(10, ());
    raw.reschedule_lazily(extended, 30, |()| ());
    assert_eq!(raw.next_expiration(), Some(30));
    raw.insert(20, ());
    assert_eq!(raw.next_expiration(), Some(20));
    raw.check();
}

#[test]
fn the_search_for_the_next_expiration_ends_after_a_few_extended_timers() {
    let mut raw: RawWheel<(), 64> = RawWheel::starting_at(0);
    for slot in 1..=40 {
        let extended = raw.insert(slot * 4096, ());
        raw.reschedule_lazily(extended, 60 * 4096, |()| ());
    }
    assert_eq!(raw.next_expiration(), Some(17 * 4096));
}

#[test]
fn a_timer_that_is_extended_again_and_again_moves_only_when_the_clock_reaches_its_slot() {
    let mut raw: RawWheel<(), 64> = RawWheel::starting_at(0);
    let idle = raw.insert(1 << 36, ());
    for packet in 0..1000 {
        raw.reschedule_lazily(idle, (1 << 36) + (packet << 26), |()| ());
        raw.check();
    }
    let deadline = (1 << 36) + (999 << 26);
    let mut late = false;
    let mut advance = |to| raw.advance(to, 0, (1 << 18) - 1, 100, &mut |_, _, ()| late = true);
    assert!(advance(deadline - 1).is_caught_up());
    assert_eq!(raw.cascaded(), 1, "when its first deadline was reached");
    assert_eq!(raw.next_expiration(), Some(deadline));
    assert!(!late);
}

#[test]
fn an_empty_slot_keeps_little_memory() {
    let mut raw: RawWheel<(), 256> = RawWheel::starting_at(0);
    for slot in (1..256).flat_map(|slot| [slot << 16, slot << 24]) {
        let key = raw.insert(slot, ());
        raw.remove(key);
        raw.check();
    }
    let room = raw.slots.lists().map(|(_, list)| list.room());
    assert_eq!(room.sum::<usize>(), 510 * 4);
    raw.shrink_to_fit();
    assert_eq!(raw.slots.lists().count(), 0);
    raw.check();
}

#[test]
fn garbage_comes_out_when_a_crowd_has_gone() {
    let mut raw: RawWheel<u64, 64> = RawWheel::starting_at(0);
    (0..10_000).for_each(|i| _ = raw.insert(1_000 + i, i));
    assert!(!raw.has_garbage());
    assert!(
        raw.advance(100_000, 0, (1 << 18) - 1, usize::MAX, &mut |_, _, _| {})
            .is_caught_up()
    );
    assert!(raw.take_garbage().is_some());
    assert!(raw.take_garbage().is_none());
    assert!(raw.capacity() <= 1024);
}

#[test]
fn a_crowd_that_moves_between_slots_leaves_no_garbage() {
    let mut wheel = TimingWheel::new();
    let keys: Vec<Key> = (0..1_000)
        .map(|i| wheel.insert(1_000, i).unwrap())
        .collect();
    for deadline in [100_000, 1_000] {
        for &key in &keys {
            assert_eq!(wheel.reschedule(key, deadline), Rescheduled::Moved);
        }
    }
    assert!(!wheel.raw.has_garbage());
}

/// The advance has taken other keys off the slot together with the key of that entry. They must not
/// be lost.
#[test]
fn a_panic_while_firing_loses_that_entry_and_no_other() {
    let mut raw: RawWheel<(), 64> = RawWheel::starting_at(0);
    (64..128).for_each(|deadline| _ = raw.insert(deadline, ()));
    let mut fired = 0;
    let panics = catch_unwind(AssertUnwindSafe(|| {
        raw.advance(200, 0, 63, usize::MAX, &mut |_, _, ()| {
            fired += 1;
            assert!(fired < 40, "the fortieth");
        })
    }));
    assert!(panics.is_err());
    raw.check();
    let rest = raw.advance(200, 0, 63, usize::MAX, &mut |_, _, ()| fired += 1);
    assert_eq!((rest, fired, raw.len()), (Progress::CaughtUp, 64, 0));
    raw.check();
}

/// A `DelayQueue` inserts entries that are due, lets one fire at a time, and may turn the clock back.
#[test]
fn a_wheel_that_stops_at_each_entry_and_turns_back_loses_none() {
    const APART: u64 = 1 << 16;
    for seed in 0..20 {
        let mut chance = Grained::<64>::starting_at(0, seed);
        let mut wheel: TimingWheel<()> = TimingWheel::starting_at(1 << 40);
        let mut model: Vec<(Key, u64)> = Vec::new();
        for _ in 0..300 {
            let distance = chance.deadline() * chance.random(4).min(1);
            let then = wheel.now() + distance;
            match chance.random(8) {
                0..3 => (0..chance.random(40)).for_each(|_| {
                    model.push((wheel.insert_from_now_on(then, ()), then));
                }),
                3 => {
                    if let Some((key, deadline)) = model.first_mut() {
                        wheel.reschedule_from_now_on(*key, then);
                        *deadline = then;
                    }
                }
                4 => wheel.turn_back(then - 3 * distance / 2 * chance.random(2)),
                _ => loop {
                    let budget = 1 + chance.random(16) as usize;
                    let (expired, progress) = wheel.advance_to_one(then, APART, budget);
                    if let Some(expired) = &expired {
                        let of = |entry: &(Key, u64)| *entry == (expired.key, expired.deadline);
                        model.swap_remove(model.iter().position(of).unwrap());
                        assert!(expired.deadline <= then, "early");
                        let apart = |&(_, left): &(Key, u64)| expired.deadline <= left + APART;
                        assert!(model.iter().all(apart), "out of order");
                    }
                    if progress.is_caught_up() {
                        assert!(model.iter().all(|&(_, left)| left > then), "late");
                        break;
                    }
                },
            }
            wheel.raw.check();
            assert_eq!(wheel.len(), model.len());
        }
    }
}
