//! A shard's counts, and its late cancels: no test from outside can tell a thread from a
//! shard's own, nor hold the shard's lock.

use std::sync::Arc;
use std::task::Wake;

use super::*;
use crate::driver::pass::Pass;
use crate::settings::Settings;
use crate::wheel::core::PAGE;

const FIRST: Tick = Tick(1_000);
const LAST: Tick = Tick(2_000_000);

/// Returns a shard at tick 1 with this many timers, and their entries.
fn shard_of(timers: usize) -> (&'static Shard, Vec<EntryRef>) {
    let shards = 1;
    let driver = Driver::leak(Settings {
        shards,
        ..Settings::default()
    });
    let shard = &driver.shards()[0];
    shard.open(Tick(1), 0);
    shard.set_fast_path_from(FIRST);
    let register = |_| {
        let key = arm(shard, 0, FIRST);
        entry(key.expect("no thread holds the lock"), 0, FIRST)
    };
    let entries = (0..timers).map(register).collect();
    (shard, entries)
}

fn entry(key: u32, generation: Generation, when: Tick) -> EntryRef {
    EntryRef {
        key,
        generation,
        when,
    }
}

fn arm(shard: &Shard, generation: Generation, when: Tick) -> Option<u32> {
    shard.arm(generation, when, Waker::noop().clone()).ok()
}

/// Cancels a task's timer on the shard's own thread.
fn cancel(shard: &Shard, entry: EntryRef) -> bool {
    let state = shard.try_lock();
    state
        .map(|state| drop(shard.cancel(state, entry)))
        .is_some()
}

/// Cancels timers as another thread does.
fn cancel_later(shard: &Shard, entries: &[EntryRef]) {
    for &entry in entries {
        shard.cancel_later(entry);
    }
}

/// Runs one critical section of a pass. Returns `true` if the driver is running.
fn expire(shard: &Shard, now: Tick, batch: &mut Vec<Waker>) -> bool {
    let mut pass = Pass {
        generation: 0,
        now,
        seen: now,
        batch: [const { None }; BATCH],
        len: 0,
    };
    let is_open = shard.expire(&mut pass);
    batch.extend(pass.batch.into_iter().flatten());
    is_open
}

fn fire(shard: &Shard, now: Tick, batch: &mut Vec<Waker>) {
    shard.apply_late_cancels();
    while shard.next() <= now && expire(shard, now, batch) {}
}

fn counts(shard: &Shard) -> (u64, u64, u64, usize) {
    counts_of(shard, 0)
}

fn counts_of(shard: &Shard, generation: Generation) -> (u64, u64, u64, usize) {
    let now = shard.snapshot(generation).unwrap();
    (now.registered, now.fired, now.cancelled, now.pending)
}

#[test]
fn cancels_that_wait_count_as_cancelled() {
    let (shard, entries) = shard_of(100);
    cancel_later(shard, &entries[..50]);
    assert!(shard.has_late_cancels());
    assert_eq!(counts(shard), (100, 0, 50, 50));
    assert_eq!(shard.pending(0), 50);
}

#[test]
fn few_cancels_wait_where_the_shard_is_free() {
    let (shard, entries) = shard_of(1000);
    cancel_later(shard, &entries);
    let left = shard.state.try_lock().unwrap().pending();
    assert!(left < BATCH, "{left} wait");
}

/// A thread that cancels never waits, however many cancels are queued.
#[test]
fn cancels_wait_while_the_shard_is_busy() {
    let (shard, entries) = shard_of(100);
    let held = shard.wait();
    cancel_later(shard, &entries);
    drop(held);
    assert_eq!(counts(shard), (100, 0, 100, 0));
}

/// A hundred thousand timers are dropped while another thread holds the shard.
#[test]
fn late_cancels_are_applied_a_few_at_a_time_and_give_their_memory_back() {
    const ALL: usize = 100_000;
    let queued = |shard: &Shard| {
        let cancels = sync::wait(&shard.late.0);
        (cancels.len(), cancels.capacity() > KEPT)
    };
    let (shard, entries) = shard_of(ALL);
    let held = shard.wait();
    cancel_later(shard, &entries);
    assert_eq!(queued(shard), (ALL, true), "each timer is queued once");
    drop(held);
    assert!(arm(shard, 0, LAST).is_some());
    assert_eq!(queued(shard), (ALL - BATCH, true));
    assert!(expire(shard, Tick(1), &mut Vec::new()));
    assert_eq!(queued(shard), (ALL - 2 * BATCH, true));
    // The pass applies them although nothing is due.
    shard.driver.run_pass(0, Tick(1));
    assert_eq!(queued(shard), (0, false));
    let all = ALL as u64;
    assert_eq!(counts(shard), (all + 1, 0, all, 1));
}

#[test]
fn a_hold_makes_all_cancels_that_wait() {
    let (shard, entries) = shard_of(BATCH - 1);
    cancel_later(shard, &entries);
    let state = shard.state.try_lock();
    assert_eq!(state.unwrap().pending(), BATCH - 1);
    assert!(arm(shard, 0, LAST).is_some());
    assert!(!shard.has_late_cancels());
    assert_eq!(shard.wait().pending(), 1);
}

