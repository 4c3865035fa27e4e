//! The wheel does what the worked examples of its sources say, and not what other wheels got wrong.

use std::panic::{AssertUnwindSafe, catch_unwind};

use wheel::timing_wheel::{Key, Progress, Rescheduled, TimingWheel};

/// Advances with no bound and returns the deadlines that fired, in order.
fn fire<T, const SLOTS: usize>(wheel: &mut TimingWheel<T, SLOTS>, to: u64) -> Vec<u64> {
    let mut fired = Vec::new();
    wheel.advance(to, |expired| fired.push(expired.deadline));
    fired
}

/// A timer that is the wheel's only one waits for its very tick.
#[track_caller]
fn fires_at_its_tick<T, const SLOTS: usize>(wheel: &mut TimingWheel<T, SLOTS>, due: u64) {
    assert_eq!(wheel.next_expiration(), Some(due));
    let now = wheel.now();
    assert_eq!(fire(wheel, due - 1), [], "{due} from {now}");
    assert_eq!(fire(wheel, due), [due], "{due} from {now}");
}

/// The levels as `Debug` shows them: per level, each occupied slot and its count.
fn levels<T, const SLOTS: usize>(wheel: &TimingWheel<T, SLOTS>) -> String {
    let shown = format!("{wheel:?}");
    let (_, levels) = shown.split_once("levels: ").expect("levels are shown last");
    levels.trim_end_matches(" }").to_owned()
}

fn filled<const SLOTS: usize>(
    now: u64,
    deadlines: impl IntoIterator<Item = u64>,
) -> TimingWheel<u64, SLOTS> {
    let mut wheel = TimingWheel::with_slots(now);
    for deadline in deadlines {
        wheel.insert(deadline, deadline).expect("not yet due");
    }
    wheel
}

/// Advances a wheel step by step: to which tick, what fires then, and what is in the levels after.
#[track_caller]
fn plays<const SLOTS: usize>(wheel: &mut TimingWheel<u64, SLOTS>, steps: &[(u64, &[u64], &str)]) {
    for &(to, fires, then) in steps {
        assert_eq!(fire(wheel, to), fires, "at {to}");
        assert_eq!(levels(wheel), then, "at {to}");
    }
}

/// Kafka's table for u = 1 and n = 3: the last tick that each of three levels covers, from a start
/// time c on. (The table has c + 17 and c + 26 as ends of slots; c is a multiple of 27 here.)
#[test]
fn kafka_three_levels_of_three_slots() {
    const C: u64 = 27 * 1_000;
    let table = [
        (C, [C + 2, C + 8, C + 26]),
        (C + 1, [C + 3, C + 8, C + 26]),
        (C + 2, [C + 4, C + 8, C + 26]),
        (C + 3, [C + 5, C + 11, C + 26]),
    ];
    for (now, lasts) in table {
        let mut first = now + 1;
        for (level, last) in (1..).zip(lasts) {
            for deadline in first..=last {
                let wheel = filled::<3>(now, [deadline]);
                assert_eq!(wheel.levels(), level, "{deadline} at {now}");
            }
            first = last + 1;
        }
        assert_eq!(filled::<3>(now, [first]).levels(), 4, "at {now}");
    }
}

#[test]
fn kafka_buckets_from_c_to_c_plus_3() {
    const C: u64 = 27 * 1_000;
    let mut wheel = filled::<3>(C, C + 1..C + 27);
    let rest: Vec<_> = (C + 4..C + 27).collect();
    plays(
        &mut wheel,
        &[
            // Nothing is ever in the bucket of the current time, [c,c], nor in the wider ones around it.
            (C, &[], "[{1: 1, 2: 1}, {1: 3, 2: 3}, {1: 9, 2: 9}]"),
            (C + 1, &[C + 1], "[{2: 1}, {1: 3, 2: 3}, {1: 9, 2: 9}]"),
            (C + 2, &[C + 2], "[{}, {1: 3, 2: 3}, {1: 9, 2: 9}]"),
            // Level 2 ticks: [c+3,c+5] comes down, its first fires at once, c+4 and c+5 go to level 1.
            (C + 3, &[C + 3], "[{1: 1, 2: 1}, {2: 3}, {1: 9, 2: 9}]"),
            (C + 26, &rest, "[{}, {}, {}]"),
        ],
    );
}

