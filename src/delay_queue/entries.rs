//! Putting entries in, moving them, taking them out.

use std::time::Duration;

use tokio::time::Instant;

use super::memory::MOST;
use super::{DelayQueue, Expired, Key};
use crate::wheel;

/// The task of a wheel that is further behind than this, in units of the clock, is woken to
/// advance the wheel. (Without that, tokio-util's tests of resets after the start of a slot fail.)
const FAR_BEHIND: u64 = 64;

impl<T> DelayQueue<T> {
    /// Adds a value that comes out at `when`.
    ///
    /// If `when` has passed, the value comes out at the next poll. A task that waits for the
    /// queue is woken at the new deadline if that is the earliest. The queue counts time from
    /// its own making.
    ///
    /// # Panics
    ///
    /// With `max entries exceeded` if there are 2³⁰ - 1 entries.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{DelayQueue, Duration, Instant};
    ///
    /// let mut queue = DelayQueue::new();
    /// let key = queue.insert_at("in five", Instant::now() + Duration::from_secs(5));
    /// assert_eq!(queue.remove(&key).into_inner(), "in five");
    /// ```
    ///
    /// # Differences from tokio-util
    ///
    /// Neither a far deadline nor the lack of a runtime panics. The farthest deadline is 2230
    /// years away.
    #[inline]
    #[track_caller]
    pub fn insert_at(&mut self, value: T, when: Instant) -> Key {
        self.insert_tick(value, self.clock.tick_of(when))
    }

    /// Adds a value that comes out when `timeout` has elapsed.
    ///
    /// As [`insert_at`](Self::insert_at) otherwise.
    ///
    /// # Panics
    ///
    /// As [`insert_at`](Self::insert_at).
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{DelayQueue, Duration};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut queue = DelayQueue::new();
    /// queue.insert("second", Duration::from_millis(10));
    /// queue.insert("first", Duration::from_millis(5));
    /// queue.insert("never", Duration::MAX);
    ///
    /// for expected in ["first", "second"] {
    ///     let expired = queue.next().await.unwrap();
    ///     assert_eq!(expired.into_inner(), expected);
    /// }
    /// # }
    /// ```
    #[inline]
    #[track_caller]
    pub fn insert(&mut self, value: T, timeout: Duration) -> Key {
        self.insert_tick(value, self.clock.tick_after(timeout))
    }

    #[inline]
    #[track_caller]
    fn insert_tick(&mut self, value: T, tick: u64) -> Key {
        assert!(self.wheel.len() < MOST, "max entries exceeded");
        let tick = self.not_before_now(tick);
        let place = self.file(tick, value);
        if self.alarm.is_later_than(tick) {
            self.hurry(tick);
        }
        Key(place)
    }

    /// Wakes the task, or moves its timer forward to `tick`.
    #[cold]
    fn hurry(&mut self, tick: u64) {
        if self.clock.has_reached(tick) {
            self.alarm.wake();
        } else {
            self.alarm.advance(tick, self.clock.instant_of(tick));
        }
    }

    /// Entries that are due already go to the first tick that the wheel takes.
    #[inline]
    fn not_before_now(&self, tick: u64) -> u64 {
        tick.max(self.wheel.now() + 1)
    }

    /// Puts a value into the wheel, whose clock may have come past its tick.
    #[inline]
    pub(super) fn file(&mut self, tick: u64, value: T) -> wheel::Key {
        match self.wheel.insert(self.not_before_now(tick), value) {
            Ok(place) => place,
            Err(_) => unreachable!("the tick is after now"),
        }
    }

    /// Moves the deadline of an entry to `when`, earlier or later; its key stays valid.
    ///
    /// An entry that was due and has not been polled yet is due at `when` and no earlier. If
    /// `when` has passed, a task that waits for the queue is woken on the spot.
    ///
    /// # Panics
    ///
    /// With `invalid key` if there is no such entry.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{DelayQueue, Duration, Instant};
    ///
    /// let mut queue = DelayQueue::new();
    /// let key = queue.insert("idle", Duration::from_secs(5));
    /// queue.reset_at(&key, Instant::now() + Duration::from_secs(10));
    /// assert!(queue.deadline(&key) > Instant::now() + Duration::from_secs(9));
    /// ```
    #[inline]
    #[track_caller]
    pub fn reset_at(&mut self, key: &Key, when: Instant) {
        self.reset_tick(key, self.clock.tick_of(when));
    }

    /// Moves the deadline of an entry to `timeout` from now; its key stays valid.
    ///
    /// As [`reset_at`](Self::reset_at) otherwise.
    ///
    /// # Panics
    ///
    /// As [`reset_at`](Self::reset_at).
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{DelayQueue, Duration};
    ///
    /// let mut queue = DelayQueue::new();
    /// let key = queue.insert("idle", Duration::from_secs(5));
    /// queue.reset(&key, Duration::from_secs(10));
    /// assert_eq!(queue.remove(&key).into_inner(), "idle");
    /// ```
    #[inline]
    #[track_caller]
    pub fn reset(&mut self, key: &Key, timeout: Duration) {
        self.reset_tick(key, self.clock.tick_after(timeout));
    }