#[test]
fn a_busy_shard_does_not_keep_its_own_thread_waiting() {
    let (shard, entries) = shard_of(1);
    let held = shard.wait();
    assert!(!cancel(shard, entries[0]));
    shard.cancel_later(entries[0]);
    drop(held);
    assert!(shard.has_late_cancels());
    assert_eq!(counts(shard), (1, 0, 1, 0));
}

#[test]
fn what_has_been_counted_as_cancelled_does_not_fire_later() {
    let (shard, entries) = shard_of(BATCH + 10);
    cancel_later(shard, &entries[..BATCH]);
    let before = counts(shard);
    let mut batch = Vec::new();
    fire(shard, LAST, &mut batch);
    assert_eq!(before, (26, 0, 16, 10));
    assert_eq!((batch.len(), counts(shard)), (10, (26, 10, 16, 0)));
}

#[test]
fn what_waits_to_be_cancelled_does_not_fire() {
    let (shard, entries) = shard_of(BATCH + 9);
    cancel_later(shard, &entries[..BATCH - 1]);
    let mut batch = Vec::new();
    fire(shard, LAST, &mut batch);
    assert_eq!((batch.len(), counts(shard)), (10, (25, 10, 15, 0)));
}

#[test]
fn a_cancel_that_comes_too_late_counts_as_fired() {
    let all = BATCH as u64 + 2;
    let (shard, entries) = shard_of(BATCH + 2);
    let mut batch = Vec::new();
    assert!(expire(shard, LAST, &mut batch));
    // These entries are still in the wheel, but belong to the driver.
    let fired = batch.len() as u64;
    cancel_later(shard, &entries[BATCH + 1..]);
    assert_eq!(counts(shard), (all, fired, 0, BATCH + 2 - batch.len()));
    fire(shard, LAST, &mut batch);
    assert_eq!(counts(shard), (all, all, 0, 0));
}

#[test]
fn a_closed_shard_leaves_its_counts_and_starts_empty() {
    let (shard, entries) = shard_of(10);
    cancel_later(shard, &entries[..2]);
    let mut counted = None;
    shard.set_fast_path_from(FIRST);
    drop(shard.close(|last| counted = Some(last)));
    assert_eq!(shard.snapshot(0), None);
    assert_eq!(shard.fast_path_from(), Tick::NEVER, "nothing is armed");
    assert_eq!(counted.unwrap().registered, 10);
    shard.open(Tick(5), 0);
    assert_eq!(shard.snapshot(1), Some(Snapshot::default()));
}

#[test]
fn a_reset_that_the_clock_has_overtaken_counts_as_reset_and_fired() {
    let (shard, entries) = shard_of(2);
    let moved = shard.reset(entries[0], LAST);
    assert!(matches!(moved, Ok(None)));
    let fired = shard.reset(entries[1], Tick(1));
    assert!(matches!(fired, Ok(Some(_))));
    assert_eq!(counts(shard), (2, 1, 0, 1));
    assert_eq!(shard.snapshot(0).unwrap().reset, 2);
}

#[test]
fn one_cancelled_timer_is_left_and_the_next_one_has_its_entry() {
    let (shard, entries) = shard_of(2);
    assert!(cancel(shard, entries[0]) && cancel(shard, entries[1]));
    assert_eq!(shard.wait().wheel.len(), 1);
    assert_eq!(shard.wait().snapshot().cancelled, 2);
    let next = arm(shard, 0, LAST);
    assert!(next == Some(entries[0].key));
    assert_eq!(shard.wait().wheel.inserted(), 2);
    assert_eq!(counts(shard), (3, 0, 2, 1));
}

/// Its waker is dropped with the timer, and its place is not used by the next driver's timers.
#[test]
fn what_is_left_does_not_outlive_its_driver() {
    let (shard, entries) = shard_of(1);
    assert!(cancel(shard, entries[0]));
    drop(shard.close(|_| ()));
    shard.open(Tick(1), 0);
    shard.set_fast_path_from(FIRST);
    let next = arm(shard, 1, LAST);
    assert_eq!((counts_of(shard, 1), shard.pending(1)), ((1, 0, 0, 1), 1));
    // Nor does a timer of the last driver take over the cached entry of this driver's timers.
    assert!(cancel(shard, entry(next.unwrap(), 1, LAST)));
    assert_eq!(arm(shard, 0, LAST), None);
    assert_eq!(arm(shard, 1, LAST), next);
}

/// The place of an entry that has fired may be another timer's.
#[test]
fn a_timer_that_has_fired_puts_nothing_off() {
    let (shard, entries) = shard_of(1);
    fire(shard, FIRST, &mut Vec::new());
    let tenant = arm(shard, 0, LAST);
    assert_eq!(tenant, Some(entries[0].key));
    assert!(!shard.extend(entries[0], Tick(LAST.0 + 1)));
    assert!(shard.extend(entry(entries[0].key, 0, LAST), Tick(LAST.0 + 1)));
}

