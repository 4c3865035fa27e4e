//! [`DelayQueue`], a queue that yields each value once its deadline has passed.
//!
//! This module needs no cargo feature. With the feature `stream`, the queue implements `Stream`.

mod clock;
mod entries;
mod key;
mod memory;
mod poll;
mod waiter;

use std::fmt;

use self::clock::Clock;
use self::waiter::Waiter;
use crate::handle::Handle;
use crate::timing_wheel::TimingWheel;

pub use self::key::{Expired, Key};

/// A queue that yields each value once its deadline has passed.
///
/// One task polls the queue, with [`next`](Self::next), with [`poll_expired`](Self::poll_expired)
/// or, with the feature `stream`, as a `Stream`. While that task waits, an entry that becomes the
/// earliest moves the queue's timer or wakes the task, and the removal of the last entry and
/// [`clear`](Self::clear) wake the task. Entries are yielded in the order of their deadlines; the
/// order within a millisecond is unspecified. Polling an empty queue returns `None`, and the next
/// insertion wakes the task that polled it.
///
/// Deadlines are rounded up to whole milliseconds since the creation of the queue, so an entry is
/// never early, and the rounding makes it at most one millisecond late. For finer deadlines, create
/// the queue [on a driver](Self::with_handle) with high resolution.
///
/// Inserting, removing and resetting an entry take constant time on average, however many entries
/// are in the queue. All entries share one timer of the runtime, which is re-armed only while the
/// task waits.
///
/// | methods | purpose |
/// | --- | --- |
/// | [`new`](Self::new), [`with_capacity`](Self::with_capacity), [`with_handle`](Self::with_handle) | creating a queue |
/// | [`insert`](Self::insert), [`insert_at`](Self::insert_at) | inserting a value, which returns its key |
/// | [`reset`](Self::reset), [`reset_at`](Self::reset_at) | changing a deadline |
/// | [`remove`](Self::remove), [`try_remove`](Self::try_remove), [`clear`](Self::clear) | removing entries before they expire |
/// | [`next`](Self::next), [`poll_expired`](Self::poll_expired) | waiting for the next entry that expires |
/// | [`deadline`](Self::deadline), [`peek`](Self::peek) | looking up a deadline, and the first entry |
/// | [`len`](Self::len), [`is_empty`](Self::is_empty) | counting entries |
/// | [`capacity`](Self::capacity), [`reserve`](Self::reserve), [`shrink_to_fit`](Self::shrink_to_fit), [`compact`](Self::compact) | managing memory |
///
/// # Panics
///
/// Methods that take a key, except [`try_remove`](Self::try_remove), panic with `invalid key` if
/// the entry has expired or been removed. The panic is reported at the line of the caller.
///
/// Polling panics if it has to make the queue's timer and is outside a Tokio runtime, or in a
/// runtime that was built without `enable_time`. (With [`with_handle`](Self::with_handle), it needs
/// no runtime while the driver runs.)
///
/// # Cancel safety
///
/// Dropping a future that waits for the next entry loses no entry.
///
/// # Examples
///
/// Closing sessions that have been idle for too long:
///
/// ```
/// use std::collections::HashMap;
/// use wheel::{delay_queue, DelayQueue, Duration};
///
/// const IDLE: Duration = Duration::from_millis(20);
///
/// #[derive(Default)]
/// struct Sessions {
///     timers: HashMap<u32, delay_queue::Key>,
///     idle: DelayQueue<u32>,
/// }
///
/// impl Sessions {
///     /// Notes that a message has arrived, which restarts the idle timeout.
///     fn on_message(&mut self, id: u32) {
///         match self.timers.get(&id) {
///             Some(key) => self.idle.reset(key, IDLE),
///             None => _ = self.timers.insert(id, self.idle.insert(id, IDLE)),
///         }
///     }
///
///     fn close(&mut self, id: u32) {
///         if let Some(key) = self.timers.remove(&id) {
///             self.idle.remove(&key);
///         }
///     }
///
///     /// Waits for the next session that has been idle for too long. `None` if there are no sessions.
///     async fn next_idle(&mut self) -> Option<u32> {
///         let expired = self.idle.next().await?;
///         self.timers.remove(expired.get_ref());
///         Some(expired.into_inner())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut sessions = Sessions::default();
/// sessions.on_message(1);
/// sessions.on_message(2);
/// sessions.close(1);
/// assert_eq!(sessions.next_idle().await, Some(2));
/// assert_eq!(sessions.next_idle().await, None);
/// # }
/// ```
///
/// # Differences from tokio-util
///
/// * **Keys are never reused.** A stale key finds nothing. In tokio-util it may find another entry,
///   which uses the same memory.
/// * **Distant deadlines are accepted.** In tokio-util, a deadline more than two years away panics.
///   Here, a deadline beyond 2,230 years is brought forward to that.
/// * **Inserting and resetting need no runtime.** The queue's timer belongs to the runtime of the
///   poll that made it. In tokio-util it belongs to the runtime in which an entry was inserted or
///   reset.
/// * **Each poll does a bounded amount of work**, and spends from the task's [cooperative
///   budget](tokio::task::coop).
/// * **An entry that expires costs no allocation** and registers no timer of its own.
/// * **An entry that is already due may report a later deadline.** If an entry is inserted or reset
///   for a time that the queue has already passed, [`deadline`](Self::deadline) and
///   [`Expired::deadline`] return the time that the queue has reached. tokio-util's queue may
///   return an earlier time. In both, the entry is due immediately.
/// * [`next`](Self::next) is a method of the queue, so it needs no feature and no trait.
/// * [`compact`](Self::compact) does no more than [`shrink_to_fit`](Self::shrink_to_fit).
/// * `Debug` does not require `T: Debug`.
pub struct DelayQueue<T> {
    wheel: TimingWheel<T>,
    clock: Clock,
    waiter: Waiter,
    /// The tick to advance the wheel to, as of the last time that a poll read the clock.
    target: u64,
    /// `true` while the wheel has not reached `target`.
    behind: bool,
}

