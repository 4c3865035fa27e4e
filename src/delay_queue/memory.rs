//! The number of entries, and the memory for them.

use super::DelayQueue;

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

    /// Frees memory that is not in use.
    ///
    /// This takes time in proportion to the capacity. Memory is in pages of 1024 entries. Of
    /// several pages, those with more than eight entries left keep theirs.
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
    }

    /// Frees memory that is not in use, exactly as [`shrink_to_fit`](Self::shrink_to_fit) does.
    ///
    /// It exists because tokio-util's queue has it.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{DelayQueue, Duration};
    ///
    /// let mut queue = DelayQueue::with_capacity(100);
    /// let key = queue.insert("kept", Duration::from_secs(1));
    /// queue.compact();
    /// assert_eq!(queue.remove(&key).into_inner(), "kept");
    /// ```
    ///
    /// # Differences from tokio-util
    ///
    /// tokio-util's method moves all entries together, and finds them through a hash map from then on.
    pub fn compact(&mut self) {
        self.shrink_to_fit();
    }
}
