use std::mem;

/// Number of keys for which an empty list may keep memory.
pub(super) const SHORT: usize = 128;

/// The keys of the entries in one slot, in no particular order, and a tick before which none is due.
///
/// Each entry knows the place of its key, so that the key can be removed in constant time: the last
/// key of the list takes its place, and that key's entry stores the new place. The last key usually
/// belongs to an entry that was inserted recently and is still in a cache.
#[derive(Debug)]
pub(crate) struct KeyList {
    keys: Vec<u32>,
    /// No entry of the list is due before this tick. `u64::MAX` while the list is empty.
    pub(super) earliest: u64,
}

impl KeyList {
    pub(crate) const EMPTY: Self = Self {
        keys: Vec::new(),
        earliest: u64::MAX,
    };

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(crate) fn keys(&self) -> &[u32] {
        &self.keys
    }

    /// Makes sure that `earliest` is not later than the deadline of an entry.
    #[inline(always)]
    pub(crate) fn lower(&mut self, deadline: u64) {
        self.earliest = self.earliest.min(deadline);
    }

    /// Adds the key of an entry that is due at `deadline` or later, and returns its index.
    #[inline(always)]
    pub(crate) fn push(&mut self, key: u32, deadline: u64) -> u32 {
        self.lower(deadline);
        let at = self.keys.len();
        if at == self.keys.capacity() {
            // Doubling, as `push` would, could leave half of a long list's memory unused. A short list doubles.
            let more = if at < SHORT { at.max(4) } else { at / 4 };
            self.keys.reserve_exact(more);
        }
        self.keys.push(key);
        at as u32
    }

    /// Removes the key at an index. Returns the key that has moved there, if any.
    #[inline(always)]
    pub(crate) fn remove(&mut self, at: u32) -> Option<u32> {
        self.keys.swap_remove(at as usize);
        self.keys.get(at as usize).copied()
    }

    /// Takes at most `most` keys off the end of the list, and returns their number. Calls `taken` with a
    /// count from 0 and each key.
    #[inline(always)]
    pub(crate) fn take(&mut self, most: usize, mut taken: impl FnMut(usize, u32)) -> usize {
        let left = self.len() - most.min(self.len());
        let mut count = 0;
        for &key in self.keys[left..].iter().rev() {
            taken(count, key);
            count += 1;
        }
        self.keys.truncate(left);
        count
    }

    /// Returns `true` if there is memory for more than [`SHORT`] keys.
    #[inline(always)]
    pub(crate) fn is_large(&self) -> bool {
        self.keys.capacity() > SHORT
    }

    /// If most of the memory is unused, moves the keys into a smaller vector and returns the larger one.
    #[inline(never)]
    pub(crate) fn give_back(&mut self) -> Option<Vec<u32>> {
        let len = self.len();
        (self.is_large() && self.keys.capacity() / 4 > len).then(|| {
            let mut keys = Vec::with_capacity(len + len / 4);
            keys.extend_from_slice(&self.keys);
            mem::replace(&mut self.keys, keys)
        })
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.keys.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests;
