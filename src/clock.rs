//! [`Tick`], the crate's unit of time: all conversions between ticks and [`Instant`]s, and all rounding.
//!
//! # Ground rules
//!
//! * **A tick is a number of nanoseconds since [`ORIGIN`]**, so a deadline is stored exactly.
//! * **Round up, never down**, because no timer may fire early.
//! * **All drivers use the same origin.** A conversion therefore reads nothing that belongs to a driver,
//!   and the ticks of two runtimes can be compared.
//!
//! # Why an instant is hashed
//!
//! Subtracting the origin from an instant takes 57 instructions. That is a sixth of what arming and
//! cancelling a timer takes. Subtracting seconds and nanoseconds takes fewer, but an instant passes
//! these only to a [`Hasher`]. So [`Parts`] "hashes" the instant. It is not documented which values an
//! instant passes to a hasher. Therefore [`Origin`] once compares a few differences with the results of
//! the standard library, and if they disagree, each conversion subtracts instants.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::sync::LazyLock;
use std::time::{Duration, Instant as StdInstant};

use tokio::time::Instant;

use crate::platform;
pub(crate) use crate::platform::MILLISECOND;

/// A point in time, as nanoseconds since [`ORIGIN`]. The range is 584 years, 500 of them in the future.
///
/// An instant before the origin becomes tick 0, and an instant beyond the range [`Tick::LAST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tick(pub(crate) u64);

impl Tick {
    pub(crate) const ZERO: Tick = Tick(0);
    /// A tick later than every deadline, which means that nothing is due or armed.
    pub(crate) const NEVER: Tick = Tick(u64::MAX);
    /// The latest possible deadline.
    pub(crate) const LAST: Tick = Tick(u64::MAX - 1);

    #[inline]
    pub(crate) fn saturating_add(self, duration: Duration) -> Tick {
        match nanos(duration) {
            Some(nanos) => self.later_by(nanos),
            None => Tick::LAST,
        }
    }

    /// Returns the tick `nanos` later, which must be the [`nanos`] of a duration, or [`Tick::LAST`].
    #[inline]
    pub(crate) fn later_by(self, nanos: u64) -> Tick {
        // `u64::MAX` is `NEVER`, so the sum saturates one below that.
        Tick(self.0.saturating_add(nanos + 1) - 1)
    }

    /// Returns the sum, or `None` if it is beyond [`Tick::LAST`].
    #[inline]
    pub(crate) fn checked_add(self, duration: Duration) -> Option<Tick> {
        let after = self.0.checked_add(nanos(duration)?)?;
        (after <= Tick::LAST.0).then_some(Tick(after))
    }

    /// Returns the difference, or [`Tick::ZERO`] if it would be earlier.
    pub(crate) fn saturating_sub(self, duration: Duration) -> Tick {
        Tick(nanos(duration).map_or(0, |nanos| self.0.saturating_sub(nanos)))
    }

    /// Returns how much later than `earlier` this tick is, or zero if it is not later.
    pub(crate) fn saturating_since(self, earlier: Tick) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// Rounds this tick up to a multiple of `width`, counted from `origin`. A tick before the origin is
    /// returned as it is.
    pub(crate) fn round_up(self, width: u64, origin: Tick) -> Tick {
        let Some(since) = self.0.checked_sub(origin.0) else {
            return self;
        };
        let widths = since.div_ceil(width).saturating_mul(width);
        Tick(origin.0.saturating_add(widths)).min(Tick::LAST)
    }

    /// Returns the instant of this tick. It is exact for the tick of every instant in the range.
    pub(crate) fn to_instant(self) -> Instant {
        let since = Duration::from_nanos(self.0);
        // Every platform's clock can represent an origin in the past plus 584 years.
        let origin = ORIGIN.instant;
        origin.checked_add(since).unwrap_or(origin).into()
    }

    /// Returns the tick of an instant.
    #[inline]
    pub(crate) fn of(instant: Instant) -> Tick {
        let (instant, origin) = (instant.into_std(), ORIGIN_SECS.get());
        match Parts::of(instant).since(origin) {
            Some(tick) => tick,
            None => of_another(instant),
        }
    }

    /// Returns the current time by the clock of the current runtime.
    #[inline]
    pub(crate) fn now() -> Tick {
        Tick::of(platform::now())
    }

    /// Returns the current time by the clock that cannot be paused.
    pub(crate) fn really_now() -> Tick {
        Tick::of(platform::really_now())
    }
}

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// The number of seconds below which every tick is less than [`Tick::LAST`].
const MOST_SECS: u64 = u64::MAX / NANOS_PER_SEC;

