//! The passing of time: when the clock reaches the earliest deadline of a slot, entries that are due fire,
//! and the others *cascade* to the slot that they now belong to. That is on a lower level, unless the
//! deadline was extended lazily in the meantime.
//!
//! **A panic of the closure that fires entries loses only the entry that it was called for.** Keys are
//! out of their slots only in a `Burst` and a `Firing`, which put back what is left when they are dropped.

use super::level::Scale;
use super::raw::RawWheel;
use super::slot::SlotId;

/// The outcome of [`TimingWheel::advance_bounded`](super::TimingWheel::advance_bounded).
#[must_use = "an unfinished advance may leave due entries in the wheel"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All entries that were due have fired, and the clock is at the target.
    CaughtUp,
    /// The budget ran out first. The next advance continues from here.
    Unfinished,
}

impl Progress {
    /// Returns `true` if all entries that were due have fired.
    #[must_use]
    pub const fn is_caught_up(self) -> bool {
        matches!(self, Self::CaughtUp)
    }
}

impl<T, const SLOTS: usize> RawWheel<T, SLOTS> {
    /// Advances the clock to `to`, slot by slot, and fires the entries that are due on the way.
    ///
    /// Entries whose deadlines are at most `apart` ticks apart may fire in any order; all others
    /// fire in the order of their deadlines. The caller promises that no deadline precedes `earliest`. The
    /// greater `apart` and the later `earliest`, the more entries fire from a wide slot instead of cascading
    /// first: the earliest deadline that a slot knows may be that of an entry which is gone.
    ///
    /// Each entry that fires or cascades uses up 1 of `budget`. The clock never goes back: an
    /// earlier `to` only fires entries that an unfinished advance left behind.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        to: u64,
        earliest: u64,
        apart: u64,
        budget: usize,
        fire: &mut impl FnMut(u32, u64, T),
    ) -> Progress {
        self.advance_with(to, earliest, apart, budget, &mut |raw, key, deadline| {
            fire(key, deadline, raw.entries.remove(key).value);
            true
        })
    }

    /// Advances without a budget. If `fire` returns another deadline, the entry stays, and fires at
    /// the later of that and the next tick.
    pub(crate) fn advance_rearming(
        &mut self,
        to: u64,
        fire: &mut impl FnMut(u32, u64, &mut T) -> Option<u64>,
    ) -> Progress {
        self.advance_with(to, 0, 0, usize::MAX, &mut |raw, key, deadline| {
            let next = None;
            let mut firing = Firing { raw, key, next };
            let value = &mut firing.raw.entries.at_mut(key).value;
            firing.next = fire(key, deadline, value);
            true
        })
    }

    /// Advances, and calls `fire` with the key and the deadline of each entry that is due, until it
    /// returns `false`. The key is in no slot by then: `fire` must remove the entry, or link it into a
    /// slot after the clock.
    #[inline]
    pub(super) fn advance_with(
        &mut self,
        to: u64,
        earliest: u64,
        apart: u64,
        mut budget: usize,
        fire: &mut impl FnMut(&mut Self, u32, u64) -> bool,
    ) -> Progress {
        let to = to.max(self.now);
        let mut burst = Burst {
            raw: self,
            slot: SlotId::new::<SLOTS>(0, 0),
            keys: [0; BURST],
            deadlines: [0; BURST],
            left: 0,
        };
        while let Some((first, slot)) = burst.raw.slots.first(burst.raw.now) {
            if first > to {
                break;
            }
            debug_assert!(first >= burst.raw.now, "passed an entry that may be due");
            burst.raw.now = first;
            if budget == 0 {
                return Progress::Unfinished;
            }
            // What is due by `due` fires, and the rest cascades. Nothing fires early, because `due`
            // is not after `to`. The order is kept: all that is left is due at `max(first, earliest)`
            // or later, so what is due at most `apart` after that may fire before any of it.
            let due = first.max(earliest).saturating_add(apart).min(to);
            burst.run(slot, &mut budget, due, fire);
        }
        burst.raw.now = to;
        Progress::CaughtUp
    }

    /// Links an entry whose key is in no slot into the slot that it now belongs to.
    fn cascade(&mut self, key: u32, deadline: u64) {
        self.link(key, Scale::<SLOTS>::slot_of(deadline, self.now));
        self.cascaded += 1;
    }
}

/// Maximum number of keys that are taken off a slot together.
const BURST: usize = 16;

/// Keys that were taken off a slot and whose entries have not fired or cascaded yet. When this is
/// dropped, they go back.
struct Burst<'a, T, const SLOTS: usize> {
    raw: &'a mut RawWheel<T, SLOTS>,
    slot: SlotId,
    keys: [u32; BURST],
    /// The deadlines of the keys' entries, which are spread over memory. All are read before the first
    /// call of `fire`, so that their cache misses overlap.
    deadlines: [u64; BURST],
    left: usize,
}

impl<T, const SLOTS: usize> Drop for Burst<'_, T, SLOTS> {
    fn drop(&mut self) {
        self.put_back();
    }
}

