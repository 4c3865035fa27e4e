//! Every conversion between an [`Instant`] and a [`Tick`], and all rounding.
//!
//! A tick is one nanosecond since [`ORIGIN`], so a deadline is kept exactly:
//! nothing is rounded here, and the one rounding that is left is tokio's own,
//! whose alarm rings on whole milliseconds since its runtime began. Rounding
//! twice, on a grid of ours and then on tokio's, is how a paused clock ends up
//! a millisecond late.
//!
//! The origin is one for the process, not one per runtime, so that converting
//! touches nothing that belongs to a driver.

use std::sync::LazyLock;
use std::time::Duration;

use tokio::time::Instant;

use super::sync;

/// A point in time: nanoseconds since [`ORIGIN`], 584 years of them, 500 of which
/// are to come.
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
        self.checked_add(duration).unwrap_or(Tick::LAST)
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

    /// How long after another one this is.
    pub(crate) fn saturating_since(self, earlier: Tick) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The first multiple of `width` after `origin` that is not before this tick. What is
    /// before the origin has passed, and stays as it is.
    pub(crate) fn round_up(self, width: u64, origin: Tick) -> Tick {
        let Some(since) = self.0.checked_sub(origin.0) else {
            return self;
        };
        let widths = since.div_ceil(width).saturating_mul(width);
        Tick(origin.0.saturating_add(widths)).min(Tick::LAST)
    }

    /// The instant of this tick; exact for every tick that came from one.
    pub(crate) fn to_instant(self) -> Instant {
        let since = Duration::from_nanos(self.0);
        // An origin in the past plus 584 years fits every platform's clock.
        ORIGIN.checked_add(since).unwrap_or(*ORIGIN).into()
    }

    /// The tick of an instant.
    #[inline]
    pub(crate) fn of(instant: Instant) -> Tick {
        let since = instant.into_std().saturating_duration_since(*ORIGIN);
        nanos(since).map_or(Tick::LAST, Tick)
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

/// What is due within this is looked up anew, before the alarm rings for a timer that is gone.
pub(crate) const SOON: Duration = Duration::from_nanos(2 * MILLISECOND);

/// A duration in nanoseconds, if it is less than 584 years.
#[inline]
const fn nanos(duration: Duration) -> Option<u64> {
    // Cheaper than checked arithmetic: one comparison, and no overflow below it.
    if duration.as_secs() >= u64::MAX / NANOS_PER_SEC {
        return None;
    }
    Some(duration.as_secs() * NANOS_PER_SEC + duration.subsec_nanos() as u64)
}

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// Leaves 500 years to come.
const BACK: Duration = Duration::from_secs(80 * YEAR.as_secs());

/// Earlier than any clock a runtime of this process can show.
///
/// A runtime may have been paused before its first timer is created, and then
/// lags behind the real clock; and an interval may begin long ago. Hence not "now"
/// but as far back, up to [`BACK`], as the platform's clock reaches.
static ORIGIN: LazyLock<std::time::Instant> = LazyLock::new(|| {
    let now = std::time::Instant::now();
    let mut back = BACK;
    while back > Duration::from_millis(1) {
        if let Some(origin) = now.checked_sub(back) {
            return origin;
        }
        back /= 2;
    }
    now
});

/// Whether a clock is not the real one (paused, or resumed after it was advanced).
pub(crate) fn is_virtual(clock: impl FnOnce() -> Tick) -> bool {
    let before = Tick::really_now();
    let shown = clock();
    shown < before || shown > Tick::really_now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_survives_the_round_trip_to_the_nanosecond() {
        let instant = Instant::now() + Duration::new(12, 345_678_901);
        assert_eq!(Tick::of(instant).to_instant(), instant);
    }

    #[test]
    fn instants_outside_the_range_are_its_ends() {
        let now = std::time::Instant::now();
        if let Some(old) = now.checked_sub(2 * BACK) {
            assert_eq!(Tick::of(Instant::from_std(old)), Tick::ZERO);
        }
        let far = now.checked_add(Duration::from_secs(u64::MAX / 4));
        if let Some(far) = far {
            assert_eq!(Tick::of(Instant::from_std(far)), Tick::LAST);
        }
        assert!(Tick::LAST < Tick::NEVER);
        assert_eq!(Tick::LAST.saturating_add(YEAR), Tick::LAST);
    }

    #[test]
    fn ticks_are_rounded_up_and_never_down() {
        let rounded = |tick: u64| Tick(tick).round_up(10, Tick(7));
        assert_eq!(rounded(7), Tick(7));
        assert_eq!(rounded(8), Tick(17));
        assert_eq!(rounded(17), Tick(17));
        assert_eq!(rounded(3), Tick(3));
        assert_eq!(rounded(Tick::LAST.0), Tick::LAST);
    }
}
