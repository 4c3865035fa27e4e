//! `interval`, `interval_at` and [`Interval`].

use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

use crate::clock::Tick;
use crate::driver::timer::Timer;
use crate::sleep::{FAR, Sleep, deadline_after};
use crate::spans::Resource;

/// Ticks that are late by no more than this are not taken for missed.
const TOLERANCE: Duration = Duration::from_millis(5);

/// Ticks every `period`, for the first time at once.
///
/// Ticks are `period` apart from when the interval was made, however long the
/// code between them takes: there is no drift. [`MissedTickBehavior`] decides on
/// ticks that are missed because that code takes longer than `period`. A period
/// beyond 30 years is taken for 30 years.
///
/// # Panics
///
/// When `period` is zero; outside a Tokio runtime, and in a runtime built
/// without `enable_time`: at the caller's line and with tokio's messages.
///
/// # Examples
///
/// ```
/// use wheel::{interval, Duration, Instant};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let start = Instant::now();
/// let mut interval = interval(Duration::from_millis(10));
/// for _ in 0..3 {
///     interval.tick().await;
/// }
/// assert!(start.elapsed() >= Duration::from_millis(20));
/// # }
/// ```
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    assert!(period > Duration::ZERO, "`period` must be non-zero.");
    let resource = Resource::interval();
    Interval::new(resource, Sleep::new(Tick::now(), Timer::new()), period)
}

/// Ticks every `period`, for the first time at `start`.
///
/// As [`interval`] otherwise.
///
/// # Panics
///
/// As [`interval`].
///
/// # Examples
///
/// ```
/// use wheel::{interval_at, Duration, Instant};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let start = Instant::now() + Duration::from_millis(5);
/// let mut interval = interval_at(start, Duration::from_millis(10));
/// assert_eq!(interval.tick().await, start);
/// assert_eq!(interval.tick().await, start + Duration::from_millis(10));
/// # }
/// ```
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    assert!(period > Duration::ZERO, "`period` must be non-zero.");
    let resource = Resource::interval();
    Interval::new(resource, Sleep::new(Tick::of(start), Timer::new()), period)
}

/// Ticks at a fixed rate; returned by [`interval`] and [`interval_at`].
///
/// # Differences from tokio
///
/// Holds its timer itself: there is no allocation.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut every: wheel::Interval = wheel::interval(wheel::Duration::from_millis(5));
/// let first = every.tick().await;
/// assert_eq!(every.tick().await, first + every.period());
/// # }
/// ```
#[derive(Debug)]
pub struct Interval {
    delay: Sleep,
    period: Duration,
    missed_tick_behavior: MissedTickBehavior,
    resource: Resource,
}

impl Interval {
    /// An interval whose first tick is that of `delay`. The period is not zero.
    pub(crate) fn new(resource: Resource, delay: Sleep, period: Duration) -> Self {
        let missed_tick_behavior = MissedTickBehavior::default();
        Interval {
            delay,
            period: period.min(FAR),
            missed_tick_behavior,
            resource,
        }
    }

    /// Completes at the next tick, with the instant at which that tick was due.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before completion consumes no tick.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut every = wheel::interval(wheel::Duration::from_millis(5));
    /// let due = every.tick().await;
    /// assert!(due <= wheel::Instant::now());
    /// # }
    /// ```
    pub async fn tick(&mut self) -> Instant {
        let tick = self.resource.tick();
        poll_fn(|cx| tick.poll_tick(|| self.poll_tick(cx))).await
    }

    /// Polls for the next tick.
    ///
    /// When pending, the task of the last call is woken at the tick; when ready,
    /// nothing is registered for the following tick.
    ///
    /// ```
    /// use std::future::poll_fn;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut interval = wheel::interval(wheel::Duration::from_millis(1));
    /// let tick = poll_fn(|cx| interval.poll_tick(cx)).await;
    /// assert!(tick <= wheel::Instant::now());
    /// # }
    /// ```
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        ready!(self.delay.poll_in_budget(cx));
        let due = self.delay.deadline_tick();
        self.delay.reset_lazily(self.after(due, Tick::now()));
        Poll::Ready(due.to_instant())
    }

    /// The tick after a tick that was due at `due` and is seen `now`.
    fn after(&self, due: Tick, now: Tick) -> Tick {
        let late = now.saturating_since(due);
        let (from, wait) = match self.missed_tick_behavior {
            _ if late <= TOLERANCE => (due, self.period),
            MissedTickBehavior::Delay => (now, self.period),
            MissedTickBehavior::Skip => (now, self.period - remainder(late, self.period)),
            _ => (due, self.period),
        };
        from.saturating_add(wait)
    }

    /// Moves the next tick to a period from now.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let start = wheel::Instant::now();
    /// let mut interval = wheel::interval(wheel::Duration::from_millis(5));
    /// interval.reset();
    /// assert!(interval.tick().await >= start + interval.period());
    /// # }
    /// ```
    pub fn reset(&mut self) {
        self.delay.reset_to(deadline_after(self.period));
    }

    /// Has the next tick now.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut interval = wheel::interval(wheel::Duration::from_secs(3600));
    /// interval.tick().await;
    /// interval.reset_immediately();
    /// interval.tick().await;
    /// # }
    /// ```
    pub fn reset_immediately(&mut self) {
        self.delay.reset_to(Tick::now());
    }

    /// Has the next tick after a duration of its own.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut interval = wheel::interval(wheel::Duration::from_secs(3600));
    /// interval.tick().await;
    /// interval.reset_after(wheel::Duration::from_millis(1));
    /// interval.tick().await;
    /// # }
    /// ```
    pub fn reset_after(&mut self, after: Duration) {
        self.delay.reset_to(deadline_after(after));
    }

    /// Has the next tick at `deadline`.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut interval = wheel::interval(wheel::Duration::from_secs(3600));
    /// interval.tick().await;
    /// let deadline = wheel::Instant::now() + wheel::Duration::from_millis(1);
    /// interval.reset_at(deadline);
    /// assert_eq!(interval.tick().await, deadline);
    /// # }
    /// ```
    pub fn reset_at(&mut self, deadline: Instant) {
        self.delay.reset_to(Tick::of(deadline));
    }

    /// The setting for missed ticks.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let interval = wheel::interval(wheel::Duration::from_secs(1));
    /// assert_eq!(interval.missed_tick_behavior(), wheel::MissedTickBehavior::Burst);
    /// # }
    /// ```
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.missed_tick_behavior
    }

    /// Sets the behaviour at missed ticks.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut interval = wheel::interval(wheel::Duration::from_secs(1));
    /// interval.set_missed_tick_behavior(wheel::MissedTickBehavior::Skip);
    /// # }
    /// ```
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.missed_tick_behavior = behavior;
    }

    /// The time between ticks.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let interval = wheel::interval(wheel::Duration::from_secs(3));
    /// assert_eq!(interval.period(), wheel::Duration::from_secs(3));
    /// # }
    /// ```
    pub fn period(&self) -> Duration {
        self.period
    }
}

/// `duration % period`; the period is not zero, and at most 30 years.
fn remainder(duration: Duration, period: Duration) -> Duration {
    let nanos = duration.as_nanos() % period.as_nanos();
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}

const _: () = {
    const fn send_sync_unpin<T: Send + Sync + Unpin + 'static>() {}
    send_sync_unpin::<Interval>();
};
