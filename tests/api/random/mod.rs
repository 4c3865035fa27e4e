//! The public API under virtual time, beside a naive model, under random operations.
//!
//! | file | one idea |
//! | --- | --- |
//! | `mod.rs` | the operations, their distribution, a thousand runs, shrinking |
//! | `world.rs` | a runtime, two drivers, many timers; the clock is moved by jumps and by waiting |
//! | `timer.rs` | one timer, and what its documentation promises |
//! | `witness.rs` | a waker that notes when it is woken |
//!
//! After every operation: whoever is to be woken has been woken, once, not before the deadline and
//! at the first millisecond at or after it; nobody else has; wakers are freed as soon as nobody may
//! be woken by them; `pending`, `is_elapsed` and `deadline` say what the model says.

mod timer;
mod witness;
mod world;

use std::time::Duration;

use proptest::prelude::*;
use wheel::MissedTickBehavior;

#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Create {
        kind: Kind,
        coarse: bool,
        after: Duration,
    },
    /// With the waker of the last poll, or with another one.
    Poll {
        pick: u8,
        same: bool,
    },
    /// To so long from now.
    Reset {
        pick: u8,
        after: Duration,
    },
    /// To so long before now.
    ResetToPast {
        pick: u8,
        before: Duration,
    },
    /// To so much later or earlier than it was.
    Move {
        pick: u8,
        by: Duration,
        earlier: bool,
    },
    /// The future inside a `timeout` becomes ready.
    Complete {
        pick: u8,
    },
    Drop {
        pick: u8,
    },
    /// The clock jumps.
    Advance {
        by: Duration,
    },
    /// The clock moves on by itself, from one timer to the next.
    Pass {
        by: Duration,
    },
    /// The same, until this timer wakes whoever has polled it.
    Await {
        pick: u8,
    },
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Sleep,
    /// An interval with this period.
    Interval(Duration, MissedTickBehavior),
    Timeout,
}

/// Lengths of time at which a wheel, a driver or tokio's own wheel may have a seam.
fn span() -> impl Strategy<Value = Duration> {
    let seam = (0..55_u32, 0..3_u64).prop_map(|(bit, off)| ((1 << bit) + off).saturating_sub(1));
    let nanos = prop_oneof![
        1 => Just(0),
        4 => 0..3_000_000_u64,
        4 => (0..40_u64).prop_map(|millis| millis * 1_000_000),
        3 => (0..3000_u64, 0..3_u64).prop_map(|(millis, off)| (millis * 1_000_000 + off).saturating_sub(1)),
        2 => 0..3_600_000_000_000_u64,
        2 => seam,
        1 => 0..30 * 86_400_000_000_000_u64,
    ];
    nanos.prop_map(Duration::from_nanos)
}

/// Some are further away than the clock will ever come.
fn after() -> impl Strategy<Value = Duration> {
    prop_oneof![
        20 => span(),
        1 => Just(Duration::MAX),
        1 => (1..40_u64).prop_map(|years| Duration::from_secs(years * 365 * 86_400)),
    ]
}

fn kind() -> impl Strategy<Value = Kind> {
    let behavior = prop::sample::select(vec![
        MissedTickBehavior::Burst,
        MissedTickBehavior::Delay,
        MissedTickBehavior::Skip,
    ]);
    prop_oneof![
        4 => Just(Kind::Sleep),
        2 => Just(Kind::Timeout),
        1 => (span(), behavior).prop_map(|(period, behavior)| {
            Kind::Interval(period.max(Duration::from_nanos(1)), behavior)
        }),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let pick = any::<u8>;
    prop_oneof![
        6 => (kind(), prop::bool::weighted(0.2), after())
            .prop_map(|(kind, coarse, after)| Op::Create { kind, coarse, after }),
        6 => (pick(), any::<bool>()).prop_map(|(pick, same)| Op::Poll { pick, same }),
        3 => (pick(), after()).prop_map(|(pick, after)| Op::Reset { pick, after }),
        1 => (pick(), span()).prop_map(|(pick, before)| Op::ResetToPast { pick, before }),
        2 => (pick(), span(), any::<bool>())
            .prop_map(|(pick, by, earlier)| Op::Move { pick, by, earlier }),
        1 => pick().prop_map(|pick| Op::Complete { pick }),
        2 => pick().prop_map(|pick| Op::Drop { pick }),
        3 => span().prop_map(|by| Op::Advance { by }),
        2 => span().prop_map(|by| Op::Pass { by }),
        2 => pick().prop_map(|pick| Op::Await { pick }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn timers_do_what_their_documentation_says(
        offset in prop_oneof![Just(Duration::ZERO), (0..2_000_000_u64).prop_map(Duration::from_nanos)],
        ops in prop::collection::vec(op(), 1..80),
    ) {
        world::run(offset, &ops);
    }
}