/// Ten slots of a second; the pointer at 2 when a timer of 9 s arrives, which takes slot 1.
#[test]
fn ten_slots_with_timers_of_2_9_and_15_seconds() {
    let mut wheel = filled::<10>(0, [2]);
    plays(&mut wheel, &[(0, &[], "[{2: 1}]"), (2, &[2], "[{}]")]);
    wheel.insert(wheel.now() + 9, 11).unwrap();
    plays(&mut wheel, &[(2, &[], "[{1: 1}]"), (11, &[11], "[{}]")]);
}

/// A timer of 15 s waits in [10, 19] of the overflow wheel; with 5 s to go it moves to slot 5.
#[test]
fn fifteen_seconds_are_demoted_to_slot_5() {
    let steps: &[(u64, &[u64], &str)] = &[
        (0, &[], "[{}, {1: 1}]"),
        (9, &[], "[{}, {1: 1}]"),
        (10, &[], "[{5: 1}, {}]"),
        (14, &[], "[{5: 1}, {}]"),
        (15, &[15], "[{}, {}]"),
    ];
    plays(&mut filled::<10>(0, [15]), steps);
}

/// Ten slots of 100 ms: 2 min 4.3 s = 100 s + 20 s + 4 s + 300 ms, and down one level for each.
#[test]
fn two_minutes_four_seconds_300_ms_go_down_level_by_level() {
    let steps: &[(u64, &[u64], &str)] = &[
        (0, &[], "[{}, {}, {}, {1: 1}]"),
        (1000, &[], "[{}, {}, {2: 1}, {}]"),
        (1200, &[], "[{}, {4: 1}, {}, {}]"),
        (1240, &[], "[{3: 1}, {}, {}, {}]"),
        (1242, &[], "[{3: 1}, {}, {}, {}]"),
        (1243, &[1243], "[{}, {}, {}, {}]"),
    ];
    plays(&mut filled::<10>(0, [1243]), steps);
}

/// 1 ms × 20, as Kafka and the Go port have it: 20 ms, 400 ms, 8 s, and wheels on top as needed.
#[test]
fn twenty_slots_of_a_millisecond() {
    for (levels, ends) in [
        (1, [1, 19]),
        (2, [20, 399]),
        (3, [400, 7_999]),
        (4, [8_000, 9_999]),
    ] {
        for deadline in ends {
            let mut wheel = filled::<20>(0, [deadline]);
            assert_eq!(wheel.levels(), levels, "{deadline} ms");
            fires_at_its_tick(&mut wheel, deadline);
        }
    }
}

/// Twelve slots, the pointer at 2: a buff 15 ticks away shares slot 5 with one 3 ticks away, and
/// waits for its own round.
#[test]
fn a_buff_of_the_next_round_does_not_fire_in_this_one() {
    let mut wheel = filled::<12>(2, [5, 17]);
    fires_at_its_tick(&mut wheel, 5);
    fires_at_its_tick(&mut wheel, 17);
}

/// A wheel of 350 ms asked for 400 and 500 ms needs no event buffer, only an overflow wheel.
#[test]
fn beyond_the_range_of_the_first_wheel() {
    let mut wheel = filled::<7>(0, [8, 10]); // slots of 50 ms
    fires_at_its_tick(&mut wheel, 8);
    fires_at_its_tick(&mut wheel, 10);
}

/// glommio #44: arm 300, let 250 pass, arm 400. The wheel that said 400 overslept.
#[test]
fn a_later_timer_does_not_hide_an_earlier_one_in_a_coarser_slot() {
    let mut wheel = filled::<64>(0, [300]);
    assert_eq!(fire(&mut wheel, 250), []);
    wheel.insert(400, 400).unwrap();
    assert_eq!(wheel.next_expiration(), Some(300));
    assert_eq!(fire(&mut wheel, 350), [300]);
    assert_eq!(wheel.next_expiration(), Some(400));
}

