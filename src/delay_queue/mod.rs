//! A queue of values with deadlines: [`DelayQueue`]. No cargo feature is needed; with `stream` the
//! queue is a `Stream`.

mod alarm;
mod clock;
mod entries;
mod key;
mod memory;
mod moved;
mod poll;

use std::fmt;

use self::alarm::Alarm;
use self::clock::Clock;
use self::moved::Moved;
use crate::handle::Wheel;
use crate::wheel::TimingWheel;

pub use self::key::{Expired, Key};

/// Values with deadlines; each comes out when its deadline has passed, unless removed before.
///
/// A single task polls the queue, with [`next`](Self::next), with
/// [`poll_expired`](Self::poll_expired) or, with the feature `stream`, as a `Stream`. While that
/// task waits, each change of the queue that changes the answer wakes the task: an earlier entry, a
/// reset, the removal of the last entry, [`clear`](Self::clear). Values come in the order of their
/// deadlines, those of the same millisecond in any order.
///
/// An empty queue returns `None`. An insertion then wakes the task of the last poll.
///
/// Deadlines are rounded up to whole milliseconds since the queue was made, unless the queue is
/// [on a wheel](Self::with_wheel) of high resolution: an entry is at most a millisecond late, and
/// never early. Inserting, removing and resetting take constant time, however many entries are in
/// the queue. A single timer of the runtime serves all entries, and is moved only when the task
/// waits.
///
/// | method | |
/// | --- | --- |
/// | [`new`](Self::new), [`with_capacity`](Self::with_capacity) | make a queue |
/// | [`insert`](Self::insert), [`insert_at`](Self::insert_at) | add a value, get its key |
/// | [`reset`](Self::reset), [`reset_at`](Self::reset_at) | move a deadline |
/// | [`remove`](Self::remove), [`try_remove`](Self::try_remove), [`clear`](Self::clear) | take values out before their time |
/// | [`next`](Self::next), [`poll_expired`](Self::poll_expired) | wait for an entry that is due, and take the entry out |
/// | [`deadline`](Self::deadline), [`peek`](Self::peek) | look at an entry, and for the first entry |
/// | [`len`](Self::len), [`is_empty`](Self::is_empty) | count |
/// | [`capacity`](Self::capacity), [`reserve`](Self::reserve), [`shrink_to_fit`](Self::shrink_to_fit), [`compact`](Self::compact) | memory |
///
/// # Panics
///
/// With `invalid key`, at the caller's line, where a method says so. Polling panics outside of a
/// Tokio runtime, and in a runtime built without `enable_time`, when there is something to wait
/// for.
///
/// # Cancel safety
///
/// Dropping a future that waits for the next entry loses no entry.
///
/// # Examples
///
/// Sessions that end when they have been idle for too long:
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
///     /// A message on a session.
///     fn heard(&mut self, id: u32) {
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
///     /// The next session that has been idle for too long; `None` if there are no sessions.
///     async fn ended(&mut self) -> Option<u32> {
///         let expired = self.idle.next().await?;
///         self.timers.remove(expired.get_ref());
///         Some(expired.into_inner())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut sessions = Sessions::default();
/// sessions.heard(1);
/// sessions.heard(2);
/// sessions.close(1);
/// assert_eq!(sessions.ended().await, Some(2));
/// assert_eq!(sessions.ended().await, None);
/// # }
/// ```
///
/// # Differences from tokio-util
///
/// * A key stays that of its entry, and a stale key finds nothing; there it finds the entry that
///   has taken the place since.
/// * No deadline is too far: there, more than two years from now panics.
/// * An entry that expires costs no allocation and no registration of a timer.
/// * A poll does a bounded amount of work, and spends from the task's budget.
/// * [`compact`](Self::compact) moves entries only if that frees memory.
/// * The timer belongs to the runtime in which the queue is polled, not inserted to; inserting and
///   resetting need no runtime.
/// * `Debug` asks nothing of `T`.
pub struct DelayQueue<T> {
    wheel: TimingWheel<T>,
    moved: Moved,
    clock: Clock,
    alarm: Alarm,
    /// The tick to which the wheel is to be advanced, from the last reading of the clock.
    target: u64,
    /// Whether the wheel has not arrived there yet.
    behind: bool,
}

impl<T> DelayQueue<T> {
    /// An empty queue, which allocates with the first insertion.
    ///
    /// Needs no runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// let queue: wheel::DelayQueue<u32> = wheel::DelayQueue::new();
    /// assert!(queue.is_empty());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        DelayQueue::made_of(Clock::new(), Alarm::new(None))
    }

    /// An empty queue whose timer belongs to this wheel, wherever the queue is polled.
    ///
    /// If that is of [high resolution](crate::Builder::high_resolution), deadlines are rounded up
    /// to 50 µs, and not to milliseconds; the longest is then a hundred years.
    ///
    /// After the end of the wheel's driver the queue goes on, with whole milliseconds, where it is
    /// polled.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{Builder, DelayQueue, Duration};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), wheel::BuildError> {
    /// let wheel = Builder::new().tick(Duration::from_millis(50)).build()?;
    /// let mut queue = DelayQueue::with_wheel(&wheel);
    /// queue.insert("idle", Duration::from_millis(1));
    /// let expired = queue.next().await;
    /// assert_eq!(expired.map(|entry| entry.into_inner()), Some("idle"));
    /// assert_eq!(wheel.metrics().snapshot().fired, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_wheel(wheel: &Wheel) -> Self {
        let clock = match wheel.is_precise() {
            true => Clock::precise(),
            false => Clock::new(),
        };
        DelayQueue::made_of(clock, Alarm::new(Some(wheel.clone())))
    }

    fn made_of(clock: Clock, alarm: Alarm) -> Self {
        DelayQueue {
            wheel: TimingWheel::new(),
            moved: Moved::default(),
            clock,
            alarm,
            target: 0,
            behind: false,
        }
    }

    /// An empty queue with memory for `capacity` entries.
    ///
    /// # Panics
    ///
    /// As [`reserve`](Self::reserve).
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
            .field("alarm", &self.alarm)
            .finish_non_exhaustive()
    }
}

const _: () = {
    const fn send_sync_unpin<T: Send + Sync + Unpin + 'static>() {}
    send_sync_unpin::<DelayQueue<u8>>();
    send_sync_unpin::<Expired<u8>>();
};
