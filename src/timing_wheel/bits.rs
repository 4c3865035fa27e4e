/// The slots of one level that are *occupied*, which means that they hold entries, as one bit per slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits([u64; Bits::WORDS]);

impl Bits {
    const WORDS: usize = 4;
    /// Maximum number of slots per level.
    pub(crate) const MOST: usize = Self::WORDS * 64;
    pub(crate) const NONE: Self = Self([0; Self::WORDS]);

    pub(crate) fn set(&mut self, slot: usize) {
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    pub(crate) fn clear(&mut self, slot: usize) {
        self.0[slot / 64] &= !(1 << (slot % 64));
    }

    pub(crate) const fn has(&self, slot: usize) -> bool {
        self.0[slot / 64] & 1 << (slot % 64) != 0
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::NONE
    }

    /// Returns the first occupied slot at or after `slot`.
    #[inline]
    pub(crate) fn first_from(&self, slot: usize) -> Option<usize> {
        let mut word = slot / 64;
        let mut bits = self.0[word] & (u64::MAX << (slot % 64));
        while bits == 0 {
            word += 1;
            bits = *self.0.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests;
