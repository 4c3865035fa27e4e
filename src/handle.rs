//! [`Wheel`]: an explicit handle to a driver.

use std::fmt;
use std::future::IntoFuture;
use std::time::Duration;

use tokio::runtime::{Handle, TryCurrentError};
use tokio::time::Instant;

use crate::clock::Tick;
use crate::driver::timer::Timer;
use crate::driver::{DriverRef, registry};
use crate::interval::Interval;
use crate::metrics::WheelMetrics;
use crate::sleep::{Sleep, deadline_after};
use crate::timeout::Timeout;

/// A handle to a driver: the free functions as methods, without looking up
/// which runtime this is.
///
/// Two words, cloned at no cost. Timers made with a handle belong to its driver wherever they are
/// made, also outside any runtime. The driver lives until its runtime ends or
/// [`shutdown`](Self::shutdown) is called, whether or not there is a handle. After that the handle
/// can still be used: its timers are those of the free functions, in the runtime in which they are
/// [polled](crate::docs::guarantees#when-a-driver-ends).
///
/// Durations are counted from now by the clock of the runtime this is called in, which matters
/// only where a clock is paused.
///
/// # Examples
///
/// ```
/// use wheel::{Duration, Wheel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let wheel = Wheel::current();
/// std::thread::spawn({
///     let wheel = wheel.clone();
///     move || wheel.sleep(Duration::from_millis(1))
/// })
/// .join()
/// .unwrap()
/// .await;
/// assert_eq!(wheel.pending(), 0);
/// # }
/// ```
///
/// # Differences from tokio
///
/// tokio has no such handle; its timers are found through `Handle::enter`.
#[derive(Clone)]
pub struct Wheel {
    driver: DriverRef,
}

impl Wheel {
    pub(crate) fn new(driver: DriverRef) -> Self {
        Wheel { driver }
    }

    /// Whether the driver is of high resolution; false after the driver's end.
    pub(crate) fn is_precise(&self) -> bool {
        self.driver.is_open() && self.driver.driver.settings.is_precise
    }

    /// The driver that the free functions use in the current runtime.
    ///
    /// Always that of the current runtime, also on a worker thread of another runtime. (Timers of the
    /// free functions belong to [the worker's](crate::docs::guarantees#which-runtime-a-timer-belongs-to)
    /// there.)
    /// Starts the driver if no timer has been made yet: a task is spawned then.
    ///
    /// # Panics
    ///
    /// Outside a Tokio runtime, and in a runtime built without `enable_time`, at the caller's line
    /// and with tokio's message.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let wheel = wheel::Wheel::current();
    /// wheel.sleep(wheel::Duration::from_millis(1)).await;
    /// # }
    /// ```
    #[track_caller]
    pub fn current() -> Self {
        Wheel::new(registry::driver_of(&Handle::current()))
    }

    /// The same where there may be no runtime.
    ///
    /// As [`current`](Self::current), this starts the driver if there is none yet.
    ///
    /// # Errors
    ///
    /// Outside a Tokio runtime: [`Handle::try_current`]'s.
    ///
    /// # Panics
    ///
    /// In a runtime built without `enable_time`, at the caller's line and with tokio's
    /// message.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// assert!(wheel::Wheel::try_current().is_ok());
    /// let outside = std::thread::spawn(|| wheel::Wheel::try_current().is_err());
    /// assert!(outside.join().unwrap());
    /// # }
    /// ```
    #[track_caller]
    pub fn try_current() -> Result<Self, TryCurrentError> {
        // A closure would hide the caller's line.
        match Handle::try_current() {
            Ok(handle) => Ok(Wheel::new(registry::driver_of(&handle))),
            Err(none) => Err(none),
        }
    }

    /// As [`sleep`](crate::sleep), but never panics here.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// wheel::Wheel::current().sleep(wheel::Duration::from_millis(1)).await;
    /// # }
    /// ```
    pub fn sleep(&self, duration: Duration) -> Sleep {
        self.sleep_to(deadline_after(duration))
    }

    /// As [`sleep_until`](crate::sleep_until), but never panics here.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// wheel::Wheel::current().sleep_until(wheel::Instant::now()).await;
    /// # }
    /// ```
    pub fn sleep_until(&self, deadline: Instant) -> Sleep {
        self.sleep_to(Tick::of(deadline))
    }

    fn sleep_to(&self, deadline: Tick) -> Sleep {
        Sleep::new(deadline, Timer::of_driver(self.driver))
    }

    /// As [`timeout`](crate::timeout), but never panics here.
    ///
    /// # Errors
    ///
    /// The future's: [`Elapsed`](crate::error::Elapsed) when the time is over.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let wheel = wheel::Wheel::current();
    /// assert_eq!(wheel.timeout(wheel::Duration::from_secs(1), async { 7 }).await, Ok(7));
    /// # }
    /// ```
    pub fn timeout<F>(&self, duration: Duration, future: F) -> Timeout<F::IntoFuture>
    where
        F: IntoFuture,
    {
        let deadline = Tick::now().checked_add(duration);
        let delay = deadline.map(|deadline| self.sleep_to(deadline));
        Timeout::new(future.into_future(), delay)
    }

