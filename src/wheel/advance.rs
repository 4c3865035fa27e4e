//! The passing of time: entries that are due fire, others cascade to lower levels.

use std::hint::black_box;

use super::core::Core;
use super::level::Scale;
use super::slot::SlotId;
use super::slots::Next;

/// Whether [`TimingWheel::advance_bounded`](super::TimingWheel::advance_bounded) has done all there was to do.
///
/// ```
/// # use wheel::timing_wheel::TimingWheel;
/// let mut wheel: TimingWheel<&str> = TimingWheel::new();
/// use wheel::timing_wheel::Progress;
///
/// wheel.insert(1, "a").unwrap();
/// wheel.insert(2, "b").unwrap();
/// assert_eq!(wheel.advance_bounded(5, 1, drop), Progress::Unfinished);
/// assert_eq!(wheel.advance_bounded(5, usize::MAX, drop), Progress::CaughtUp);
/// ```
#[must_use = "an unfinished advance leaves due entries in the wheel"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Everything due has fired, and the clock stands at the target.
    CaughtUp,
    /// The budget ran out first; the next advance continues.
    Unfinished,
}

impl Progress {
    /// Whether everything due has fired.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel: TimingWheel<&str> = TimingWheel::new();
    /// assert!(wheel.advance_bounded(5, usize::MAX, drop).is_caught_up());
    /// ```
    #[must_use]
    pub const fn is_caught_up(self) -> bool {
        matches!(self, Self::CaughtUp)
    }
}

/// An entry that fires, in no slot. Its drop, which a panic runs as well, links it into the slot of
/// its next deadline, or removes it from the wheel.
struct Due<'a, T, const SLOTS: usize, const GRAIN: usize> {
    core: &'a mut Core<T, SLOTS, GRAIN>,
    key: u32,
    next: Option<u64>,
}

impl<T, const SLOTS: usize, const GRAIN: usize> Drop for Due<'_, T, SLOTS, GRAIN> {
    fn drop(&mut self) {
        let core = &mut *self.core;
        // After the last tick there is no other.
        match self.next.zip(core.now.checked_add(1)) {
            Some((deadline, soonest)) => {
                let deadline = deadline.max(soonest);
                core.entries.at_mut(self.key).deadline = deadline;
                core.link(self.key, Scale::<SLOTS>::slot_of(deadline, core.now));
            }
            None => drop(core.entries.remove(self.key)),
        }
    }
}

/// So many cells at most are taken off a slot at once.
const BURST: usize = 16;

/// A wheel of fewer entries is in a processor's caches.
const MANY: usize = 4_096;

/// Keys that were taken off a slot, and have yet to fire or to cascade. The drop, which a panic runs
/// as well, puts them back.
struct Burst<'a, T, const SLOTS: usize, const GRAIN: usize> {
    core: &'a mut Core<T, SLOTS, GRAIN>,
    slot: SlotId,
    keys: [u32; BURST],
    left: usize,
}

impl<T, const SLOTS: usize, const GRAIN: usize> Drop for Burst<'_, T, SLOTS, GRAIN> {
    fn drop(&mut self) {
        for &key in &self.keys[..self.left] {
            self.core.link(key, self.slot);
        }
    }
}

impl<T, const SLOTS: usize, const GRAIN: usize> Burst<'_, T, SLOTS, GRAIN> {
    /// Takes a few entries out of a slot, and their number off `budget`. A due entry fires, any other
    /// cascades to a lower level.
    #[inline]
    fn fire(
        &mut self,
        slot: SlotId,
        budget: &mut usize,
        due: u64,
        fire: &mut impl FnMut(&mut Core<T, SLOTS, GRAIN>, u32, u64),
    ) {
        let Self { core, keys, .. } = self;
        let taken = core
            .slots
            .take(slot, BURST.min(*budget), |at, key| keys[at] = key);
        (self.slot, self.left) = (slot, taken);
        *budget -= taken.max(1);
        if self.core.len() >= MANY {
            self.read_ahead();
        }
        while self.left > 0 {
            self.left -= 1;
            let key = self.keys[self.left];
            let deadline = self.core.deadline(key);
            if deadline <= due {
                fire(self.core, key, deadline);
            } else {
                self.core.cascade(key, deadline);
            }
        }
    }

    /// Each read is a cache miss, for entries of one slot lie anywhere in memory. Misses of reads
    /// that follow one another overlap; with a call of `fire` between the reads they would not.
    fn read_ahead(&self) {
        for &key in &self.keys[..self.left] {
            black_box(self.core.deadline(key));
        }
    }
}

/// At most so many entries of a level are searched for the earliest deadline.
const FEW: usize = 16;

