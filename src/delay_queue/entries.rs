//! Operations on entries: inserting, resetting, removing, and looking them up.

use std::time::Duration;

use tokio::time::Instant;

use super::memory::MOST;
use super::{DelayQueue, Expired, Key};
use crate::clock::Tick;

/// How far the wheel may fall behind the clock before a reset wakes the task to advance the wheel.
/// (Without this, tokio-util's tests of resets after the start of a slot fail.)
const FAR_BEHIND: Duration = Duration::from_millis(64);

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
    /// about 500 years ahead is [cut to a limit](crate::docs::guarantees#limits).
    #[inline]
    #[track_caller]
    pub fn insert_at(&mut self, value: T, when: Instant) -> Key {
        self.insert_tick(value, Tick::of(when))
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
    /// queue.insert("second", Duration::from_millis(100));
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
        self.insert_tick(value, Tick::now().saturating_add(timeout))
    }

    #[inline]
    #[track_caller]
    fn insert_tick(&mut self, value: T, tick: Tick) -> Key {
        assert!(self.wheel.len() < MOST, "max entries exceeded");
        let tick = self.accepted(tick);
        let key = self.wheel.insert_from_now_on(tick.0, value);
        if self.waiter.waits_beyond(tick) {
            self.wake_earlier(tick);
        }
        Key(key)
    }

    /// Makes sure that the task is woken at `tick`, which is before the tick that it waits for.
    #[cold]
    fn wake_earlier(&mut self, tick: Tick) {
        if tick <= self.reached {
            self.waiter.wake();
        } else {
            self.waiter.move_earlier(tick);
        }
    }

    /// Returns the tick at which the wheel accepts an entry with the deadline `tick`.
    #[inline]
    fn accepted(&mut self, tick: Tick) -> Tick {
        if tick > self.reached {
            return tick;
        }
        self.accepted_as_due(tick)
    }

    /// Returns the tick for a deadline that the queue has reached, which is the wheel's own tick if the
    /// wheel has passed the deadline. Turns the queue back first if the current clock has not reached
    /// the deadline.
    #[cold]
    fn accepted_as_due(&mut self, tick: Tick) -> Tick {
        let now = Tick::now();
        if tick > now {
            self.reached = now;
            self.wheel.turn_back(now.0);
        }
        tick.max(Tick(self.wheel.now()))
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
        self.reset_tick(key, Tick::of(when));
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
        self.reset_tick(key, Tick::now().saturating_add(timeout));
    }

    #[inline]
    #[track_caller]
    fn reset_tick(&mut self, key: &Key, tick: Tick) {
        let old = self.tick_of(key).expect("invalid key");
        let tick = self.accepted(tick);
        self.wheel.reschedule_from_now_on(key.0, tick.0);
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
    fn update_waiter(&mut self, old: Tick, tick: Tick) {
        let awaited = self.waiter.may_wait_for(old);
        if self.waiter.waits_beyond(tick) {
            self.wake_earlier(tick);
        }
        // If the earliest entry is reset again and again, nothing else may make the wheel catch up.
        let behind = Tick::now().saturating_since(Tick(self.wheel.now()));
        if awaited && behind >= FAR_BEHIND {
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
        let tick = self.tick_of(key)?;
        let data = self.wheel.remove(key.0)?;
        if self.wheel.is_empty() {
            self.waiter.cancel();
        }
        Some(Expired {
            data,
            deadline: tick.to_instant(),
            key: *key,
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
    /// If the entry was inserted or reset for a time that the queue had already passed, this returns
    /// the time that the queue had reached instead.
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
    /// assert_eq!(queue.deadline(&key), deadline);
    /// ```
    #[track_caller]
    pub fn deadline(&self, key: &Key) -> Instant {
        self.tick_of(key).expect("invalid key").to_instant()
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
        self.wheel.first().map(Key)
    }

    /// Returns the tick of an entry, if it is in the wheel.
    #[inline]
    fn tick_of(&self, key: &Key) -> Option<Tick> {
        self.wheel.deadline(key.0).map(Tick)
    }
}
