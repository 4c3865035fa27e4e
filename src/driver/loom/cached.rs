//! The cached entry, which `shard.rs` describes: a cancelled timer's entry, kept for the next timer.
//! Either a timer takes it over, or it is removed: by a pass, by a search for the next deadline, by a
//! count of the timers, or by the end of the driver.

use super::model::{Armed, Model, assert_dropped, check, shards};

/// If the pass does not intervene, the first timer's entry is cached, and the second's is removed.
#[test]
fn loom_cache_and_fire() {
    check(shards(1), |model| {
        let timers = [60, 61].map(|deadline| model.arm(0, deadline));
        let due = model.arm(0, 10);
        let wakes = model.while_firing(10, || {
            let wakes = timers.map(Armed::drop);
            assert!(model.pending() <= 1, "the cached entry is counted");
            wakes
        });
        model.assert_all_fire([due]);
        assert_dropped(wakes, 0);
    });
}

#[test]
fn loom_use_again_and_fire() {
    check(shards(1), |model| {
        let (timer, due) = (model.arm(0, 60), model.arm(0, 10));
        let next = model.while_firing(10, || timer.replace_by(&model, 90));
        model.settle();
        assert_eq!(model.pending(), 1);
        model.assert_all_fire([due, next]);
    });
}

/// If the pass comes before the drop, the waker is woken for the first timer too.
#[test]
fn loom_use_again_and_fire_what_was_cached() {
    check(shards(1), |model| {
        let timer = model.arm(0, 10);
        let next = model.while_firing(10, || timer.replace_by(&model, 90));
        model.settle();
        assert_eq!(model.pending(), 1);
        model.run_out();
        let wakes = next.wakes.count();
        assert!((1..=2).contains(&wakes));
        next.assert_ready_after(wakes);
        model.assert_empty();
    });
}

/// The deadline may pass before the timer is armed: the timer fires, or is ready immediately.
#[test]
fn loom_use_again_for_a_deadline_that_comes() {
    check(shards(1), |model| {
        let (timer, due) = (model.arm(0, 60), model.arm(0, 10));
        let next = model.while_firing(10, || timer.replace_by(&model, 10));
        model.run_out();
        due.assert_fired();
        let wakes = usize::from(!next.ready);
        next.assert_ready_after(wakes);
        model.assert_empty();
    });
}

#[test]
fn loom_cache_and_use_again_by_another_thread() {
    check(shards(1), |model| {
        let timer = model.arm(0, 60);
        let (armed, wakes) = model.race(|model| model.arm(0, 50), || timer.drop());
        assert_eq!(model.pending(), 1);
        model.assert_all_fire([armed]);
        assert_dropped([wakes], 0);
    });
}

#[test]
fn loom_cache_and_shutdown() {
    check(shards(1), |model| {
        let timer = model.arm(0, 60);
        let wakes = model.while_closing(|| timer.drop());
        assert_dropped([wakes], 1);
    });
}

#[test]
fn loom_use_again_for_an_earlier_deadline_and_fire() {
    check(shards(2), |model| {
        let (timer, near) = (model.arm(0, 60), model.arm(1, 20));
        let next = model.while_firing(20, || timer.replace_by(&model, 50));
        model.assert_all_fire([near, next]);
    });
}

/// Both threads act as the shard's worker: each entry is cached or removed, or its cancel is queued.
#[test]
fn loom_cache_and_cache() {
    check(shards(1), |model| {
        let other = |model: Model| model.arm(0, 50).drop();
        let (others, own) = model.race(other, || model.arm(0, 60).drop());
        model.assert_empty();
        assert_dropped([others, own], 0);
    });
}

/// At most one thread takes over the cached entry, for a deadline before or after the entry's.
#[test]
fn loom_use_again_and_use_again() {
    for others in [50, 70] {
        check(shards(1), move |model| {
            let timer = model.arm(0, 60);
            let arm = move |model: Model| model.arm(0, others);
            let (armed, next) = model.race(arm, || timer.replace_by(&model, 40));
            assert_eq!(model.pending(), 2);
            model.assert_all_fire([next, armed]);
        });
    }
}
