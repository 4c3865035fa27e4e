//! The number of entries, and the memory for them.

use super::DelayQueue;
use crate::timing_wheel::core::PAGE;

/// Maximum number of entries, the same as in tokio-util.
pub(super) const MOST: usize = (1 << 30) - 1;

impl<T> DelayQueue<T> {
    /// Returns the number of entries, including those that are due and that no poll has returned
    /// yet.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut queue = wheel::DelayQueue::new();
    /// queue.insert('a', wheel::Duration::ZERO);
    /// queue.insert('b', wheel::Duration::from_secs(5));
    /// assert_eq!(queue.len(), 2);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.wheel.len()
    }

    /// Returns `true` if the queue contains no entries.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut queue = wheel::DelayQueue::new();
    /// assert!(queue.is_empty());
    /// queue.insert('a', wheel::Duration::ZERO);
    /// assert!(!queue.is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.wheel.is_empty()
    }

    /// Returns the number of entries that the queue has memory for.
    ///
    /// # Examples
    ///
    /// ```
    /// let queue: wheel::DelayQueue<u32> = wheel::DelayQueue::with_capacity(100);
    /// assert!(queue.capacity() >= 100);
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.wheel.capacity()
    }

    /// Allocates memory for `additional` more entries.
    ///
    /// # Panics
    ///
    /// Panics with `max queue capacity exceeded` if the capacity and `additional` together exceed
    /// 2³⁰ − 1.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut queue = wheel::DelayQueue::new();
    /// queue.insert("one", wheel::Duration::from_secs(5));
    /// queue.reserve(10);
    /// assert!(queue.capacity() >= 11);
    /// ```
    #[track_caller]
    pub fn reserve(&mut self, additional: usize) {
        let wanted = self.capacity().saturating_add(additional);
        assert!(wanted <= MOST, "max queue capacity exceeded");
        self.wheel.reserve(additional);
    }

    /// Frees memory that is not in use, as far as that is possible without moving entries.
    ///
    /// This takes time in proportion to the capacity. [`compact`](Self::compact) frees more.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut queue: wheel::DelayQueue<u32> = wheel::DelayQueue::with_capacity(100);
    /// queue.shrink_to_fit();
    /// assert_eq!(queue.capacity(), 0);
    /// ```
    pub fn shrink_to_fit(&mut self) {
        self.wheel.shrink_to_fit();
        self.moved.shrink_to_fit();
    }

    /// Moves entries to free as much memory as possible.
    ///
    /// Afterwards the capacity equals the number of entries, rounded up to a multiple of 1024 if
    /// there are more than that. All keys stay valid. The queue finds the entries that have moved
    /// through a hash map, so operations on them cost a little more until they leave the queue.
    ///
    /// This takes time in proportion to the capacity. While it runs, it needs memory for the
    /// entries a second time.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{DelayQueue, Duration};
    ///
    /// let mut queue = DelayQueue::with_capacity(100);
    /// let first = queue.insert("first", Duration::from_secs(1));
    /// let last = queue.insert("last", Duration::from_secs(2));
    /// queue.remove(&first);
    ///
    /// queue.compact();
    /// assert_eq!(queue.capacity(), 1);
    /// assert_eq!(queue.remove(&last).into_inner(), "last");
    /// ```
    ///
    /// # Differences from tokio-util
    ///
    /// If moving entries would free nothing, this moves nothing and creates no map.
    pub fn compact(&mut self) {
        self.shrink_to_fit();
        if self.is_sparse() {
            self.move_together();
        }
        self.moved.shrink_to_fit();
    }

    /// Returns `true` if the entries would fit into less memory.
    fn is_sparse(&self) -> bool {
        let unused = self.capacity() - self.len();
        unused >= PAGE || (unused > 0 && self.len() < PAGE)
    }

    /// Removes all entries from the wheel, frees its memory, and inserts them again.
    fn move_together(&mut self) {
        let places: Vec<_> = self.wheel.iter().map(|(at, tick, _)| (at, tick)).collect();
        let mut entries = Vec::with_capacity(places.len());
        for (place, tick) in places {
            let value = self.wheel.remove(place);
            entries.push((self.moved.forget(place), tick, value));
        }
        self.wheel.shrink_to_fit();
        self.wheel.reserve(entries.len());
        for (key, tick, value) in entries {
            if let Some(value) = value {
                let place = self.insert_into_wheel(tick, value);
                self.moved.insert(key, place);
            }
        }
        // Undoes `reserve`, so that the wheel gives memory back again when entries leave.
        self.wheel.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn compacting_moves_entries_only_if_that_frees_memory() {
        let mut queue = DelayQueue::new();
        let keys: Vec<_> = (0..PAGE)
            .map(|n| queue.insert(n, Duration::from_secs(5)))
            .collect();
        queue.compact();
        assert!(queue.moved.is_empty());
        queue.remove(&keys[0]);
        queue.compact();
        assert!(!queue.moved.is_empty());
        assert_eq!(queue.capacity(), PAGE - 1);
    }

    #[test]
    fn compacting_keeps_a_page_in_part_use_beside_a_full_page() {
        let mut queue = DelayQueue::new();
        (0..PAGE + 100).for_each(|n| _ = queue.insert(n, Duration::from_secs(5)));
        queue.compact();
        assert!(queue.moved.is_empty());
        assert_eq!(queue.capacity(), 2 * PAGE);
    }
}