impl<T, const SLOTS: usize, const GRAIN: usize> Core<T, SLOTS, GRAIN> {
    /// Moves the clock to `to`, slot by slot, and fires due entries on the way.
    ///
    /// Each entry that fires or cascades, and each run of holes, uses up 1 of `budget`. The clock never
    /// goes back: an earlier `to` only fires entries that a former advance has left over.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        to: u64,
        budget: usize,
        fire: &mut impl FnMut(u32, u64, T),
    ) -> Progress {
        self.advance_with(to, budget, &mut |core, key, deadline| {
            fire(key, deadline, core.entries.remove(key).value);
        })
    }

    /// The same without a budget. An entry for which `fire` has another deadline stays, and is due
    /// then, at the next tick at the earliest.
    pub(crate) fn advance_rearming(
        &mut self,
        to: u64,
        fire: &mut impl FnMut(u32, u64, &mut T) -> Option<u64>,
    ) -> Progress {
        self.advance_with(to, usize::MAX, &mut |core, key, deadline| {
            let next = None;
            let mut due = Due { core, key, next };
            let value = &mut due.core.entries.at_mut(key).value;
            due.next = fire(key, deadline, value);
        })
    }

    /// Calls `fire` with the key of an entry that is due and in no slot any more. `fire` has to remove
    /// the entry, or to link it into a slot that is later than the clock.
    #[inline]
    fn advance_with(
        &mut self,
        to: u64,
        mut budget: usize,
        fire: &mut impl FnMut(&mut Self, u32, u64),
    ) -> Progress {
        let to = to.max(self.now);
        let mut burst = Burst {
            core: self,
            slot: SlotId::FIRST,
            keys: [0; BURST],
            left: 0,
        };
        while let Some(Next { slot, start }) = burst.core.slots.first(burst.core.now) {
            if start > to {
                break;
            }
            debug_assert!(start >= burst.core.now, "no occupied slot is passed");
            burst.core.now = start;
            if budget == 0 {
                return Progress::Unfinished;
            }
            // Up to `GRAIN`, entries due by `to` fire at once, in any order, and do not cascade.
            let due = if slot.level::<SLOTS>() <= GRAIN {
                to
            } else {
                start
            };
            burst.fire(slot, &mut budget, due, fire);
        }
        burst.core.now = to;
        Progress::CaughtUp
    }

    /// Moves an entry that is in no slot to a lower level.
    fn cascade(&mut self, key: u32, deadline: u64) {
        self.link(key, Scale::<SLOTS>::slot_of(deadline, self.now));
        self.cascaded += 1;
    }

    /// A tick at which to advance next: the earliest deadline, or an earlier tick if many entries
    /// would have to be searched for that.
    pub(crate) fn next_expiration(&self) -> Option<u64> {
        let levels = self.slots.used_levels();
        levels.fold(None, |earliest, level| self.earliest_on(level, earliest))
    }

    /// The earlier of `earliest` and a level's earliest deadline; the start of a slot stands for the
    /// latter if the search of a few entries does not find it.
    ///
    /// The first slot alone is not enough: its entries may have been put off lazily, past those of the
    /// next slots.
    fn earliest_on(&self, level: usize, mut earliest: Option<u64>) -> Option<u64> {
        let mut few = FEW;
        for Next { slot, start } in self.slots.occupied(level, self.now) {
            if earliest.is_some_and(|earliest| earliest <= start) {
                break;
            }
            let Some(of_slot) = self.earliest_of_few(slot, &mut few) else {
                return Some(start);
            };
            earliest = Some(earliest.map_or(of_slot, |earliest| earliest.min(of_slot)));
        }
        earliest
    }

    /// The key of an entry that is due first, unless any was rescheduled lazily.
    ///
    /// Searches the first slot of each level, if that starts before the earliest deadline of the
    /// levels below.
    pub(crate) fn first(&self) -> Option<u32> {
        let mut first: Option<(u64, u32)> = None;
        for level in self.slots.used_levels() {
            let Next { slot, start } = self.slots.first_on(level, self.now)?;
            if first.is_none_or(|(deadline, _)| start < deadline) {
                let keys = self.slots.list(slot).keys();
                let of_slot = keys.map(|key| (self.entries.at(key).deadline, key)).min();
                first = first.into_iter().chain(of_slot).min();
            }
        }
        first.map(|(_, key)| key)
    }

    /// The earliest deadline in a slot. On each level it may be later than the start of the slot,
    /// because entries may have been put off lazily. `None` if the slot has more entries than are left
    /// of `few`.
    fn earliest_of_few(&self, slot: SlotId, few: &mut usize) -> Option<u64> {
        let list = self.slots.list(slot);
        *few = few.checked_sub(list.len())?;
        list.keys().map(|key| self.entries.at(key).deadline).min()
    }
}
