//! `interval`, `interval_at` and [`Interval`].

use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

use crate::clock::Tick;
use crate::driver::timer::Timer;
use crate::sleep::{FAR, Sleep, deadline_after, sleep_until};
use crate::spans::Resource;

/// How late a tick may be before it counts as missed. tokio has the same tolerance.
const TOLERANCE: Duration = Duration::from_millis(5);

/// Creates an [`Interval`] that ticks immediately, and then every `period`.
///
/// The first tick is due immediately, and usually completes in tokio's next millisecond. Later
/// ticks are due one `period` after the previous tick was *due*, however long the code between two
/// ticks takes. So an interval does not drift. A loop of sleeps does: each round of `loop {
/// work().await; sleep(period).await }` takes `period` plus the time of `work`.
///
/// If the code between two ticks takes longer than `period`, ticks are missed, and
/// [`MissedTickBehavior`] decides when the next ones are due. The default is
/// [`MissedTickBehavior::Burst`]; [`Interval::set_missed_tick_behavior`] sets another. A tick that
/// is at most five milliseconds late does not count as missed, whichever behaviour is set.
///
/// | behaviour | the tick after a missed one is due |
/// | --- | --- |
/// | `Burst` | one `period` after the missed tick was due, so ticks complete immediately until the interval has caught up |
/// | `Skip` | at the next multiple of `period`, so missed ticks are left out |
/// | `Delay` | one `period` after the missed tick completed, so later ticks shift |
///
/// A `period` beyond 30 years is treated as 30 years.
///
/// # Panics
///
/// Panics if `period` is zero, outside a Tokio runtime, and in a runtime built without
/// `enable_time`. The panic has tokio's message, and the caller's line.
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
/// interval.tick().await; // due immediately
/// interval.tick().await; // due after 10 ms
/// interval.tick().await; // due after 20 ms
/// assert!(start.elapsed() >= Duration::from_millis(20));
/// # }
/// ```
///
/// Work that takes two seconds, and begins every three. With `sleep` in place of `tick`, it would
/// begin every five:
///
/// ```no_run
/// use wheel::{interval, sleep, Duration};
///
/// async fn work() {
///     sleep(Duration::from_secs(2)).await;
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut interval = interval(Duration::from_secs(3));
/// loop {
///     interval.tick().await;
///     work().await;
/// }
/// # }
/// ```
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    assert!(period > Duration::ZERO, "`period` must be non-zero.");
    let (resource, now) = (Resource::interval(), Tick::now());
    Interval::new(resource, Sleep::new(now, Timer::new(now)), period)
}

/// Creates an [`Interval`] that ticks at `start`, and then every `period`.
///
/// Apart from its first tick, the interval behaves like one made by [`interval`].
///
/// # Panics
///
/// Panics under the same conditions as [`interval`].
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
    Interval::new(resource, sleep_until(start), period)
}

/// A timer that ticks at a fixed rate, created by [`interval`] and [`interval_at`].
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut every: wheel::Interval = wheel::interval(wheel::Duration::from_millis(5));
/// let first = every.tick().await;
/// assert_eq!(every.tick().await, first + every.period());
/// # }
/// ```
///
/// # Differences from tokio
///
/// The timer is a part of the `Interval`, so making an interval allocates nothing.
#[derive(Debug)]
pub struct Interval {
    delay: Sleep,
    period: Duration,
    missed_tick_behavior: MissedTickBehavior,
    resource: Resource,
}

impl Interval {
    /// Creates an interval whose first tick is when `delay` completes. The period must not be zero.
    pub(crate) fn new(resource: Resource, delay: Sleep, period: Duration) -> Self {
        Interval {
            delay,
            period: period.min(FAR),
            missed_tick_behavior: MissedTickBehavior::default(),
            resource,
        }
    }

    /// Waits for the next tick, and returns the instant at which that tick was due.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it completes consumes no tick.
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
    /// If the tick is not due yet, the task is woken when it is. As with any future, only the task
    /// of the last call is woken. If the tick is due, this returns it without registering for the
    /// next one: call it again for that.
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

    /// Returns when the next tick is due, after a tick that was due at `due` and is seen `now`.
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

    /// Resets the interval so that the next tick completes one period from now.
    ///
    /// The ticks after that are `period` apart again.
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

    /// Resets the interval so that the next tick is due immediately.
    ///
    /// The ticks after that are `period` apart again.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let hour = wheel::Duration::from_secs(3600);
    /// let mut interval = wheel::interval(hour);
    /// let first = interval.tick().await;
    /// interval.reset_immediately();
    /// let second = interval.tick().await;
    /// assert!(second - first < hour);
    /// # }
    /// ```
    pub fn reset_immediately(&mut self) {
        self.delay.reset_to(Tick::now());
    }

    /// Resets the interval so that the next tick completes after `after` instead of after one period.
    ///
    /// The ticks after that are `period` apart again.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let (hour, millisecond) = (wheel::Duration::from_secs(3600), wheel::Duration::from_millis(1));
    /// let mut interval = wheel::interval(hour);
    /// let first = interval.tick().await;
    /// interval.reset_after(millisecond);
    /// let second = interval.tick().await;
    /// assert!(second - first >= millisecond && second - first < hour);
    /// # }
    /// ```
    pub fn reset_after(&mut self, after: Duration) {
        self.delay.reset_to(deadline_after(after));
    }

    /// Resets the interval so that the next tick completes at `deadline`.
    ///
    /// The ticks after that are `period` apart again.
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

    /// Returns what the interval does about missed ticks.
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

    /// Sets what the interval does about missed ticks.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut interval = wheel::interval(wheel::Duration::from_secs(1));
    /// interval.set_missed_tick_behavior(wheel::MissedTickBehavior::Skip);
    /// assert_eq!(interval.missed_tick_behavior(), wheel::MissedTickBehavior::Skip);
    /// # }
    /// ```
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.missed_tick_behavior = behavior;
    }

    /// Returns the time between two ticks.
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

/// Returns `duration % period`. The period must not be zero, and is at most 30 years.
fn remainder(duration: Duration, period: Duration) -> Duration {
    let nanos = duration.as_nanos() % period.as_nanos();
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}
