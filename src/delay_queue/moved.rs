//! The entries that `compact` has moved, and how they are found under the keys that users have.

use std::collections::HashMap;

use super::key::Key;
use crate::timing_wheel;

/// Two maps between the key that the user of the queue has for an entry and the entry's *place*,
/// which is its present key in the wheel. They contain only entries that `compact` has moved.
///
/// The wheel never returns the same key twice, so a user's key never becomes the place of another
/// entry.
#[derive(Debug, Default)]
pub(super) struct Moved {
    places: HashMap<Key, timing_wheel::Key>,
    keys: HashMap<timing_wheel::Key, Key>,
}

impl Moved {
    /// Returns `true` if `compact` has moved none of the entries that are in the queue.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the place of the entry with this key, if the entry was moved.
    pub(super) fn place(&self, key: Key) -> Option<timing_wheel::Key> {
        self.places.get(&key).copied()
    }

    /// Returns the key that the user has for the entry at this place.
    #[inline]
    pub(super) fn key(&self, place: timing_wheel::Key) -> Key {
        if self.is_empty() {
            return Key(place);
        }
        self.keys.get(&place).copied().unwrap_or(Key(place))
    }

    /// Removes the entry at this place from both maps, and returns the key that the user has for
    /// it.
    #[inline]
    pub(super) fn forget(&mut self, place: timing_wheel::Key) -> Key {
        if self.is_empty() {
            return Key(place);
        }
        let key = self.keys.remove(&place).unwrap_or(Key(place));
        self.places.remove(&key);
        key
    }

    pub(super) fn insert(&mut self, key: Key, place: timing_wheel::Key) {
        self.places.insert(key, place);
        self.keys.insert(place, key);
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.places.shrink_to_fit();
        self.keys.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing_wheel::TimingWheel;

    #[test]
    fn an_entry_that_is_gone_leaves_nothing_behind() {
        let mut wheel = TimingWheel::<()>::new();
        let mut keys = || wheel.insert(1, ()).unwrap();
        let (old, new, another) = (keys(), keys(), keys());
        let mut moved = Moved::default();
        moved.insert(Key(old), new);
        assert_eq!(moved.place(Key(old)), Some(new));
        assert_eq!(moved.key(new), Key(old));
        assert_eq!(moved.forget(another), Key(another));
        assert_eq!(moved.forget(new), Key(old));
        assert!(moved.keys.is_empty() && moved.places.is_empty());
        moved.shrink_to_fit();
        assert_eq!((moved.keys.capacity(), moved.places.capacity()), (0, 0));
    }
}
