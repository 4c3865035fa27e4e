//! `sleep`, `sleep_until` and [`Sleep`].

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::task::coop;
use tokio::time::Instant;

use crate::clock::Tick;
use crate::driver::context;
use crate::driver::timer::Timer;
use crate::platform::{is_traced, now, runtime};
use crate::spans::Operation;

/// tokio's own limit for `sleep`, which is longer than any service runs.
pub(crate) const FAR: Duration = Duration::from_secs(86_400 * 365 * 30);

/// Returns the deadline after a duration of any length.
#[inline]
pub(crate) fn deadline_after(duration: Duration) -> Tick {
    after(Tick::now(), duration)
}

#[inline]
fn after(now: Tick, duration: Duration) -> Tick {
    // Comparing the seconds is enough, because `FAR` has no nanoseconds.
    let is_far = duration.as_secs() >= FAR.as_secs();
    now.saturating_add(if is_far { FAR } else { duration })
}

/// Waits until `duration` has elapsed.
///
/// The future never completes earlier than that. In a runtime that is not busy, it completes at
/// most a millisecond or two later (16 ms on Windows). A duration of zero usually waits for tokio's
/// next millisecond, and a duration beyond 30 years is treated as 30 years. Nothing is registered
/// before the first poll or a reset. To wait repeatedly, use [`interval`](crate::interval()).
///
/// # Panics
///
/// Panics outside a Tokio runtime, and in a runtime built without `enable_time`. The panic has tokio's
/// message, and the caller's line. A poll after the timer's runtime has shut down [may panic
/// too](crate::docs::guarantees#when-a-runtime-shuts-down).
///
/// # Cancel safety
///
/// Dropping the future cancels the timer, in constant time on average. The timer's waker is usually
/// dropped immediately, and [at the latest](crate::docs::differences#wakers-of-cancelled-timers)
/// when the timer would have fired.
///
/// # Examples
///
/// ```
/// use wheel::{sleep, Duration, Instant};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let start = Instant::now();
/// sleep(Duration::from_millis(10)).await;
/// assert!(start.elapsed() >= Duration::from_millis(10));
/// # }
/// ```
///
/// # Differences from tokio
///
/// The future is [`Unpin`], so a `select!` loop needs no `pin!`. If the future is polled in another
/// runtime after its own has shut down, it continues there; tokio's panics. [All
/// differences](crate::docs::differences).
#[doc(alias = "delay_for")]
#[doc(alias = "wait")]
#[inline]
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    let now = Tick::now();
    Sleep::new(after(now, duration), Timer::new(now))
}

/// Waits until `deadline`.
///
/// If the deadline passed more than a millisecond ago, the future completes immediately, or when
/// the driver next runs. Apart from that, it behaves like the future of [`sleep`].
///
/// # Panics
///
/// Panics under the same conditions as [`sleep`].
///
/// # Cancel safety
///
/// Dropping the future cancels the timer, as with [`sleep`].
///
/// # Examples
///
/// ```
/// use wheel::{sleep_until, Duration, Instant};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let deadline = Instant::now() + Duration::from_millis(10);
/// sleep_until(deadline).await;
/// assert!(Instant::now() >= deadline);
/// # }
/// ```
#[doc(alias = "delay_until")]
#[inline]
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::new(Tick::of(deadline), Timer::new(Tick::ZERO))
}

/// The future returned by [`sleep`] and [`sleep_until`].
///
/// A `Sleep` is currently 48 bytes (56 with the feature `tracing`), `Send`, `Sync` and `Unpin`. It
/// belongs to the [runtime](crate::docs::guarantees#which-runtime-a-timer-belongs-to) in which it
/// was created, and may be polled anywhere.
///
/// # Examples
///
/// An idle timer that each message resets to a later deadline:
///
/// ```
/// use wheel::{sleep, Duration, Instant};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let (tx, mut messages) = tokio::sync::mpsc::channel::<()>(1);
/// # tx.send(()).await.unwrap();
/// let idle = Duration::from_millis(20);
/// let mut timer = sleep(idle);
/// loop {
///     tokio::select! {
///         Some(_message) = messages.recv() => timer.reset_unpin(Instant::now() + idle),
///         () = &mut timer => break,
///     }
/// }
/// assert!(timer.is_elapsed());
/// # }
/// ```
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Sleep {
    /// The deadline that the caller set; `timer` has the registered deadline.
    deadline: Tick,
    timer: Timer,
    spans: Operation,
}

impl Sleep {
    #[inline]
    #[track_caller]
    pub(crate) fn new(deadline: Tick, timer: Timer) -> Self {
        let spans = Operation::new_sleep();
        Sleep {
            deadline,
            timer,
            spans,
        }
    }

    /// Returns the instant at which the future completes, as the caller set it, without rounding.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let deadline = wheel::Instant::now() + wheel::Duration::from_nanos(1_000_001);
    /// assert_eq!(wheel::sleep_until(deadline).deadline(), deadline);
    /// # }
    /// ```
    ///
    /// # Differences from tokio
    ///
    /// An instant more than about 500 years ahead, or in the distant past, is [cut to a
    /// limit](crate::docs::guarantees#limits).
    pub fn deadline(&self) -> Instant {
        self.deadline.to_instant()
    }

