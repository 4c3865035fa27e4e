//! The passing of time: firing what is due, filing anew what is in too wide a slot.

use super::core::Core;
use super::level::{Scale, Spot};
use super::slots::Next;

/// Whether [`TimingWheel::advance`](super::TimingWheel::advance) has done all there was to do.
///
/// ```
/// # use wheel::timing_wheel::TimingWheel;
/// let mut wheel: TimingWheel<&str> = TimingWheel::new();
/// use wheel::timing_wheel::Progress;
///
/// wheel.insert(1, "a").unwrap();
/// wheel.insert(2, "b").unwrap();
/// assert_eq!(wheel.advance(5, 1, drop), Progress::Unfinished);
/// assert_eq!(wheel.advance(5, usize::MAX, drop), Progress::CaughtUp);
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
    /// assert!(wheel.advance(5, usize::MAX, drop).is_caught_up());
    /// ```
    #[must_use]
    pub const fn is_caught_up(self) -> bool {
        matches!(self, Self::CaughtUp)
    }
}

/// Slots with more entries than this are not searched for their earliest deadline.
const FEW: usize = 16;

/// How many entries of a slot are looked at together.
const AHEAD: usize = 16;

impl<T, const SLOTS: usize, const GRAIN: usize> Core<T, SLOTS, GRAIN> {
    /// Moves the clock to `to`, slot by slot, and fires what is due on the way.
    ///
    /// Each entry touched costs one of `budget`. The clock never goes back: an earlier `to` only
    /// finishes what a former advance has left over.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        to: u64,
        mut budget: usize,
        fire: &mut impl FnMut(u32, u64, T),
    ) -> Progress {
        let to = to.max(self.now);
        while let Some(next) = self.slots.first(self.now) {
            if next.start > to {
                break;
            }
            // A half-emptied slot has started before now, or at it.
            self.now = self.now.max(next.start);
            budget = self.empty_slot(next.spot, to, budget, fire);
            if self.slots.is_occupied(next.spot) {
                return Progress::Unfinished;
            }
        }
        self.now = to;
        Progress::CaughtUp
    }

    /// Empties a slot as far as the budget goes, and returns what is left of the budget.
    #[inline]
    fn empty_slot(
        &mut self,
        spot: Spot,
        to: u64,
        mut budget: usize,
        fire: &mut impl FnMut(u32, u64, T),
    ) -> usize {
        // In a narrow slot the order of ticks may be given up, which saves filing entries anew.
        let due = if spot.level <= GRAIN { to } else { self.now };
        while budget > 0 && self.slots.is_occupied(spot) {
            let (deadlines, count) = self.look_ahead(spot, budget);
            debug_assert!(count > 0, "an occupied slot has entries");
            for &deadline in &deadlines[..count] {
                self.settle(spot, deadline, due, fire);
            }
            budget -= count;
        }
        budget
    }

    /// The deadlines of the entries that come next in a slot.
    ///
    /// Entries of one slot lie anywhere in memory. Read together, their cache misses overlap; read
    /// one by one between calls of `fire`, each would be waited for.
    #[inline]
    fn look_ahead(&self, spot: Spot, most: usize) -> ([u64; AHEAD], usize) {
        let (mut deadlines, mut count) = ([0; AHEAD], 0);
        for key in self.slots.first_keys(spot).take(most.min(AHEAD)) {
            deadlines[count] = self.entries.at(key).deadline;
            count += 1;
        }
        (deadlines, count)
    }

    /// Takes the first entry out of a slot: to be fired, or to be filed on a lower level.
    #[inline]
    fn settle(&mut self, spot: Spot, deadline: u64, due: u64, fire: &mut impl FnMut(u32, u64, T)) {
        let key = self.slots.pop(spot);
        if deadline <= due {
            fire(key, deadline, self.entries.remove(key).value);
        } else {
            let below = Scale::<SLOTS>::spot(deadline, self.now);
            debug_assert!(below != spot, "what is filed anew leaves its slot");
            self.entries.at_mut(key).place = self.slots.push(below, key);
            self.cascaded += 1;
        }
    }

    /// A tick by which to advance next: never later than the earliest deadline, and that deadline
    /// itself unless many entries would have to be searched for it.
    pub(crate) fn next_expiration(&self) -> Option<u64> {
        let levels = 0..self.slots.levels.len();
        levels.fold(None, |earliest, level| self.earliest_on(level, earliest))
    }

    /// The earliest of what is known and of a level's deadlines, as far as a few entries tell.
    ///
    /// Usually one slot tells. But entries that were rescheduled lazily may be due later than those
    /// of the slots after theirs.
    fn earliest_on(&self, level: usize, mut earliest: Option<u64>) -> Option<u64> {
        let mut few = FEW;
        for Next { spot, start } in self.slots.occupied(level, self.now) {
            if earliest.is_some_and(|earliest| earliest <= start) {
                break;
            }
            let Some(of_slot) = self.earliest_of_few(spot, &mut few) else {
                return Some(start);
            };
            earliest = Some(earliest.map_or(of_slot, |earliest| earliest.min(of_slot)));
        }
        earliest
    }

    /// The key of an entry that none has an earlier deadline than, if none was rescheduled lazily.
    /// Searches one slot of each level that starts no later than the earliest deadline found below.
    pub(crate) fn first(&self) -> Option<u32> {
        let mut first: Option<(u64, u32)> = None;
        for (level, start) in self.slots.starts(self.now) {
            if first.is_none_or(|(deadline, _)| start < deadline) {
                let slot = Scale::<SLOTS>::position(Scale::<SLOTS>::number(start, level));
                let keys = self.slots.keys(Spot { level, slot });
                let of_slot = keys.map(|key| (self.entries.at(key).deadline, key)).min();
                first = first.into_iter().chain(of_slot).min();
            }
        }
        first.map(|(_, key)| key)
    }

    /// The earliest deadline in a slot, unless that is much to search.
    fn earliest_of_few(&self, spot: Spot, few: &mut usize) -> Option<u64> {
        let keys = || self.slots.keys(spot).take(*few + 1);
        let count = keys().count();
        if spot.level == 0 || count > *few {
            return None;
        }
        let earliest = keys().map(|key| self.entries.at(key).deadline).min();
        *few -= count;
        earliest
    }
}
