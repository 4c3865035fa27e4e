//! A shard's counts, its late cancels and its cached entry. These are unit tests, because they hold
//! the shard's lock, and choose whether a cancel comes from the shard's own thread.

use std::sync::{Arc, Mutex};
use std::task::Wake;

use super::*;
use crate::settings::{MANY, PASS};
use crate::timing_wheel::raw::PAGE;

const FIRST: Tick = Tick(1_000);
const LAST: Tick = Tick(2_000_000);

/// Returns a shard at tick 1 with this many timers, and their entries.
fn shard_of(timers: usize) -> (&'static Shard, Vec<EntryRef>) {
    let shard: &Shard = Box::leak(Box::new(Shard::new(Tick(1), 0)));
    shard.publish_fast_path(FIRST);
    let arm_one = |_| {
        let key = arm(shard, FIRST);
        entry(key.expect("no thread holds the lock"), FIRST)
    };
    let entries = (0..timers).map(arm_one).collect();
    (shard, entries)
}

fn entry(key: u32, when: Tick) -> EntryRef {
    EntryRef { key, when }
}

fn arm(shard: &Shard, when: Tick) -> Option<u32> {
    let key = shard.arm(when, Waker::noop().clone()).ok()?;
    shard.tidy();
    Some(key)
}

/// Cancels a timer on the shard's own thread.
fn cancel(shard: &Shard, entry: EntryRef) -> bool {
    let held = shard.try_lock();
    held.map(|state| drop(shard.cancel(state, entry))).is_some()
}

/// Cancels timers as another thread does.
fn cancel_later(shard: &Shard, entries: &[EntryRef]) {
    for &entry in entries {
        shard.cancel_later(entry);
    }
}

/// Runs a pass in which every reading of the clock shows `now`.
fn fire(shard: &Shard, now: Tick) {
    let clock = || now;
    let mut pass = Pass::at(now, usize::MAX, &clock);
    shard.fire_due(&mut pass);
    while shard.fire_deferred(&mut pass) {}
}

fn counts(shard: &Shard) -> (u64, u64, u64, usize) {
    let now = shard.snapshot();
    (now.armed, now.fired, now.cancelled, now.pending)
}

#[test]
fn queued_cancels_count_as_cancelled() {
    let (shard, entries) = shard_of(100);
    cancel_later(shard, &entries[..50]);
    assert_ne!(shard.late_cancels(), 0);
    assert_eq!(counts(shard), (100, 0, 50, 50));
}

#[test]
fn a_free_shard_applies_queued_cancels_in_batches() {
    let (shard, entries) = shard_of(1000);
    cancel_later(shard, &entries);
    let left = shard.state.try_lock().unwrap().wheel.len();
    assert!(left < BATCH, "{left} are queued");
}

/// Cancels that are queued meanwhile do not displace those that were queued before, whatever else
/// is applied in between.
#[test]
fn what_was_queued_first_is_applied_whatever_follows() {
    let (shard, entries) = shard_of(4 * BATCH);
    let (first, later) = entries.split_at(2 * BATCH);
    let held = shard.apply_late_cancels_and_lock();
    cancel_later(shard, first);
    cancel_later(shard, later);
    drop(held);
    let keys = |entries: &[EntryRef]| entries.iter().map(|it| it.key).collect::<Vec<_>>();
    let queued = || keys(&platform::wait(&shard.late.0));
    shard.unlock_and_tidy(platform::wait(&shard.state), first.len());
    assert_eq!(queued()[..BATCH], keys(first)[..BATCH]);
    shard.unlock_and_tidy(platform::wait(&shard.state), BATCH);
    assert!(keys(first).iter().all(|key| !queued().contains(key)));
    assert_eq!(counts(shard).3, 0);
}