    /// As [`timeout_at`](crate::timeout_at), but never panics here.
    ///
    /// # Errors
    ///
    /// The future's: [`Elapsed`](crate::error::Elapsed) when the time is over.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let wheel = wheel::Wheel::current();
    /// assert_eq!(wheel.timeout_at(wheel::Instant::now(), async { 7 }).await, Ok(7));
    /// # }
    /// ```
    pub fn timeout_at<F>(&self, deadline: Instant, future: F) -> Timeout<F::IntoFuture>
    where
        F: IntoFuture,
    {
        Timeout::new(future.into_future(), Some(self.sleep_until(deadline)))
    }

    /// As [`interval`](crate::interval).
    ///
    /// # Panics
    ///
    /// When `period` is zero.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// wheel::Wheel::current().interval(wheel::Duration::from_secs(1)).tick().await;
    /// # }
    /// ```
    #[track_caller]
    pub fn interval(&self, period: Duration) -> Interval {
        self.interval_at(Instant::now(), period)
    }

    /// As [`interval_at`](crate::interval_at).
    ///
    /// # Panics
    ///
    /// When `period` is zero.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let start = wheel::Instant::now();
    /// let mut interval = wheel::Wheel::current().interval_at(start, wheel::Duration::from_secs(1));
    /// assert_eq!(interval.tick().await, start);
    /// # }
    /// ```
    #[track_caller]
    pub fn interval_at(&self, start: Instant, period: Duration) -> Interval {
        assert!(period > Duration::ZERO, "`period` must be non-zero.");
        Interval::new(self.sleep_until(start), period)
    }

    /// How many timers are registered and have not fired.
    ///
    /// Timers that were never polled are not registered. Counted shard by shard, so exact only
    /// while no thread arms or cancels. Zero once the driver has ended.
    ///
    /// ```
    /// use futures::FutureExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let wheel = wheel::Wheel::current();
    /// let mut sleep = wheel.sleep(wheel::Duration::from_secs(60));
    /// assert_eq!(wheel.pending(), 0);
    /// assert!((&mut sleep).now_or_never().is_none());
    /// assert_eq!(wheel.pending(), 1);
    /// drop(sleep);
    /// assert_eq!(wheel.pending(), 0);
    /// # }
    /// ```
    pub fn pending(&self) -> usize {
        let DriverRef { driver, generation } = self.driver;
        let shards = driver.shards().iter();
        shards.map(|shard| shard.pending(generation)).sum()
    }

    /// Counts of this driver's timers.
    ///
    /// A handle taken before the end of the driver keeps the last counts. A handle taken after
    /// the end may show zeros: another runtime may use the memory by then.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let wheel = wheel::Wheel::current();
    /// let metrics = wheel.metrics();
    /// wheel.sleep(wheel::Duration::from_millis(1)).await;
    /// assert_eq!(metrics.snapshot().fired, 1);
    /// # }
    /// ```
    pub fn metrics(&self) -> WheelMetrics {
        WheelMetrics::new(self.driver)
    }

    /// Ends the driver, and frees its memory.
    ///
    /// Returns at once; the driver ends when the runtime next runs its task. No timer is lost: the
    /// tasks that wait are woken, and their timers go on as Tokio's own, for the same deadlines, without
    /// this driver's [`tick`] or [high resolution]. Timers that are made with the handle later do the
    /// same.
    ///
    /// This is for a driver of [`Builder::build`] that is no longer needed. A driver ends with its
    /// runtime anyway, so the shutdown of a service need not call this. Where the driver of the free
    /// functions itself is shut down, the next timer starts another, or [`Builder::install`] does.
    ///
    /// [`tick`]: crate::Builder::tick
    /// [high resolution]: crate::Builder::high_resolution
    /// [`Builder::build`]: crate::Builder::build
    /// [`Builder::install`]: crate::Builder::install
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{Builder, Duration};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), wheel::BuildError> {
    /// let idle = Builder::new().tick(Duration::from_secs(1)).build()?;
    /// let timer = tokio::spawn(idle.sleep(Duration::from_millis(5)));
    /// idle.shutdown();
    /// timer.await.unwrap(); // by Tokio
    /// # Ok(())
    /// # }
    /// ```
    pub fn shutdown(&self) {
        self.driver.shutdown();
    }
}

impl fmt::Debug for Wheel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wheel")
            .field("shards", &self.driver.driver.shards().len())
            .field("pending", &self.pending())
            .finish_non_exhaustive()
    }
}
