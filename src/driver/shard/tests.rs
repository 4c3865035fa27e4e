//! What a shard counts while it is busy: no test from outside can hold its lock.

use super::*;

const FIRST: Tick = Tick(1_000);
const LAST: Tick = Tick(2_000_000);

/// A shard at tick 1 with so many timers, and their keys.
fn shard_of(timers: usize) -> (Shard, Vec<u32>) {
    let shard = Shard::new();
    shard.open(Tick(1), 0);
    let register = |_| match shard.register(0, FIRST, Waker::noop().clone(), None) {
        Ok(key) => key,
        Err(_) => panic!("nobody holds the lock"),
    };
    let keys = (0..timers).map(register).collect();
    (shard, keys)
}

/// Cancels timers while somebody else holds the lock.
fn cancel_busy(shard: &Shard, keys: &[u32]) {
    let held = shard.state.try_lock();
    for &key in keys {
        assert!(!shard.cancel(0, key, FIRST), "the shard is busy");
    }
    drop(held);
}

fn counts(shard: &Shard) -> (u64, u64, u64, usize) {
    let now = shard.snapshot(0).unwrap();
    (now.registered, now.fired, now.cancelled, now.pending)
}

#[test]
fn cancels_in_the_mail_count_as_cancelled() {
    let (shard, keys) = shard_of(100);
    cancel_busy(&shard, &keys[..50]);
    assert!(shard.has_mail());
    assert_eq!(counts(&shard), (100, 0, 50, 50));
    assert_eq!(shard.pending(0), 50);
}

#[test]
fn what_has_been_counted_as_cancelled_does_not_fire_later() {
    let (shard, keys) = shard_of(40);
    cancel_busy(&shard, &keys[..30]);
    let before = counts(&shard);
    let mut batch = Vec::new();
    while let Some(Progress::Unfinished) = shard.expire(0, LAST, LAST, 7, &mut batch) {}
    assert_eq!(before, (40, 0, 30, 10));
    assert_eq!((batch.len(), counts(&shard)), (10, (40, 10, 30, 0)));
}

#[test]
fn a_cancel_that_comes_too_late_counts_as_fired() {
    let (shard, keys) = shard_of(3);
    let mut batch = Vec::new();
    let progress = shard.expire(0, LAST, LAST, 1, &mut batch);
    assert_eq!(progress, Some(Progress::Unfinished));
    // Still in the wheel, but the driver's.
    cancel_busy(&shard, &keys[2..]);
    assert_eq!(counts(&shard), (3, 1, 0, 2));
    while let Some(Progress::Unfinished) = shard.expire(0, LAST, LAST, 1, &mut batch) {}
    assert_eq!(counts(&shard), (3, 3, 0, 0));
}

#[test]
fn a_closed_shard_leaves_its_figures_and_begins_anew() {
    let (shard, keys) = shard_of(10);
    cancel_busy(&shard, &keys[..2]);
    let mut counted = None;
    drop(shard.close(|last| counted = Some(last.snapshot())));
    assert_eq!(shard.snapshot(0), None);
    assert_eq!(counted.unwrap().registered, 10);
    shard.open(Tick(5), 0);
    assert_eq!(shard.snapshot(1), Some(Snapshot::default()));
}

#[test]
fn a_reset_that_the_clock_has_overtaken_counts_as_reset_and_fired() {
    let (shard, keys) = shard_of(2);
    let moved = shard.reschedule(0, keys[0], FIRST, LAST);
    assert!(matches!(moved, Changed::Made(None)));
    let fired = shard.reschedule(0, keys[1], FIRST, Tick(1));
    assert!(matches!(fired, Changed::Made(Some(_))));
    assert_eq!(counts(&shard), (2, 1, 0, 1));
    assert_eq!(shard.snapshot(0).unwrap().reset, 2);
}