/// A thread that cancels never waits, however many cancels are queued.
#[test]
fn cancels_are_queued_while_the_shard_is_busy() {
    let (shard, entries) = shard_of(100);
    let held = shard.apply_late_cancels_and_lock();
    cancel_later(shard, &entries);
    drop(held);
    assert_eq!(counts(shard), (100, 0, 100, 0));
}

/// A hundred thousand timers are dropped while another thread holds the shard's lock.
#[test]
fn late_cancels_are_applied_a_few_at_a_time_and_give_their_memory_back() {
    const ALL: usize = 100_000;
    let queued = |shard: &Shard| {
        let cancels = platform::wait(&shard.late.0);
        (cancels.len(), cancels.capacity() > KEPT)
    };
    let (shard, entries) = shard_of(ALL);
    let held = shard.apply_late_cancels_and_lock();
    cancel_later(shard, &entries);
    assert_eq!(queued(shard), (ALL, true), "each timer is queued once");
    drop(held);
    assert!(arm(shard, LAST).is_some());
    assert_eq!(queued(shard), (ALL - BATCH, true));
    shard.expire(&mut Pass::at(Tick(1), usize::MAX, &|| Tick(1)), false);
    assert_eq!(queued(shard), (ALL - 2 * BATCH, true));
    // The pass applies them although nothing is due.
    shard.apply_late_cancels();
    assert_eq!(queued(shard), (0, false));
    let all = ALL as u64;
    assert_eq!(counts(shard), (all + 1, 0, all, 1));
}

#[test]
fn a_critical_section_applies_the_queued_cancels() {
    let (shard, entries) = shard_of(BATCH - 1);
    cancel_later(shard, &entries);
    let state = shard.state.try_lock();
    assert_eq!(state.unwrap().wheel.len(), BATCH - 1);
    assert!(arm(shard, LAST).is_some());
    assert_eq!(shard.late_cancels(), 0);
    assert_eq!(counts(shard), (BATCH as u64, 0, BATCH as u64 - 1, 1));
}

#[test]
fn a_busy_shard_does_not_keep_its_own_thread_waiting() {
    let (shard, entries) = shard_of(1);
    let held = shard.apply_late_cancels_and_lock();
    assert!(!cancel(shard, entries[0]));
    shard.cancel_later(entries[0]);
    drop(held);
    assert_ne!(shard.late_cancels(), 0);
    assert_eq!(counts(shard), (1, 0, 1, 0));
}

#[test]
fn a_timer_that_was_counted_as_cancelled_does_not_fire_later() {
    let (shard, entries) = shard_of(BATCH + 10);
    cancel_later(shard, &entries[..BATCH]);
    let before = counts(shard);
    fire(shard, LAST);
    assert_eq!(before, (26, 0, 16, 10));
    assert_eq!(counts(shard), (26, 10, 16, 0));
}

#[test]
fn a_timer_whose_cancel_is_queued_does_not_fire() {
    let (shard, entries) = shard_of(BATCH + 9);
    cancel_later(shard, &entries[..BATCH - 1]);
    fire(shard, LAST);
    assert_eq!(counts(shard), (25, 10, 15, 0));
}

#[test]
fn a_cancel_that_comes_too_late_counts_as_fired() {
    let all = BATCH as u64 + 2;
    let (shard, entries) = shard_of(BATCH + 2);
    let mut pass = Pass::at(LAST, usize::MAX, &|| LAST);
    shard.expire(&mut pass, false);
    pass.wake_batch();
    // These entries are still in the wheel, but belong to the driver.
    let (_, fired, _, left) = counts(shard);
    assert!(0 < fired && fired < all);
    cancel_later(shard, &entries[BATCH + 1..]);
    assert_eq!(counts(shard), (all, fired, 0, left));
    fire(shard, LAST);
    assert_eq!(counts(shard), (all, all, 0, 0));
}

