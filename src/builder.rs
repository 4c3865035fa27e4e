//! [`Builder`]: a driver with other settings than the defaults.

use std::time::Duration;

use tokio::runtime::Handle;

use crate::build_error::{BuildError, MOST_CAPACITY, MOST_SHARDS};
use crate::driver::{DEFAULT_SPACING, HighResolution, registry};
use crate::handle::Wheel;
use crate::settings::Settings;

/// Sets up a driver.
///
/// [`install`](Self::install) makes the runtime's default driver, which the free functions use;
/// [`build`](Self::build) makes a driver beside the default driver. Every setting has a default.
///
/// | setting | default | |
/// | --- | --- | --- |
/// | [`tick`](Self::tick) | none | rounds deadlines up to multiples, so that timers share wake-ups |
/// | [`capacity`](Self::capacity) | 0 | room for so many timers from the start |
/// | [`shards`](Self::shards) | the number of workers | wheels, each behind its own lock |
/// | [`high_resolution`](Self::high_resolution) | off | wakes the driver when a timer is due, and not in tokio's next millisecond |
///
/// # Examples
///
/// A driver whose timers need not be exact, so that they share wake-ups:
///
/// ```
/// use wheel::{Builder, Duration};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), wheel::BuildError> {
/// let idle_timers = Builder::new().tick(Duration::from_millis(100)).build()?;
/// idle_timers.sleep(Duration::from_millis(1)).await; // takes up to 100 ms
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until `build` or `install` is called"]
pub struct Builder {
    tick: Option<Duration>,
    shards: Option<usize>,
    capacity: usize,
    high_resolution: bool,
}

impl Wheel {
    /// Sets up a driver of your own.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), wheel::BuildError> {
    /// let wheel = wheel::Wheel::builder().capacity(100_000).build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder() -> Builder {
        Builder::new()
    }
}

const MILLISECOND: u128 = 1_000_000;
const LONGEST_TICK: Duration = Duration::from_secs(24 * 60 * 60);

impl Builder {
    /// The defaults.
    ///
    /// ```
    /// assert_eq!(format!("{:?}", wheel::Builder::new()), format!("{:?}", wheel::Wheel::builder()));
    /// ```
    pub fn new() -> Self {
        Builder::default()
    }