impl<T, const SLOTS: usize> Burst<'_, T, SLOTS> {
    /// Takes a few entries out of a slot and subtracts their number from `budget`. Entries with a
    /// deadline up to `due` fire, and all others cascade. When `fire` returns `false`, the rest goes back,
    /// and no budget is left.
    #[inline]
    fn run(
        &mut self,
        slot: SlotId,
        budget: &mut usize,
        due: u64,
        fire: &mut impl FnMut(&mut RawWheel<T, SLOTS>, u32, u64) -> bool,
    ) {
        let RawWheel { slots, entries, .. } = &mut *self.raw;
        self.left = slots.take(slot, BURST.min(*budget), |at, key| {
            self.keys[at] = key;
            self.deadlines[at] = entries.at(key).deadline;
        });
        self.slot = slot;
        *budget -= self.left;
        while self.left > 0 {
            self.left -= 1;
            let (key, deadline) = (self.keys[self.left], self.deadlines[self.left]);
            if deadline > due {
                self.raw.cascade(key, deadline);
            } else if !fire(self.raw, key, deadline) {
                self.put_back();
                (self.left, *budget) = (0, 0);
            }
        }
    }

    fn put_back(&mut self) {
        for &key in &self.keys[..self.left] {
            self.raw.link(key, self.slot);
        }
        if self.left > 0 {
            // Their deadlines may have been extended beyond this slot.
            self.raw.slots.lower(self.slot, self.raw.now);
        }
    }
}

/// An entry that is firing and whose key is in no slot. When this is dropped, the entry goes into the
/// slot of its next deadline, or is removed from the wheel if it has none.
struct Firing<'a, T, const SLOTS: usize> {
    raw: &'a mut RawWheel<T, SLOTS>,
    key: u32,
    next: Option<u64>,
}

impl<T, const SLOTS: usize> Drop for Firing<'_, T, SLOTS> {
    fn drop(&mut self) {
        let raw = &mut *self.raw;
        // There is no tick after the last one, so nothing can fire again there.
        match self.next.zip(raw.now.checked_add(1)) {
            Some((deadline, soonest)) => {
                let deadline = deadline.max(soonest);
                raw.entries.at_mut(self.key).deadline = deadline;
                raw.link(self.key, Scale::<SLOTS>::slot_of(deadline, raw.now));
            }
            None => drop(raw.entries.remove(self.key)),
        }
    }
}

/// Maximum number of entries per level that are searched for the earliest deadline.
const FEW: usize = 16;

impl<T, const SLOTS: usize> RawWheel<T, SLOTS> {
    /// Returns the earliest deadline, or an earlier tick if finding it would mean searching many entries.
    /// Returns `None` if the wheel is empty.
    pub(crate) fn next_expiration(&self) -> Option<u64> {
        let levels = self.slots.used_levels();
        levels.fold(None, |earliest, level| self.earliest_on(level, earliest))
    }

    /// Returns the earlier of `earliest` and the earliest deadline on a level. If a slot has too many
    /// entries to search, the tick before which none is due stands for their deadlines. Searching the
    /// first occupied slot is not enough, because the deadlines of its entries may have been extended
    /// lazily beyond those of the next slots.
    fn earliest_on(&self, level: usize, mut earliest: Option<u64>) -> Option<u64> {
        let mut few = FEW;
        for slot in self.slots.occupied(level, self.now) {
            let first = self.slots.list(slot).earliest;
            if earliest.is_some_and(|earliest| earliest <= first) {
                break;
            }
            let Some(of_slot) = self.earliest_of_few(slot, &mut few) else {
                return Some(first);
            };
            earliest = Some(earliest.map_or(of_slot, |earliest| earliest.min(of_slot)));
        }
        earliest
    }

    /// Returns the earliest deadline in a slot and subtracts the number of its entries from `few`, or
    /// returns `None` if the slot has more than `few`.
    fn earliest_of_few(&self, slot: SlotId, few: &mut usize) -> Option<u64> {
        let keys = self.slots.list(slot).keys();
        *few = few.checked_sub(keys.len())?;
        let deadlines = keys.iter().map(|&key| self.entries.at(key).deadline);
        deadlines.min()
    }

    /// Returns the key of an entry with the earliest deadline, which is in some level's first slot.
    ///
    /// **Do not use this in a wheel with lazily rescheduled entries**, for which that does not hold. The
    /// public wheel has none.
    pub(crate) fn first(&self) -> Option<u32> {
        let mut first: Option<(u64, u32)> = None;
        for level in self.slots.used_levels() {
            let (earliest, slot) = self.slots.first_on(level, self.now)?;
            if first.is_none_or(|(deadline, _)| earliest < deadline) {
                let keys = self.slots.list(slot).keys().iter();
                let of_slot = keys.map(|&key| (self.entries.at(key).deadline, key)).min();
                first = first.into_iter().chain(of_slot).min();
            }
        }
        first.map(|(_, key)| key)
    }
}
