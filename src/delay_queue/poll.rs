//! Waiting for the next entry that is due.

use std::future::{Future, poll_fn};
use std::task::{Context, Poll, ready};

use tokio::task::coop;

use super::{DelayQueue, Expired};
use crate::wheel;

/// How many entries a poll may touch: each is either due or filed on a lower level of the wheel.
const STEPS: usize = 128;

/// The step that follows when the wheel has reached its target.
enum Next {
    /// Advance the wheel further: an entry may be due.
    Target(u64),
    /// Wait: nothing is due before this tick.
    Wait(u64),
    /// Nothing: there are no entries.
    Nothing,
}

impl<T> DelayQueue<T> {
    /// Waits for the next entry that is due, and takes the entry out.
    ///
    /// `None` at once if the queue is empty. A task that also inserts calls this again after each
    /// insertion, as a loop around `select!` does, with the branch `Some(expired) = queue.next() =>`: an
    /// empty queue then switches the branch off until another branch has run, such as an insertion.
    /// (`None => continue` would spin.) [`poll_expired`](Self::poll_expired) is for a
    /// queue behind a lock, which is held for each poll alone.
    ///
    /// # Panics
    ///
    /// As [`poll_expired`](Self::poll_expired), when polled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no entry: an entry leaves the queue only as the future's output.
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
    /// A method of the queue, so no feature and no trait are needed. A call of
    /// `StreamExt::next` that was written for tokio-util's queue means this method, and the future
    /// is `Unpin`, as that trait's is.
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    #[allow(clippy::should_implement_trait, reason = "named as a stream's")]
    pub fn next(&mut self) -> impl Future<Output = Option<Expired<T>>> + Unpin {
        poll_fn(|cx| self.poll_expired(cx))
    }

    /// Polls for an entry that is due, and takes the entry out.
    ///
    /// Ready with `None` if the queue is empty. Pending if no entry is due: then the task of the
    /// last call is woken when an entry is due, or when the queue is empty. A few more wake-ups
    /// are possible: when the first entry has been removed or put off, and when many entries are
    /// due at about the same time. Touches 128 entries at most; if that is not enough to find an
    /// entry that is due, the task is polled again at once.
    ///
    /// # Panics
    ///
    /// Outside a Tokio runtime, in a runtime built without `enable_time`, and after the end of
    /// the runtime, if there are entries and none is due.
    ///
    /// # Cancel safety
    ///
    /// An entry leaves the queue only when a poll returns the entry.
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
        self.alarm.answer();
        for _ in 0..STEPS {
            if self.behind {
                if let Some(expired) = self.advance_one() {
                    return Poll::Ready(Some(expired));
                }
                continue;
            }
            match self.next_step() {
                Next::Target(tick) => self.aim(tick),
                Next::Wait(tick) => ready!(self.poll_alarm(tick, cx)),
                Next::Nothing => {
                    self.alarm.wait_for_anything(cx);
                    return Poll::Ready(None);
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Reads the clock for where to advance the wheel to.
    fn next_step(&mut self) -> Next {
        let Some(tick) = self.wheel.next_expiration() else {
            return Next::Nothing;
        };
        let (now, limit) = self.clock.read();
        if tick <= limit {
            // No further than needed: the ticks up to the limit are for entries yet to come.
            Next::Target(tick.max(now))
        } else if self.wheel.now() < now {
            // Nothing is due, but entries that come now are filed lower in a wheel up to date.
            Next::Target(now)
        } else {
            Next::Wait(tick)
        }
    }

    fn aim(&mut self, tick: u64) {
        self.target = tick;
        self.behind = true;
    }

    /// Advances the wheel by one entry.
    #[inline]
    fn advance_one(&mut self) -> Option<Expired<T>> {
        let mut fired = None;
        let progress = self
            .wheel
            .advance_bounded(self.target, 1, |expired| fired = Some(expired));
        self.behind = !progress.is_caught_up();
        fired.map(|expired| self.expire(expired))
    }

    fn expire(&mut self, expired: wheel::Expired<T>) -> Expired<T> {
        Expired {
            data: expired.value,
            deadline: self.clock.instant_of(expired.deadline),
            key: self.moved.forget(expired.key),
        }
    }

    /// Has the task woken at a tick. Ready if that has come by now.
    fn poll_alarm(&mut self, tick: u64, cx: &mut Context<'_>) -> Poll<()> {
        let when = self.clock.instant_of(tick);
        ready!(self.alarm.poll(tick, when, cx));
        self.clock.trust(tick);
        Poll::Ready(())
    }
}

#[cfg(feature = "stream")]
impl<T> futures_core::Stream for DelayQueue<T> {
    type Item = Expired<T>;

    /// As [`poll_expired`](DelayQueue::poll_expired): `None` does not mean the end.
    fn poll_next(self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_expired(cx)
    }
}