    /// Rounds deadlines up to a multiple of `tick`, counted from when the driver
    /// starts, so that timers share wake-ups.
    ///
    /// A multiple of a millisecond, at most a day, or a divisor of a millisecond. A divisor rounds
    /// nothing: tokio's clock has milliseconds anyway. With
    /// [`high_resolution`](Self::high_resolution) a divisor is the least time between wake-ups.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), wheel::BuildError> {
    /// use wheel::{Builder, Duration};
    ///
    /// let coarse = Builder::new().tick(Duration::from_millis(20)).build()?;
    /// let start = wheel::Instant::now();
    /// coarse.sleep(Duration::from_millis(1)).await;
    /// assert!(start.elapsed() >= Duration::from_millis(1));
    /// assert!(Builder::new().tick(Duration::from_micros(1_500)).build().is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn tick(mut self, tick: Duration) -> Self {
        self.tick = Some(tick);
        self
    }

    /// Number of shards, each behind a lock of its own: 1 to 1024. By default the number of
    /// workers.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), wheel::BuildError> {
    /// wheel::Builder::new().shards(8).build()?;
    /// let refused = wheel::Builder::new().shards(0).build();
    /// assert!(matches!(refused, Err(wheel::BuildError::Shards(0))));
    /// # Ok(())
    /// # }
    /// ```
    pub fn shards(mut self, shards: usize) -> Self {
        self.shards = Some(shards);
        self
    }

    /// Makes room for this many pending timers, over all shards: at most 2²⁶. There can be
    /// more.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), wheel::BuildError> {
    /// wheel::Builder::new().capacity(100_000).install()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn capacity(mut self, timers: usize) -> Self {
        self.capacity = timers;
        self
    }

    /// Fires timers when they are due, and not in tokio's next millisecond: tens of microseconds
    /// late on a quiet machine. Off by default.
    ///
    /// Needs Linux, the cargo feature `high-resolution`, and a runtime with I/O. All timers of the
    /// driver share a descriptor, set for the earliest deadline within a second. Wake-ups are at
    /// least 50 µs apart, or a [`tick`](Self::tick) that divides a millisecond: timers due in
    /// between fire together. Where a clock may be paused, tokio's timer wakes the driver.
    ///
    /// [When to use high resolution, and its costs](crate::docs::tuning).
    ///
    /// ```
    /// # #[tokio::main]
    /// # async fn main() {
    /// let precise = wheel::Builder::new().high_resolution(true).build();
    /// # #[cfg(all(feature = "high-resolution", target_os = "linux"))]
    /// precise.unwrap().sleep(wheel::Duration::from_micros(250)).await;
    /// # #[cfg(not(all(feature = "high-resolution", target_os = "linux")))]
    /// # assert!(matches!(precise, Err(wheel::BuildError::NoHighResolution)));
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Not here. On a runtime without I/O, [`build`](Self::build) and [`install`](Self::install)
    /// catch a panic of tokio's and return [`BuildError::IoDisabled`]. With `panic = "abort"` that
    /// panic cannot be caught, and ends the process.
    ///
    /// # Differences from tokio
    ///
    /// A sleep of zero completes with the driver's next wake-up, at most 50 µs or a `tick` later,
    /// and not in the next millisecond.
    pub fn high_resolution(mut self, on: bool) -> Self {
        self.high_resolution = on;
        self
    }

    /// Starts a driver on the current runtime, beside the driver of the free functions.
    ///
    /// Spawns a task, which ends with the runtime or by [`Wheel::shutdown`], and not when the handle
    /// is dropped. Make a driver for each setting, and not for each request.
    ///
    /// # Errors
    ///
    /// When a setting is out of range, or high resolution lacks a requirement; the error names the
    /// allowed range, or the missing requirement.
    ///
    /// # Panics
    ///
    /// Outside a Tokio runtime, and in a runtime built without `enable_time`, at the caller's line
    /// and with tokio's message.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), wheel::BuildError> {
    /// let wheel = wheel::Builder::new().shards(2).build()?;
    /// wheel.sleep(wheel::Duration::from_millis(1)).await;
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn build(self) -> Result<Wheel, BuildError> {
        let handle = Handle::current();
        let settings = self.settings(&handle)?;
        let precise = self.open_precise()?;
        Ok(Wheel::new(registry::start(&handle, settings, precise)))
    }

    /// Starts the default driver of the current runtime, which the free functions use: before the
    /// first timer.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), and when the runtime's driver has started already: with the first timer,
    /// [`metrics()`](crate::metrics()) or [`Wheel::current`].
    ///
    /// # Panics
    ///
    /// As [`build`](Self::build).
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{BuildError, Builder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), BuildError> {
    /// Builder::new().shards(4).install()?;
    /// wheel::sleep(wheel::Duration::from_millis(1)).await;
    /// assert!(matches!(Builder::new().install(), Err(BuildError::AlreadyStarted)));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn install(self) -> Result<Wheel, BuildError> {
        let handle = Handle::current();
        let settings = self.settings(&handle)?;
        let precise = self.open_precise()?;
        match registry::install(&handle, settings, precise) {
            Ok(serving) => Ok(Wheel::new(serving)),
            Err(_) => Err(BuildError::AlreadyStarted),
        }
    }

    #[track_caller]
    fn open_precise(&self) -> Result<Option<HighResolution>, BuildError> {
        if !self.high_resolution {
            return Ok(None);
        }
        let fine = self.tick.filter(|&tick| tick < Duration::from_millis(1));
        HighResolution::open(fine.unwrap_or(DEFAULT_SPACING)).map(Some)
    }

    fn settings(&self, handle: &Handle) -> Result<Settings, BuildError> {
        let mut settings = Settings::for_runtime(handle);
        if let Some(tick) = self.tick {
            settings.tick = checked_tick(tick)?;
        }
        if let Some(shards) = self.shards {
            let sane = (1..=MOST_SHARDS).contains(&shards);
            settings.shards = sane.then_some(shards).ok_or(BuildError::Shards(shards))?;
        }
        if self.capacity > MOST_CAPACITY {
            return Err(BuildError::Capacity(self.capacity));
        }
        settings.capacity = self.capacity;
        settings.is_precise = self.high_resolution;
        Ok(settings)
    }
}

/// The tick in nanoseconds, 1 for a tick that makes no difference.
fn checked_tick(tick: Duration) -> Result<u64, BuildError> {
    let nanos = tick.as_nanos();
    if nanos == 0 || tick > LONGEST_TICK {
        Err(BuildError::Tick(tick))
    } else if MILLISECOND % nanos == 0 {
        Ok(1)
    } else if nanos % MILLISECOND == 0 {
        u64::try_from(nanos).map_err(|_| BuildError::Tick(tick))
    } else {
        Err(BuildError::Tick(tick))
    }
}
