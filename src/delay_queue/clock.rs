//! The queue's time: every conversion between instants and the ticks of its wheel.
//!
//! Deadlines are whole units since the queue was made, rounded up: milliseconds, or less where the
//! queue's timer is of high resolution. A unit is 2^18 ticks, three levels of the wheel, of which
//! deadlines use the first alone. The others are for entries that are due when they come: a wheel
//! takes no entry at or before its own clock, so such entries go to the next tick, which is still
//! within the unit that has been reached. Hence every entry is in the wheel, and there is no second
//! place to search.

use std::time::Duration;

use tokio::time::Instant;

use crate::driver::DEFAULT_SPACING;

const MILLISECOND: u32 = 1_000_000;

/// Ticks to a unit, as a power of two.
const FINE: u32 = 18;

/// The last tick of a unit.
const LAST: u64 = (1 << FINE) - 1;

/// 2230 years of milliseconds, a hundred of the least unit. Deadlines further away are cut to this
/// unit; the tick after its last tick exists.
const FARTHEST: u64 = (u64::MAX >> FINE) - 1;

/// The start of the queue, and the latest unit known to have come.
#[derive(Debug)]
pub(super) struct Clock {
    start: Instant,
    /// In nanoseconds.
    unit: u32,
    /// In units. Never goes back, whatever the system's clock does.
    reached: u64,
}

impl Clock {
    pub(super) fn new() -> Self {
        Clock::counting(MILLISECOND)
    }

    /// With deadlines that are as exact as timers of high resolution are.
    pub(super) fn precise() -> Self {
        Clock::counting(DEFAULT_SPACING.subsec_nanos())
    }

    fn counting(unit: u32) -> Self {
        Clock {
            start: Instant::now(),
            unit,
            reached: 0,
        }
    }

    /// The tick of a deadline; 0 if that is before the start.
    #[inline]
    pub(super) fn tick_of(&self, deadline: Instant) -> u64 {
        let after = deadline.saturating_duration_since(self.start);
        self.units_rounded_up(after).min(FARTHEST) << FINE
    }

    /// The tick of a deadline that is some time away, however much.
    #[inline]
    pub(super) fn tick_after(&self, timeout: Duration) -> u64 {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.tick_of(deadline),
            None => FARTHEST << FINE,
        }
    }

    /// The instant of a tick, rounded down to a unit.
    #[inline]
    pub(super) fn instant_of(&self, tick: u64) -> Instant {
        let units = tick >> FINE;
        let after = match self.unit {
            MILLISECOND => Duration::from_millis(units),
            unit => Duration::from_nanos(units.saturating_mul(unit.into())),
        };
        // No platform's instants end within so few years.
        self.start.checked_add(after).unwrap_or(self.start)
    }

    /// Reads the clock: the first and the last tick of the unit that it shows. A clock that may be
    /// paused is not read, because it may stand inside a millisecond of tokio's, for whose end
    /// timers wait. With such a clock the latest tick that the queue's timer has reached counts.
    pub(super) fn read(&mut self) -> (u64, u64) {
        if !cfg!(feature = "test-util") {
            self.reached = self.shown();
        }
        let tick = self.reached.min(FARTHEST) << FINE;
        (tick, tick | LAST)
    }

    /// Whether time is known to have come to this tick, without looking.
    pub(super) const fn has_reached(&self, tick: u64) -> bool {
        tick >> FINE <= self.reached
    }

    /// Time has come to this tick: the timer has fired. The timer takes precedence over the clock,
    /// which may be that of another runtime.
    pub(super) fn trust(&mut self, tick: u64) {
        self.reached = self.reached.max(tick >> FINE);
    }

    /// How many units a wheel that stands at this tick is behind.
    pub(super) fn lag(&self, tick: u64) -> u64 {
        self.shown().saturating_sub(tick >> FINE)
    }

    /// The unit that the clock shows.
    fn shown(&self) -> u64 {
        let elapsed = Instant::now().saturating_duration_since(self.start);
        let units = match self.unit {
            MILLISECOND => millis(elapsed),
            unit => nanos(elapsed) / u64::from(unit),
        };
        self.reached.max(units)
    }

    #[inline]
    fn units_rounded_up(&self, duration: Duration) -> u64 {
        match self.unit {
            MILLISECOND => millis_rounded_up(duration),
            unit => nanos(duration).div_ceil(unit.into()),
        }
    }
}

/// At most 584 years.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[inline]
fn millis(duration: Duration) -> u64 {
    (duration.as_secs().saturating_mul(1000)).saturating_add(duration.subsec_millis().into())
}

#[inline]
fn millis_rounded_up(duration: Duration) -> u64 {
    let part = duration.subsec_nanos().div_ceil(1_000_000);
    (duration.as_secs().saturating_mul(1000)).saturating_add(part.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> Clock {
        Clock::new()
    }

    #[test]
    fn deadlines_are_rounded_up_to_milliseconds() {
        let clock = clock();
        for (nanos, millis) in [(0, 0), (1, 1), (1_000_000, 1), (1_000_001, 2)] {
            let tick = clock.tick_of(clock.start + Duration::from_nanos(nanos));
            assert_eq!(tick, millis << FINE, "{nanos} ns");
            assert_eq!(
                clock.instant_of(tick),
                clock.start + Duration::from_millis(millis)
            );
        }
    }

    #[test]
    fn of_high_resolution_they_are_rounded_up_to_less() {
        let clock = Clock::precise();
        for (nanos, units) in [(0, 0), (1, 1), (50_000, 1), (50_001, 2), (1_000_000, 20)] {
            let tick = clock.tick_of(clock.start + Duration::from_nanos(nanos));
            assert_eq!(tick, units << FINE, "{nanos} ns");
            let after = Duration::from_nanos(units * 50_000);
            assert_eq!(clock.instant_of(tick), clock.start + after);
        }
        let century = Duration::from_secs(100 * 365 * 86_400);
        let tick = clock.tick_of(clock.start + century);
        assert_eq!(clock.instant_of(tick), clock.start + century);
        assert_eq!(clock.tick_after(Duration::MAX), FARTHEST << FINE);
        assert!(clock.instant_of(FARTHEST << FINE) > clock.start + century);
    }

    #[test]
    fn no_deadline_is_too_far() {
        let clock = clock();
        assert_eq!(clock.tick_after(Duration::MAX), FARTHEST << FINE);
        const { assert!(FARTHEST << FINE < u64::MAX - LAST) };
        assert!(clock.instant_of(FARTHEST << FINE) > clock.start);
    }

    #[test]
    fn the_past_is_tick_zero() {
        let clock = clock();
        let past = clock.start.checked_sub(Duration::from_millis(1)).unwrap();
        assert_eq!(clock.tick_of(past), 0);
    }

    #[test]
    fn a_timer_is_believed_before_the_clock() {
        let mut clock = clock();
        clock.trust(5_000_000 << FINE);
        assert_eq!(clock.read(), (5_000_000 << FINE, 5_000_000 << FINE | LAST));
        assert_eq!(clock.lag(4_999_990 << FINE), 10);
    }
}
