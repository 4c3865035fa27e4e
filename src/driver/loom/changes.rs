//! Late cancels and resets. A cancel is queued if its thread is not the shard's worker, or if the shard
//! is locked. Most threads that lock the shard later apply the cancel. A reset waits for the shard
//! instead.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Wake, Waker};

use super::model::{
    Armed, Model, Wakes, assert_dropped, check, current_thread, reset_while_firing, shards,
};
use crate::clock::Tick;
use crate::platform::fake;

/// The pass at the timer's own deadline applies the cancel at the latest.
#[test]
fn loom_cancel_and_fire() {
    check(shards(1), |model| {
        fake::go_elsewhere();
        let (due, timer) = (model.arm(0, 10), model.arm(0, 60));
        let wakes = model.while_firing(10, || timer.drop());
        model.assert_all_fire([due]);
        assert_dropped([wakes], 0);
    });
}

/// The cancel may be queued just after the arming thread's last look at the list.
#[test]
fn loom_cancel_and_the_owner_arms() {
    check(shards(1), |model| {
        fake::go_elsewhere();
        let timer = model.arm(0, 60);
        let (armed, wakes) = model.race(|model| model.arm(0, 50), || timer.drop());
        model.assert_all_fire([armed]);
        assert_dropped([wakes], 0);
    });
}

/// After the race, the list's published length is not too small, so a count of the timers applies
/// both cancels.
#[test]
fn loom_cancel_and_cancel() {
    check(shards(1), |model| {
        fake::go_elsewhere();
        let (one, two) = (model.arm(0, 60), model.arm(0, 70));
        let (one, two) = model.race(|_| drop_elsewhere(one), || two.drop());
        assert_eq!(model.pending(), 0, "a cancel in the list is not counted");
        assert_dropped([one, two], 0);
    });
}

/// Drops a timer on a thread that is no shard's worker.
fn drop_elsewhere(timer: Armed) -> Arc<Wakes> {
    fake::go_elsewhere();
    timer.drop()
}

#[test]
fn loom_extend_twice_and_fire() {
    check(shards(1), |model| {
        let (due, mut timer) = (model.arm(0, 10), model.arm(0, 11));
        model.while_firing(11, || {
            timer.reset(40);
            timer.reset(50);
        });
        model.run_out();
        due.assert_fired();
        timer.assert_ready_after(1);
        model.assert_empty();
    });
}

/// Extends a timer for `then`, while a pass fires another. That one and the result of `then` must fire.
fn extend_and(then: impl Fn(&Model, Armed) -> Armed + Send + Sync + 'static) {
    check(shards(1), move |model| {
        let (due, mut timer) = (model.arm(0, 10), model.arm(0, 30));
        let timer = model.while_firing(10, || {
            timer.reset(60);
            then(&model, timer)
        });
        model.assert_all_fire([due, timer]);
    });
}

#[test]
fn loom_extend_and_drop_and_the_next_timer_with_the_key() {
    extend_and(|model, timer| timer.replace_by(model, 40));
}

#[test]
fn loom_extend_and_poll_with_another_waker_and_fire() {
    extend_and(|_, mut timer| {
        assert_dropped([timer.poll_with_another()], 0);
        timer
    });
}

#[test]
fn loom_extend_and_reset_to_earlier_and_fire() {
    reset_while_firing(1, 0, &[60, 20]);
}

#[test]
fn loom_reset_to_earlier_and_fire_another() {
    reset_while_firing(1, 0, &[20]);
}

/// If the arming thread comes second, it must not raise the shard's `next` to its own deadline.
#[test]
fn loom_reset_to_earlier_and_arm_on_one_shard() {
    check(shards(1), |model| {
        let mut timer = model.arm(0, 60);
        let (armed, ()) = model.race(|model| model.arm(0, 50), || timer.reset(40));
        model.assert_all_fire([timer, armed]);
    });
}

/// If the clock may be paused, the alarm does not stay armed for a timer that was polled again and
/// dropped.
#[test]
fn loom_poll_with_another_waker_and_drop_where_the_clock_may_be_paused() {
    check(current_thread(2), |model| {
        model.set_may_pause();
        let mut timer = model.arm(0, 30);
        let (late, wakes) = model.race(
            |model| model.arm(0, 40),
            || [timer.poll_with_another(), timer.drop()],
        );
        model.settle();
        assert_eq!(model.interval_fires_at(), Some(late.deadline));
        assert_dropped(wakes, 0);
        model.assert_all_fire([late]);
    });
}

#[test]
fn loom_more_cancels_than_one_critical_section_applies() {
    check(shards(1), |model| {
        fake::go_elsewhere();
        let timers = [60, 61].map(|deadline| model.arm(0, deadline));
        let (third, due) = (model.arm(0, 62), model.arm(0, 10));
        let own = || timers.map(Armed::drop);
        let (third, wakes) = model.race(|_| drop_elsewhere(third), own);
        model.assert_all_fire([due]);
        assert_dropped(wakes.into_iter().chain([third]), 0);
    });
}

