//! Which slot is meant: its level, and its position on that level's ring.

use std::num::NonZeroU16;

/// A slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotId {
    pub(crate) level: usize,
    pub(crate) position: usize,
}

/// Where the key of an entry is: its slot, and its index in the list of that slot. The slot is not
/// zero, so that a slab's vacant entries need no tag of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    at: u32,
    slot: NonZeroU16,
}

impl Place {
    #[inline]
    pub(crate) const fn new<const SLOTS: usize>(slot: SlotId, at: u32) -> Self {
        let slot = NonZeroU16::MIN.saturating_add(slot.index::<SLOTS>());
        Self { at, slot }
    }

    #[inline]
    pub(crate) const fn at(self) -> u32 {
        self.at
    }

    #[inline]
    pub(crate) const fn slot<const SLOTS: usize>(self) -> SlotId {
        SlotId::from_index::<SLOTS>(self.slot.get() - 1)
    }
}

impl SlotId {
    pub(crate) const FIRST: Self = Self::from_index::<1>(0);

    /// The slot in two bytes.
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "there are at most 64 levels, and 256 slots on each"
    )]
    const fn index<const SLOTS: usize>(self) -> u16 {
        (self.level * SLOTS + self.position) as u16
    }

    #[inline]
    const fn from_index<const SLOTS: usize>(index: u16) -> Self {
        Self {
            level: index as usize / SLOTS,
            position: index as usize % SLOTS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_leads_back_to_its_slot() {
        for (level, position) in [(0, 0), (10, 63), (3, 9)] {
            let slot = SlotId { level, position };
            assert_eq!(SlotId::from_index::<64>(slot.index::<64>()), slot);
        }
    }
}
