use super::TimingWheel;
use crate::timing_wheel::key::{Key, Rescheduled, Stamped};

impl<T, const SLOTS: usize> TimingWheel<T, SLOTS> {
    /// Inserts a value that fires when the clock reaches `deadline`, and returns its key.
    ///
    /// # Errors
    ///
    /// Returns the value if `deadline` is not after [`now`](Self::now), because it is due already.
    ///
    /// # Panics
    ///
    /// Panics if the wheel already contains 2³² − 2¹⁰ entries.
    ///
    /// ```
    /// let mut wheel = wheel::TimingWheel::<&str>::new();
    /// assert!(wheel.insert(5, "five").is_ok());
    /// assert_eq!(wheel.insert(0, "not after now"), Err("not after now"));
    /// ```
    #[inline]
    pub fn insert(&mut self, deadline: u64, value: T) -> Result<Key, T> {
        if deadline <= self.now() {
            return Err(value);
        }
        Ok(self.insert_from_now_on(deadline, value))
    }

    /// Inserts a value that may be due already. Its deadline must not be before the clock.
    #[inline]
    pub(crate) fn insert_from_now_on(&mut self, deadline: u64, value: T) -> Key {
        let stamp = self.stamp;
        self.stamp = stamp.checked_add(1).expect("nobody inserts 2^64 times");
        let index = self.raw.insert(deadline, Stamped { stamp, value });
        Key { index, stamp }
    }

    /// Removes an entry and returns its value, or `None` if the entry has fired or been removed.
    ///
    /// ```
    /// let mut wheel = wheel::TimingWheel::new();
    /// let key = wheel.insert(10, "never").unwrap();
    /// assert_eq!(wheel.remove(key), Some("never"));
    /// assert_eq!(wheel.remove(key), None);
    /// ```
    #[inline]
    pub fn remove(&mut self, key: Key) -> Option<T> {
        self.get(key)?;
        let removed = self.raw.remove(key.index);
        drop(self.raw.take_garbage());
        Some(removed.value)
    }

    /// Changes the deadline of an entry. Its key stays the same.
    ///
    /// If the new deadline is not after [`now`](Self::now), the entry is removed, and its value is
    /// returned as [`Rescheduled::Expired`].
    ///
    /// ```
    /// use wheel::timing_wheel::{Rescheduled, TimingWheel};
    ///
    /// let mut wheel = TimingWheel::new();
    /// let key = wheel.insert(20, "idle").unwrap();
    /// assert_eq!(wheel.reschedule(key, 50), Rescheduled::Moved);
    /// assert_eq!(wheel.reschedule(key, 0), Rescheduled::Expired("idle"));
    /// assert_eq!(wheel.reschedule(key, 50), Rescheduled::Stale);
    /// ```
    #[inline]
    pub fn reschedule(&mut self, key: Key, deadline: u64) -> Rescheduled<T> {
        if deadline <= self.now() {
            let removed = self.remove(key);
            return removed.map_or(Rescheduled::Stale, Rescheduled::Expired);
        }
        if self.get(key).is_none() {
            return Rescheduled::Stale;
        }
        self.reschedule_from_now_on(key, deadline);
        Rescheduled::Moved
    }

    /// Changes the deadline of an entry, which must exist. The new one must not be before the clock.
    #[inline]
    pub(crate) fn reschedule_from_now_on(&mut self, key: Key, deadline: u64) {
        self.raw.reschedule(key.index, deadline);
        drop(self.raw.take_garbage());
    }

    /// Returns a reference to the value of an entry, or `None` if the entry has fired or been removed.
    ///
    /// ```
    /// let mut wheel = wheel::TimingWheel::new();
    /// let key = wheel.insert(5, "five").unwrap();
    /// assert_eq!((wheel.get(key), wheel.deadline(key)), (Some(&"five"), Some(5)));
    /// ```
    #[must_use]
    #[inline]
    pub fn get(&self, key: Key) -> Option<&T> {
        let stamped = self.raw.get(key.index)?;
        (stamped.stamp == key.stamp).then_some(&stamped.value)
    }

    /// Returns the tick at which an entry fires, or `None` if it has fired or been removed.
    #[must_use]
    #[inline]
    pub fn deadline(&self, key: Key) -> Option<u64> {
        self.get(key)?;
        Some(self.raw.deadline(key.index))
    }
}
