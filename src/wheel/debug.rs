//! `Debug` of a wheel: the clock, and for each level its occupied slots and how many entries they hold.

use std::fmt;

use super::TimingWheel;
use super::slot::SlotId;
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
        let slots = (0..SLOTS).map(|position| SlotId {
            level: self.level,
            position,
        });
        let occupied = slots.filter(|&slot| self.slots.is_occupied(slot));
        f.debug_map()
            .entries(occupied.map(|slot| (slot.position, self.slots.list(slot).len())))
            .finish()
    }
}
