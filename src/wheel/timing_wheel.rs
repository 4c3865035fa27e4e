//! The public wheel: a core whose keys carry a stamp, which tells stale keys. This file has its
//! constructors, its size and its memory.

mod entries;
mod time;

use std::mem;
use std::num::NonZeroU64;

use super::core::Core;
use super::key::Stamped;

/// A hierarchical timing wheel of `SLOTS` slots per level, 2 to 256.
///
/// Deadlines and the clock are absolute ticks; a tick is as long as the caller likes.
///
/// The number of slots changes speed and memory, not the ticks at which entries fire. More slots
/// make fewer levels, so an entry moves less often before it fires; each level takes 32 bytes per
/// slot. A power of two costs shifts where other numbers cost divisions. README's figures of a bare
/// wheel are for 64. The driver's wheels have 256: there a million timers of 1 to 4 s took 163 ns
/// each to fire, and 215 with 64, when that number was chosen.
///
/// ```
/// use wheel::TimingWheel;
///
/// let mut wheel = TimingWheel::new();
/// let ping = wheel.insert(30, "ping").unwrap();
/// wheel.insert(5000, "time-out").unwrap();
///
/// assert_eq!(wheel.next_expiration(), Some(30));
/// let mut fired = Vec::new();
/// wheel.advance(100, |expired| fired.push(expired.value));
/// assert_eq!(fired, ["ping"]);
/// assert_eq!(wheel.remove(ping), None); // it has fired
/// ```
///
/// Other numbers of slots do not compile:
///
/// ```compile_fail
/// let wheel = wheel::timing_wheel::TimingWheel::<(), 257>::with_slots(0);
/// ```
pub struct TimingWheel<T, const SLOTS: usize = 64> {
    pub(super) core: Core<Stamped<T>, SLOTS, 0>,
    /// The stamp of the next insertion. The stamp never goes back: a stale key must not find
    /// another entry.
    stamp: NonZeroU64,
}

impl<T> TimingWheel<T> {
    /// An empty wheel of 64 slots a level, whose clock stands at tick 0. The first insertion
    /// allocates.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel = TimingWheel::new();
    /// assert_eq!((wheel.now(), wheel.len(), wheel.capacity()), (0, 0, 0));
    /// wheel.insert(5, "five").unwrap();
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self::starting_at(0)
    }

    /// An empty wheel of 64 slots a level, whose clock stands at `now`.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel = TimingWheel::starting_at(1_000);
    /// assert_eq!(wheel.insert(999, 1), Err(1));
    /// assert!(wheel.insert(1_001, 2).is_ok());
    /// ```
    #[must_use]
    pub const fn starting_at(now: u64) -> Self {
        Self::with_slots(now)
    }

    /// An empty wheel of 64 slots a level, at tick 0, with memory for `capacity` entries.
    ///
    /// # Panics
    ///
    /// As [`reserve`](Self::reserve).
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let wheel: TimingWheel<u8> = TimingWheel::with_capacity(1_000);
    /// assert!(wheel.capacity() >= 1_000);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> Self {
        let mut wheel = Self::new();
        wheel.reserve(capacity);
        wheel
    }
}

impl<T, const SLOTS: usize> TimingWheel<T, SLOTS> {
    /// An empty wheel of as many slots a level as its type says, whose clock stands at `now`.
    ///
    /// The other constructors make wheels of 64, and so need no type. `HashMap` does the same with
    /// its hashers.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel = TimingWheel::<_, 256>::with_slots(0);
    /// wheel.insert(1_000_000, "third level").unwrap();
    /// assert_eq!(wheel.levels(), 3);
    /// ```
    #[must_use]
    pub const fn with_slots(now: u64) -> Self {
        Self {
            core: Core::starting_at(now),
            stamp: NonZeroU64::MIN,
        }
    }

    /// The tick at which the clock stands: the highest tick advanced to, or the first tick of the
    /// wheel.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel: TimingWheel<&str> = TimingWheel::new();
    /// wheel.advance(100, drop);
    /// assert_eq!(wheel.now(), 100);
    /// ```
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.core.now()
    }

    /// How many entries there are.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel = TimingWheel::new();
    /// wheel.insert(5, "five").unwrap();
    /// assert_eq!(wheel.len(), 1);
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.core.len()
    }

    /// Whether there are no entries.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel: TimingWheel<&str> = TimingWheel::new();
    /// assert!(wheel.is_empty());
    /// ```
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many levels there are: none in a new wheel, and then as many as a deadline has needed.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel: TimingWheel<(), 10> = TimingWheel::with_slots(0);
    /// assert_eq!(wheel.levels(), 0);
    /// wheel.insert(9, ()).unwrap();
    /// assert_eq!(wheel.levels(), 1);
    /// wheel.insert(15, ()).unwrap(); // the overflow wheel, with slots of 10 ticks
    /// assert_eq!(wheel.levels(), 2);
    /// ```
    #[must_use]
    pub fn levels(&self) -> usize {
        self.core.slots.levels()
    }

    /// How many entries there is memory for.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel: TimingWheel<&str> = TimingWheel::new();
    /// assert_eq!(wheel.capacity(), 0);
    /// wheel.insert(5, "five").unwrap();
    /// assert!(wheel.capacity() > 0);
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.core.capacity()
    }

    /// Allocates memory for `additional` more entries, which is kept until
    /// [`shrink_to_fit`](Self::shrink_to_fit).
    ///
    /// # Panics
    ///
    /// If this makes more than 2^32 - 2^10 entries, or more than the address space has room for:
    /// before anything is allocated.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel: TimingWheel<&str> = TimingWheel::new();
    /// wheel.reserve(5_000);
    /// assert!(wheel.capacity() >= 5_000);
    /// ```
    #[track_caller]
    pub fn reserve(&mut self, additional: usize) {
        let wanted = self.len().saturating_add(additional);
        let most = Core::<Stamped<T>, SLOTS, 0>::MOST;
        assert!(
            wanted <= most,
            "a timing wheel holds at most {most} entries"
        );
        self.core.reserve(additional);
    }

    /// Frees memory that is not in use: empty pages of the slab, and room for keys in slots.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel: TimingWheel<&str> = TimingWheel::new();
    /// wheel.reserve(5_000);
    /// wheel.shrink_to_fit();
    /// assert_eq!(wheel.capacity(), 0);
    /// ```
    pub fn shrink_to_fit(&mut self) {
        self.core.shrink_to_fit();
    }

    /// Removes all entries and frees their memory. The clock stays, and old keys stay stale.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel = TimingWheel::new();
    /// let key = wheel.insert(5, "five").unwrap();
    /// wheel.clear();
    /// assert_eq!(wheel.remove(key), None);
    /// assert_eq!(wheel.capacity(), 0);
    /// ```
    pub fn clear(&mut self) {
        drop(self.take_core());
    }

    pub(super) fn take_core(&mut self) -> Core<Stamped<T>, SLOTS, 0> {
        let now = self.now();
        mem::replace(&mut self.core, Core::starting_at(now))
    }
}

impl<T, const SLOTS: usize> Default for TimingWheel<T, SLOTS> {
    fn default() -> Self {
        Self::with_slots(0)
    }
}

impl<T: Clone, const SLOTS: usize> Clone for TimingWheel<T, SLOTS> {
    /// The same entries under the same keys, at the same tick.
    ///
    /// The key of an entry inserted later, into either wheel, may find another entry in the other
    /// wheel.
    fn clone(&self) -> Self {
        Self {
            core: self.core.clone(),
            stamp: self.stamp,
        }
    }
}
