//! The public wheel: a core whose keys carry a stamp, so that stale ones are found out.

use std::mem;
use std::num::NonZeroU64;

use super::Progress;
use super::core::Core;
use super::key::{Expired, Key, Rescheduled, Stamped};

/// A hierarchical timing wheel of `SLOTS` slots per level, 2 to 256.
///
/// Deadlines and the clock are absolute ticks; a tick is as long as the caller likes.
///
/// The number of slots changes speed and memory, not what fires at which tick. More slots make
/// fewer levels, so an entry moves less often before it fires; each level takes 8 bytes per slot.
/// A power of two costs shifts where other numbers cost divisions. README's figures of a bare
/// wheel are for 64. The driver's wheels have 256: there a million timers of one to four seconds
/// took 163 ns each to fire, and 215 with 64, when that number was chosen.
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
    /// The stamp of the next insertion. It never goes back: a stale key must not find another entry.
    stamp: NonZeroU64,
}

impl<T> TimingWheel<T> {
    /// An empty wheel of 64 slots a level, whose clock stands at tick 0. It allocates with the
    /// first insertion.
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

    /// The tick the clock stands at: the highest one advanced to, or where it started.
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
        self.core.slots.levels.len()
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

    /// Allocates memory for `additional` more entries, and keeps it until [`shrink_to_fit`](Self::shrink_to_fit).
    ///
    /// # Panics
    ///
    /// If this makes more than 2^32 entries, or the allocation does not fit the address space.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel: TimingWheel<&str> = TimingWheel::new();
    /// wheel.reserve(5_000);
    /// assert!(wheel.capacity() >= 5_000);
    /// ```
    pub fn reserve(&mut self, additional: usize) {
        self.core.reserve(additional);
    }

    /// Frees memory that is not in use: empty pages of the slab, and chunks kept in empty slots.
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

    /// Adds an entry that fires when the clock reaches `deadline`. Constant time.
    ///
    /// # Errors
    ///
    /// Hands the value back if `deadline` is not after [`now`](Self::now): it is due already.
    ///
    /// # Panics
    ///
    /// If there are 2^32 entries already, or 2^32 cells for their keys. Cells come in chunks of 64,
    /// and removing may leave chunks with five keys each: in that case there is room for a
    /// thirteenth of 2^32 entries.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel: TimingWheel<&str> = TimingWheel::new();
    /// assert!(wheel.insert(5, "five").is_ok());
    /// assert_eq!(wheel.insert(0, "not after now"), Err("not after now"));
    /// ```
    #[inline]
    pub fn insert(&mut self, deadline: u64, value: T) -> Result<Key, T> {
        if deadline <= self.now() {
            return Err(value);
        }
        let stamp = self.stamp;
        self.stamp = stamp.checked_add(1).expect("nobody inserts 2^64 times");
        let index = self.core.insert(deadline, Stamped { stamp, value });
        Ok(Key { index, stamp })
    }

    /// Removes an entry and returns its value; `None` if it has fired or been removed. Constant time.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel = TimingWheel::new();
    /// let key = wheel.insert(10, "never").unwrap();
    /// assert_eq!(wheel.remove(key), Some("never"));
    /// assert_eq!(wheel.remove(key), None);
    /// ```
    #[inline]
    pub fn remove(&mut self, key: Key) -> Option<T> {
        self.get(key)?;
        let removed = self.core.remove(key.index);
        drop(self.core.take_garbage());
        Some(removed.value)
    }

    /// Gives an entry another deadline, earlier or later, under the same key. Constant time.
    ///
    /// ```
    /// # use wheel::timing_wheel::{Rescheduled, TimingWheel};
    /// let mut wheel = TimingWheel::starting_at(10);
    /// let key = wheel.insert(20, "idle").unwrap();
    /// assert_eq!(wheel.reschedule(key, 50), Rescheduled::Moved);
    /// assert_eq!(wheel.reschedule(key, 10), Rescheduled::Expired("idle"));
    /// assert_eq!(wheel.reschedule(key, 50), Rescheduled::Stale);
    /// ```
    #[inline]
    pub fn reschedule(&mut self, key: Key, deadline: u64) -> Rescheduled<T> {
        if self.get(key).is_none() {
            return Rescheduled::Stale;
        }
        if deadline > self.now() {
            self.core.reschedule(key.index, deadline);
            return Rescheduled::Moved;
        }
        self.remove(key)
            .map_or(Rescheduled::Stale, Rescheduled::Expired)
    }

