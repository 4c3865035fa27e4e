//! How many entries there are, and memory for how many.

use super::DelayQueue;
use crate::wheel::core::PAGE;

/// As many as tokio-util takes. Thinned out at random, the wheel may be full with a third of that.
pub(super) const MOST: usize = (1 << 30) - 1;

impl<T> DelayQueue<T> {
    /// How many entries there are, due or not.
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

    /// Whether there are no entries.
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

    /// How many entries there is memory for.
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

    /// Makes memory for `additional` more entries.
    ///
    /// # Panics
    ///
    /// With `max queue capacity exceeded` if this makes more than 2³⁰ - 1.
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

    /// Frees memory, as far as possible without moving an entry.
    ///
    /// Takes time in proportion to the capacity.
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

    /// Frees as much memory as possible, and moves entries to that end.
    ///
    /// Brings the capacity down to the number of entries, or from 1024 on to the next multiple of
    /// that. Keys stay valid. Entries that have been moved are found through a map, at some cost,
    /// until they leave the queue. Takes time in proportion to the capacity, and while running,
    /// memory for the entries a second time.
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
    /// Nothing is moved, and no map is made, when that would free nothing.
    pub fn compact(&mut self) {
        self.shrink_to_fit();
        if self.is_sparse() {
            self.move_together();
        }
        self.moved.shrink_to_fit();
    }

    /// Whether the entries would fit into less memory.
    fn is_sparse(&self) -> bool {
        let spare = self.capacity() - self.len();
        spare >= PAGE || (spare > 0 && self.len() < PAGE)
    }

    /// Files all entries anew, in a wheel that starts with no memory.
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
                let place = self.file(tick, value);
                self.moved.insert(key, place);
            }
        }
        // No more memory than that is to be kept for later.
        self.wheel.shrink_to_fit();
    }
}
