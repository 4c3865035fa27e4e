mod entries;
mod time;

use std::mem;
use std::num::NonZeroU64;

use super::key::Stamped;
use super::raw::RawWheel;

/// A hierarchical timing wheel, which stores values with deadlines and yields those that are due.
///
/// Deadlines and the clock of the wheel are numbers of ticks, and you decide how long a tick is. Time
/// passes only when you call [`advance`](Self::advance), for example in a
/// loop that reads a clock, as in the repository's example `wheel_alone`.
///
/// Inserting, removing and rescheduling take constant time on average, however many entries there are.
/// The [module page](crate::timing_wheel) describes the data structure.
///
/// A level has `SLOTS` slots, from 2 to 256. With more slots there are fewer levels, so an entry moves
/// less often before it fires, but each level takes 32 bytes per slot. The wheels of the timer driver
/// have 256. Prefer a power of two, because other numbers need divisions instead of shifts.
///
/// ```
/// use wheel::TimingWheel;
///
/// let mut wheel = TimingWheel::new();
/// let ping = wheel.insert(30, "ping").unwrap();
/// wheel.insert(5000, "timeout").unwrap();
///
/// assert_eq!(wheel.next_expiration(), Some(30));
/// let mut fired = Vec::new();
/// wheel.advance(100, |expired| fired.push(expired.value));
/// assert_eq!(fired, ["ping"]);
/// assert_eq!(wheel.remove(ping), None); // it has fired
/// ```
///
/// A wheel with more than 256 slots does not compile:
///
/// ```compile_fail
/// let wheel = wheel::timing_wheel::TimingWheel::<(), 257>::starting_at(0);
/// ```
pub struct TimingWheel<T, const SLOTS: usize = 64> {
    pub(super) raw: RawWheel<Stamped<T>, SLOTS>,
    /// The stamp of the next insertion, by which a stale key is detected. It never decreases, not even in
    /// `clear`, because the key could otherwise find another entry.
    stamp: NonZeroU64,
}

impl<T> TimingWheel<T> {
    /// Creates an empty wheel with 64 slots per level, whose clock is at tick 0. Allocates nothing before
    /// the first insertion.
    ///
    /// ```
    /// let wheel = wheel::TimingWheel::<&str>::new();
    /// assert_eq!((wheel.now(), wheel.len(), wheel.capacity()), (0, 0, 0));
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self::starting_at(0)
    }
}

impl<T, const SLOTS: usize> TimingWheel<T, SLOTS> {
    /// Creates an empty wheel with `SLOTS` slots per level, whose clock is at `now`.
    ///
    /// ```
    /// let mut wheel = wheel::TimingWheel::<_, 256>::starting_at(1_000);
    /// assert_eq!(wheel.insert(999, "past"), Err("past"));
    /// assert!(wheel.insert(1_001, "next").is_ok());
    /// ```
    #[must_use]
    pub const fn starting_at(now: u64) -> Self {
        Self {
            raw: RawWheel::starting_at(now),
            stamp: NonZeroU64::MIN,
        }
    }

    /// Returns the tick at which the clock is: the one that the wheel was created at or last advanced
    /// to, or at which an advance stopped early.
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.raw.now()
    }

    /// Returns the number of entries.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.raw.len()
    }

    /// Returns `true` if the wheel contains no entries.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of entries that the wheel has memory for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.raw.capacity()
    }

    /// Allocates memory for `additional` more entries, and keeps it until
    /// [`shrink_to_fit`](Self::shrink_to_fit) or [`clear`](Self::clear) is called.
    ///
    /// # Panics
    ///
    /// Panics, before it allocates anything, if the number of entries and `additional` together exceed
    /// 2³² − 2¹⁰, or what fits into the address space.
    ///
    /// ```
    /// let mut wheel = wheel::TimingWheel::<&str>::new();
    /// wheel.reserve(5_000);
    /// assert!(wheel.capacity() >= 5_000);
    /// ```
    #[track_caller]
    pub fn reserve(&mut self, additional: usize) {
        let wanted = self.len().saturating_add(additional);
        let most = RawWheel::<Stamped<T>, SLOTS>::MOST;
        assert!(
            wanted <= most,
            "a timing wheel holds at most {most} entries"
        );
        self.raw.reserve(additional);
    }

    /// Frees memory that is not in use. This may move many entries.
    ///
    /// ```
    /// let mut wheel = wheel::TimingWheel::<&str>::new();
    /// wheel.reserve(5_000);
    /// wheel.shrink_to_fit();
    /// assert_eq!(wheel.capacity(), 0);
    /// ```
    pub fn shrink_to_fit(&mut self) {
        self.raw.shrink_to_fit();
    }

    /// Removes all entries and frees their memory. The clock does not change, and the removed entries'
    /// keys are stale.
    ///
    /// ```
    /// let mut wheel = wheel::TimingWheel::new();
    /// let key = wheel.insert(5, "five").unwrap();
    /// wheel.clear();
    /// assert_eq!(wheel.remove(key), None);
    /// assert_eq!(wheel.capacity(), 0);
    /// ```
    pub fn clear(&mut self) {
        let now = self.now();
        drop(mem::replace(&mut self.raw, RawWheel::starting_at(now)));
    }
}

impl<T, const SLOTS: usize> Default for TimingWheel<T, SLOTS> {
    fn default() -> Self {
        Self::starting_at(0)
    }
}