    /// The value of an entry; `None` if it has fired or been removed.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel = TimingWheel::new();
    /// let key = wheel.insert(5, "five").unwrap();
    /// assert_eq!(wheel.get(key), Some(&"five"));
    /// ```
    #[must_use]
    #[inline]
    pub fn get(&self, key: Key) -> Option<&T> {
        let stamped = self.core.get(key.index)?;
        (stamped.stamp == key.stamp).then_some(&stamped.value)
    }

    /// The value of an entry, to be changed; `None` if it has fired or been removed.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel: TimingWheel<u32> = TimingWheel::new();
    /// let key = wheel.insert(10, 1).unwrap();
    /// *wheel.get_mut(key).unwrap() += 1;
    /// assert_eq!(wheel.get(key), Some(&2));
    /// assert_eq!(wheel.deadline(key), Some(10));
    /// ```
    #[inline]
    pub fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        self.get(key)?;
        Some(&mut self.core.get_mut(key.index).value)
    }

    /// The tick at which an entry fires; `None` if it has fired or been removed.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel = TimingWheel::new();
    /// let key = wheel.insert(5, "five").unwrap();
    /// assert_eq!(wheel.deadline(key), Some(5));
    /// ```
    #[must_use]
    #[inline]
    pub fn deadline(&self, key: Key) -> Option<u64> {
        self.get(key)?;
        Some(self.core.deadline(key.index))
    }

    /// The tick at which to advance next; `None` when empty. It is never later than the earliest
    /// deadline.
    ///
    /// It is that deadline itself if it is within one turn of the lowest level, or if no more than
    /// 16 entries share its slot; else it may be the start of the slot. It is later than
    /// [`now`](Self::now), unless an unfinished advance has left entries over. At most 16 entries
    /// of each level are searched for it.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel: TimingWheel<()> = TimingWheel::new();
    /// assert_eq!(wheel.next_expiration(), None);
    /// wheel.insert(1_000_003, ()).unwrap();
    /// assert_eq!(wheel.next_expiration(), Some(1_000_003));
    /// ```
    #[must_use]
    #[inline]
    pub fn next_expiration(&self) -> Option<u64> {
        self.core.next_expiration()
    }

    /// The key of the entry that is due first, or of one of them; `None` when empty.
    ///
    /// Searches the whole first slot of a level, or of several: takes time in proportion to the
    /// entries there.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel: TimingWheel<()> = TimingWheel::new();
    /// let later = wheel.insert(1_000_004, ()).unwrap();
    /// let first = wheel.insert(1_000_003, ()).unwrap();
    /// assert_eq!(wheel.first(), Some(first));
    /// ```
    #[must_use]
    pub fn first(&self) -> Option<Key> {
        let index = self.core.first()?;
        let stamp = self.core.get(index)?.stamp;
        Some(Key { index, stamp })
    }

    /// Moves the clock to `to` and hands all that is due by then to `fire`, in the order of deadlines.
    ///
    /// Entries of the same tick come in no particular order. An entry that is not due cascades to
    /// a lower level, at most once a level. Empty slots cost nothing, so a long step costs no more
    /// than a short one. The clock never goes back: an earlier `to` does nothing, or finishes what
    /// [`advance_bounded`](Self::advance_bounded) has left over. If `fire` panics, the entry it was
    /// given is lost, and no other.
    ///
    /// What is to fire again and again is for [`advance_rearming`](Self::advance_rearming).
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// let mut wheel = TimingWheel::new();
    /// for deadline in [3, 1, 2, 9] {
    ///     wheel.insert(deadline, deadline * 10).unwrap();
    /// }
    /// let mut fired = Vec::new();
    /// wheel.advance(5, |expired| fired.push(expired.value));
    /// assert_eq!(fired, [10, 20, 30]);
    /// ```
    #[inline]
    pub fn advance(&mut self, to: u64, fire: impl FnMut(Expired<T>)) {
        let progress = self.advance_bounded(to, usize::MAX, fire);
        debug_assert!(progress.is_caught_up(), "there are fewer entries than that");
    }

    /// [`advance`](Self::advance) that stops when it has done so much, and can be continued.
    ///
    /// Each entry that fires, or cascades to a lower level, costs one of `budget`. When that is
    /// used up and there is more to do, the clock stops on the way. The wheel can be used as usual
    /// then, and the next advance continues.
    ///
    /// ```
    /// # use wheel::timing_wheel::{Progress, TimingWheel};
    /// let mut wheel = TimingWheel::new();
    /// for deadline in [3, 1, 2] {
    ///     wheel.insert(deadline, deadline * 10).unwrap();
    /// }
    /// let mut fired = Vec::new();
    /// let progress = wheel.advance_bounded(5, 2, |expired| fired.push(expired.value));
    /// assert_eq!((progress, wheel.now()), (Progress::Unfinished, 3));
    /// assert!(wheel.advance_bounded(5, 2, |expired| fired.push(expired.value)).is_caught_up());
    /// assert_eq!(fired, [10, 20, 30]);
    /// ```
    #[inline]
    pub fn advance_bounded(
        &mut self,
        to: u64,
        budget: usize,
        mut fire: impl FnMut(Expired<T>),
    ) -> Progress {
        let progress = self
            .core
            .advance(to, budget, &mut |index, deadline, stamped| {
                fire(Expired {
                    key: stamped.key(index),
                    deadline,
                    value: stamped.value,
                });
            });
        drop(self.core.take_garbage());
        progress
    }

    /// [`advance`](Self::advance) in which an entry may stay, for another deadline.
    ///
    /// `fire` is given the key, the deadline and the value, and says when the entry is due next;
    /// with `None` it is removed. It keeps its key. A deadline that lies before `to` fires in the
    /// same call, in its turn among the others: none is lost, however far the clock has to go at
    /// once. A deadline that is not after the one that has come counts as the tick after it.
    ///
    /// It takes as long as there are deadlines: one that is due every tick fires at every tick up
    /// to `to`. If `fire` panics, the entry it was given is lost, and no other.
    ///
    /// ```
    /// # use wheel::timing_wheel::TimingWheel;
    /// #[derive(Debug)]
    /// struct Poison { health: u32, ticks_left: u32 }
    ///
    /// let mut wheel = TimingWheel::new();
    /// let poison = wheel.insert(10, Poison { health: 100, ticks_left: 5 }).unwrap();
    /// let mut effect = |_key, deadline: u64, poison: &mut Poison| {
    ///     poison.health -= 7;
    ///     poison.ticks_left -= 1;
    ///     (poison.ticks_left > 0).then(|| deadline + 10)
    /// };
    /// wheel.advance_rearming(20, &mut effect);
    /// wheel.advance_rearming(43, &mut effect); // a frame took long: two ticks at once
    /// assert_eq!(wheel.get(poison).unwrap().health, 100 - 4 * 7);
    /// wheel.advance_rearming(50, &mut effect);
    /// assert!(wheel.is_empty());
    /// ```
    pub fn advance_rearming(
        &mut self,
        to: u64,
        mut fire: impl FnMut(Key, u64, &mut T) -> Option<u64>,
    ) {
        let progress = self
            .core
            .advance_rearming(to, &mut |index, deadline, stamped| {
                fire(stamped.key(index), deadline, &mut stamped.value)
            });
        debug_assert!(progress.is_caught_up(), "there is no budget to use up");
        drop(self.core.take_garbage());
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
    /// What is inserted into one of the two afterwards has a key that may find another entry in
    /// the other.
    fn clone(&self) -> Self {
        Self {
            core: self.core.clone(),
            stamp: self.stamp,
        }
    }
}