/// Returns a duration in nanoseconds, or `None` if it is 584 years or longer.
#[inline]
pub(crate) const fn nanos(duration: Duration) -> Option<u64> {
    // Cheaper than checked arithmetic: one comparison, below whose bound nothing overflows.
    if duration.as_secs() >= MOST_SECS {
        return None;
    }
    Some(duration.as_secs() * NANOS_PER_SEC + duration.subsec_nanos() as u64)
}

/// The greatest age of the origin: 80 years, which leaves 500 years for the future.
const BACK: Duration = Duration::from_secs(80 * 365 * 24 * 60 * 60);

/// The instant of tick 0, which is earlier than the clock of any runtime of this process.
///
/// It cannot be the current time, because a runtime may have been paused before its first timer was
/// created, and its clock is then behind the real one. An interval may also begin long ago. So the
/// origin is as far in the past, up to [`BACK`], as the platform's clock can represent.
static ORIGIN: LazyLock<Origin> = LazyLock::new(|| Origin::new(StdInstant::now()));

std::thread_local! {
    /// The origin's seconds, for [`Parts`]. [`NO_SECS`] before a thread's first conversion, and if the
    /// parts of an instant mean something else. (A thread-local is close to tokio's own thread-locals
    /// in memory. A static would touch two more cache lines, one for its value and one for its address.)
    static ORIGIN_SECS: Cell<u64> = const { Cell::new(NO_SECS) };
}

/// An origin that no platform's clock comes within 584 years of, so that [`Parts::since`] returns `None`
/// for every instant.
const NO_SECS: u64 = 1 << 63;

/// Returns the tick of an instant that is outside of the range, or is the first one that this thread
/// converts, or whose parts mean something else.
#[cold]
fn of_another(instant: StdInstant) -> Tick {
    ORIGIN_SECS.set(ORIGIN.secs);
    ORIGIN.by_subtraction(instant).unwrap_or(Tick::LAST)
}

/// The origin of ticks: an instant without nanoseconds, so that subtracting it needs no borrow.
struct Origin {
    instant: StdInstant,
    /// The value for [`ORIGIN_SECS`].
    secs: u64,
}

impl Origin {
    fn new(now: StdInstant) -> Self {
        let early = earlier(now);
        let nanos = Duration::from_nanos(Parts::of(early).nanos);
        let instant = early.checked_sub(nanos).unwrap_or(early);
        let secs = Parts::of(instant).secs;
        let mut origin = Origin { instant, secs };
        if !origin.agrees_with_parts() {
            origin.secs = NO_SECS;
        }
        origin
    }

    fn agrees_with_parts(&self) -> bool {
        let agrees = |since| {
            let later = self.instant.checked_add(Duration::from_nanos(since));
            later
                .is_none_or(|later| Parts::of(later).since(self.secs) == self.by_subtraction(later))
        };
        let tried = [0, 1, 999_999_999, 1_000_000_000, 5_123_456_789];
        tried.into_iter().all(agrees)
    }

    fn by_subtraction(&self, instant: StdInstant) -> Option<Tick> {
        nanos(instant.saturating_duration_since(self.instant)).map(Tick)
    }
}

/// Returns an instant as long before `now`, up to [`BACK`], as the platform's clock can represent.
fn earlier(now: StdInstant) -> StdInstant {
    // The shortest of these is about a second.
    let mut halves = (0..32).map(|times| BACK / (1 << times));
    halves.find_map(|back| now.checked_sub(back)).unwrap_or(now)
}

/// The seconds and nanoseconds of an instant, as the instant passes them to a hasher.
#[derive(Default)]
struct Parts {
    secs: u64,
    nanos: u64,
}

impl Parts {
    #[inline]
    fn of(instant: StdInstant) -> Self {
        let mut parts = Parts::default();
        instant.hash(&mut parts);
        parts
    }

    /// Returns the tick of the instant, given the origin's seconds, or `None` if it is outside of the range.
    #[inline]
    fn since(&self, origin: u64) -> Option<Tick> {
        // An instant before the origin wraps around, beyond the range.
        let secs = self.secs.wrapping_sub(origin);
        (secs < MOST_SECS).then(|| Tick(secs * NANOS_PER_SEC + self.nanos))
    }
}

impl Hasher for Parts {
    #[inline]
    fn write_u64(&mut self, secs: u64) {
        self.secs = secs;
    }

    #[inline]
    fn write_i64(&mut self, secs: i64) {
        self.secs = secs as u64;
    }

    #[inline]
    fn write_u32(&mut self, nanos: u32) {
        self.nanos = nanos.into();
    }

    /// Ignores the value: an instant that passes bytes has parts that disagree with the standard library.
    fn write(&mut self, _: &[u8]) {}

    fn finish(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests;