/// tokio #8334: with the clock at a slot of the top level, that slot is not the next one.
#[test]
fn the_slot_of_now_is_not_taken_for_the_next() {
    const SLOT: u64 = 1 << 30;
    const TURN: u64 = 1 << 36;
    for start in [
        1 << 24,
        SLOT,
        TURN,
        2 * TURN,
        5 * SLOT,
        SLOT - 1,
        TURN + 5 * SLOT,
    ] {
        for distance in [1, 5, 10, 63, 64, 4_096, 1 << 24, 20 * SLOT, TURN] {
            let mut wheel = filled::<64>(start, [start + distance]);
            fires_at_its_tick(&mut wheel, start + distance);
        }
    }
    let mut wheel = filled::<64>(0, [TURN + 1, SLOT + 10]);
    assert_eq!(fire(&mut wheel, 5 * SLOT), [SLOT + 10]);
    wheel.insert(20 * SLOT + 10, 0).unwrap();
    assert_eq!(wheel.next_expiration(), Some(20 * SLOT + 10));
}

/// Netty #744 and many after it: delays that are multiples of a wheel's period.
#[test]
fn multiples_of_the_period_are_not_a_round_off() {
    for start in [0, 1, 5, 63, 250, 4_095] {
        for period in [64, 256, 4_096] {
            for delay in (1..5).flat_map(|k| [k * period - 1, k * period, k * period + 1]) {
                let mut wheel = filled::<64>(start, [start + delay]);
                fires_at_its_tick(&mut wheel, start + delay);
                assert_eq!(fire(&mut wheel, start + 2 * delay), []);
            }
        }
    }
}

/// folly 09a84b282, `RussellLuo` #53: what is inserted while a slot is being emptied neither fires
/// with it nor keeps the loop going.
#[test]
fn inserting_while_a_slot_is_being_emptied() {
    let mut wheel = filled::<64>(0, 64..128);
    let mut fired = Vec::new();
    for round in 0.. {
        let progress = wheel.advance_bounded(127, 1, |expired| fired.push(expired.deadline));
        if progress.is_caught_up() {
            break;
        }
        // The same ring position a turn later, and the next tick.
        wheel.insert(wheel.now() + 64, 0).unwrap();
        assert!(round < 1_000, "it does not end");
    }
    assert!(fired.is_sorted());
    assert_eq!(wheel.now(), 127);
    assert!(fired.starts_with(&[64]));
    assert!(wheel.iter().all(|(_, deadline, _)| deadline > 127));
}

/// tokio's 2^36 ms, `TiKV`'s 2 years, Linux's 15 days, timeout.c's 2^24: no deadline is too far.
#[test]
fn nothing_is_out_of_range() {
    for bit in 0..64 {
        let edges = [(1 << bit) - 1, 1 << bit, u64::MAX - (1 << bit) + 1];
        for deadline in edges.into_iter().filter(|&at| at > 0) {
            fires_at_its_tick(&mut filled::<64>(0, [deadline]), deadline);
        }
    }
    let mut wheel = filled::<2>(0, [u64::MAX, 1]);
    assert_eq!(wheel.levels(), 64);
    assert_eq!(fire(&mut wheel, u64::MAX), [1, u64::MAX]);
    assert_eq!(wheel.insert(u64::MAX, 7), Err(7));
}

/// ratas: schedule 270, let 128 pass: 142 to go; add 250 later, still 142; moved to 10, 10.
#[test]
fn ratas_next_event() {
    for start in (0..20).map(|n| n * 1_037) {
        let mut wheel = filled::<64>(start, []);
        let key: Key = wheel.insert(start + 270, 0).unwrap();
        assert_eq!(fire(&mut wheel, start + 128), []);
        assert_eq!(wheel.next_expiration(), Some(start + 270));
        wheel.insert(wheel.now() + 250, 0).unwrap();
        assert_eq!(wheel.next_expiration(), Some(start + 270));
        assert_eq!(wheel.reschedule(key, wheel.now() + 10), Rescheduled::Moved);
        assert_eq!(wheel.next_expiration(), Some(start + 138));
    }
}

/// ratas: three at 256 from different levels, and a budget of one.
#[test]
fn ratas_budget_in_the_middle_of_a_tick() {
    let mut wheel = filled::<64>(0, [256, 256]);
    assert_eq!(fire(&mut wheel, 200), []);
    wheel.insert(256, 256).unwrap(); // on the lowest level, the others above
    let mut fired = Vec::new();
    while fired.is_empty() {
        assert_eq!(
            wheel.advance_bounded(256, 1, |expired| fired.push(expired.deadline)),
            Progress::Unfinished
        );
    }
    assert_eq!((wheel.now(), wheel.next_expiration()), (256, Some(256)));
    fired.extend(fire(&mut wheel, 256));
    assert_eq!(fired, [256; 3]);
}

