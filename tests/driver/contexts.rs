//! A timer belongs to the worker's runtime on a multi-thread worker, and to the current runtime elsewhere.
//!
//! A consequence of that rule, and its cure, `Timers::current()`.

use crate::everywhere::*;

use support::inside;

use wheel::Sleep;

/// A worker is known once its task has made a timer, and yielded.
async fn be_known() {
    for _ in 0..3 {
        sleep(ms(1)).await;
    }
}

/// Made on a worker in this way, and polled, a timer belongs to the worker's runtime, or else to
/// the other.
#[track_caller]
fn belong_to(which: [usize; 2], make: impl Fn(&Handle) -> Sleep + Copy + Send + 'static) {
    let local = Builder::new_current_thread()
        .enable_all()
        .build_local(Default::default());
    let (current, local, multi) = (current_thread(), local.unwrap(), multi_thread(2));
    for other in [current.handle(), local.handle(), multi.handle()] {
        let (here, handle) = (multi_thread(1), other.clone());
        let made = here.spawn(async move {
            be_known().await;
            let _made = registered(make(&handle));
            let pending = || Timers::current().pending();
            [Handle::current(), handle].map(|runtime| inside(&runtime, pending))
        });
        assert_eq!(within(LIMIT, move || here.block_on(made).unwrap()), which);
    }
}

const WORKERS: [usize; 2] = [1, 0];
const OTHERS: [usize; 2] = [0, 1];

#[test]
fn on_a_worker_a_timer_belongs_to_its_runtime_whatever_was_entered() {
    belong_to(WORKERS, |other| inside(other, || sleep(HOUR)));
}

#[test]
fn a_handle_to_a_driver_asks_for_the_current_runtime_exactly() {
    belong_to(OTHERS, |other| {
        inside(other, || Timers::current().sleep(HOUR))
    });
}

#[test]
fn in_a_blocking_section_a_timer_belongs_to_the_current_runtime() {
    belong_to(OTHERS, |other| {
        block_in_place(|| inside(other, || sleep(HOUR)))
    });
}

/// The consequence: the timer waits until the worker's runtime is driven again.
#[test]
fn a_timer_made_in_an_entered_runtime_waits_for_the_worker() {
    within(LIMIT, || {
        let (here, there) = (multi_thread(1), multi_thread(1));
        let handle = there.handle().clone();
        let waits = here.spawn(async move {
            be_known().await;
            let task = handle.spawn(inside(&handle, || sleep(ms(100))));
            // The only worker blocks: its runtime is not driven.
            thread::sleep(ms(300));
            assert!(!task.is_finished());
            task.await.unwrap();
        });
        here.block_on(waits).unwrap();
    });
}
