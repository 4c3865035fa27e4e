//! Types that the queue hands out: keys, and expired entries.

use tokio::time::Instant;

use crate::wheel;

/// Names an entry of a [`DelayQueue`](super::DelayQueue), for ever.
///
/// Given out by [`insert`](super::DelayQueue::insert) and
/// [`insert_at`](super::DelayQueue::insert_at). Once its entry has expired, been removed or
/// cleared, the key is stale and finds nothing, however often the place in memory is used again.
/// A key means nothing to another queue.
///
/// # Differences from tokio-util
///
/// There a key is a bare index, which the next insertion may give out again: a key that was kept
/// too long finds another's entry.
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
pub struct Key(pub(super) wheel::Key);

/// An entry whose time has come, or that was removed before.
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
#[derive(Debug)]
pub struct Expired<T> {
    pub(super) data: T,
    pub(super) deadline: Instant,
    pub(super) key: Key,
}

impl<T> Expired<T> {
    /// The inserted value, by reference.
    ///
    /// ```
    /// # let mut queue = wheel::DelayQueue::new();
    /// let key = queue.insert(5, wheel::Duration::from_secs(1));
    /// assert_eq!(queue.remove(&key).get_ref(), &5);
    /// ```
    pub fn get_ref(&self) -> &T {
        &self.data
    }

    /// The inserted value, by mutable reference.
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

    /// The inserted value.
    ///
    /// ```
    /// # let mut queue = wheel::DelayQueue::new();
    /// let key = queue.insert(5, wheel::Duration::from_secs(1));
    /// assert_eq!(queue.remove(&key).into_inner(), 5);
    /// ```
    pub fn into_inner(self) -> T {
        self.data
    }

    /// The deadline of the entry, as from [`DelayQueue::deadline`](super::DelayQueue::deadline).
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

    /// The key of the entry, which finds nothing any more.
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
