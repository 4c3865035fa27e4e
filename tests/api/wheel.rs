//! `TimingWheel` is right in cases that its model does not cover.

use std::panic::{AssertUnwindSafe, catch_unwind};

use support::panic_of;
use wheel::timing_wheel::TimingWheel;

/// Advances without a budget, and returns the deadlines that fired, in order.
fn fire<T, const SLOTS: usize>(wheel: &mut TimingWheel<T, SLOTS>, to: u64) -> Vec<u64> {
    let mut fired = Vec::new();
    wheel.advance(to, |expired| fired.push(expired.deadline));
    fired
}

/// Asserts that the only timer of a wheel fires at exactly its tick.
#[track_caller]
fn fires_at_its_tick<T, const SLOTS: usize>(wheel: &mut TimingWheel<T, SLOTS>, due: u64) {
    assert_eq!(wheel.next_expiration(), Some(due));
    let now = wheel.now();
    assert!(fire(wheel, due - 1).is_empty(), "{due} from {now}");
    assert_eq!(fire(wheel, due), [due], "{due} from {now}");
}

fn filled<const SLOTS: usize>(
    now: u64,
    deadlines: impl IntoIterator<Item = u64>,
) -> TimingWheel<u64, SLOTS> {
    let mut wheel = TimingWheel::starting_at(now);
    for deadline in deadlines {
        wheel.insert(deadline, deadline).expect("not yet due");
    }
    wheel
}

/// No deadline is too far. (Other wheels have limits: Tokio's 2^36 ms, `TiKV`'s 2 years, Linux's 15 days, timeout.c's 2^24.)
#[test]
fn nothing_is_out_of_range() {
    for bit in 0..64 {
        let edges = [(1 << bit) - 1, 1 << bit, u64::MAX - (1 << bit) + 1];
        for deadline in edges.into_iter().filter(|&at| at > 0) {
            fires_at_its_tick(&mut filled::<64>(0, [deadline]), deadline);
        }
    }
    let mut wheel = filled::<2>(0, [u64::MAX, 1]);
    assert_eq!(fire(&mut wheel, u64::MAX), [1, u64::MAX]);
    assert_eq!(wheel.insert(u64::MAX, 7), Err(7));
}

/// The search reads at most 16 entries per level. For a more crowded slot, the earliest deadline that it ever had counts.
#[test]
fn in_a_crowded_slot_a_removed_entry_hides_the_next_deadline_until_its_own() {
    let next = |others: u64| {
        let mut wheel = filled::<64>(0, 100..100 + others);
        let removed = wheel.insert(90, 90).expect("not yet due");
        assert_eq!(wheel.remove(removed), Some(90));
        let first = wheel.next_expiration().expect("not empty");
        assert!(fire(&mut wheel, first.min(99)).is_empty(), "{others}");
        (first, wheel.next_expiration())
    };
    assert_eq!(next(16), (100, Some(100)));
    assert_eq!(next(17), (90, Some(100)));
}

/// The wheel panics before it allocates gigabytes.
#[test]
fn a_wheel_with_room_for_too_many_panics_at_the_callers_line() {
    let mut wheel: TimingWheel<u8> = TimingWheel::new();
    wheel.insert(1, 0).unwrap();
    let most = u32::MAX as usize;
    let calls = [
        panic_of(|| wheel.reserve(usize::MAX)),
        panic_of(|| wheel.reserve(most)),
    ];
    for panic in calls {
        let panic = panic.expect("too many");
        assert_eq!(panic.file, file!());
        assert!(panic.message.contains("holds at most"), "{}", panic.message);
    }
    assert_eq!(wheel.len(), 1);
}

/// Of the timers that are due in the same tick, those from a wider slot were armed earlier, and fire first.
#[test]
fn what_came_first_fires_first() {
    let mut wheel: TimingWheel<u8> = TimingWheel::new();
    wheel.insert(256, 1).unwrap(); // on the second level
    assert!(fire(&mut wheel, 200).is_empty());
    wheel.insert(256, 2).unwrap(); // on the first
    let mut fired = Vec::new();
    wheel.advance(256, |expired| fired.push(expired.value));
    assert_eq!(fired, [1, 2]);
}

/// A handler that panics loses its own timer and no other, even if fired timers are armed again. (Agrona had this fault.)
#[test]
fn a_panic_while_rearming_loses_that_entry_and_no_other() {
    let mut wheel = filled::<64>(0, [64, 65, 4_000]);
    let rearm = |deadline| {
        assert_ne!(deadline, 65, "a panic on purpose");
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
