//! The arithmetic of all levels: the slot of an entry, and the next occupied slot.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 64 levels, and 256 slots on each"
)]

use super::bits::Bits;
use super::slot::SlotId;

/// The widths of slots: on level `l` a slot is `SLOTS^l` ticks wide, and starts at a multiple of that.
///
/// `POWER_OF_TWO` is a constant, and so each branch on it costs nothing. Where it holds, shifts and
/// masks replace divisions.
pub(crate) struct Scale<const SLOTS: usize>;

impl<const SLOTS: usize> Scale<SLOTS> {
    /// As many levels as all of `u64` needs. On the topmost any two times are less than a turn apart.
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

    /// Width of a slot, in ticks.
    pub(crate) const fn unit(level: usize) -> u64 {
        if Self::POWER_OF_TWO {
            1 << (Self::BITS * level as u32)
        } else {
            Self::UNITS[level]
        }
    }

    /// The number of slots of this level between tick 0 and the slot that holds `time`.
    pub(crate) const fn number(time: u64, level: usize) -> u64 {
        if Self::POWER_OF_TWO {
            time >> (Self::BITS * level as u32)
        } else {
            time / Self::UNITS[level]
        }
    }

    /// Position on the ring of the slot with this number.
    pub(crate) const fn position(number: u64) -> usize {
        (number % SLOTS as u64) as usize
    }

    /// The slot of this level that holds `time`.
    pub(crate) fn slot_at(time: u64, level: usize) -> SlotId {
        SlotId::new::<SLOTS>(level, Self::position(Self::number(time, level)))
    }

    /// Where an entry belongs: on the lowest level on which its slot is less than a turn ahead.
    #[inline]
    pub(crate) fn slot_of(deadline: u64, now: u64) -> SlotId {
        let mut level = Self::level_of_distance(deadline - now);
        // Less than a turn of ticks may still reach into the slot that is a whole turn ahead.
        if Self::number(deadline, level) - Self::number(now, level) >= SLOTS as u64 {
            level += 1;
        }
        Self::slot_at(deadline, level)
    }

    #[inline]
    fn level_of_distance(distance: u64) -> usize {
        if Self::POWER_OF_TWO {
            return ((distance | 1).ilog2() / Self::BITS) as usize;
        }
        let wider = Self::UNITS[1..Self::LEVELS].iter();
        wider.take_while(|&&unit| unit <= distance).count()
    }

    /// Start of the first occupied slot: the slot that holds `now`, or the next occupied slot
    /// around the ring.
    #[inline]
    pub(crate) fn first_start(occupied: &Bits, level: usize, now: u64) -> Option<u64> {
        let number = Self::number(now, level);
        let position = Self::position(number);
        let ahead = match occupied.first_from(position) {
            Some(first) => first - position,
            None => SLOTS - position + occupied.first_from(0)?,
        };
        Some((number + ahead as u64) * Self::unit(level))
    }

    /// Whether a slot of this level starts at one of the ticks from `now` to `then`, which is the start
    /// of a slot on a lower level.
    pub(crate) const fn is_between(level: usize, now: u64, then: u64) -> bool {
        // Before tick 0 this takes the last tick of all, which is in another slot than `then`.
        Self::number(now.wrapping_sub(1), level) != Self::number(then, level)
    }

    /// Start of a slot, which is less than a turn ahead of `now`.
    pub(crate) fn start(slot: SlotId, now: u64) -> u64 {
        let level = slot.level::<SLOTS>();
        let number = Self::number(now, level);
        let ahead = (slot.position::<SLOTS>() + SLOTS - Self::position(number)) % SLOTS;
        (number + ahead as u64) * Self::unit(level)
    }
}

#[cfg(test)]
mod tests;