#[test]
fn what_is_left_does_not_fire_and_is_no_next_deadline() {
    let (shard, entries) = shard_of(1);
    assert!(cancel(shard, entries[0]));
    assert!(shard.try_refresh());
    assert_eq!(shard.next(), Tick::NEVER);
    let (shard, entries) = shard_of(1);
    assert!(cancel(shard, entries[0]));
    let mut batch = Vec::new();
    fire(shard, LAST, &mut batch);
    assert_eq!((batch.len(), counts(shard)), (0, (1, 0, 1, 0)));
}

/// Timers in one slot, 16.8 ms wide, armed in the reverse order of their deadlines. Their wakers
/// differ, so that the order in which they fire shows.
#[test]
fn timers_a_millisecond_apart_fire_in_order_and_a_pass_in_time_moves_none() {
    for (apart, order) in [(MILLISECOND, true), (MILLISECOND / 20, false)] {
        let (shard, _) = shard_of(0);
        let due = |index: u64| Tick(101 * MILLISECOND + index * apart);
        let wakers: Vec<_> = (0..16)
            .map(|id| Waker::from(Arc::new(Numbered(id))))
            .collect();
        for (index, waker) in wakers.iter().enumerate().rev() {
            assert!(shard.arm(0, due(index as u64), waker.clone()).is_ok());
        }
        let mut batch = Vec::new();
        fire(shard, due(15), &mut batch);
        let fired: Vec<_> = batch.iter().map(Waker::data).collect();
        let expected: Vec<_> = wakers.iter().map(Waker::data).collect();
        assert_eq!((fired.len(), fired == expected), (16, order));
        assert_eq!(shard.snapshot(0).unwrap().cascaded > 0, order);
    }
}

/// A timer that was extended lazily is still in the slot of its old deadline.
#[test]
fn an_extended_timer_fires_after_those_a_millisecond_before_it() {
    let (shard, _) = shard_of(0);
    let wakers = [0, 1].map(|id| Waker::from(Arc::new(Numbered(id))));
    let [old, between, new, late] = [5, 8, 12, 20].map(|ms| Tick(ms * MILLISECOND));
    let key = shard.arm(0, old, wakers[1].clone()).unwrap();
    assert!(shard.arm(0, between, wakers[0].clone()).is_ok());
    assert!(shard.extend(entry(key, 0, old), new));
    let mut batch = Vec::new();
    fire(shard, late, &mut batch);
    let fired: Vec<_> = batch.iter().map(Waker::data).collect();
    assert_eq!(fired, wakers.each_ref().map(Waker::data));
}

struct Numbered(#[expect(dead_code, reason = "so that each has an address")] u8);

impl Wake for Numbered {
    fn wake(self: Arc<Self>) {}
}

/// If the clock may be paused, each cancel searches for the next deadline.
#[test]
fn what_a_look_for_the_next_deadline_removes_is_freed() {
    let (shard, entries) = shard_of(4 * PAGE);
    for entry in entries {
        assert!(cancel(shard, entry));
        shard.refresh(shard.try_lock().unwrap());
        assert!(!shard.wait().wheel.has_garbage());
    }
}

/// The crate's page and its diagram contain the values of these constants.
#[test]
fn the_pages_name_the_constants_of_the_code() {
    let page = include_str!("../../lib.rs");
    let slot = |level: u32| (SLOTS as u64).pow(level);
    let level = 2;
    for (text, said) in [
        (page, format!("… {SLOTS} slots")),
        (
            page,
            format!("It takes up to {BATCH} timers out of a shard"),
        ),
        (
            page,
            "timers less than a millisecond apart fire together".into(),
        ),
        (
            page,
            format!(
                "| {level} | {} µs | {:.1} ms |",
                slot(level) / 1_000,
                slot(level + 1) as f64 / 1e6
            ),
        ),
    ] {
        assert!(text.contains(&said), "no page says {said:?}");
    }
}

/// Whoever still counts the timers of a runtime that has ended touches nothing of the next one's.
#[test]
fn a_count_of_an_ended_generation_leaves_the_cached_entry_and_late_cancels() {
    let (shard, _) = shard_of(1);
    drop(shard.close(|_| ()));
    shard.open(Tick(1), 0);
    shard.set_fast_path_from(FIRST);
    let keys = [arm(shard, 1, LAST), arm(shard, 1, LAST)];
    let [first, second] = keys.map(|key| entry(key.unwrap(), 1, LAST));
    assert!(cancel(shard, first));
    cancel_later(shard, &[second]);
    assert!(shard.snapshot(0).is_none());
    assert_eq!(shard.pending(0), 0);
    assert!(shard.has_late_cancels(), "the next runtime's");
    assert!(
        shard.try_lock().unwrap().cached.is_some(),
        "the next runtime's"
    );
}
