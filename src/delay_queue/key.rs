//! The types that the queue returns: keys, and expired entries.

use tokio::time::Instant;

use crate::timing_wheel;

/// A key that identifies one entry of a [`DelayQueue`](super::DelayQueue).
///
/// [`insert`](super::DelayQueue::insert) and [`insert_at`](super::DelayQueue::insert_at) return it.
/// Once the entry has expired or been removed, the key is *stale*: it finds nothing, even if
/// another entry uses the same memory. Use a key only with the queue that returned it.
///
/// # Differences from tokio-util
///
/// In tokio-util a key is a bare index, which a later insertion may return again. A key that is
/// used after its entry is gone may therefore find another entry there.
///
/// # Examples
///
/// ```
/// use wheel::{DelayQueue, Duration};
///
/// let mut queue = DelayQueue::new();
/// let first = queue.insert("first", Duration::from_secs(1));
/// queue.remove(&first);
/// let second = queue.insert("second", Duration::from_secs(1));
/// assert_ne!(first, second);
/// assert!(queue.try_remove(&first).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(pub(super) timing_wheel::Key);

/// An entry that has left the queue, because it expired or was removed.
///
/// # Examples
///
/// ```
/// use wheel::{DelayQueue, Duration};
///
/// let mut queue = DelayQueue::new();
/// let key = queue.insert(String::from("ping"), Duration::from_secs(1));
/// let mut ping = queue.remove(&key);
/// assert_eq!(ping.get_ref(), "ping");
/// ping.get_mut().push('!');
/// assert_eq!(ping.key(), key);
/// assert_eq!(ping.into_inner(), "ping!");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expired<T> {
    pub(super) data: T,
    pub(super) deadline: Instant,
    pub(super) key: Key,
}

impl<T> Expired<T> {
    /// Returns a reference to the value.
    ///
    /// # Examples
    ///
    /// ```
    /// # let mut queue = wheel::DelayQueue::new();
    /// let key = queue.insert(5, wheel::Duration::from_secs(1));
    /// assert_eq!(queue.remove(&key).get_ref(), &5);
    /// ```
    pub fn get_ref(&self) -> &T {
        &self.data
    }

    /// Returns a mutable reference to the value.
    ///
    /// # Examples
    ///
    /// ```
    /// # let mut queue = wheel::DelayQueue::new();
    /// let key = queue.insert(5, wheel::Duration::from_secs(1));
    /// let mut five = queue.remove(&key);
    /// *five.get_mut() += 1;
    /// assert_eq!(five.into_inner(), 6);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.data
    }

    /// Consumes the `Expired` and returns the value.
    ///
    /// # Examples
    ///
    /// ```
    /// # let mut queue = wheel::DelayQueue::new();
    /// let key = queue.insert(5, wheel::Duration::from_secs(1));
    /// assert_eq!(queue.remove(&key).into_inner(), 5);
    /// ```
    pub fn into_inner(self) -> T {
        self.data
    }

    /// Returns the deadline that the entry had, as
    /// [`DelayQueue::deadline`](super::DelayQueue::deadline) returned it.
    ///
    /// # Examples
    ///
    /// ```
    /// # let mut queue = wheel::DelayQueue::new();
    /// let key = queue.insert(5, wheel::Duration::from_secs(1));
    /// let deadline = queue.deadline(&key);
    /// assert_eq!(queue.remove(&key).deadline(), deadline);
    /// ```
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns the key that the entry had, which is stale by now.
    ///
    /// # Examples
    ///
    /// ```
    /// # let mut queue = wheel::DelayQueue::new();
    /// let key = queue.insert(5, wheel::Duration::from_secs(1));
    /// assert_eq!(queue.remove(&key).key(), key);
    /// ```
    pub fn key(&self) -> Key {
        self.key
    }
}
