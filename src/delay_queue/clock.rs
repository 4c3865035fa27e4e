//! Every conversion between instants and the ticks of the queue's wheel.
//!
//! Deadlines are whole *units* since the creation of the queue, rounded up. A unit is a
//! millisecond, or 50 µs if the queue's timer has high resolution. Each unit has 2^18 ticks, and a
//! deadline is the first tick of its unit.
//!
//! The other ticks of a unit are for entries that are already due when they are inserted. A wheel
//! accepts no entry at or before its own clock, so such an entry goes to the next tick. That tick
//! is still within the unit that has been reached, so the entry is due immediately. Without these
//! ticks, the queue would have to keep such entries in a second place, and search both. 2^18 is the
//! width of three levels of the wheel.

use std::time::Duration;

use tokio::time::Instant;

use crate::driver::DEFAULT_SPACING;

/// Length of a unit without high resolution, in nanoseconds.
const MILLISECOND: u32 = 1_000_000;

/// Number of ticks per unit, as a power of two.
const FINE: u32 = 18;

/// Number of the last tick within a unit.
const LAST: u64 = (1 << FINE) - 1;

/// Number of the last unit, which all later deadlines are brought forward to. It begins after 2230
/// years if units are milliseconds, and after 111 years if they are 50 µs. It is not the last unit
/// that `u64` could count, so that the tick after its last tick exists.
const FARTHEST: u64 = (u64::MAX >> FINE) - 1;

/// The clock of a queue: its start, and the latest unit that is known to have been reached.
#[derive(Debug)]
pub(super) struct Clock {
    start: Instant,
    /// Length of a unit, in nanoseconds.
    unit: u32,
    /// The latest unit that is known to have been reached. It never decreases, whatever the
    /// system's clock does.
    reached: u64,
}

impl Clock {
    /// Creates a clock that counts milliseconds.
    pub(super) fn new() -> Self {
        Clock::counting(MILLISECOND)
    }

    /// Creates a clock whose units are as short as the spacing of high-resolution timers.
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

    /// Returns the tick of a deadline, or 0 if the deadline is before the start.
    #[inline]
    pub(super) fn tick_of(&self, deadline: Instant) -> u64 {
        let after = deadline.saturating_duration_since(self.start);
        self.units_rounded_up(after).min(FARTHEST) << FINE
    }

    /// Returns the tick of the deadline that is `timeout` from now. No timeout is too long.
    #[inline]
    pub(super) fn tick_after(&self, timeout: Duration) -> u64 {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.tick_of(deadline),
            None => FARTHEST << FINE,
        }
    }

    /// Returns the instant at which the unit of a tick begins.
    #[inline]
    pub(super) fn instant_of(&self, tick: u64) -> Instant {
        let units = tick >> FINE;
        let after = match self.unit {
            MILLISECOND => Duration::from_millis(units),
            unit => Duration::from_nanos(units.saturating_mul(unit.into())),
        };
        // On all platforms, an `Instant` can represent that many years, so the addition does not
        // fail.
        self.start.checked_add(after).unwrap_or(self.start)
    }

    /// Returns the first and the last tick of the unit that has been reached.
    ///
    /// With the feature `test-util`, the system's clock is not read. A paused clock may stop in the
    /// middle of one of Tokio's milliseconds, while timers wait for the end of that millisecond.
    /// Only what the queue's timer has reached counts then.
    pub(super) fn read(&mut self) -> (u64, u64) {
        if !cfg!(feature = "test-util") {
            self.reached = self.current();
        }
        let tick = self.reached.min(FARTHEST) << FINE;
        (tick, tick | LAST)
    }

    /// Returns `true` if this tick is known to have been reached, without reading the system's
    /// clock.
    pub(super) const fn has_reached(&self, tick: u64) -> bool {
        tick >> FINE <= self.reached
    }

    /// Notes that this tick has been reached, because the queue's timer has fired. The timer takes
    /// precedence over the system's clock, because it may follow the clock of another runtime.
    pub(super) fn note_reached(&mut self, tick: u64) {
        self.reached = self.reached.max(tick >> FINE);
    }

    /// Returns the number of units from this tick to now.
    pub(super) fn units_after(&self, tick: u64) -> u64 {
        self.current().saturating_sub(tick >> FINE)
    }

    /// Reads the system's clock and returns the current unit.
    fn current(&self) -> u64 {
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

/// Returns the duration in nanoseconds, or the largest `u64` if it is longer than 584 years.
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
    fn with_high_resolution_deadlines_are_rounded_up_to_50_microseconds() {
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
        // The last units that can be distinguished, and one whose number does not fit into the bits above its ticks.
        for (millis, unit) in [(FARTHEST - 1, FARTHEST - 1), ((1 << 46) + 5, FARTHEST)] {
            let deadline = clock.start + Duration::from_millis(millis);
            assert_eq!(clock.tick_of(deadline), unit << FINE);
        }
    }

    #[test]
    fn a_deadline_before_the_start_is_tick_zero() {
        let clock = clock();
        let past = clock.start.checked_sub(Duration::from_millis(1)).unwrap();
        assert_eq!(clock.tick_of(past), 0);
    }

    #[test]
    fn the_current_unit_is_counted_from_the_start() {
        let ago = Duration::from_secs(100);
        for (mut clock, per_second) in [(Clock::new(), 1_000), (Clock::precise(), 20_000)] {
            clock.start = clock.start.checked_sub(ago).unwrap();
            let units = clock.units_after(0);
            let hour = 3_600 * per_second;
            assert!((100 * per_second..hour).contains(&units), "{units}");
        }
    }

    #[test]
    fn the_timer_takes_precedence_over_the_clock() {
        let mut clock = clock();
        clock.note_reached(5_000_000 << FINE);
        assert_eq!(clock.read(), (5_000_000 << FINE, 5_000_000 << FINE | LAST));
        assert_eq!(clock.units_after(4_999_990 << FINE), 10);
    }
}
