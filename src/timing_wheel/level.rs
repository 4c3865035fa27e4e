//! The arithmetic of levels: which slot a deadline belongs to, and when a slot starts.
//!
//! On level `l`, slots are `SLOTS^l` ticks wide and start at multiples of that width. They are numbered
//! from tick 0 on, as if the level were endless. The level stores them in a circular array, so slot
//! number `n` is at position `n % SLOTS`. One *rotation* is the time that the array spans.

use super::slot::SlotId;

/// The arithmetic for `SLOTS` slots per level. If that is a power of two, shifts and masks replace
/// divisions; the compiler removes the branches.
pub(crate) struct Scale<const SLOTS: usize>;

impl<const SLOTS: usize> Scale<SLOTS> {
    /// Number of levels that cover all of `u64`: on the highest, any two times are less than one rotation
    /// apart.
    pub(crate) const LEVELS: usize = u64::MAX.ilog(SLOTS as u64) as usize + 1;
    const POWER_OF_TWO: bool = SLOTS.is_power_of_two();
    const BITS: u32 = SLOTS.trailing_zeros();
    const UNITS: [u64; 64] = Self::units();

    const fn units() -> [u64; 64] {
        let mut units = [1; 64];
        let mut level = 1;
        while level < Self::LEVELS {
            units[level] = units[level - 1] * SLOTS as u64;
            level += 1;
        }
        units
    }

    /// Returns the width of a slot, in ticks.
    pub(crate) const fn unit(level: usize) -> u64 {
        if Self::POWER_OF_TWO {
            1 << (Self::BITS * level as u32)
        } else {
            Self::UNITS[level]
        }
    }

    /// Returns the number of the slot that contains `time`.
    pub(crate) const fn number(time: u64, level: usize) -> u64 {
        if Self::POWER_OF_TWO {
            time >> (Self::BITS * level as u32)
        } else {
            time / Self::UNITS[level]
        }
    }

    pub(crate) const fn position(number: u64) -> usize {
        (number % SLOTS as u64) as usize
    }

    pub(crate) fn slot_at(time: u64, level: usize) -> SlotId {
        SlotId::new::<SLOTS>(level, Self::position(Self::number(time, level)))
    }

    /// Returns the slot that an entry belongs to: on the lowest level on which the slot that contains the
    /// deadline lies less than one rotation ahead of the slot that contains `now`.
    #[inline]
    pub(crate) fn slot_of(deadline: u64, now: u64) -> SlotId {
        let mut level = Self::level_of_distance(deadline - now);
        // A distance of less than one rotation can end in the slot that is a whole rotation ahead, because
        // `now` need not be at the start of its slot.
        if Self::number(deadline, level) - Self::number(now, level) >= SLOTS as u64 {
            level += 1;
        }
        Self::slot_at(deadline, level)
    }

    /// Returns the lowest level on which one rotation is longer than `distance`.
    #[inline]
    fn level_of_distance(distance: u64) -> usize {
        if Self::POWER_OF_TWO {
            return ((distance | 1).ilog2() / Self::BITS) as usize;
        }
        let wider = Self::UNITS[1..Self::LEVELS].iter();
        wider.take_while(|&&unit| unit <= distance).count()
    }

    /// Returns the tick at which a slot starts. The slot must lie less than one rotation ahead of `now`.
    pub(crate) fn start(slot: SlotId, now: u64) -> u64 {
        let level = slot.level::<SLOTS>();
        let number = Self::number(now, level);
        let ahead = (slot.position::<SLOTS>() + SLOTS - Self::position(number)) % SLOTS;
        (number + ahead as u64) * Self::unit(level)
    }
}

#[cfg(test)]
mod tests;
