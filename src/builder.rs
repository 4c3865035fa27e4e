//! [`Builder`], which starts a driver with settings other than the defaults.

use std::num::NonZeroU64;
use std::time::Duration;

use crate::build_error::{BuildError, MOST_CAPACITY, MOST_SHARDS};
use crate::clock::MILLISECOND;
use crate::driver::registry;
use crate::handle::Handle;
use crate::platform::{Descriptor, runtime};
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
/// | [`spacing`](Self::spacing) | 50 µs | the shortest time between two wake-ups with high resolution |
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
    spacing: Option<Duration>,
    shards: Option<usize>,
    capacity: usize,
    high_resolution: bool,
}

/// The spacing of wake-ups, unless a builder sets another.
const DEFAULT_SPACING: Duration = Duration::from_micros(50);
const LONGEST_TICK: Duration = Duration::from_secs(24 * 60 * 60);

impl Builder {
    /// Creates a builder with the default settings.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), wheel::BuildError> {
    /// let custom = wheel::Builder::new().shards(4).build()?;
    /// assert_eq!(custom.metrics().num_shards(), 4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new() -> Self {
        Builder::default()
    }

    /// Rounds deadlines up to a multiple of `tick`, counted from when the driver starts, so that
    /// timers share wake-ups.
    ///
    /// A `tick` is a multiple of a millisecond, up to one day. By default, deadlines are not rounded.
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

    /// Sets the shortest time between two wake-ups of a driver with
    /// [`high_resolution`](Self::high_resolution).
    ///
    /// At most a millisecond, and 50 µs by default. Timers that become due in between fire
    /// together, so a longer spacing saves wake-ups, but makes some timers later.
    ///
    /// ```
    /// use wheel::{BuildError, Builder, Duration};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// // A driver without high resolution has no spacing.
    /// let refused = Builder::new().spacing(Duration::from_micros(100)).build();
    /// assert!(matches!(refused, Err(BuildError::Spacing(_))));
    /// # }
    /// ```
    pub fn spacing(mut self, spacing: Duration) -> Self {
        self.spacing = Some(spacing);
        self
    }

    /// Sets the number of shards, from 1 to 1024, each with its own lock. Defaults to the number of
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

    /// Preallocates memory for `timers` pending timers, spread over all shards.
    ///
    /// At most 2²⁶ can be preallocated. This is not a limit: the driver allocates more when needed.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), wheel::BuildError> {
    /// wheel::Builder::new().capacity(100_000).install()?;
    /// assert_eq!(wheel::metrics().snapshot().pending, 0); // room for these timers, and none yet
    /// # Ok(())
    /// # }
    /// ```
    pub fn capacity(mut self, timers: usize) -> Self {
        self.capacity = timers;
        self
    }

    /// Fires timers when they are due instead of in tokio's next millisecond. Off by default.
    ///
    /// On an otherwise idle machine, a timer then fires some tens of microseconds after its
    /// deadline. This needs Linux, the cargo feature `high-resolution`, and a runtime with I/O. All
    /// timers of the driver share one `timerfd`, which is set for the earliest deadline if that is
    /// less than a second away. The timerfd's wake-ups are at least one [`spacing`](Self::spacing)
    /// apart, and timers that are due in between fire together. If the clock [may be
    /// paused](crate::docs::guarantees#paused-clocks), tokio's timer wakes the driver instead.
    ///
    /// [When to use high resolution, and what it costs](crate::docs::high_resolution).
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
    /// This setter never panics. If the runtime has no I/O driver, tokio panics inside
    /// [`build`](Self::build) or [`install`](Self::install), which catch that panic and return
    /// [`BuildError::IoDisabled`]. With `panic = "abort"` the panic cannot be caught, and the
    /// process aborts.
    ///
    /// # Differences from tokio
    ///
    /// A sleep of zero is due at most one spacing later, instead of in the next millisecond.
    pub fn high_resolution(mut self, on: bool) -> Self {
        self.high_resolution = on;
        self
    }

    /// Starts a custom driver on the current runtime, beside the free functions' driver.
    ///
    /// This spawns a task, which ends with the runtime. Dropping the handle does not end it. Build
    /// one driver for each configuration that you need, rather than one per request.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, if `spacing` is set without high resolution,
    /// or if something that high resolution needs is missing. The error names the accepted range,
    /// or what is missing.
    ///
    /// # Panics
    ///
    /// Panics outside a Tokio runtime, and in a runtime built without `enable_time`. The panic has
    /// tokio's message, and the caller's line.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), wheel::BuildError> {
    /// let wheel = wheel::Builder::new().shards(2).build()?;
    /// wheel.sleep(wheel::Duration::from_millis(50)).await;
    /// assert_eq!(wheel.metrics().snapshot().armed, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn build(self) -> Result<Handle, BuildError> {
        let handle = runtime::Handle::current();
        let settings = self.settings(&handle)?;
        let timerfd = open_timerfd(settings)?;
        Ok(Handle::new(registry::start(&handle, settings, timerfd)))
    }

    /// Starts the current runtime's default driver, which the free functions use.
    ///
    /// Call this before the runtime's first timer.
    ///
    /// # Errors
    ///
    /// Returns an error under the same conditions as [`build`](Self::build), and
    /// [`BuildError::AlreadyStarted`] if the runtime's driver is already running: the first timer
    /// starts it, and so does [`Handle::current`].
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
    pub fn install(self) -> Result<Handle, BuildError> {
        let handle = runtime::Handle::current();
        let settings = self.settings(&handle)?;
        let timerfd = open_timerfd(settings)?;
        match registry::install(&handle, settings, timerfd) {
            Ok(serving) => Ok(Handle::new(serving)),
            Err(_) => Err(BuildError::AlreadyStarted),
        }
    }

    fn settings(&self, handle: &runtime::Handle) -> Result<Settings, BuildError> {
        let mut settings = Settings::for_runtime(handle);
        settings.tick = self.tick.map(checked_tick).transpose()?;
        if let Some(shards) = self.shards {
            let sane = (1..=MOST_SHARDS).contains(&shards);
            settings.shards = sane.then_some(shards).ok_or(BuildError::Shards(shards))?;
        }
        if self.capacity > MOST_CAPACITY {
            return Err(BuildError::Capacity(self.capacity));
        }
        settings.capacity = self.capacity;
        settings.is_precise = self.high_resolution;
        let spacing = self.spacing.unwrap_or(DEFAULT_SPACING);
        let is_sane = !spacing.is_zero() && spacing <= Duration::from_nanos(MILLISECOND);
        if !is_sane || self.spacing.is_some() && !self.high_resolution {
            return Err(BuildError::Spacing(spacing));
        }
        settings.spacing = spacing.subsec_nanos().into();
        Ok(settings)
    }
}

#[track_caller]
fn open_timerfd(settings: Settings) -> Result<Option<Descriptor>, BuildError> {
    match settings.is_precise {
        true => Descriptor::open().map(Some),
        false => Ok(None),
    }
}

/// Returns the tick in nanoseconds.
fn checked_tick(tick: Duration) -> Result<NonZeroU64, BuildError> {
    let nanos = u64::try_from(tick.as_nanos()).ok();
    nanos
        .filter(|nanos| nanos % MILLISECOND == 0 && tick <= LONGEST_TICK)
        .and_then(NonZeroU64::new)
        .ok_or(BuildError::Tick(tick))
}
