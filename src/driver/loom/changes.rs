//! Late cancels, which wait for the next thread that locks the shard: from other threads than the
//! shard's worker, and where the shard is busy. And resets, which wait for the shard.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Wake, Waker};

use super::{Model, check, fake};
use crate::clock::Tick;

#[test]
fn loom_cancel_and_fire() {
    check(|| {
        let model = Model::new(1);
        fake::go_elsewhere();
        let due = model.arm(0, 10);
        let timer = model.arm(0, 60);
        let other = model.spawn(|model| model.poll_at(10));
        let wakes = timer.drop();
        other.join().unwrap();
        model.settle();
        due.assert_fired();
        // The pass at its own deadline, at the latest.
        model.run_out();
        assert!(!model.has_late_cancels(), "a cancel still waits");
        assert!(wakes.is_freed() && wakes.count() == 0);
        model.assert_empty();
    });
}

/// The owner reads the length of the list for the last time, then releases the shard.
#[test]
fn loom_cancel_and_the_owner_arms() {
    check(|| {
        let model = Model::new(1);
        fake::go_elsewhere();
        let timer = model.arm(0, 60);
        let other = model.spawn(|model| model.arm(0, 50));
        let wakes = timer.drop();
        let armed = other.join().unwrap();
        model.run_out();
        armed.assert_fired();
        assert!(!model.has_late_cancels(), "a cancel still waits");
        assert!(wakes.is_freed() && wakes.count() == 0);
    });
}

/// The length of the list is never less than the list: the next thread that locks the shard applies
/// both cancels.
#[test]
fn loom_cancel_and_cancel() {
    check(|| {
        let model = Model::new(1);
        fake::go_elsewhere();
        let (one, two) = (model.arm(0, 60), model.arm(0, 70));
        let other = model.spawn_elsewhere(|_| one.drop());
        let wakes = two.drop();
        assert!(other.join().unwrap().count() + wakes.count() == 0);
        assert_eq!(
            model.pending(),
            0,
            "a cancel is in the list, and is not counted"
        );
    });
}

#[test]
fn loom_extend_twice_and_fire() {
    check(|| {
        let model = Model::new(1);
        let due = model.arm(0, 10);
        let mut timer = model.arm(0, 11);
        let other = model.spawn(|model| model.poll_at(11));
        timer.reset(40);
        timer.reset(50);
        other.join().unwrap();
        model.run_out();
        due.assert_fired();
        assert_eq!(timer.wakes.count(), 1);
        assert!(timer.poll().is_ready());
        model.assert_empty();
    });
}

#[test]
fn loom_extend_and_drop_and_the_next_tenant_of_the_place() {
    check(|| {
        let model = Model::new(1);
        let due = model.arm(0, 10);
        let mut timer = model.arm(0, 30);
        let other = model.spawn(|model| model.poll_at(10));
        timer.reset(60);
        let next = timer.replace_by(&model, 40);
        other.join().unwrap();
        model.run_out();
        due.assert_fired();
        next.assert_fired();
        model.assert_empty();
    });
}

#[test]
fn loom_extend_and_poll_with_another_waker_and_fire() {
    check(|| {
        let model = Model::new(1);
        let due = model.arm(0, 10);
        let mut timer = model.arm(0, 30);
        let other = model.spawn(|model| model.poll_at(10));
        timer.reset(60);
        let old = timer.poll_with_another();
        other.join().unwrap();
        model.run_out();
        due.assert_fired();
        assert!(old.is_freed() && old.count() == 0);
        timer.assert_fired();
        model.assert_empty();
    });
}

/// The second reset is to an earlier deadline.
#[test]
fn loom_extend_and_reset_to_earlier_and_fire() {
    check(|| {
        let model = Model::new(1);
        let due = model.arm(0, 10);
        let mut timer = model.arm(0, 30);
        let other = model.spawn(|model| model.poll_at(10));
        timer.reset(60);
        timer.reset(20);
        other.join().unwrap();
        model.assert_all_fire([due, timer]);
    });
}

/// Both are the earliest.
#[test]
fn loom_reset_to_earlier_and_arm_on_one_shard() {
    check(|| {
        let model = Model::new(1);
        let mut timer = model.arm(0, 60);
        let other = model.spawn(|model| model.arm(0, 50));
        timer.reset(40);
        let armed = other.join().unwrap();
        model.assert_all_fire([timer, armed]);
    });
}

#[test]
fn loom_reset_to_earlier_and_fire_the_last() {
    check(|| {
        let model = Model::new(1);
        let due = model.arm(0, 10);
        let mut timer = model.arm(0, 40);
        let other = model.spawn(|model| model.poll_at(10));
        timer.reset(20);
        other.join().unwrap();
        model.assert_all_fire([due, timer]);
    });
}

/// The entry with the old waker may be a late cancel in one shard, and the timer be in the other.
/// Where the clock may be paused, the alarm stays armed for neither.
#[test]
fn loom_poll_with_another_waker_and_drop_where_the_clock_may_be_paused() {
    check(|| {
        let model = Model::of_current_thread(2);
        model.may_be_paused();
        let mut timer = model.arm(0, 30);
        let other = model.spawn(|model| model.arm(0, 40));
        let old = timer.poll_with_another();
        let gone = timer.drop();
        let late = other.join().unwrap();
        model.settle();
        assert_eq!(model.interval_fires_at(), Some(late.deadline));
        assert!(old.is_freed() && gone.is_freed());
        model.assert_all_fire([late]);
    });
}

