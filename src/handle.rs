//! The handles to a timer driver: [`Handle`] makes its timers, and [`Metrics`] in `handle/metrics.rs`
//! reads its counts.

mod metrics;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

pub use self::metrics::{Metrics, metrics};

use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::clock::Tick;
use crate::driver::timer::Timer;
use crate::driver::{Driver, registry};
use crate::interval::Interval;
use crate::platform::runtime::{self, TryCurrentError};
use crate::sleep::{Sleep, deadline_after};
use crate::spans::Resource;
use crate::timeout::Timeout;

/// A handle to a timer driver.
///
/// A `Handle` offers the crate's free functions as methods. [`Handle::current`] returns one for the
/// current runtime, and [`Builder::build`](crate::Builder::build) one for a driver with other
/// settings. A timer made through a handle belongs to that handle's driver no matter where it is
/// made, even outside a runtime. A handle is one word and cheap to clone. Dropping it does not stop
/// the driver, which runs until its runtime shuts down. It works even after that shutdown: its
/// timers are then [tokio's](crate::docs::guarantees#when-a-runtime-shuts-down), in the runtime
/// that polls them.
///
/// Durations count from the current time of the caller's runtime. That matters only if a clock
/// is paused.
///
/// # Examples
///
/// ```
/// use wheel::{Duration, Handle};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let wheel = Handle::current();
/// std::thread::spawn({
///     let wheel = wheel.clone();
///     move || wheel.sleep(Duration::from_millis(1))
/// })
/// .join()
/// .unwrap()
/// .await;
/// assert_eq!(wheel.metrics().snapshot().pending, 0);
/// # }
/// ```
///
/// # Differences from tokio
///
/// tokio has no such handle: its timers use the current runtime.
#[derive(Clone)]
pub struct Handle {
    driver: Arc<Driver>,
}

impl Handle {
    pub(crate) fn new(driver: Arc<Driver>) -> Self {
        Handle { driver }
    }

    /// Returns the driver that the free functions use in the current runtime.
    ///
    /// If no timer has been made there yet, this starts the driver, which spawns a task. On a
    /// worker thread that has entered another runtime, this is the entered runtime's driver, while
    /// the free functions usually use [the
    /// worker's](crate::docs::guarantees#which-runtime-a-timer-belongs-to).
    ///
    /// # Panics
    ///
    /// Panics outside a Tokio runtime, and in a runtime built without `enable_time`. The panic has
    /// tokio's message, and the caller's line.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let wheel = wheel::Handle::current();
    /// wheel.sleep(wheel::Duration::from_millis(50)).await;
    /// assert_eq!(wheel::metrics().snapshot().armed, 1); // the free functions use the same driver
    /// # }
    /// ```
    #[track_caller]
    pub fn current() -> Self {
        Handle::new(registry::driver_of(&runtime::Handle::current()))
    }

    /// Returns the driver that the free functions use in the current runtime, if there is a runtime.
    ///
    /// Like [`current`](Self::current), this starts the driver if no timer has been made yet.
    ///
    /// # Errors
    ///
    /// Returns the error of [`tokio::runtime::Handle::try_current`] outside a Tokio runtime.
    ///
    /// # Panics
    ///
    /// Panics in a runtime built without `enable_time`, with tokio's message and the caller's line.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// assert!(wheel::Handle::try_current().is_ok());
    /// let outside = std::thread::spawn(|| wheel::Handle::try_current().is_err());
    /// assert!(outside.join().unwrap());
    /// # }
    /// ```
    #[track_caller]
    pub fn try_current() -> Result<Self, TryCurrentError> {
        // A closure would hide the caller's line.
        match runtime::Handle::try_current() {
            Ok(handle) => Ok(Handle::new(registry::driver_of(&handle))),
            Err(none) => Err(none),
        }
    }

    /// Waits until `duration` has elapsed.
    ///
    /// Behaves like [`sleep`](crate::sleep()), but never panics when it is called, because it needs
    /// no current runtime.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let (start, millisecond) = (wheel::Instant::now(), wheel::Duration::from_millis(1));
    /// wheel::Handle::current().sleep(millisecond).await;
    /// assert!(start.elapsed() >= millisecond);
    /// # }
    /// ```
    #[track_caller]
    pub fn sleep(&self, duration: Duration) -> Sleep {
        self.sleep_to(deadline_after(duration))
    }