/// One thread cancels two timers, and applies late cancels, while the worker caches an entry.
#[test]
fn loom_apply_and_cache() {
    check(shards(1), |model| {
        let others = [60, 61].map(|deadline| model.arm(0, deadline));
        let own = model.arm(0, 62);
        let (wakes, next) = model.race(
            |_| others.map(drop_elsewhere),
            || own.replace_by(&model, 70),
        );
        assert_eq!(model.pending(), 1);
        model.assert_all_fire([next]);
        assert_dropped(wakes, 0);
    });
}

#[test]
fn loom_cancel_and_count() {
    check(shards(1), |model| {
        fake::go_elsewhere();
        let timer = model.arm(0, 60);
        let (pending, wakes) = model.race(|model| model.pending(), || timer.drop());
        assert_eq!(model.pending(), 0, "dropped, and counts as pending");
        assert!(pending <= 1);
        assert_dropped([wakes], 0);
    });
}

#[test]
fn loom_cancels_and_shutdown() {
    check(shards(1), |model| {
        fake::go_elsewhere();
        let timers = [60, 61].map(|deadline| model.arm(0, deadline));
        let wakes = model.while_closing(|| timers.map(Armed::drop));
        assert_dropped(wakes, 1);
    });
}

/// With batches of two, the first cancel stays queued until the second cancel or the pass applies it.
#[test]
fn loom_cancel_and_fire_behind_a_cancel() {
    check(shards(1), |model| {
        fake::go_elsewhere();
        let (first, second) = (model.arm(0, 10), model.arm(0, 11));
        let first = first.drop();
        let second = model.while_firing(12, || second.drop());
        model.run_out();
        assert_dropped([first], 0);
        assert_dropped([second], 1);
        model.assert_empty();
    });
}

/// The pass may fire the first timer before its cancel is applied; that cancel is then refused.
/// With batches of two, both may be applied together. With batches of one, each drop applies its
/// own cancel unless the shard is locked.
#[test]
fn loom_cancels_and_fire_one_of_them() {
    check(shards(1), |model| {
        fake::go_elsewhere();
        let timers = [10, 60].map(|deadline| model.arm(0, deadline));
        let [due, later] = model.while_firing(10, || timers.map(Armed::drop));
        model.run_out();
        assert_dropped([due], 1);
        assert_dropped([later], 0);
        model.assert_empty();
    });
}

/// With batches of two, a cancel older than the pass is applied before its timer would fire,
/// whatever is queued meanwhile.
#[test]
fn loom_a_queued_cancel_and_two_more_and_fire() {
    check(shards(1), |model| {
        fake::go_elsewhere();
        let [queued, second, third] = [10, 60, 70].map(|deadline| model.arm(0, deadline));
        let queued = queued.drop();
        let others = model.while_firing(10, || [second, third].map(Armed::drop));
        assert_dropped([queued], 0);
        model.run_out();
        assert_dropped(others, 0);
        model.assert_empty();
    });
}

/// With batches of two, a pass applies late cancels even in a shard in which nothing is due.
#[test]
fn loom_fire_and_a_cancel_waits_elsewhere() {
    check(shards(2), |model| {
        fake::go_elsewhere();
        let due = model.arm(1, 10);
        let gone = model.arm(0, 60).drop();
        let later = model.while_firing(10, || model.arm(1, 40));
        model.assert_no_late_cancels();
        assert_dropped([gone], 0);
        model.assert_all_fire([due, later]);
    });
}

/// With batches of two, a pass applies late cancels, or finds that the driver has shut down.
#[test]
fn loom_apply_and_shutdown() {
    check(shards(1), |model| {
        fake::go_elsewhere();
        let due = model.arm(0, 10);
        let gone = model.arm(0, 60).drop();
        model.while_closing(|| model.poll_at(10));
        assert_dropped([gone], 1);
        assert_eq!(due.wakes.count(), 1, "woken by both or by neither");
    });
}

/// The waker panics when the timer's own thread, or the one that arms another timer, drops it.
/// Afterwards the shard is unlocked and the alarm is armed.
#[test]
fn loom_cancel_with_a_waker_that_panics_and_arm() {
    struct Panics;

    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a timer that was cancelled fires");
        }
    }

    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    check(shards(1), |model| {
        let mut timer = model.unpolled(0, 60).timer;
        let waker = Waker::from(Arc::new(Panics));
        assert!(timer.poll(Tick(60), &waker).is_pending());
        drop(waker);
        let other = |model: Model| {
            fake::go_elsewhere();
            model.arm(0, 50)
        };
        let own = || catch_unwind(AssertUnwindSafe(|| drop(timer)));
        let (armed, _) = model.race(other, own);
        model.assert_all_fire([armed]);
    });
}
