//! What is done to timers by hand, and at which lengths of time.

use std::time::Duration;

use tokio::time::MissedTickBehavior;

use super::program::{Program, Step, Style};
use support::{DAY, Random, ms};

/// `pick` is a number whose remainder is the place of a timer among those there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Hand {
    /// For the default driver, or one with a tick of its own.
    Make {
        kind: Kind,
        coarse: bool,
        span: Duration,
    },
    /// With the waker of the last poll, or with another one.
    Poll {
        pick: usize,
        same: bool,
    },
    /// To so long from now.
    Reset {
        pick: usize,
        span: Duration,
    },
    /// To so long before now.
    ResetToPast {
        pick: usize,
        span: Duration,
    },
    /// To so much later or earlier than it was.
    Move {
        pick: usize,
        by: Duration,
        earlier: bool,
    },
    /// An interval is to make up for missed ticks in another way.
    Behave {
        pick: usize,
        behavior: MissedTickBehavior,
    },
    /// The future inside a timeout becomes ready, and wakes nothing.
    Complete {
        pick: usize,
    },
    Drop {
        pick: usize,
    },
    /// The clock jumps.
    Advance(Duration),
    /// The clock moves on by itself, from one timer to the next.
    Pass(Duration),
    /// The same, until this timer wakes its waker.
    Await {
        pick: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Sleep,
    /// With this period.
    Interval(Duration, MissedTickBehavior),
    Timeout,
}

/// Up to eighty things, where the clock may stand anywhere in a millisecond.
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
        tasks: Vec::new(),
        steps: vec![Step::Hands(hands)],
    }
}

fn hand(random: &mut Random) -> Hand {
    let pick = random.below(1 << 8) as usize;
    match random.below(29) {
        0..6 => Hand::Make {
            kind: kind(random),
            coarse: random.below(5) == 0,
            span: far(random),
        },
        6..12 => Hand::Poll {
            pick,
            same: random.below(2) == 0,
        },
        12..15 => Hand::Reset {
            pick,
            span: far(random),
        },
        15 => Hand::ResetToPast {
            pick,
            span: span(random),
        },
        16..18 => Hand::Move {
            pick,
            by: span(random),
            earlier: random.below(2) == 0,
        },
        18 => Hand::Complete { pick },
        19..21 => Hand::Drop { pick },
        21..24 => Hand::Advance(span(random)),
        24..26 => Hand::Pass(span(random)),
        26 => Hand::Behave {
            pick,
            behavior: behavior(random),
        },
        _ => Hand::Await { pick },
    }
}

fn kind(random: &mut Random) -> Kind {
    match random.below(7) {
        0..4 => Kind::Sleep,
        4 | 5 => Kind::Timeout,
        _ => Kind::Interval(span(random).max(Duration::from_nanos(1)), behavior(random)),
    }
}

fn behavior(random: &mut Random) -> MissedTickBehavior {
    use MissedTickBehavior::{Burst, Delay, Skip};
    [Burst, Delay, Skip][random.below(3) as usize]
}

/// Lengths at which a wheel, a driver or tokio's own wheel may have a seam.
fn span(random: &mut Random) -> Duration {
    let millis =
        |millis: u64, off: u64| Duration::from_nanos((millis * 1_000_000 + off).saturating_sub(1));
    match random.below(17) {
        0 => Duration::ZERO,
        1..5 => Duration::from_nanos(random.below(3_000_000)),
        5..9 => ms(random.below(40)),
        9..12 => millis(random.below(3000), random.below(3)),
        12..14 => Duration::from_nanos(random.below(3_600_000_000_000)),
        14..16 => {
            Duration::from_nanos(((1 << random.below(55)) + random.below(3)).saturating_sub(1))
        }
        _ => Duration::from_nanos(random.below(30 * DAY.as_nanos() as u64)),
    }
}

/// Some are further away than the clock will ever come.
fn far(random: &mut Random) -> Duration {
    match random.below(22) {
        0 => Duration::MAX,
        1 => (1 + random.below(29) as u32) * 365 * DAY,
        _ => span(random),
    }
}