#[test]
fn a_closed_shard_keeps_its_counts_and_refuses_everything() {
    let (shard, entries) = shard_of(10);
    cancel_later(shard, &entries[..2]);
    let pending = shard.close();
    assert_eq!(pending.count(), 8);
    assert_eq!(shard.fast_path_from(), Tick::NEVER, "nothing is armed");
    assert_eq!(shard.next(), Tick::NEVER, "nothing is due");
    assert_eq!(counts(shard), (10, 0, 10, 0));
    assert_eq!(shard.snapshot().slab_capacity, 0);
    assert_eq!(arm(shard, LAST), None);
    assert!(!shard.admits(Tick::NEVER));
    cancel_later(shard, &entries);
    assert_eq!(shard.late_cancels(), 0);
    assert_eq!(counts(shard), (10, 0, 10, 0));
}

#[test]
fn a_reset_that_the_clock_has_overtaken_counts_as_reset_and_fired() {
    let (shard, entries) = shard_of(2);
    let moved = shard.reset(entries[0], LAST);
    assert!(matches!(moved, Reset::Moved));
    let fired = shard.reset(entries[1], Tick(1));
    assert!(matches!(fired, Reset::Fired(Some(_))));
    assert_eq!(counts(shard), (2, 1, 0, 1));
    assert_eq!(shard.snapshot().reset, 2);
}

#[test]
fn one_cancelled_entry_is_cached_and_the_next_timer_takes_it_over() {
    let (shard, entries) = shard_of(2);
    assert!(cancel(shard, entries[0]) && cancel(shard, entries[1]));
    assert_eq!(shard.apply_late_cancels_and_lock().wheel.len(), 1);
    let next = arm(shard, LAST);
    assert!(next == Some(entries[0].key));
    assert_eq!(shard.apply_late_cancels_and_lock().wheel.inserted(), 2);
    assert_eq!(counts(shard), (3, 0, 2, 1));
}

#[test]
fn a_cached_entry_does_not_outlive_its_driver() {
    let (shard, entries) = shard_of(1);
    assert!(cancel(shard, entries[0]));
    assert_eq!(shard.close().count(), 0);
    assert_eq!(arm(shard, LAST), None);
    assert_eq!(counts(shard), (1, 0, 1, 0));
}

/// A program may reset timers for a long time without any other operation.
#[test]
fn resets_leave_no_garbage() {
    for to in [Tick(1), Tick(900)] {
        let (shard, entries) = shard_of(2 * PAGE);
        for entry in entries {
            shard.reset(entry, to);
            assert!(!shard.try_lock().unwrap().wheel.has_garbage());
        }
    }
}

/// With many timers in a slot, the search finds the deadline of one that was cancelled, which is earlier.
#[test]
fn a_search_does_not_lower_next() {
    let (shard, _) = shard_of(0);
    let earliest = Tick(6_000_000_000);
    let before = Tick(earliest.0 - 1);
    let cancelled = arm(shard, before).unwrap();
    arm(shard, earliest);
    assert!(cancel(shard, entry(cancelled, before)));
    assert!(shard.raise_next(shard.try_lock().unwrap()));
    for later in 0..100 {
        arm(shard, Tick(earliest.0 + later));
    }
    let state = shard.apply_late_cancels_and_lock();
    assert!(state.wheel.next_expiration() < Some(earliest.0));
    assert!(!shard.raise_next(state));
    assert_eq!(shard.next(), earliest);
}

/// The slot still knows the deadline of the cancelled timer, but `next` says that none is due that early.
#[test]
fn a_crowd_does_not_cascade_because_an_earlier_timer_was_cancelled() {
    let (shard, _) = shard_of(0);
    let (before, crowd) = (Tick(6_000_000_000), Tick(6_010_000_000));
    let cancelled = arm(shard, before).unwrap();
    arm(shard, crowd);
    assert!(cancel(shard, entry(cancelled, before)));
    assert!(shard.raise_next(shard.try_lock().unwrap()));
    assert_eq!(shard.next(), crowd);
    (0..100).for_each(|_| _ = arm(shard, crowd));
    fire(shard, crowd);
    let now = shard.snapshot();
    assert_eq!((now.fired, now.cascaded), (101, 0));
}