    #[inline]
    #[track_caller]
    fn reset_tick(&mut self, key: &Key, tick: u64) {
        let (place, old) = self.find(*key).expect("invalid key");
        let tick = self.not_before_now(tick);
        let moved = self.wheel.reschedule(place, tick);
        debug_assert!(matches!(moved, wheel::Rescheduled::Moved));
        if self.alarm.is_set_for(old.min(tick)) {
            self.realarm(old, tick);
        }
    }

    /// The entry that the task may be waiting for has been moved, or another entry to before it.
    ///
    /// If the former was put off, the alarm stays: a spurious poll is cheaper than a search for
    /// the next entry at each of many resets.
    #[cold]
    fn realarm(&mut self, old: u64, tick: u64) {
        let awaited = self.alarm.is_set_for(old);
        if self.alarm.is_later_than(tick) {
            self.hurry(tick);
        }
        // If the first entry is put off for ever, nothing else may bring the wheel up to date.
        if awaited && self.clock.lag(self.wheel.now()) >= FAR_BEHIND {
            self.alarm.wake();
        }
    }

    /// Takes an entry out before its deadline, or later, if no poll has returned the entry yet.
    ///
    /// Wakes a task that waits for the queue if this was the last entry.
    ///
    /// # Panics
    ///
    /// With `invalid key` if there is no such entry.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{DelayQueue, Duration};
    ///
    /// let mut queue = DelayQueue::new();
    /// let key = queue.insert("cancelled", Duration::from_secs(5));
    /// assert_eq!(queue.remove(&key).into_inner(), "cancelled");
    /// ```
    #[inline]
    #[track_caller]
    pub fn remove(&mut self, key: &Key) -> Expired<T> {
        self.try_remove(key).expect("invalid key")
    }

    /// [`remove`](Self::remove), with `None` if there is no such entry.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{DelayQueue, Duration};
    ///
    /// let mut queue = DelayQueue::new();
    /// let key = queue.insert("cancelled", Duration::from_secs(5));
    /// assert_eq!(queue.try_remove(&key).unwrap().into_inner(), "cancelled");
    /// assert!(queue.try_remove(&key).is_none());
    /// ```
    #[inline]
    pub fn try_remove(&mut self, key: &Key) -> Option<Expired<T>> {
        let (place, tick) = self.find(*key)?;
        let data = self.wheel.remove(place)?;
        let deadline = self.clock.instant_of(tick);
        let key = self.moved.forget(place);
        if self.wheel.is_empty() {
            self.alarm.cancel();
        }
        Some(Expired {
            data,
            deadline,
            key,
        })
    }

    /// Takes all entries out, and drops them.
    ///
    /// Keeps the capacity. Wakes a task that waits for the queue if there were any.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{DelayQueue, Duration};
    ///
    /// let mut queue = DelayQueue::new();
    /// let key = queue.insert("dropped", Duration::from_secs(5));
    /// queue.clear();
    /// assert!(queue.is_empty());
    /// assert!(queue.try_remove(&key).is_none());
    /// ```
    pub fn clear(&mut self) {
        if self.wheel.is_empty() {
            return;
        }
        let capacity = self.wheel.capacity();
        self.moved = super::Moved::default();
        self.wheel.clear();
        self.wheel.reserve(capacity);
        self.alarm.cancel();
    }

    /// The deadline of an entry, rounded as the queue rounds deadlines.
    ///
    /// Deadlines are rounded up to a whole millisecond since the queue was made. An entry whose
    /// deadline was in the past at the insertion is due at the time that the queue had reached.
    ///
    /// # Panics
    ///
    /// With `invalid key` if there is no such entry.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{DelayQueue, Duration, Instant};
    ///
    /// let mut queue = DelayQueue::new();
    /// let deadline = Instant::now() + Duration::from_secs(5);
    /// let key = queue.insert_at("five", deadline);
    /// assert!(queue.deadline(&key) >= deadline);
    /// assert!(queue.deadline(&key) < deadline + Duration::from_millis(1));
    /// ```
    #[track_caller]
    pub fn deadline(&self, key: &Key) -> Instant {
        let (_, tick) = self.find(*key).expect("invalid key");
        self.clock.instant_of(tick)
    }

    /// The key of an entry that has the earliest deadline; `None` if the queue is empty.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{DelayQueue, Duration};
    ///
    /// let mut queue = DelayQueue::new();
    /// queue.insert("ten", Duration::from_secs(10));
    /// let five = queue.insert("five", Duration::from_secs(5));
    /// queue.insert("fifteen", Duration::from_secs(15));
    /// assert_eq!(queue.peek(), Some(five));
    /// ```
    pub fn peek(&self) -> Option<Key> {
        let place = self.wheel.first()?;
        Some(self.moved.name(place))
    }

    /// Where an entry is in the wheel, and its tick.
    #[inline]
    fn find(&self, key: Key) -> Option<(wheel::Key, u64)> {
        if let Some(tick) = self.wheel.deadline(key.0) {
            return Some((key.0, tick));
        }
        let place = self.moved.place(key)?;
        Some((place, self.wheel.deadline(place)?))
    }
}
