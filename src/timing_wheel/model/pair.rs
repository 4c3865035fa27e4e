//! Compares the public wheel with a sorted map that does the same naively.
//!
//! After every step, the entries that fired must be the first entries of the map, in the order of
//! their ticks, none early and none late, and stale keys must find nothing. Inside the crate every
//! invariant of the wheel is checked as well. The fuzzer's target `tests/fuzz/timing_wheel.rs`
//! includes this file and sees only what is public.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use arbitrary::Unstructured;

use super::{Key, Progress, Rescheduled, TimingWheel};

/// Chooses a number less than `end`. When no bytes are left, the number is 0.
fn below(choices: &mut Unstructured<'_>, end: u64) -> u64 {
    let chosen = choices.int_in_range(0..=end - 1);
    chosen.expect("a range is never out of bytes")
}

fn choose_budget(choices: &mut Unstructured<'_>) -> usize {
    match below(choices, 8) {
        0..=2 => usize::MAX,
        3 => 0,
        4 => 1,
        _ => below(choices, 100) as usize,
    }
}

/// Maximum number of entries at a time, because every step checks all of them.
const MOST: usize = 2000;

struct Pair<const SLOTS: usize> {
    wheel: TimingWheel<u64, SLOTS>,
    model: BTreeMap<(u64, u64), Key>,
    gone: Vec<Key>,
    /// The value of the last entry.
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

    /// Takes one step. It first chooses numbers for all operations, so that a fuzzer that changes
    /// the operation seldom changes later steps.
    fn step(&mut self, choices: &mut Unstructured<'_>) {
        let pick = below(choices, 1 << 16) as usize;
        let distance = Self::choose_distance(choices);
        let budget = choose_budget(choices);
        let count = 1 + below(choices, 200);
        match below(choices, 24) {
            0..=6 => self.insert(distance),
            7 => self.insert_crowd(count, distance),
            8..=10 => self.remove(pick),
            11 => (0..count as usize).for_each(|i| self.remove(pick * 31 + i * 7)),
            12..=14 => self.reschedule(pick, distance),
            15..=17 => self.advance(self.wheel.now().saturating_add(distance), budget),
            18 | 19 => self.advance(self.next(), budget),
            // Fires what an earlier advance has left over, and nothing else.
            20 => self.advance(self.wheel.now() / 2, budget),
            21 => self.panic(count as usize % 4),
            22 => match below(choices, 2) {
                0 => self.wheel.shrink_to_fit(),
                _ => self.rearm(distance, count % 8),
            },
            _ => match below(choices, 4) {
                0 => self.clear(),
                _ => self.reserve(pick % 4096),
            },
        }
        self.compare();
    }

    /// Chooses a number of ticks: `2^power` or `SLOTS^level`, plus a small offset. Small powers are
    /// more likely, so that entries meet in slots.
    fn choose_distance(choices: &mut Unstructured<'_>) -> u64 {
        let is_of_level = below(choices, 2) == 0;
        let powers = if below(choices, 2) == 0 { 64 } else { 15 };
        let power = below(choices, powers) as u32;
        let offset = below(choices, 8) as i64 - 3;
        let distance = match is_of_level {
            true => (SLOTS as u64).saturating_pow(power % 12),
            false => 1 << power,
        };
        distance.saturating_add_signed(offset)
    }

    /// Returns the tick to advance to next, according to the wheel.
    fn next(&self) -> u64 {
        self.wheel.next_expiration().unwrap_or(self.wheel.now())
    }

    /// Inserts many entries that share a few slots, so that its list grows and later thins out.
    fn insert_crowd(&mut self, count: u64, distance: u64) {
        (0..count).for_each(|i| self.insert(distance.saturating_add(i % 3)));
    }