/// Another timer may have the key of an entry that has fired.
#[test]
fn a_timer_that_has_fired_extends_no_entry() {
    let (shard, entries) = shard_of(1);
    fire(shard, FIRST);
    let next = arm(shard, LAST);
    assert_eq!(next, Some(entries[0].key));
    assert!(!shard.extend(entries[0], Tick(LAST.0 + 1)));
    assert!(shard.extend(entry(entries[0].key, LAST), Tick(LAST.0 + 1)));
}

#[test]
fn a_cached_entry_does_not_fire_and_is_no_next_deadline() {
    let (shard, entries) = shard_of(1);
    assert!(cancel(shard, entries[0]));
    assert!(shard.raise_next(shard.apply_late_cancels_and_lock()));
    assert_eq!(shard.next(), Tick::NEVER);
    let (shard, entries) = shard_of(1);
    assert!(cancel(shard, entries[0]));
    fire(shard, LAST);
    assert_eq!(counts(shard), (1, 0, 1, 0));
}

/// Timers in one slot, 16.8 ms wide, armed in the reverse order of their deadlines.
#[test]
fn timers_a_millisecond_apart_fire_in_order_and_a_pass_in_time_moves_none() {
    for (apart, order) in [(MILLISECOND, true), (MILLISECOND / 20, false)] {
        let ((shard, _), log) = (shard_of(0), Log::default());
        let due = |index: u64| Tick(101 * MILLISECOND + index * apart);
        for index in (0..16).rev() {
            assert!(shard.arm(due(index), log.waker(index)).is_ok());
        }
        fire(shard, due(15));
        let fired = log.0.lock().unwrap();
        assert_eq!((fired.len(), fired.is_sorted()), (16, order));
        assert_eq!(shard.snapshot().cascaded > 0, order);
    }
}

/// A timer that was extended lazily is still in the slot of its old deadline.
#[test]
fn an_extended_timer_fires_after_those_a_millisecond_before_it() {
    let ((shard, _), log) = (shard_of(0), Log::default());
    let [old, between, new, late] = [5, 8, 12, 20].map(|ms| Tick(ms * MILLISECOND));
    let key = shard.arm(old, log.waker(1)).unwrap();
    assert!(shard.arm(between, log.waker(0)).is_ok());
    assert!(shard.extend(entry(key, old), new));
    fire(shard, late);
    assert_eq!(*log.0.lock().unwrap(), [0, 1]);
}

/// The wakers that were woken, in order.
#[derive(Default)]
struct Log(Arc<Mutex<Vec<u64>>>);

impl Log {
    fn waker(&self, id: u64) -> Waker {
        Waker::from(Arc::new(Logged(id, Arc::clone(&self.0))))
    }
}

struct Logged(u64, Arc<Mutex<Vec<u64>>>);

impl Wake for Logged {
    fn wake(self: Arc<Self>) {
        self.1.lock().unwrap().push(self.0);
    }
}

/// If the clock may be paused, each cancel searches for the next deadline.
#[test]
fn a_search_for_the_next_deadline_frees_what_it_removes() {
    let (shard, entries) = shard_of(4 * PAGE);
    for entry in entries {
        assert!(cancel(shard, entry));
        shard.raise_next(shard.try_lock().unwrap());
        assert!(!shard.apply_late_cancels_and_lock().wheel.has_garbage());
    }
}

