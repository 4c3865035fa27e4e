//! The wheel beside a naive model, under random operations: see `support/wheel_model.rs`.

use proptest::prelude::*;
use support::wheel_model::{CLOCKS, Distance, Op, SLOTS, run};
use wheel::TimingWheel;

fn distance() -> impl Strategy<Value = Distance> {
    (any::<bool>(), 0..30_u8, -3..4_i64, 0..8_u8).prop_map(|(of_level, power, offset, far)| {
        // One in eight reaches further than the rest.
        let power = if far == 0 { power * 2 + 5 } else { power / 2 };
        Distance {
            of_level,
            power,
            offset,
        }
    })
}

fn budget() -> impl Strategy<Value = usize> {
    prop_oneof![0..4_usize, 0..100_usize, Just(usize::MAX)]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => distance().prop_map(|distance| Op::Insert { distance }),
        1 => (1..=200_u8, distance()).prop_map(|(count, distance)| Op::Crowd { count, distance }),
        3 => any::<u16>().prop_map(|pick| Op::Remove { pick }),
        1 => (1..=200_u8, any::<u16>()).prop_map(|(count, pick)| Op::Thin { count, pick }),
        2 => (any::<u16>(), distance()).prop_map(|(pick, distance)| Op::Reschedule { pick, distance }),
        3 => (distance(), budget()).prop_map(|(distance, budget)| Op::Advance { distance, budget }),
        2 => budget().prop_map(|budget| Op::Follow { budget }),
        1 => budget().prop_map(|budget| Op::Back { budget }),
        1 => (distance(), 0..8_u8).prop_map(|(distance, times)| Op::Rearm { distance, times }),
        1 => Just(Op::Copy),
        1 => (0..4_u8).prop_map(|at| Op::Panic { at }),
        1 => prop_oneof![
            4 => Just(Op::Shrink),
            4 => (0..4096_u16).prop_map(|additional| Op::Reserve { additional }),
            1 => Just(Op::Clear),
            1 => Just(Op::Drain),
        ],
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn does_as_the_model_does(
        slots in prop::sample::select(SLOTS.to_vec()),
        now in prop::sample::select(CLOCKS.to_vec()),
        ops in prop::collection::vec(op(), 1..60),
    ) {
        run(slots, now, &ops);
    }
}

/// The same with fixed seeds: every kind of wheel at every clock, each time the same.
#[test]
fn does_as_the_model_does_from_every_clock() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for round in 0..4 * 5 * CLOCKS.len() {
        let ops = prop::collection::vec(op(), 50)
            .new_tree(&mut runner)
            .unwrap()
            .current();
        run(SLOTS[round % 5], CLOCKS[round / 5 % CLOCKS.len()], &ops);
    }
}

/// A random timer waits for its very tick, from wherever the clock stands.
#[test]
fn a_lone_timer_fires_at_its_tick_and_not_before() {
    let mut wheel: TimingWheel<()> = TimingWheel::new();
    let mut random = 1_u64;
    for round in 0..10_000_u32 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let due = wheel.now() + 1 + (random >> 32) % (1 << (round % 20));
        wheel.insert(due, ()).unwrap();
        assert_eq!(wheel.next_expiration(), Some(due));
        wheel.advance(due - 1, |_| panic!("early"));
        let mut fired = 0;
        wheel.advance(due, |_| fired += 1);
        assert_eq!(fired, 1);
    }
}