    fn insert(&mut self, distance: u64) {
        if self.model.len() >= MOST {
            return;
        }
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
            let moved = self.wheel.reschedule(key, deadline);
            assert_eq!(moved, Rescheduled::Expired(id.1));
            self.gone.push(key);
        }
    }

    fn advance(&mut self, to: u64, budget: usize) {
        let (model, gone) = (&mut self.model, &mut self.gone);
        let before = self.wheel.now();
        let target = to.max(before);
        let mut count = 0;
        let progress = self.wheel.advance_bounded(to, budget, |expired| {
            let (&(first, _), _) = model.first_key_value().expect("fired one too many");
            assert_eq!(expired.deadline, first, "ticks out of order");
            assert!(first <= target, "fired early");
            assert_eq!(model.remove(&(first, expired.value)), Some(expired.key));
            gone.push(expired.key);
            count += 1;
        });
        assert!(count <= budget, "over budget");
        let is_between = (before..=target).contains(&self.wheel.now());
        assert!(is_between, "the clock went astray");
        if progress == Progress::CaughtUp {
            self.assert_caught_up(target);
        }
    }

    /// Advances, and gives another deadline to some of the entries that fire. Such an entry must fire
    /// again in order, within the same call if its new deadline is not after the target.
    fn rearm(&mut self, distance: u64, times: u64) {
        let to = self.next().saturating_add(distance / 2);
        let (model, gone, mut left) = (&mut self.model, &mut self.gone, times);
        self.wheel.advance_rearming(to, |key, deadline, serial| {
            let (&(first, _), _) = model.first_key_value().expect("fired one too many");
            assert_eq!(deadline, first, "ticks out of order");
            assert!(first <= to, "fired early");
            assert_eq!(model.remove(&(first, *serial)), Some(key));
            let Some(soonest) = deadline.checked_add(1).filter(|_| left > 0) else {
                gone.push(key);
                return (left > 0).then_some(deadline);
            };
            left -= 1;
            let again = deadline.saturating_add(distance / 7);
            *serial += 1 << 32;
            model.insert((again.max(soonest), *serial), key);
            Some(again)
        });
        self.assert_caught_up(to);
    }

    /// Advances with a closure that panics when the entry with this number fires. Only that entry
    /// may be lost.
    fn panic(&mut self, at: usize) {
        let to = self.next();
        let (wheel, mut fired) = (&mut self.wheel, Vec::new());
        let advance = AssertUnwindSafe(|| {
            wheel.advance(to, |expired| {
                fired.push((expired.deadline, expired.value));
                if fired.len() > at {
                    // Does not call the panic hook, because a fuzzer's hook ends the process.
                    resume_unwind(Box::new("fired"));
                }
            })
        });
        drop(catch_unwind(advance));
        for id in fired {
            assert!(id.0 <= to, "fired early");
            self.gone.extend(self.model.remove(&id));
        }
    }

    fn reserve(&mut self, additional: usize) {
        self.wheel.reserve(additional);
        assert!(self.wheel.capacity() >= self.wheel.len() + additional);
    }

    fn clear(&mut self) {
        self.wheel.clear();
        self.forget_all();
    }

    fn forget_all(&mut self) {
        assert!(self.wheel.is_empty());
        self.gone
            .extend(std::mem::take(&mut self.model).into_values());
    }

    fn assert_caught_up(&self, target: u64) {
        assert_eq!(self.wheel.now(), target);
        let mut deadlines = self.model.keys().map(|id| id.0);
        assert!(deadlines.all(|deadline| deadline > target), "late");
        let next = self.wheel.next_expiration();
        let is_ahead = next.is_none_or(|next| next > target);
        assert!(is_ahead, "the next expiration is not ahead");
    }

    fn compare(&self) {
        #[cfg(test)]
        self.wheel.raw.check();
        assert_eq!(self.wheel.len(), self.model.len());
        let earliest = self.model.keys().next().map(|id| id.0);
        let next = self.wheel.next_expiration();
        assert!(next <= earliest, "the earliest deadline is hidden");
        let first = self.wheel.first().and_then(|key| self.wheel.deadline(key));
        assert_eq!(first, earliest, "another is first");
        for (&(deadline, serial), &key) in &self.model {
            let found = (self.wheel.deadline(key), self.wheel.get(key));
            assert_eq!(found, (Some(deadline), Some(&serial)));
        }
        for &key in self.gone.iter().rev().take(64) {
            assert_eq!(self.wheel.get(key), None, "a stale key came to life");
        }
    }

    /// Fires all entries that are left, a few at a time, and then checks every key that went stale.
    fn finish(mut self) {
        while !self.model.is_empty() {
            let budget = 7 + self.model.len();
            self.advance(self.next(), budget);
            self.compare();
        }
        assert!(self.wheel.is_empty());
        for &key in &self.gone {
            assert_eq!(self.wheel.remove(key), None);
            assert_eq!(self.wheel.reschedule(key, u64::MAX), Rescheduled::Stale);
        }
    }
}

/// First ticks at the edges of levels, of powers of two, and of time.
pub(crate) const CLOCKS: [u64; 9] = [
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

/// Numbers of slots per level: the smallest, three that are not powers of two, and the default.
pub(crate) const SLOTS: [usize; 5] = [2, 3, 10, 60, 64];

/// Takes at most `most` steps with a wheel of `slots` slots per level whose clock starts at `now`.
/// Stops early when no bytes are left.
pub(crate) fn run(slots: usize, now: u64, choices: &mut Unstructured<'_>, most: usize) {
    match slots {
        2 => run_with::<2>(now, choices, most),
        3 => run_with::<3>(now, choices, most),
        10 => run_with::<10>(now, choices, most),
        60 => run_with::<60>(now, choices, most),
        _ => run_with::<64>(now, choices, most),
    }
}

fn run_with<const SLOTS: usize>(now: u64, choices: &mut Unstructured<'_>, most: usize) {
    let mut pair = Pair::<SLOTS>::starting_at(now);
    for _ in 0..most {
        if choices.is_empty() {
            break;
        }
        pair.step(choices);
    }
    pair.finish();
}

/// Chooses the number of slots and the first tick as well.
pub(crate) fn run_chosen(choices: &mut Unstructured<'_>, most: usize) {
    let slots = SLOTS[below(choices, SLOTS.len() as u64) as usize];
    let now = CLOCKS[below(choices, CLOCKS.len() as u64) as usize];
    run(slots, now, choices, most);
}
