use std::num::NonZeroU16;

/// A slot, as its index among the slots of all levels, lowest level first. There are fewer than 2^15. The
/// highest bit is always set: a value that is never zero leaves room for the slab to mark a vacant cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotId(NonZeroU16);

/// The place of an entry's key: its slot, and its index in the list of that slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) at: u32,
    pub(crate) slot: SlotId,
}

const ALWAYS_SET: NonZeroU16 = NonZeroU16::new(1 << 15).unwrap();

impl SlotId {
    pub(crate) fn new<const SLOTS: usize>(level: usize, position: usize) -> Self {
        let index = (level * SLOTS + position) as u16;
        Self(ALWAYS_SET | index)
    }

    pub(crate) const fn index(self) -> usize {
        (self.0.get() & !ALWAYS_SET.get()) as usize
    }

    pub(crate) const fn level<const SLOTS: usize>(self) -> usize {
        self.index() / SLOTS
    }

    /// Returns the position of the slot in the circular array of its level.
    pub(crate) const fn position<const SLOTS: usize>(self) -> usize {
        self.index() % SLOTS
    }
}
