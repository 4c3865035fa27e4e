//! Operations on entries: inserting, resetting, removing, and looking them up.

use std::time::Duration;

use tokio::time::Instant;

use super::memory::MOST;
use super::{DelayQueue, Expired, Key};
use crate::timing_wheel;

/// How far the wheel may fall behind the clock, in units of the clock, before a reset wakes the
/// task to advance the wheel. (Without this, tokio-util's tests of resets after the start of a slot
/// fail.)
const FAR_BEHIND: u64 = 64;

impl<T> DelayQueue<T> {
    /// Inserts a value that expires at `when`, and returns its key.
    ///
    /// If `when` has passed, the entry is due immediately. If a task waits for the queue and the
    /// new entry has the earliest deadline, the task is woken at that deadline. If the queue was
    /// empty, the task is woken immediately.
    ///
    /// This needs no runtime, and takes constant time on average.
    ///
    /// # Panics
    ///
    /// Panics with `max entries exceeded` if the queue already contains 2³⁰ − 1 entries.
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
    /// Neither a distant deadline nor the lack of a runtime makes this panic. A deadline more than
    /// 2230 years after the creation of the queue is brought forward to that time.
    #[inline]
    #[track_caller]
    pub fn insert_at(&mut self, value: T, when: Instant) -> Key {
        self.insert_tick(value, self.clock.tick_of(when))
    }

    /// Inserts a value that expires after `timeout`, and returns its key.
    ///
    /// This is the same as [`insert_at`](Self::insert_at) with the deadline `Instant::now() +
    /// timeout`, except that a timeout too long to be represented as a deadline becomes the
    /// farthest one.
    ///
    /// # Panics
    ///
    /// Panics under the same conditions as [`insert_at`](Self::insert_at).
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
        let tick = self.accepted(tick);
        let place = self.insert_into_wheel(tick, value);
        if self.waiter.waits_beyond(tick) {
            self.wake_earlier(tick);
        }
        Key(place)
    }

    /// Makes sure that the task is woken at `tick`, which is before the tick that it waits for.
    #[cold]
    fn wake_earlier(&mut self, tick: u64) {
        if self.clock.has_reached(tick) {
            self.waiter.wake();
        } else {
            self.waiter.move_earlier(tick, self.clock.instant_of(tick));
        }
    }

    /// Returns the tick itself, or the next one that the wheel accepts if its clock has passed the
    /// tick.
    #[inline]
    fn accepted(&self, tick: u64) -> u64 {
        tick.max(self.wheel.now() + 1)
    }

    /// Inserts a value into the wheel, at its tick or at the next one that the wheel accepts.
    #[inline]
    pub(super) fn insert_into_wheel(&mut self, tick: u64, value: T) -> timing_wheel::Key {
        match self.wheel.insert(self.accepted(tick), value) {
            Ok(place) => place,
            Err(_) => unreachable!("the wheel accepts this tick"),
        }
    }

    /// Resets the deadline of an entry to `when`, earlier or later. Its key stays valid.
    ///
    /// If the entry was already due but no poll has returned it yet, it expires at `when` instead.
    /// If `when` has passed, the entry is due immediately, and a task that waits for the queue is
    /// woken immediately.
    ///
    /// # Panics
    ///
    /// Panics with `invalid key` if the entry has expired or been removed.
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

    /// Resets the deadline of an entry to `timeout` from now. Its key stays valid.
    ///
    /// This is the same as [`reset_at`](Self::reset_at) with the deadline `Instant::now() +
    /// timeout`, except that a timeout too long to be represented as a deadline becomes the
    /// farthest one.
    ///
    /// # Panics
    ///
    /// Panics under the same conditions as [`reset_at`](Self::reset_at).
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
        let tick = self.accepted(tick);
        let moved = self.wheel.reschedule(place, tick);
        debug_assert!(matches!(moved, timing_wheel::Rescheduled::Moved));
        if self.waiter.may_wait_for(old.min(tick)) {
            self.update_waiter(old, tick);
        }
    }

    /// Updates the waiter after an entry has moved from tick `old` to `tick`, if one of them is not
    /// after the tick that the task waits for.
    ///
    /// If the entry that the task waits for was reset to a later deadline, the timer stays as it
    /// is. The spurious poll to which this leads is cheaper than searching for the next entry at
    /// each of many resets.
    #[cold]
    fn update_waiter(&mut self, old: u64, tick: u64) {
        let awaited = self.waiter.may_wait_for(old);
        if self.waiter.waits_beyond(tick) {
            self.wake_earlier(tick);
        }
        // If the earliest entry is reset again and again, nothing else may make the wheel catch up.
        if awaited && self.clock.units_after(self.wheel.now()) >= FAR_BEHIND {
            self.waiter.wake();
        }
    }

    /// Removes an entry from the queue and returns it.
    ///
    /// This also works for an entry whose deadline has passed, as long as no poll has returned it.
    /// If this was the last entry, a task that waits for the queue is woken.
    ///
    /// # Panics
    ///
    /// Panics with `invalid key` if the entry has expired or been removed.
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

    /// Removes an entry from the queue and returns it, or returns `None` if the entry has expired
    /// or been removed.
    ///
    /// If this was the last entry, a task that waits for the queue is woken.
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
        let key = Key(place);
        if self.wheel.is_empty() {
            self.waiter.cancel();
        }
        Some(Expired {
            data,
            deadline,
            key,
        })
    }

    /// Removes and drops all entries.
    ///
    /// The queue keeps its capacity. If there were any entries, a task that waits for the queue is
    /// woken.
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
        self.wheel.clear();
        self.wheel.reserve(capacity);
        self.waiter.cancel();
    }

    /// Returns the deadline of an entry.
    ///
    /// The deadline is rounded up to whole milliseconds since the queue was created, or to 50 µs if
    /// the queue is [on a driver](Self::with_handle) with high resolution. If the entry was inserted
    /// or reset for a time that the queue had already passed, this returns the time that the queue had
    /// reached instead.
    ///
    /// # Panics
    ///
    /// Panics with `invalid key` if the entry has expired or been removed.
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

    /// Returns the key of the entry with the earliest deadline, or `None` if the queue is empty.
    ///
    /// If several entries have that deadline, it returns any of them. The entry stays in the queue.
    /// Like [`TimingWheel::first`](crate::TimingWheel::first), it may read many entries.
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
        Some(Key(place))
    }

    /// Returns the place of an entry in the wheel, and its tick.
    #[inline]
    fn find(&self, key: Key) -> Option<(timing_wheel::Key, u64)> {
        Some((key.0, self.wheel.deadline(key.0)?))
    }
}

#[cfg(all(test, feature = "test-util", not(loom)))]
mod tests {
    use super::*;

    /// This is a difference from tokio-util, which the documentation of `DelayQueue` lists.
    #[tokio::test(start_paused = true)]
    async fn an_entry_for_a_time_that_has_passed_reports_the_time_of_the_last_poll() {
        let mut queue = DelayQueue::new();
        let (start, ms) = (Instant::now(), Duration::from_millis);
        queue.insert("polled at 10 ms", ms(10));
        assert!(queue.next().await.is_some());
        let inserted = queue.insert_at("inserted", start + ms(1));
        let reset = queue.insert("reset", ms(50));
        queue.reset_at(&reset, start);
        for key in [inserted, reset] {
            assert_eq!(queue.deadline(&key), start + ms(10));
        }
        for _ in [inserted, reset] {
            let expired = queue.next().await.unwrap();
            assert_eq!(expired.deadline(), start + ms(10));
            assert_eq!(Instant::now(), start + ms(10));
        }
    }
}
