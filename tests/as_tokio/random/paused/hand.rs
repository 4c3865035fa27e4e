//! The operations on timers by hand, and the durations that they use.

use support::prelude::*;

use crate::random::program::{Program, Step, Style};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Hand {
    Make(Kind, Duration),
    /// Makes a timer of the driver with a configured tick.
    MakeCoarse(Kind, Duration),
    /// Advances the clock in one step.
    Advance(Duration),
    /// Lets the clock advance by itself, from timer to timer.
    Pass(Duration),
    /// Does something to a timer, which this number selects modulo the number of timers.
    To(usize, Act),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Sleep,
    /// An interval with this period.
    Interval(Duration, MissedTickBehavior),
    Timeout,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Act {
    /// Polls with the waker of the last poll, or with another.
    Poll {
        same: bool,
    },
    /// Resets to this long from now.
    Reset(Duration),
    /// Resets to this long before now.
    ResetToPast(Duration),
    /// Resets to this much later than before.
    Extend(Duration),
    /// Resets to this much earlier than before.
    MoveEarlier(Duration),
    /// Changes the missed-tick behaviour of an interval.
    Behave(MissedTickBehavior),
    /// Makes the future inside a timeout ready, which wakes nothing.
    Complete,
    Drop,
    /// Lets the clock advance by itself until the timer wakes its waker.
    Await,
}

/// Generates a program of up to eighty operations. Its clock begins anywhere in a millisecond.
pub(crate) fn program(random: &mut Random) -> Program {
    let offset = match random.below(2) {
        0 => Duration::ZERO,
        _ => Duration::from_nanos(random.below(2_000_000)),
    };
    let hands = (0..1 + random.below(80)).map(|_| hand(random)).collect();
    Program {
        style: Style::Hand,
        runtimes: 1,
        offset,
        steps: vec![Step::Hands(hands)],
        ..Program::default()
    }
}

fn hand(random: &mut Random) -> Hand {
    match random.below(29) {
        0..5 => Hand::Make(kind(random), far(random)),
        5 => Hand::MakeCoarse(kind(random), far(random)),
        6..9 => Hand::Advance(span(random)),
        9..11 => Hand::Pass(span(random)),
        _ => Hand::To(random.below(1 << 8) as usize, act(random)),
    }
}

fn act(random: &mut Random) -> Act {
    match random.below(18) {
        0..6 => Act::Poll {
            same: random.below(2) == 0,
        },
        6..9 => Act::Reset(far(random)),
        9 => Act::ResetToPast(span(random)),
        10 => Act::Extend(span(random)),
        11 => Act::MoveEarlier(span(random)),
        12 => Act::Complete,
        13..15 => Act::Drop,
        15 => Act::Behave(behavior(random)),
        _ => Act::Await,
    }
}

fn kind(random: &mut Random) -> Kind {
    match random.below(7) {
        0..4 => Kind::Sleep,
        4 | 5 => Kind::Timeout,
        _ => Kind::Interval(span(random).max(Duration::from_nanos(1)), behavior(random)),
    }
}

pub(crate) fn behavior(random: &mut Random) -> MissedTickBehavior {
    use MissedTickBehavior::{Burst, Delay, Skip};
    [Burst, Delay, Skip][random.below(3) as usize]
}

/// Returns a duration near a boundary of the wheel, the driver, or Tokio's own wheel.
fn span(random: &mut Random) -> Duration {
    let nanos = match random.below(17) {
        0 => 0,
        1..5 => random.below(3_000_000),
        5..9 => 1_000_000 * random.below(40),
        9..12 => (1_000_000 * random.below(3000) + random.below(3)).saturating_sub(1),
        12..14 => random.below(3_600_000_000_000),
        14..16 => (1 << random.below(55)) + random.below(3) - 1,
        _ => random.below(30 * DAY.as_nanos() as u64),
    };
    Duration::from_nanos(nanos)
}

/// Returns such a duration, or one that the clock never reaches.
fn far(random: &mut Random) -> Duration {
    match random.below(22) {
        0 => Duration::MAX,
        1 => (1 + random.below(29) as u32) * 365 * DAY,
        _ => span(random),
    }
}
