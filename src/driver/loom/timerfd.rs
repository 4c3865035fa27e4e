//! High resolution. The descriptor fires for the nearest deadlines, and Tokio's interval for those
//! further ahead. If one of them fires while the other is being set, no timer is lost.
//!
//! In the models, the descriptor is set if a deadline is at most 15 ns ahead. If not, Tokio fires
//! 15 ns before the deadline; see `alarm/interval.rs`.

use super::model::{Model, assert_dropped, check, precise};
use crate::clock::Tick;
use crate::platform::fake;

#[test]
fn loom_precise_arm_and_arm() {
    check(precise(2), |model| {
        let both = model.race(|model| model.arm(0, 30), || model.arm(1, 10));
        model.assert_all_fire(<[_; 2]>::from(both));
    });
}

#[test]
fn loom_the_descriptor_fires_and_is_set() {
    check(precise(2), |model| {
        let (due, later) = (model.arm(0, 10), model.arm(1, 13));
        let (_, early) = model.race(|model| model.descriptor_polled_at(10), || model.arm(1, 5));
        model.assert_all_fire([due, later, early]);
    });
}

#[test]
fn loom_tokio_fires_and_the_descriptor_is_set() {
    check(precise(2), |model| {
        let far = model.arm(0, 30);
        let near = model.while_firing(25, || model.arm(1, 10));
        model.assert_all_fire([far, near]);
    });
}

#[test]
fn loom_the_descriptor_fires_and_tokio_is_armed() {
    check(precise(2), |model| {
        let near = model.arm(0, 10);
        let arm = || [40, 12].map(|deadline| model.arm(1, deadline));
        let (_, later) = model.race(|model| model.descriptor_polled_at(10), arm);
        model.assert_all_fire([near].into_iter().chain(later));
    });
}

/// In the order that matters, the driver task first fires the timer that is due. It leaves the
/// descriptor alone, because the wake-up of the first expiry is still to be delivered. The pass of
/// that wake-up must set the descriptor for the later timer, which must fire even while the driver
/// task waits behind a task that blocks.
#[test]
fn loom_an_old_wakeup_of_the_descriptor_does_not_disarm_it() {
    check(precise(1), |model| {
        let (due, later) = (model.arm(0, 10), model.arm(0, 20));
        fake::advance_to(Tick(10).to_instant());
        let poll_io = |model: Model| model.descriptor_polled_at(10);
        model.race(poll_io, || model.poll_task());
        model.fire_without_the_task();
        model.fire_without_the_task();
        assert_eq!(later.wakes.count(), 1, "nothing was set");
        model.assert_all_fire([due, later]);
    });
}

/// While the descriptor fires, the driver task arms the interval and consumes the record.
/// The next near deadline must set the descriptor again, because the wake-up of the first expiry
/// was delivered already.
#[test]
fn loom_the_descriptor_fires_while_the_interval_is_armed() {
    check(precise(1), |model| {
        let (due, far) = (model.arm(0, 10), model.arm(0, 40));
        fake::advance_to(Tick(10).to_instant());
        let poll_io = |model: Model| model.descriptor_polled_at(10);
        let (_, near) = model.race(poll_io, || {
            model.poll_task();
            model.arm(0, 12)
        });
        model.assert_all_fire([due, far, near]);
    });
}

#[test]
fn loom_the_descriptor_fires_and_shutdown() {
    check(precise(1), |model| {
        let timer = model.arm(0, 10);
        model.while_closing(|| model.descriptor_polled_at(10));
        assert_eq!(timer.wakes.count(), 1);
        assert_dropped([timer.drop()], 1);
    });
}
