//! `timeout`, `timeout_at` and [`Timeout`].

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::task::coop;
use tokio::time::Instant;

use crate::clock::Tick;
use crate::driver::context;
use crate::driver::timer::Timer;
use crate::error::Elapsed;
use crate::sleep::{Sleep, sleep_until};

/// Requires a future to complete within `duration`.
///
/// Each poll polls the future before the timer. So a future that a late poll finds ready still
/// returns its output, and one that is ready on the first poll registers no timer. If `duration` is
/// too long to be represented as a deadline, the timeout never elapses.
///
/// # Errors
///
/// Returns [`Elapsed`] if the deadline passes first. The future is not dropped at that point: it is
/// dropped with the `Timeout`, or can be recovered with [`into_inner`](Timeout::into_inner).
///
/// # Panics
///
/// Panics outside a Tokio runtime, and in a runtime built without `enable_time`. The panic has tokio's
/// message, and the caller's line.
///
/// # Cancel safety
///
/// Dropping the `Timeout` drops the future and cancels the timer, in constant time on average.
///
/// # Examples
///
/// ```
/// use wheel::{timeout, Duration};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (tx, rx) = tokio::sync::oneshot::channel::<u32>();
/// # let _keep = tx;
/// if timeout(Duration::from_millis(10), rx).await.is_err() {
///     println!("no answer within 10 ms");
/// }
/// # }
/// ```
///
/// # Differences from tokio
///
/// The error is a type of this crate. [All differences](crate::docs::differences).
#[inline]
#[track_caller]
pub fn timeout<F>(duration: Duration, future: F) -> Timeout<F::IntoFuture>
where
    F: IntoFuture,
{
    Timeout::new(future.into_future(), after(duration))
}

/// Requires a future to complete before `deadline`.
///
/// Apart from how the deadline is given, this behaves like [`timeout`].
///
/// # Errors
///
/// Returns [`Elapsed`] if the deadline passes first.
///
/// # Panics
///
/// Panics under the same conditions as [`timeout`].
///
/// # Cancel safety
///
/// Dropping the `Timeout` drops the future and cancels the timer, in constant time on average.
///
/// # Examples
///
/// Two calls that share a deadline:
///
/// ```
/// use wheel::{timeout_at, Duration, Instant};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), wheel::error::Elapsed> {
/// let deadline = Instant::now() + Duration::from_secs(1);
/// let first = timeout_at(deadline, async { 1 }).await?;
/// let second = timeout_at(deadline, async { 2 }).await?;
/// assert_eq!(first + second, 3);
/// # Ok(())
/// # }
/// ```
#[inline]
#[track_caller]
pub fn timeout_at<F>(deadline: Instant, future: F) -> Timeout<F::IntoFuture>
where
    F: IntoFuture,
{
    let delay = sleep_until(deadline);
    Timeout::new(future.into_future(), Some(delay))
}

/// Requires a future to complete within `duration` of the first poll in which it is pending:
/// [`FutureExt::timeout_if_pending`](crate::ext::FutureExt::timeout_if_pending).
#[inline]
#[track_caller]
pub(crate) fn timeout_if_pending<F>(duration: Duration, value: F) -> Timeout<F> {
    context::require_runtime();
    let delay = Delay::Unarmed(duration);
    Timeout { value, delay }
}

pin_project! {
    /// Future returned by [`timeout`], [`timeout_at`] and
    /// [`timeout_if_pending`](crate::ext::FutureExt::timeout_if_pending).
    ///
    /// `Unpin` if the future is.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use wheel::{Duration, Timeout, timeout};
    ///
    /// let limited: Timeout<_> = timeout(Duration::from_secs(1), std::future::ready(5));
    /// assert_eq!(limited.await, Ok(5));
    /// # }
    /// ```
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    #[derive(Debug)]
    pub struct Timeout<T> {
        #[pin]
        value: T,
        delay: Delay,
    }
}

/// The timer of a [`Timeout`].
enum Delay {
    Armed(Sleep),
    /// To be armed by the first poll in which the future is pending.
    Unarmed(Duration),
    Never,
}

impl Delay {
    /// Polls a timer that may not be armed, and arms it first.
    #[inline(never)]
    fn poll_unarmed(&mut self, cx: &mut Context<'_>) -> Poll<Elapsed> {
        if let Delay::Unarmed(duration) = *self {
            *self = after(duration).map_or(Delay::Never, Delay::Armed);
        }
        match self {
            Delay::Armed(sleep) => poll_delay(sleep, false, cx),
            _ => Poll::Pending,
        }
    }
}

/// Polls the timer. This part does not depend on the future, so it is compiled once.
fn poll_delay(delay: &mut Sleep, had_budget: bool, cx: &mut Context<'_>) -> Poll<Elapsed> {
    // A future that burns the whole budget at each poll must not keep its own
    // timeout from being seen.
    let starved = had_budget && !coop::has_budget_remaining();
    let polled = if starved {
        delay.poll_unconstrained(cx)
    } else {
        delay.poll_in_budget(cx)
    };
    polled.map(|()| Elapsed::new())
}

/// Creates the timer for a duration, unless that is too long to be represented as a deadline.
#[inline]
#[track_caller]
fn after(duration: Duration) -> Option<Sleep> {
    let now = Tick::now();
    // A closure would hide the caller's line.
    #[allow(clippy::manual_map)]
    match now.checked_add(duration) {
        Some(deadline) => Some(Sleep::new(deadline, Timer::new(now))),
        None => None,
    }
}

impl fmt::Debug for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Delay::Armed(sleep) => sleep.fmt(f),
            Delay::Unarmed(duration) => duration.fmt(f),
            Delay::Never => f.write_str("Never"),
        }
    }
}

impl<T> Timeout<T> {
    #[inline]
    pub(crate) fn new(value: T, delay: Option<Sleep>) -> Self {
        let delay = delay.map_or(Delay::Never, Delay::Armed);
        Timeout { value, delay }
    }

    /// Returns a reference to the inner future.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let timeout = wheel::timeout(wheel::Duration::from_secs(1), std::future::ready(5));
    /// assert_eq!(format!("{:?}", timeout.get_ref()), "Ready(Some(5))");
    /// # }
    /// ```
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// Returns a mutable reference to the inner future.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let ready = std::future::ready(5);
    /// let mut timeout = wheel::timeout(wheel::Duration::from_secs(1), ready);
    /// *timeout.get_mut() = std::future::ready(6);
    /// assert_eq!(timeout.await, Ok(6));
    /// # }
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// Consumes the `Timeout` and returns the inner future, cancelling the timer.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let timeout = wheel::timeout(wheel::Duration::from_secs(1), std::future::ready(5));
    /// assert_eq!(timeout.into_inner().await, 5);
    /// # }
    /// ```
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: Future> Future for Timeout<T> {
    type Output = Result<T::Output, Elapsed>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let me = self.project();
        let had_budget = coop::has_budget_remaining();
        if let Poll::Ready(output) = me.value.poll(cx) {
            return Poll::Ready(Ok(output));
        }
        match me.delay {
            Delay::Armed(sleep) => poll_delay(sleep, had_budget, cx).map(Err),
            delay => delay.poll_unarmed(cx).map(Err),
        }
    }
}

/// A timer that is not armed yet needs no more memory.
const _: () = assert!(size_of::<Delay>() == size_of::<Sleep>());
