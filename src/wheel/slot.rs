//! The name of a slot, and the place of a key in a slot.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 64 levels, and fewer than 2^16 slots on all of them"
)]

use std::num::NonZeroU16;

/// A slot: its index, from the first slot of the lowest level on. A bit that is always set keeps the
/// number from zero, so that a slab's vacant entries need no tag of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotId(NonZeroU16);

/// Where the key of an entry is: its slot, and its index in the list of that slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) at: u32,
    pub(crate) slot: SlotId,
}

const ALWAYS_SET: NonZeroU16 = NonZeroU16::new(1 << 15).unwrap();

impl SlotId {
    pub(crate) const FIRST: Self = Self(ALWAYS_SET);

    pub(crate) fn new<const SLOTS: usize>(level: usize, position: usize) -> Self {
        let index = (level * SLOTS + position) as u16;
        Self(ALWAYS_SET | index)
    }

    /// How many slots come before this slot.
    pub(crate) const fn index(self) -> usize {
        (self.0.get() & !ALWAYS_SET.get()) as usize
    }

    pub(crate) const fn level<const SLOTS: usize>(self) -> usize {
        self.index() / SLOTS
    }

    /// The position on the ring of the level.
    pub(crate) const fn position<const SLOTS: usize>(self) -> usize {
        self.index() % SLOTS
    }
}