/// The page *Design* contains the values of these constants.
#[test]
fn the_pages_name_the_constants_of_the_code() {
    let words = include_str!("../../docs/design.md").split_whitespace();
    let page = words.collect::<Vec<_>>().join(" ");
    let slot = |level: u32| (SLOTS as u64).pow(level);
    let level = 2;
    for said in [
        format!("levels of {SLOTS} slots"),
        format!("It takes up to {BATCH} timers out of a shard"),
        format!(
            "| {level} | {} µs | {:.1} ms |",
            slot(level) / 1_000,
            slot(level + 1) as f64 / 1e6
        ),
    ] {
        assert!(page.contains(&said), "the page does not say {said:?}");
    }
}

#[test]
fn a_pass_defers_what_it_does_not_fire_and_a_later_timer_overtakes() {
    let all = 2 * MANY;
    let (shard, _) = shard_of(all);
    let pass = |now, left| {
        let clock = || now;
        let mut pass = Pass::at(now, left, &clock);
        shard.fire_due(&mut pass);
        assert!(!pass.is_idle);
        let (_, fired, cancelled, pending) = counts(shard);
        assert_eq!(cancelled, 0);
        (fired as usize, shard.deferred(), pending)
    };
    assert_eq!(pass(FIRST, PASS), (PASS, MANY - PASS, all - PASS));
    // A pass that continues fires none of those that it finds.
    assert_eq!(pass(FIRST, PASS), (PASS, all - PASS, all - PASS));
    assert!(arm(shard, LAST).is_some());
    assert_eq!(pass(LAST, PASS), (PASS + 1, all - PASS, all - PASS));
    assert!(shard.fire_deferred(&mut Pass::at(LAST, PASS, &|| LAST)));
    assert_eq!(shard.deferred(), all - PASS - BATCH);
    assert_eq!(shard.snapshot().lag.max(), LAST.saturating_since(FIRST));
    assert!(!shard.fire_deferred(&mut Pass::at(LAST, 0, &|| LAST)));
    assert_eq!(shard.deferred(), all - PASS - BATCH);
    fire(shard, LAST);
    let all = all as u64 + 1;
    assert_eq!(counts(shard), (all, all, 0, 0));
}

#[test]
fn deferred_timers_fire_from_both_ends_and_are_woken_when_the_driver_ends() {
    let ((shard, _), log) = (shard_of(0), Log::default());
    let due = |index: usize| Tick(FIRST.0 + (index / BATCH) as u64 * MILLISECOND);
    for index in 0..4 * BATCH {
        assert!(shard.arm(due(index), log.waker(index as u64)).is_ok());
    }
    let now = Tick(due(4 * BATCH).0 + MILLISECOND);
    let clock = || now;
    shard.fire_due(&mut Pass::at(now, 0, &clock));
    for _ in 0..2 {
        shard.fire_deferred(&mut Pass::at(now, PASS, &clock));
    }
    let fired = log.0.lock().unwrap().clone();
    let batches: Vec<_> = fired.iter().map(|index| index / BATCH as u64).collect();
    assert_eq!(batches, [[3; BATCH], [0; BATCH]].concat());
    assert_eq!(shard.close().count(), 2 * BATCH);
    let [all, half] = [4, 2].map(|batches| batches * BATCH as u64);
    assert_eq!(counts(shard), (all, half, half, 0));
}

/// A pass read the clock, and was preempted. Meanwhile another pass deferred timers, in a slot that begins
/// before their deadlines.
#[test]
fn a_pass_that_is_behind_fires_what_a_later_pass_deferred() {
    let at = |nanos: u64| Tick(1_050_000_000 + nanos);
    let shard = Shard::new(Tick(1_000_000_000), 0);
    for _ in 0..PASS {
        assert!(arm(&shard, at(900_000)).is_some());
    }
    let mut later = Pass::at(at(950_000), PASS, &|| Tick::NEVER);
    while shard.deferred() == 0 {
        shard.expire(&mut later, true);
    }
    let clock = || at(899_999);
    shard.fire_deferred(&mut Pass::at(clock(), PASS, &clock));
    assert_eq!(
        shard.snapshot().lag.max(),
        at(50_000).saturating_since(at(0))
    );
}
