//! [`DelayQueue`], a queue that yields each value once its deadline has passed.
//!
//! This module needs no cargo feature. With the feature `stream`, the queue implements `Stream`.

// # Ground rules
//
// * **Every entry is in the wheel, at its exact deadline.** The wheel counts [`Tick`]s, which have one
//   origin, so the instants of all clocks can be compared.
// * **An entry is due once `reached` is at its deadline or later.** Only a poll moves `reached` forward,
//   to what the clock shows or the queue's timer has been armed for. It then advances the wheel, until
//   one entry fires, which it returns. So due entries stay in the wheel until they are returned, removed
//   or reset.
// * **An entry whose deadline the wheel has passed goes to the wheel's own tick**, where the next step
//   of a poll finds it. It takes no tick of another entry, however many there are.
// * **The queue may meet a clock that is behind `reached`**, for example that of a paused runtime. An
//   entry inserted or reset under that clock would be early, so the queue first turns `reached` and the
//   wheel back to it.
//
// | file | content |
// | --- | --- |
// | `entries.rs` | inserting, resetting and removing an entry, and looking it up |
// | `poll.rs` | moving `reached`, and the steps of a poll |
// | `waiter.rs` | the task that waits, and the queue's only timer |
// | `key.rs`, `memory.rs` | keys and expired entries; the number of entries, and their memory |

mod entries;
mod key;
mod memory;
mod poll;
mod waiter;

use std::fmt;

use self::waiter::Waiter;
use crate::clock::Tick;
use crate::handle::Handle;
use crate::timing_wheel::TimingWheel;

pub use self::key::{Expired, Key};

/// A queue that yields each value once its deadline has passed.
///
/// One task polls the queue, with [`next`](Self::next), with [`poll_expired`](Self::poll_expired)
/// or, with the feature `stream`, as a `Stream`. While that task waits, an entry that becomes the
/// earliest moves the queue's timer or wakes the task, and the removal of the last entry and
/// [`clear`](Self::clear) wake the task. Entries are yielded in the order of their deadlines; the
/// order of entries less than a millisecond apart is unspecified. Polling an empty queue returns
/// `None`, and the next insertion wakes the task that polled it.
///
/// Deadlines are kept exactly, and an entry is never early. The task that waits is woken when a
/// [`sleep_until`](crate::sleep_until) the earliest deadline would complete. To be woken within
/// Tokio's millisecond, create the queue [on a driver](Self::with_handle) with high resolution.
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
///   Here, a deadline more than about 500 years away is [cut to a
///   limit](crate::docs::guarantees#limits).
/// * **Deadlines are exact.** In tokio-util, they are rounded up to whole milliseconds since the
///   creation of the queue.
/// * **An entry is not early if the queue was created under another clock**, for example before a
///   paused runtime was entered. In tokio-util, it may be. If runtimes with different clocks use a
///   queue in turns, it follows the later clock.
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
    waiter: Waiter,
    /// The time that the queue has reached. The wheel's clock is never later.
    reached: Tick,
    /// `true` if the next step has to advance the wheel to `reached`.
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
        DelayQueue::made_of(Waiter::new(None))
    }

    /// Creates an empty queue whose timer belongs to the driver of `wheel`, no matter where the
    /// queue is polled.
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
    /// queue.insert("idle", Duration::from_millis(50));
    /// let expired = queue.next().await;
    /// assert_eq!(expired.map(|entry| entry.into_inner()), Some("idle"));
    /// assert_eq!(wheel.metrics().snapshot().fired, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_handle(handle: &Handle) -> Self {
        DelayQueue::made_of(Waiter::new(Some(handle.clone())))
    }

    fn made_of(waiter: Waiter) -> Self {
        let reached = Tick::now();
        DelayQueue {
            wheel: TimingWheel::starting_at(reached.0),
            waiter,
            reached,
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
            .field("waiter", &self.waiter)
            .finish_non_exhaustive()
    }
}
