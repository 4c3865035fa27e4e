//! Which slot is meant: its level, and its position on that level's ring.

/// A slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotId {
    pub(crate) level: usize,
    pub(crate) position: usize,
}

impl SlotId {
    /// The slot in two bytes, as each chunk holds it.
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "there are at most 64 levels, and 256 slots on each"
    )]
    pub(crate) const fn index<const SLOTS: usize>(self) -> u16 {
        (self.level * SLOTS + self.position) as u16
    }

    #[inline]
    pub(crate) const fn from_index<const SLOTS: usize>(index: u16) -> Self {
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
