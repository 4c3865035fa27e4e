//! Which entries `compact` has moved: they are found under their old keys.

use std::collections::HashMap;

use super::key::Key;
use crate::wheel;

/// The keys of moved entries, both ways. Empty in a queue that is never compacted.
///
/// The wheel never uses a key twice, so an old key cannot become that of another entry.
#[derive(Debug, Default)]
pub(super) struct Moved {
    places: HashMap<Key, wheel::Key>,
    names: HashMap<wheel::Key, Key>,
}

impl Moved {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The place of the entry with this key, if the entry was moved.
    pub(super) fn place(&self, key: Key) -> Option<wheel::Key> {
        self.places.get(&key).copied()
    }

    /// The key given out for the entry at this place.
    #[inline]
    pub(super) fn name(&self, place: wheel::Key) -> Key {
        if self.is_empty() {
            return Key(place);
        }
        self.names.get(&place).copied().unwrap_or(Key(place))
    }

    /// The entry at this place is gone: removes it from both maps, and returns the key given out.
    #[inline]
    pub(super) fn forget(&mut self, place: wheel::Key) -> Key {
        if self.is_empty() {
            return Key(place);
        }
        let name = self.names.remove(&place).unwrap_or(Key(place));
        self.places.remove(&name);
        name
    }

    pub(super) fn insert(&mut self, key: Key, place: wheel::Key) {
        self.places.insert(key, place);
        self.names.insert(place, key);
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.places.shrink_to_fit();
        self.names.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wheel::TimingWheel;

    #[test]
    fn what_is_gone_leaves_nothing_behind() {
        let mut wheel = TimingWheel::<()>::new();
        let mut keys = || wheel.insert(1, ()).unwrap();
        let (old, new, another) = (keys(), keys(), keys());
        let mut moved = Moved::default();
        moved.insert(Key(old), new);
        assert_eq!(moved.place(Key(old)), Some(new));
        assert_eq!(moved.name(new), Key(old));
        assert_eq!(moved.forget(another), Key(another));
        assert_eq!(moved.forget(new), Key(old));
        assert!(moved.names.is_empty() && moved.places.is_empty());
    }
}