    /// Returns `true` if the timer has fired, at its deadline or because its runtime shut down.
    ///
    /// So this is `false` before the first poll or reset, even if the deadline has passed.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut sleep = wheel::sleep(wheel::Duration::ZERO);
    /// assert!(!sleep.is_elapsed());
    /// (&mut sleep).await;
    /// assert!(sleep.is_elapsed());
    /// # }
    /// ```
    pub fn is_elapsed(&self) -> bool {
        self.timer.is_elapsed()
    }

    /// Resets the timer to a new deadline, whether or not the old one was reached.
    ///
    /// If the timer is still registered, the task that last polled it is woken at the new deadline,
    /// even if it does not poll again. It is no longer woken at the old one, unless the driver is
    /// firing the timer during the reset. If the new deadline passed more than a millisecond ago,
    /// the task is woken immediately, or when the driver next runs. Never panics, even if the
    /// runtime has shut down.
    ///
    /// If you have a `&mut Sleep`, use [`reset_unpin`](Self::reset_unpin).
    ///
    /// ```
    /// use wheel::{Duration, Instant};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let sleep = wheel::sleep(Duration::from_secs(3600));
    /// tokio::pin!(sleep);
    /// sleep.as_mut().reset(Instant::now() + Duration::from_millis(1));
    /// sleep.as_mut().await;
    /// assert!(sleep.is_elapsed());
    /// # }
    /// ```
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        self.get_mut().reset_unpin(deadline);
    }

    /// Resets a `Sleep` that is not pinned.
    ///
    /// Behaves like [`reset`](Self::reset).
    ///
    /// ```
    /// use wheel::{Duration, Instant};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut sleep = wheel::sleep(Duration::from_secs(3600));
    /// sleep.reset_unpin(Instant::now() + Duration::from_millis(1));
    /// (&mut sleep).await;
    /// assert!(sleep.is_elapsed());
    /// # }
    /// ```
    ///
    /// # Differences from tokio
    ///
    /// tokio's `Sleep` is not `Unpin` and has no such method.
    pub fn reset_unpin(&mut self, deadline: Instant) {
        self.reset_to(Tick::of(deadline));
    }

    pub(crate) fn reset_to(&mut self, deadline: Tick) {
        self.deadline = deadline;
        self.spans.reset(deadline);
        self.timer.reset(deadline);
    }

    /// Returns the deadline as a tick.
    pub(crate) fn deadline_tick(&self) -> Tick {
        self.deadline
    }

    /// Changes the deadline without registering: the next poll registers.
    pub(crate) fn reset_lazily(&mut self, deadline: Tick) {
        self.deadline = deadline;
        self.timer.cancel();
    }

    /// Polls on behalf of an owner that never resets a timer that is ready, or polls it again after the
    /// reset.
    #[inline]
    pub(crate) fn poll_in_budget(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // Only a poll that is ready spends budget, so the budget is checked once the timer is due. Most
        // polls find it pending.
        ready!(self.poll_timer(true, cx));
        spend_budget(cx)
    }

    /// Completes a poll that found the timer due. Kept out of line because most polls find it pending.
    #[inline(never)]
    fn complete(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        ready!(spend_budget(cx));
        self.timer.keep(cx.waker());
        Poll::Ready(())
    }

    /// Polls without spending from the task's budget. `in_budget` is only for the spans.
    #[inline]
    pub(crate) fn poll_timer(&mut self, in_budget: bool, cx: &mut Context<'_>) -> Poll<()> {
        // A poll that a task dump traces has no effect, as with tokio's timers.
        if is_traced(cx.waker()) {
            return Poll::Pending;
        }
        let registers = self.timer.is_idle().then_some(self.deadline);
        let polling = self.spans.poll(in_budget, registers);
        polling.end(if self.timer.is_pending_with(cx.waker()) {
            Poll::Pending
        } else {
            self.timer.poll(self.deadline, cx.waker())
        })
    }
}

/// Where and when a timeout was created. This becomes a [`Sleep`] in the first poll that finds the
/// future pending, because most futures are ready by then, and need no deadline.
pub(crate) struct Created {
    at: Instant,
    runtime: runtime::Id,
    spans: Operation,
}

impl Created {
    /// # Panics
    ///
    /// Panics under the same conditions as [`sleep`].
    #[inline]
    #[track_caller]
    pub(crate) fn now() -> Self {
        // The clock is read last, because the other call would have to save the instant.
        let runtime = context::runtime();
        let at = now();
        let spans = Operation::new_sleep();
        Created { at, runtime, spans }
    }

    /// Creates the timer of a timeout that elapses so many nanoseconds later.
    #[inline]
    pub(crate) fn elapses_after(self, nanos: u64) -> Sleep {
        let Created { at, runtime, spans } = self;
        let made_at = Tick::of(at);
        Sleep {
            deadline: made_at.later_by(nanos),
            timer: Timer::Unplaced { runtime, made_at },
            spans,
        }
    }
}

impl Future for Sleep {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let me = self.get_mut();
        ready!(me.poll_timer(true, cx));
        me.complete(cx)
    }
}

#[inline(never)]
pub(crate) fn spend_budget(cx: &mut Context<'_>) -> Poll<()> {
    ready!(coop::poll_proceed(cx)).made_progress();
    Poll::Ready(())
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep")
            .field("deadline", &self.deadline())
            .field("is_elapsed", &self.is_elapsed())
            .finish_non_exhaustive()
    }
}

/// The documented size. A `Sleep` is a part of every `timeout` future.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Sleep>() == 48 + size_of::<Operation>());