    /// Waits until `deadline`.
    ///
    /// Behaves like [`sleep_until`](crate::sleep_until), but never panics when it is called,
    /// because it needs no current runtime.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let deadline = wheel::Instant::now() + wheel::Duration::from_millis(1);
    /// wheel::Handle::current().sleep_until(deadline).await;
    /// assert!(wheel::Instant::now() >= deadline);
    /// # }
    /// ```
    #[track_caller]
    pub fn sleep_until(&self, deadline: Instant) -> Sleep {
        self.sleep_to(Tick::of(deadline))
    }

    #[track_caller]
    fn sleep_to(&self, deadline: Tick) -> Sleep {
        Sleep::new(deadline, Timer::of_driver(&self.driver))
    }

    /// Requires a future to complete within `duration`.
    ///
    /// Behaves like [`timeout`](crate::timeout()), but never panics when it is called, because it
    /// needs no current runtime.
    ///
    /// # Errors
    ///
    /// The future returns [`Elapsed`](crate::error::Elapsed) if `duration` elapses first.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let wheel = wheel::Handle::current();
    /// assert_eq!(wheel.timeout(wheel::Duration::from_secs(1), async { 7 }).await, Ok(7));
    /// # }
    /// ```
    #[track_caller]
    pub fn timeout<F>(&self, duration: Duration, future: F) -> Timeout<F::IntoFuture>
    where
        F: IntoFuture,
    {
        let deadline = Tick::now().checked_add(duration);
        // A closure would hide the caller's line.
        #[allow(clippy::manual_map)]
        let delay = match deadline {
            Some(deadline) => Some(self.sleep_to(deadline)),
            None => None,
        };
        Timeout::new(future.into_future(), delay)
    }

    /// Requires a future to complete before `deadline`.
    ///
    /// Behaves like [`timeout_at`](crate::timeout_at), but never panics when it is called, because
    /// it needs no current runtime.
    ///
    /// # Errors
    ///
    /// The future returns [`Elapsed`](crate::error::Elapsed) if the deadline passes first.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let wheel = wheel::Handle::current();
    /// assert_eq!(wheel.timeout_at(wheel::Instant::now(), async { 7 }).await, Ok(7));
    /// # }
    /// ```
    #[track_caller]
    pub fn timeout_at<F>(&self, deadline: Instant, future: F) -> Timeout<F::IntoFuture>
    where
        F: IntoFuture,
    {
        Timeout::new(future.into_future(), Some(self.sleep_until(deadline)))
    }

    /// Creates an [`Interval`] that ticks immediately, and then every `period`.
    ///
    /// Behaves like [`interval`](crate::interval()), but needs no current runtime.
    ///
    /// # Panics
    ///
    /// Panics if `period` is zero.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let hour = wheel::Duration::from_secs(3600);
    /// let first = wheel::Handle::current().interval(hour).tick().await;
    /// assert!(first.elapsed() < hour);
    /// # }
    /// ```
    #[track_caller]
    pub fn interval(&self, period: Duration) -> Interval {
        self.interval_at(Instant::now(), period)
    }

    /// Creates an [`Interval`] that ticks at `start`, and then every `period`.
    ///
    /// Behaves like [`interval_at`](crate::interval_at), but needs no current runtime.
    ///
    /// # Panics
    ///
    /// Panics if `period` is zero.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let start = wheel::Instant::now();
    /// let mut interval = wheel::Handle::current().interval_at(start, wheel::Duration::from_secs(1));
    /// assert_eq!(interval.tick().await, start);
    /// # }
    /// ```
    #[track_caller]
    pub fn interval_at(&self, start: Instant, period: Duration) -> Interval {
        assert!(period > Duration::ZERO, "`period` must be non-zero.");
        Interval::new(Resource::interval(), self.sleep_until(start), period)
    }

    /// Returns a handle to the counts of this driver's timers.
    ///
    /// After the driver has shut down, the handle shows the last counts.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let wheel = wheel::Handle::current();
    /// let metrics = wheel.metrics();
    /// wheel.sleep(wheel::Duration::from_millis(50)).await;
    /// assert_eq!(metrics.snapshot().fired, 1);
    /// # }
    /// ```
    pub fn metrics(&self) -> Metrics {
        Metrics::new(Arc::clone(&self.driver))
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("shards", &self.driver.homes.len())
            .finish_non_exhaustive()
    }
}
