//! A wheel in print: the clock, and for every level its occupied slots with their counts.

use std::fmt;

use super::TimingWheel;
use super::level::Spot;
use super::slots::Slots;

/// Shows the clock, the number of entries, and per level a map from occupied slots to counts.
#[allow(
    clippy::missing_fields_in_debug,
    reason = "the stamps mean nothing to a reader"
)]
impl<T, const SLOTS: usize> fmt::Debug for TimingWheel<T, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimingWheel")
            .field("now", &self.now())
            .field("len", &self.len())
            .field("levels", &Levels(&self.core.slots))
            .finish()
    }
}

struct Levels<'a, const SLOTS: usize>(&'a Slots<SLOTS>);

impl<const SLOTS: usize> fmt::Debug for Levels<'_, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels = 0..self.0.levels.len();
        f.debug_list()
            .entries(levels.map(|level| Ring {
                slots: self.0,
                level,
            }))
            .finish()
    }
}

struct Ring<'a, const SLOTS: usize> {
    slots: &'a Slots<SLOTS>,
    level: usize,
}

impl<const SLOTS: usize> fmt::Debug for Ring<'_, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spots = (0..SLOTS).map(|slot| Spot {
            level: self.level,
            slot,
        });
        let occupied = spots.filter(|&spot| self.slots.is_occupied(spot));
        f.debug_map()
            .entries(occupied.map(|spot| (spot.slot, self.slots.keys(spot).count())))
            .finish()
    }
}
