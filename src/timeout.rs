//! `timeout`, `timeout_at` and [`Timeout`].

use std::fmt;
use std::future::{Future, IntoFuture};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::task::coop;
use tokio::time::Instant;

use crate::clock::nanos;
use crate::driver::context;
use crate::error::Elapsed;
use crate::sleep::{Created, Sleep, sleep_until, spend_budget};

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
    let value = future.into_future();
    // A closure would hide the caller's line.
    let delay = match nanos(duration) {
        Some(nanos) => Delay::Unarmed {
            nanos,
            created: Some(Created::now()),
        },
        None => Delay::Never,
    };
    Timeout { value, delay }
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
    let unarmed = |nanos| Delay::Unarmed {
        nanos,
        created: None,
    };
    let delay = nanos(duration).map_or(Delay::Never, unarmed);
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
    /// To be armed by the first poll in which the future is pending. The duration begins when the
    /// timeout was created or, if that is `None`, with that poll.
    Unarmed {
        nanos: u64,
        created: Option<Created>,
    },
    Never,
}

impl Delay {
    /// Arms a timer that is not armed, and polls it.
    #[inline(never)]
    fn poll_unarmed(&mut self, had_budget: bool, cx: &mut Context<'_>) -> Poll<Elapsed> {
        if let Delay::Unarmed { nanos, created } = self {
            let created = created.take().unwrap_or_else(created_now);
            let armed = Delay::Armed(created.elapses_after(*nanos));
            // What is left of the old state owns nothing that would have to be dropped.
            mem::forget(mem::replace(self, armed));
            // The compiler knows the state of this timer, so it compiles only a part of the poll.
            if let Delay::Armed(sleep) = self {
                return poll_inlined(sleep, had_budget, cx);
            }
        }
        Poll::Pending
    }
}

#[cold]
fn created_now() -> Created {
    Created::now()
}

/// Polls the timer. This part does not depend on the future, so it is compiled once.
#[inline(never)]
fn poll_delay(delay: &mut Sleep, had_budget: bool, cx: &mut Context<'_>) -> Poll<Elapsed> {
    poll_inlined(delay, had_budget, cx)
}

#[inline(always)]
fn poll_inlined(delay: &mut Sleep, had_budget: bool, cx: &mut Context<'_>) -> Poll<Elapsed> {
    // A future that burns the whole budget at each poll must not keep its own
    // timeout from being seen.
    let is_starved = || had_budget && !coop::has_budget_remaining();
    // Most polls find the timer pending, so only the spans need to know before the poll.
    let in_budget = cfg!(feature = "tracing") && !is_starved();
    ready!(delay.poll_timer(in_budget, cx));
    if !is_starved() {
        ready!(spend_budget(cx));
    }
    Poll::Ready(Elapsed::new())
}

impl fmt::Debug for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Delay::Armed(sleep) => sleep.fmt(f),
            Delay::Unarmed { nanos, .. } => Duration::from_nanos(*nanos).fmt(f),
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
            delay => delay.poll_unarmed(had_budget, cx).map(Err),
        }
    }
}

/// A timer that is not armed yet needs no more memory.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Delay>() == size_of::<Sleep>());
