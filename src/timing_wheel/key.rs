use std::num::NonZeroU64;

/// A key that identifies one entry of a [`TimingWheel`](super::TimingWheel).
///
/// Once the entry has fired or been removed, the key is *stale*: it finds nothing, even if another entry
/// uses the same memory, because every insertion into a wheel gets a stamp of its own.
///
/// Use a key only with the wheel that returned it. In another wheel, it may find an unrelated entry.
///
/// ```
/// let mut wheel = wheel::TimingWheel::new();
/// let old = wheel.insert(5, "old").unwrap();
/// wheel.remove(old);
/// wheel.insert(5, "new").unwrap(); // in the same memory
/// assert_eq!(wheel.get(old), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub(super) index: u32,
    pub(super) stamp: NonZeroU64,
}

/// A value of the public wheel, with the stamp of its insertion.
pub(super) struct Stamped<T> {
    pub(super) stamp: NonZeroU64,
    pub(super) value: T,
}

impl<T> Stamped<T> {
    /// Returns the key of this entry, which is at `index` in the slab.
    #[inline]
    pub(super) const fn key(&self, index: u32) -> Key {
        Key {
            index,
            stamp: self.stamp,
        }
    }

    #[inline]
    pub(super) fn expired(self, index: u32, deadline: u64) -> Expired<T> {
        Expired {
            key: self.key(index),
            deadline,
            value: self.value,
        }
    }
}

/// An entry that has fired, as [`TimingWheel::advance`](super::TimingWheel::advance) passes it on.
///
/// ```
/// let mut wheel = wheel::TimingWheel::new();
/// let key = wheel.insert(5, "five").unwrap();
/// wheel.advance(7, |expired| {
///     assert_eq!((expired.key, expired.deadline, expired.value), (key, 5, "five"));
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expired<T> {
    /// The key of the entry, which is stale by now.
    pub key: Key,
    /// The deadline of the entry, in ticks.
    pub deadline: u64,
    /// The value that was inserted.
    pub value: T,
}

/// The outcome of [`TimingWheel::reschedule`](super::TimingWheel::reschedule).
#[must_use = "an expired value is handed back and is no longer in the wheel"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rescheduled<T> {
    /// The entry has its new deadline. Its key stays valid.
    Moved,
    /// The new deadline is not after the wheel's clock, so the entry was removed. This is its value.
    Expired(T),
    /// The entry had already fired or been removed, so nothing has changed.
    Stale,
}