#[test]
fn loom_more_cancels_than_one_critical_section_applies() {
    check(|| {
        let model = Model::new(1);
        fake::go_elsewhere();
        let timers = [model.arm(0, 60), model.arm(0, 61)];
        let (third, due) = (model.arm(0, 62), model.arm(0, 10));
        let other = model.spawn_elsewhere(|_| third.drop());
        let wakes = timers.map(|timer| timer.drop());
        let others = other.join().unwrap();
        model.run_out();
        due.assert_fired();
        model.assert_empty();
        let mut wakes = wakes.iter().chain([&others]);
        assert!(wakes.all(|wakes| wakes.is_freed() && wakes.count() == 0));
    });
}

/// The thread that cancels empties the list, while the worker caches an entry.
#[test]
fn loom_apply_and_cache() {
    check(|| {
        let model = Model::new(1);
        let strangers = [model.arm(0, 60), model.arm(0, 61)];
        let own = model.arm(0, 62);
        let other = model.spawn_elsewhere(|_| strangers.map(|timer| timer.drop()));
        let next = own.replace_by(&model, 70);
        let wakes = other.join().unwrap();
        assert_eq!(model.pending(), 1);
        model.run_out();
        next.assert_fired();
        model.assert_empty();
        assert!(
            wakes
                .iter()
                .all(|wakes| wakes.is_freed() && wakes.count() == 0)
        );
    });
}

/// Its waker is no task's, and waits in the list like any other.
#[test]
fn loom_cancel_with_another_kind_of_waker_and_fire() {
    struct Own;

    impl Wake for Own {
        fn wake(self: Arc<Self>) {
            panic!("a timer that was cancelled fires");
        }
    }

    check(|| {
        let model = Model::new(1);
        fake::go_elsewhere();
        let due = model.arm(0, 10);
        let (own, mut timer) = (Arc::new(Own), model.unpolled(0, 60).timer);
        let waker = Waker::from(own.clone());
        assert!(timer.poll(Tick(60), &waker).is_pending());
        drop(waker);
        let other = model.spawn(|model| model.poll_at(10));
        drop(timer);
        other.join().unwrap();
        model.run_out();
        due.assert_fired();
        assert_eq!(Arc::strong_count(&own), 1, "a waker is leaked");
        model.assert_empty();
    });
}

#[test]
fn loom_cancel_and_count() {
    check(|| {
        let model = Model::new(1);
        fake::go_elsewhere();
        let timer = model.arm(0, 60);
        let other = model.spawn(|model| model.pending());
        let wakes = timer.drop();
        assert_eq!(model.pending(), 0, "dropped, and counts as pending");
        assert!(other.join().unwrap() <= 1);
        assert!(wakes.is_freed());
    });
}

#[test]
fn loom_cancels_and_shutdown() {
    check(|| {
        let model = Model::new(1);
        fake::go_elsewhere();
        let timers = [model.arm(0, 60), model.arm(0, 61)];
        let other = model.spawn(|model| model.close());
        let wakes = timers.map(|timer| timer.drop());
        other.join().unwrap();
        assert!(
            wakes
                .iter()
                .all(|wakes| wakes.is_freed() && wakes.count() <= 1)
        );
    });
}

/// The second cancel applies the first, unless the pass has.
#[test]
fn loom_cancel_and_fire_what_waits_already() {
    check(|| {
        let model = Model::new(1);
        fake::go_elsewhere();
        let (first, second) = (model.arm(0, 10), model.arm(0, 11));
        let first = first.drop();
        let other = model.spawn(|model| model.poll_at(12));
        let second = second.drop();
        other.join().unwrap();
        model.run_out();
        assert_eq!(first.count(), 0, "cancelled, and fired");
        assert!(first.is_freed() && second.is_freed());
        assert!(second.count() <= 1);
        model.assert_empty();
    });
}

/// A pass applies late cancels even if nothing is due.
#[test]
fn loom_fire_and_a_cancel_waits_elsewhere() {
    check(|| {
        let model = Model::new(2);
        fake::go_elsewhere();
        let due = model.arm(1, 10);
        let gone = model.arm(0, 60).drop();
        let other = model.spawn(|model| model.poll_at(10));
        let later = model.arm(1, 40);
        other.join().unwrap();
        model.settle();
        due.assert_fired();
        assert!(gone.is_freed() && gone.count() == 0);
        assert!(!model.has_late_cancels(), "a cancel still waits");
        model.run_out();
        later.assert_fired();
        model.assert_empty();
    });
}

/// Late cancels are made, or find that their driver has ended.
#[test]
fn loom_apply_and_shutdown() {
    check(|| {
        let model = Model::new(1);
        fake::go_elsewhere();
        let due = model.arm(0, 10);
        let gone = model.arm(0, 60).drop();
        let other = model.spawn(|model| model.close());
        model.poll_at(10);
        other.join().unwrap();
        assert!(gone.is_freed() && gone.count() <= 1);
        assert_eq!(due.wakes.count(), 1, "fired or told, not both");
    });
}

/// Its waker panics when dropped, by the timer's own thread or by the thread that arms meanwhile.
/// The shard is free afterwards, and the alarm set.
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

    check(|| {
        let model = Model::new(1);
        let mut timer = model.unpolled(0, 60).timer;
        let waker = Waker::from(Arc::new(Panics));
        assert!(timer.poll(Tick(60), &waker).is_pending());
        drop(waker);
        let other = model.spawn_elsewhere(|model| model.arm(0, 50));
        let _ = catch_unwind(AssertUnwindSafe(|| drop(timer)));
        let armed = other.join().unwrap();
        model.run_out();
        armed.assert_fired();
        model.assert_empty();
    });
}
