//! Types that the wheel hands out: keys, expired entries, results of a rescheduling.

use std::num::NonZeroU64;

/// Names an entry of a [`TimingWheel`](super::TimingWheel), and never another entry.
///
/// Once its entry is gone a key finds nothing, also when its memory is used again: every insertion
/// of a wheel has a stamp of its own. Do not use a key with another wheel, which cannot tell it from
/// its own keys and may find an entry.
///
/// ```
/// # use wheel::timing_wheel::TimingWheel;
/// let mut wheel: TimingWheel<&str> = TimingWheel::new();
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

/// A value with the stamp of its insertion.
#[derive(Clone)]
pub(super) struct Stamped<T> {
    pub(super) stamp: NonZeroU64,
    pub(super) value: T,
}

impl<T> Stamped<T> {
    /// The key of this entry, which is at `index`.
    #[inline]
    pub(super) const fn key(&self, index: u32) -> Key {
        Key {
            index,
            stamp: self.stamp,
        }
    }
}

/// An entry whose time has come, handed out by [`TimingWheel::advance`](super::TimingWheel::advance).
///
/// ```
/// # use wheel::timing_wheel::TimingWheel;
/// let mut wheel: TimingWheel<&str> = TimingWheel::new();
/// let key = wheel.insert(5, "five").unwrap();
/// wheel.advance(7, |expired| {
///     assert_eq!((expired.key, expired.deadline, expired.value), (key, 5, "five"));
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expired<T> {
    /// The key of the entry, which finds nothing any more.
    pub key: Key,
    /// The deadline of the entry, in ticks.
    pub deadline: u64,
    /// The inserted value.
    pub value: T,
}

/// The outcome of [`TimingWheel::reschedule`](super::TimingWheel::reschedule).
///
/// ```
/// # use wheel::timing_wheel::TimingWheel;
/// let mut wheel: TimingWheel<&str> = TimingWheel::new();
/// use wheel::timing_wheel::Rescheduled;
///
/// let key = wheel.insert(5, "five").unwrap();
/// assert_eq!(wheel.reschedule(key, 9), Rescheduled::Moved);
/// assert_eq!(wheel.reschedule(key, 0), Rescheduled::Expired("five"));
/// assert_eq!(wheel.reschedule(key, 9), Rescheduled::Stale);
/// ```
#[must_use = "an expired value is handed back and is no longer in the wheel"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rescheduled<T> {
    /// The entry has its new deadline; the key stays valid.
    Moved,
    /// The new deadline is not after now: the entry is removed, and this is its value.
    Expired(T),
    /// The key's entry was gone already; nothing has changed.
    Stale,
}