/// Of one tick, what has come down from a wider slot has waited longer, and fires first.
#[test]
fn what_came_first_fires_first() {
    let mut wheel: TimingWheel<u8> = TimingWheel::new();
    wheel.insert(256, 1).unwrap(); // on the second level
    assert_eq!(fire(&mut wheel, 200), []);
    wheel.insert(256, 2).unwrap(); // on the first
    let mut fired = Vec::new();
    wheel.advance(256, |expired| fired.push(expired.value));
    assert_eq!(fired, [1, 2]);
}

/// ratas, timeout.c: an entry that is always pushed out never fires, and fires once when it is not.
#[test]
fn pushed_out_for_ever() {
    for start in (0..256).step_by(5) {
        let mut wheel: TimingWheel<(), 64> = TimingWheel::starting_at(start);
        let key = wheel.insert(start + 258, ()).unwrap();
        for tick in start + 1..start + 300 {
            assert_eq!(fire(&mut wheel, tick), []);
            assert_eq!(wheel.reschedule(key, tick + 258), Rescheduled::Moved);
        }
        assert_eq!(fire(&mut wheel, start + 299 + 258), [start + 299 + 258]);
    }
}

/// Agrona, `DelayQueue`: a place in memory is used again, the key to it is not.
#[test]
fn a_stale_key_is_nobody_elses() {
    let mut wheel: TimingWheel<u32> = TimingWheel::new();
    let mut stale = Vec::new();
    for i in 0..100 {
        let key = wheel.insert(10, i).unwrap();
        assert!(stale.iter().all(|&old| wheel.get(old).is_none()));
        match i % 3 {
            0 => assert_eq!(wheel.remove(key), Some(i)),
            1 => wheel.clear(),
            _ => assert_eq!(wheel.drain().collect::<Vec<_>>(), [(10, i)]),
        }
        wheel.shrink_to_fit();
        stale.push(key);
    }
}

/// Agrona: a handler that throws loses its own timer and no other.
#[test]
fn a_panic_while_firing_takes_nothing_else_down() {
    let mut wheel = filled::<64>(0, [64, 65, 65, 66, 4_000]);
    let advance = || wheel.advance(70, |expired| assert_ne!(expired.deadline, 65, "on purpose"));
    assert!(catch_unwind(AssertUnwindSafe(advance)).is_err());
    assert_eq!(fire(&mut wheel, 4_000), [65, 66, 4_000]);
}

/// The same, where what fires is armed anew.
#[test]
fn a_panic_while_arming_anew_loses_that_entry_and_no_other() {
    let mut wheel = filled::<64>(0, [64, 65, 4_000]);
    let rearm = |deadline| {
        assert_ne!(deadline, 65, "on purpose");
        Some(5_000)
    };
    let advance = || wheel.advance_rearming(70, |_, deadline, _| rearm(deadline));
    assert!(catch_unwind(AssertUnwindSafe(advance)).is_err());
    assert_eq!(fire(&mut wheel, 6_000), [4_000, 5_000]);
}

#[test]
fn debug_is_readable() {
    let wheel = filled::<64>(5, [7, 7, 300]);
    assert_eq!(
        format!("{wheel:?}"),
        "TimingWheel { now: 5, len: 3, levels: [{7: 2}, {4: 1}] }"
    );
}

#[test]
fn iterators_know_how_many_are_left() {
    let mut wheel = filled::<64>(0, 1..=5_000);
    wheel.iter_mut().for_each(|(_, _, value)| *value += 1);
    let mut entries = wheel.iter();
    for left in (0..5_000).rev() {
        let (key, deadline, value) = entries.next().unwrap();
        assert_eq!((wheel.get(key), *value), (Some(value), deadline + 1));
        assert_eq!(entries.len(), left);
    }
    assert!(entries.next().is_none() && entries.next().is_none());
    let copy = wheel.clone();
    assert_eq!(wheel.drain().len(), 5_000);
    assert_eq!((wheel.len(), copy.into_iter().count()), (0, 5_000));
}
