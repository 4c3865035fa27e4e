//! Every conversion between an [`Instant`] and a [`Tick`], and all rounding.
//!
//! # Ground rules
//!
//! * **A tick is one nanosecond since [`ORIGIN`]**, so a deadline is kept exactly. Whatever is
//!   rounded is rounded up, because no timer may fire early.
//! * The process has a single origin, so a conversion reads nothing that belongs to a driver, and
//!   ticks of two runtimes can be compared.
//!
//! # Why an instant is hashed
//!
//! Subtracting the origin from an instant takes 57 instructions, a third of those that arming and
//! cancelling a timer take. Seconds and nanoseconds could be subtracted for less, but an instant
//! gives them only to a [`Hasher`]. So [`Parts`] "hashes" the instant. Which values an instant
//! feeds to a hasher is not documented. Therefore [`Origin`] compares a few differences with those
//! of `std` once, and if they disagree, each conversion subtracts.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::sync::LazyLock;
use std::time::{Duration, Instant as StdInstant};

use tokio::time::Instant;

use crate::sync;

/// A point in time: nanoseconds since [`ORIGIN`], 584 years of them, 500 of which are to come.
///
/// Instants before the origin are tick 0, those beyond the end are [`Tick::LAST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tick(pub(crate) u64);

impl Tick {
    pub(crate) const ZERO: Tick = Tick(0);
    /// Later than every deadline: nothing is due, nothing is armed.
    pub(crate) const NEVER: Tick = Tick(u64::MAX);
    /// The latest deadline there is.
    pub(crate) const LAST: Tick = Tick(u64::MAX - 1);

    #[inline]
    pub(crate) fn saturating_add(self, duration: Duration) -> Tick {
        match nanos(duration) {
            // `u64::MAX` is `NEVER`, so the sum saturates one below that.
            Some(nanos) => Tick(self.0.saturating_add(nanos + 1) - 1),
            None => Tick::LAST,
        }
    }

    /// `None` beyond [`Tick::LAST`].
    #[inline]
    pub(crate) fn checked_add(self, duration: Duration) -> Option<Tick> {
        let after = self.0.checked_add(nanos(duration)?)?;
        (after <= Tick::LAST.0).then_some(Tick(after))
    }

    /// [`Tick::ZERO`] before that.
    pub(crate) fn saturating_sub(self, duration: Duration) -> Tick {
        Tick(nanos(duration).map_or(0, |nanos| self.0.saturating_sub(nanos)))
    }

    /// How long after another tick this is.
    pub(crate) fn saturating_since(self, earlier: Tick) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The first multiple of `width` after `origin` that is not before this tick. A tick before the
    /// origin stays unchanged.
    pub(crate) fn round_up(self, width: u64, origin: Tick) -> Tick {
        let Some(since) = self.0.checked_sub(origin.0) else {
            return self;
        };
        let widths = since.div_ceil(width).saturating_mul(width);
        Tick(origin.0.saturating_add(widths)).min(Tick::LAST)
    }

    /// The instant of this tick; exact for every tick of an instant in the range.
    pub(crate) fn to_instant(self) -> Instant {
        let since = Duration::from_nanos(self.0);
        // An origin in the past plus 584 years fits every platform's clock.
        let origin = ORIGIN.instant;
        origin.checked_add(since).unwrap_or(origin).into()
    }

    /// The tick of an instant.
    #[inline]
    pub(crate) fn of(instant: Instant) -> Tick {
        let (instant, origin) = (instant.into_std(), ORIGIN_SECS.get());
        match Parts::of(instant).since(origin) {
            Some(tick) => tick,
            None => of_another(instant),
        }
    }

    /// Now, by the clock of the runtime whose context this is called in.
    #[inline]
    pub(crate) fn now() -> Tick {
        Tick::of(sync::now())
    }

    /// Now, by the clock that is never paused.
    pub(crate) fn really_now() -> Tick {
        Tick::of(sync::really_now())
    }
}

const NANOS_PER_SEC: u64 = 1_000_000_000;
/// tokio's tick, in ours.
pub(crate) const MILLISECOND: u64 = if cfg!(all(test, loom)) { 1 } else { 1_000_000 };

/// Seconds from the origin for which a tick is less than [`Tick::LAST`].
const MOST_SECS: u64 = u64::MAX / NANOS_PER_SEC;

/// A duration in nanoseconds, if less than 584 years.
#[inline]
const fn nanos(duration: Duration) -> Option<u64> {
    // Cheaper than checked arithmetic: a single comparison, and no overflow below that bound.
    if duration.as_secs() >= MOST_SECS {
        return None;
    }
    Some(duration.as_secs() * NANOS_PER_SEC + duration.subsec_nanos() as u64)
}

/// 80 years, which leaves 500 years to come.
const BACK: Duration = Duration::from_secs(80 * 365 * 24 * 60 * 60);

/// Earlier than any clock that a runtime of this process can show.
///
/// A runtime may have been paused before its first timer is created, and then lags behind the
/// real clock; and an interval may begin long ago. So the origin is not "now" but as far back,
/// up to [`BACK`], as the platform's clock reaches.
static ORIGIN: LazyLock<Origin> = LazyLock::new(|| Origin::new(StdInstant::now()));

std::thread_local! {
    /// The origin's seconds, for [`Parts`]. Before a thread's first conversion, and where the parts
    /// of an instant mean something else, [`NO_SECS`]. (It lies beside tokio's own
    /// thread-locals. A static took two more lines of memory: its own, and that of its address.)
    static ORIGIN_SECS: Cell<u64> = const { Cell::new(NO_SECS) };
}

/// No platform's clock comes within 584 years of this, so no instant has a tick by this origin: see
/// [`Parts::since`].
const NO_SECS: u64 = 1 << 63;

/// The tick of an instant outside of the range, of a thread's first instant, and where the parts of
/// an instant mean something else.
#[cold]
fn of_another(instant: StdInstant) -> Tick {
    ORIGIN_SECS.set(ORIGIN.secs);
    ORIGIN.by_subtraction(instant).unwrap_or(Tick::LAST)
}

/// Tick 0: an instant without nanoseconds, so that a subtraction borrows none.
struct Origin {
    instant: StdInstant,
    /// See [`ORIGIN_SECS`].
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

/// As long before `now` as the platform's clock reaches, up to [`BACK`].
fn earlier(now: StdInstant) -> StdInstant {
    // The last of them is about a second.
    let mut halves = (0..32).map(|times| BACK / (1 << times));
    halves.find_map(|back| now.checked_sub(back)).unwrap_or(now)
}

/// Seconds and nanoseconds of an instant, as they come to a hasher.
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

    /// The tick, with the origin's seconds. `None` outside of the range.
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

    /// An instant of another make: its parts agree with nothing.
    fn write(&mut self, _: &[u8]) {}

    fn finish(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests;