impl<T> DelayQueue<T> {
    /// Creates an empty queue.
    ///
    /// The queue allocates nothing before the first insertion. Creating it needs no runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// let queue: wheel::DelayQueue<u32> = wheel::DelayQueue::new();
    /// assert!(queue.is_empty());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        DelayQueue::made_of(Clock::new(), Waiter::new(None))
    }

    /// Creates an empty queue whose timer belongs to the driver of `wheel`, no matter where the
    /// queue is polled.
    ///
    /// If the driver has [high resolution](crate::Builder::high_resolution), deadlines are rounded
    /// up to multiples of the default spacing, 50 µs, instead of whole milliseconds, and deadlines
    /// more than 111 years away are brought forward to that time.
    ///
    /// When the driver shuts down, the queue continues with the timers of the runtime that polls
    /// it, so its entries are then as late as any timer of that runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{Builder, DelayQueue, Duration};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), wheel::BuildError> {
    /// let wheel = Builder::new().tick(Duration::from_millis(50)).build()?;
    /// let mut queue = DelayQueue::with_handle(&wheel);
    /// queue.insert("idle", Duration::from_millis(1));
    /// let expired = queue.next().await;
    /// assert_eq!(expired.map(|entry| entry.into_inner()), Some("idle"));
    /// assert_eq!(wheel.metrics().snapshot().fired, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_handle(handle: &Handle) -> Self {
        let clock = match handle.is_precise() {
            true => Clock::precise(),
            false => Clock::new(),
        };
        DelayQueue::made_of(clock, Waiter::new(Some(handle.clone())))
    }

    fn made_of(clock: Clock, waiter: Waiter) -> Self {
        DelayQueue {
            wheel: TimingWheel::new(),
            clock,
            waiter,
            target: 0,
            behind: false,
        }
    }

    /// Creates an empty queue with memory for `capacity` entries.
    ///
    /// # Panics
    ///
    /// Panics under the same conditions as [`reserve`](Self::reserve).
    ///
    /// # Examples
    ///
    /// ```
    /// let queue: wheel::DelayQueue<u32> = wheel::DelayQueue::with_capacity(10);
    /// assert!(queue.capacity() >= 10);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> Self {
        let mut queue = Self::new();
        queue.reserve(capacity);
        queue
    }
}

impl<T> Default for DelayQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

// Entries are never pinned.
impl<T> Unpin for DelayQueue<T> {}

impl<T> fmt::Debug for DelayQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DelayQueue")
            .field("wheel", &self.wheel)
            .field("clock", &self.clock)
            .field("waiter", &self.waiter)
            .finish_non_exhaustive()
    }
}

const _: () = {
    const fn send_sync_unpin<T: Send + Sync + Unpin + 'static>() {}
    send_sync_unpin::<DelayQueue<u8>>();
    send_sync_unpin::<Expired<u8>>();
};
