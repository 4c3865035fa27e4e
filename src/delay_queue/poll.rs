//! Polling the queue for the next entry that is due.
//!
//! A poll first advances the wheel to `reached`, if an earlier poll has not finished that. Then it moves
//! `reached`, to the time of the clock or, once the queue's timer has fired, to the wheel's next
//! expiration, and advances the wheel again. It ends when an entry fires, when the timer is pending, or
//! after [`STEPS`].

use std::future::{Future, poll_fn};
use std::task::{Context, Poll, ready};

use tokio::task::coop;

use super::{DelayQueue, Expired, Key};
use crate::clock::{MILLISECOND, Tick};
use crate::platform::is_traced;

/// Maximum number of steps that one poll takes. In each, an entry fires or cascades to a lower level of
/// the wheel, or `reached` moves.
const STEPS: usize = 128;
/// Maximum number of steps that the wheel takes at once.
const MOST: usize = 16;

impl<T> DelayQueue<T> {
    /// Waits until an entry is due, removes it from the queue and returns it.
    ///
    /// If the queue is empty, this returns `None` immediately. A task that waits in a loop around
    /// `select!` should therefore use the branch `Some(expired) = queue.next() =>`: if the queue is
    /// empty, `select!` disables this branch and waits for the others, one of which may insert an
    /// entry. (A branch that matches `None` and continues the loop would spin.)
    ///
    /// If the queue is behind a lock, use [`poll_expired`](Self::poll_expired) instead, so that the
    /// lock is held during each poll rather than while waiting.
    ///
    /// # Panics
    ///
    /// The returned future panics, when polled, under the same conditions as
    /// [`poll_expired`](Self::poll_expired).
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe. Dropping the future loses no entry, because an entry leaves the
    /// queue only as the output of the future.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{DelayQueue, Duration, sleep};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut queue = DelayQueue::new();
    /// queue.insert("hello", Duration::from_millis(5));
    /// loop {
    ///     tokio::select! {
    ///         expired = queue.next() => match expired {
    ///             Some(expired) => assert_eq!(expired.into_inner(), "hello"),
    ///             None => break,
    ///         },
    ///         () = sleep(Duration::from_secs(60)) => unreachable!("a minute is longer"),
    ///     }
    /// }
    /// # }
    /// ```
    ///
    /// # Differences from tokio-util
    ///
    /// In tokio-util, `next` is a method of the trait `StreamExt`. Here it is a method of the
    /// queue, so it needs no feature and no trait. Calls that were written for that trait now call
    /// this method. Its future is `Unpin`, too.
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    #[allow(
        clippy::should_implement_trait,
        reason = "named like a stream's method"
    )]
    pub fn next(&mut self) -> impl Future<Output = Option<Expired<T>>> + Unpin {
        poll_fn(|cx| self.poll_expired(cx))
    }

    /// Polls for an entry that is due, removes it from the queue and returns it.
    ///
    /// Returns
    ///
    /// * `Poll::Ready(Some(expired))` if an entry is due,
    /// * `Poll::Ready(None)` if the queue is empty; the next insertion wakes the task,
    /// * `Poll::Pending` if no entry is due; the task is woken when one is, or when the queue
    ///   becomes empty.
    ///
    /// Only the task of the last call is woken. Spurious wake-ups are possible: when the earliest
    /// entry has been removed or reset to a later deadline, and when many entries are due at about
    /// the same time.
    ///
    /// One call handles at most 128 entries of the wheel. If it runs out of them, it returns
    /// `Poll::Pending` and wakes the task immediately.
    ///
    /// # Panics
    ///
    /// If the queue has entries of which none is due, this may panic outside a Tokio runtime, in a
    /// runtime that was built without `enable_time`, or after the runtime of the queue's timer has
    /// shut down.
    ///
    /// # Cancel safety
    ///
    /// An entry leaves the queue only when a poll returns it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::poll_fn;
    /// use wheel::{DelayQueue, Duration, Instant};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut queue = DelayQueue::new();
    /// queue.insert("hello", Duration::from_millis(5));
    /// let expired = poll_fn(|cx| queue.poll_expired(cx)).await.unwrap();
    /// assert_eq!(expired.get_ref(), &"hello");
    /// assert!(expired.deadline() <= Instant::now());
    /// assert!(poll_fn(|cx| queue.poll_expired(cx)).await.is_none());
    /// # }
    /// ```
    pub fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<Option<Expired<T>>> {
        // A poll that a task dump traces has no effect, as with Tokio's timers.
        if is_traced(cx.waker()) {
            return Poll::Pending;
        }
        let budget = ready!(coop::poll_proceed(cx));
        let polled = self.poll_wheel(cx);
        if polled.is_ready() {
            budget.made_progress();
        }
        polled
    }

    fn poll_wheel(&mut self, cx: &mut Context<'_>) -> Poll<Option<Expired<T>>> {
        self.waiter.stop();
        let (mut left, mut step) = (STEPS, 1);
        while left >= step {
            left -= step;
            if self.behind {
                if let Some(expired) = self.advance(step) {
                    return Poll::Ready(Some(expired));
                }
                // Entries that cascade come in crowds.
                step = MOST.min(2 * step);
                continue;
            }
            let Some(next) = self.wheel.next_expiration().map(Tick) else {
                self.waiter.wait_for_insertion(cx);
                return Poll::Ready(None);
            };
            if next > self.reached {
                ready!(self.reach(next, cx));
            }
            (self.behind, step) = (true, 1);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Moves `reached` to the time of the clock. If the wheel has nothing to do there, waits for the
    /// timer, armed for `next`.
    fn reach(&mut self, next: Tick, cx: &mut Context<'_>) -> Poll<()> {
        self.reached = self.reached.max(known_to_have_passed());
        // If nothing is due, the wheel catches up nevertheless, once a millisecond: it then puts new
        // entries on lower levels, so that they cascade less often.
        if next > self.reached && self.reached.0 - self.wheel.now() < MILLISECOND {
            ready!(self.waiter.poll(next, cx));
            // The timer may follow the clock of another runtime, so it counts as well.
            self.reached = next.max(known_to_have_passed());
        }
        Poll::Ready(())
    }

    /// Advances the wheel until an entry fires, which this returns, or until `most` entries have
    /// cascaded.
    #[inline]
    fn advance(&mut self, most: usize) -> Option<Expired<T>> {
        let (to, apart) = (self.reached.0, MILLISECOND - 1);
        let (expired, progress) = self.wheel.advance_to_one(to, apart, most);
        self.behind = !progress.is_caught_up();
        expired.map(|expired| Expired {
            data: expired.value,
            deadline: Tick(expired.deadline).to_instant(),
            key: Key(expired.key),
        })
    }
}

/// Returns the current time. With the feature `test-util`, it returns a millisecond less, because a
/// paused clock may stop within one of Tokio's milliseconds, and its timers then wait for the end.
fn known_to_have_passed() -> Tick {
    let doubtful = if cfg!(feature = "test-util") {
        MILLISECOND
    } else {
        0
    };
    Tick(Tick::now().0.saturating_sub(doubtful))
}

#[cfg(feature = "stream")]
impl<T> futures_core::Stream for DelayQueue<T> {
    type Item = Expired<T>;

    /// Polls for an entry that is due, as [`poll_expired`](DelayQueue::poll_expired) does. `None`
    /// means that the queue is empty, and more entries can follow.
    fn poll_next(self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_expired(cx)
    }
}
