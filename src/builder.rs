//! [`Builder`], which starts a driver with settings other than the defaults.

use std::time::Duration;

use tokio::runtime::Handle;

use crate::build_error::{BuildError, MOST_CAPACITY, MOST_SHARDS};
use crate::driver::{DEFAULT_SPACING, HighResolution, registry};
use crate::handle::Wheel;
use crate::settings::Settings;

/// Configures and starts a timer driver.
///
/// [`install`](Self::install) starts the runtime's default driver, which the free functions use.
/// [`build`](Self::build) starts a custom driver beside the default one. Every setting has a default.
///
/// | setting | default | effect |
/// | --- | --- | --- |
/// | [`tick`](Self::tick) | none | rounds deadlines up, so that timers share wake-ups |
/// | [`capacity`](Self::capacity) | 0 | preallocates memory for pending timers |
/// | [`shards`](Self::shards) | the number of workers | splits the timers over this many wheels, each with its own lock |
/// | [`high_resolution`](Self::high_resolution) | off | fires a timer when it is due instead of in tokio's next millisecond |
///
/// # Examples
///
/// A driver whose timers may be late, so that they share wake-ups:
///
/// ```
/// use wheel::{Builder, Duration, Instant};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), wheel::BuildError> {
/// let start = Instant::now();
/// let idle_timers = Builder::new().tick(Duration::from_millis(100)).build()?;
/// idle_timers.sleep(Duration::from_millis(1)).await; // takes up to 100 ms
/// assert!(start.elapsed() >= Duration::from_millis(1));
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
    /// Creates a [`Builder`] for a custom driver.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), wheel::BuildError> {
    /// let wheel = wheel::Wheel::builder().shards(4).build()?;
    /// assert_eq!(wheel.metrics().num_shards(), 4);
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
    /// Creates a builder with the default settings.
    ///
    /// ```
    /// assert_eq!(format!("{:?}", wheel::Builder::new()), format!("{:?}", wheel::Wheel::builder()));
    /// ```
    pub fn new() -> Self {
        Builder::default()
    }

    /// Rounds deadlines up to a multiple of `tick`, counted from when the driver starts, so that timers share
    /// wake-ups.
    ///
    /// A `tick` is a multiple of a millisecond, up to one day, or a divisor of a millisecond. A divisor shorter than
    /// a millisecond rounds nothing, because tokio's clock counts milliseconds anyway. With
    /// [`high_resolution`](Self::high_resolution), a divisor is the shortest time between two wake-ups of the
    /// driver.
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

    /// Sets the number of shards, from 1 to 1024, each with its own lock. Defaults to the number of workers.
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

    /// Preallocates memory for `timers` pending timers, spread over all shards.
    ///
    /// At most 2²⁶ can be preallocated. This is not a limit: the driver allocates more when needed.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), wheel::BuildError> {
    /// wheel::Builder::new().capacity(100_000).install()?;
    /// assert_eq!(wheel::metrics().snapshot().pending, 0); // there is room for these timers, and none yet
    /// # Ok(())
    /// # }
    /// ```
    pub fn capacity(mut self, timers: usize) -> Self {
        self.capacity = timers;
        self
    }

    /// Fires timers when they are due instead of in tokio's next millisecond. Off by default.
    ///
    /// On an otherwise idle machine, a timer then fires some tens of microseconds after its deadline. This
    /// needs Linux, the cargo feature `high-resolution`, and a runtime with I/O. All timers of the driver share
    /// one `timerfd`, which is set for the earliest deadline if that is less than a second away. Two wake-ups are
    /// at least 50 µs apart, or one [`tick`](Self::tick) apart if a tick shorter than a millisecond is set, and
    /// timers that are due in between fire together. If the clock may be paused, tokio's timer wakes the driver instead.
    ///
    /// [When to use high resolution, and what it costs](crate::docs::tuning).
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
    /// Never panics. If the runtime has no I/O driver, tokio panics inside [`build`](Self::build) or
    /// [`install`](Self::install), which catch that panic and return [`BuildError::IoDisabled`]. With
    /// `panic = "abort"` the panic cannot be caught, and the process aborts.
    ///
    /// # Differences from tokio
    ///
    /// A sleep of zero completes at the driver's next wake-up, at most 50 µs or one `tick` later, instead of in
    /// the next millisecond.
    pub fn high_resolution(mut self, on: bool) -> Self {
        self.high_resolution = on;
        self
    }

    /// Starts a custom driver on the current runtime, beside the free functions' driver.
    ///
    /// This spawns a task, which ends with the runtime or through [`Wheel::shutdown`]. Dropping the handle
    /// does not end it. Build one driver for each configuration that you need, rather than one per request.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, or if something that high resolution needs is missing. The
    /// error names the accepted range, or what is missing.
    ///
    /// # Panics
    ///
    /// Panics outside a Tokio runtime, and in a runtime built without `enable_time`. The panic has tokio's
    /// message, and the caller's line.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), wheel::BuildError> {
    /// let wheel = wheel::Builder::new().shards(2).build()?;
    /// wheel.sleep(wheel::Duration::from_millis(1)).await;
    /// assert_eq!(wheel.metrics().snapshot().registered, 1);
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

    /// Starts the current runtime's default driver, which the free functions use.
    ///
    /// Call this before the runtime's first timer.
    ///
    /// # Errors
    ///
    /// Returns an error under the same conditions as [`build`](Self::build), and
    /// [`BuildError::AlreadyStarted`] if the runtime's driver is already running: the first timer starts it, and
    /// so do [`metrics()`](crate::metrics()) and [`Wheel::current`].
    ///
    /// # Panics
    ///
    /// Panics under the same conditions as [`build`](Self::build).
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

/// Returns the tick in nanoseconds, or 1 for a tick that rounds nothing.
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
