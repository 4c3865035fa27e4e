//! Polling the queue for the next entry that is due.

use std::future::{Future, poll_fn};
use std::task::{Context, Poll, ready};

use tokio::task::coop;

use super::{DelayQueue, Expired, Key};
use crate::timing_wheel;

/// Maximum number of steps that one poll takes. In each step, at most one entry fires or cascades
/// to a lower level of the wheel.
const STEPS: usize = 128;

/// What a poll does next when the wheel has reached its target.
enum Next {
    /// Advance the wheel to this tick, because an entry may be due or the wheel is behind the
    /// clock.
    AdvanceTo(u64),
    /// Wait until this tick, because nothing is due earlier.
    WaitUntil(u64),
    /// Return that the queue is empty.
    ReportEmpty,
}

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
    /// One call takes at most 128 steps through the wheel. If it runs out of them, it returns
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
        let budget = ready!(coop::poll_proceed(cx));
        let polled = self.poll_wheel(cx);
        if polled.is_ready() {
            budget.made_progress();
        }
        polled
    }

    fn poll_wheel(&mut self, cx: &mut Context<'_>) -> Poll<Option<Expired<T>>> {
        self.waiter.stop();
        for _ in 0..STEPS {
            if self.behind {
                if let Some(expired) = self.advance_one() {
                    return Poll::Ready(Some(expired));
                }
                continue;
            }
            match self.next_step() {
                Next::AdvanceTo(tick) => {
                    self.target = tick;
                    self.behind = true;
                }
                Next::WaitUntil(tick) => ready!(self.poll_timer(tick, cx)),
                Next::ReportEmpty => {
                    self.waiter.wait_for_insertion(cx);
                    return Poll::Ready(None);
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Reads the clock and decides what to do next.
    fn next_step(&mut self) -> Next {
        let Some(tick) = self.wheel.next_expiration() else {
            return Next::ReportEmpty;
        };
        let (first, last) = self.clock.read();
        if tick <= last {
            // Advances no further than necessary, because later ticks of this unit are needed for
            // entries that are already due when they are inserted.
            Next::AdvanceTo(tick.max(first))
        } else if self.wheel.now() < first {
            // Nothing is due. A wheel that has caught up with the clock puts new entries on lower
            // levels, so that they cascade less often.
            Next::AdvanceTo(first)
        } else {
            Next::WaitUntil(tick)
        }
    }

    /// Lets at most one entry of the wheel fire or cascade, and returns the entry if it fired.
    #[inline]
    fn advance_one(&mut self) -> Option<Expired<T>> {
        let mut fired = None;
        let progress = self
            .wheel
            .advance_bounded(self.target, 1, |expired| fired = Some(expired));
        self.behind = !progress.is_caught_up();
        fired.map(|expired| self.expire(expired))
    }

    fn expire(&mut self, expired: timing_wheel::Expired<T>) -> Expired<T> {
        Expired {
            data: expired.value,
            deadline: self.clock.instant_of(expired.deadline),
            key: Key(expired.key),
        }
    }

    /// Polls the queue's timer, armed for this tick. Ready if the tick has been reached.
    fn poll_timer(&mut self, tick: u64, cx: &mut Context<'_>) -> Poll<()> {
        let when = self.clock.instant_of(tick);
        ready!(self.waiter.poll(tick, when, cx));
        self.clock.note_reached(tick);
        Poll::Ready(())
    }
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
