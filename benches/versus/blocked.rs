//! Measures how late timers fire if many tasks are due together and a worker blocks just then.
//!
//! A task creates timers until a millisecond after the others are due, and then blocks its worker for most of a second. If the
//! driver has requested an expiry pass there, the request waits in that worker's queue.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use timers::{Timers, arm};
use tokio::task::yield_now;
use tokio::time::Instant;

use crate::benchmark::{Measured, Value};
use crate::last::{Last, since, spawn_sleepers};
use crate::stage::Stage;

const LEAD: Duration = Duration::from_millis(1000);
const BLOCKED: Duration = Duration::from_millis(800);
const SHORT: Duration = Duration::from_millis(5);
const FAR: Duration = Duration::from_secs(600);

/// Measures how late the last of `count` tasks is, and the longest lateness of unrelated sleeps of 5 ms.
pub(crate) fn blocked<T: Timers>(workers: usize, count: usize) -> Measured {
    let stage = Stage::bare::<T>(workers);
    let (last, over) = (Last::new(LEAD), Arc::new(AtomicBool::new(false)));
    let due = last.due;
    stage.run(spawn_sleepers::<T>(count, Arc::clone(&last)));
    let unrelated = stage
        .runtime
        .spawn(sleep_shortly::<T>(due, Arc::clone(&over)));
    let blocks = stage.runtime.spawn(make_timers_and_block::<T>(due));
    let late = last.wait_for(count);
    over.store(true, Ordering::Relaxed);
    let unrelated = stage.runtime.block_on(unrelated).expect("no panic");
    stage.runtime.block_on(blocks).expect("no panic");
    let values = [
        Value::nanos("the last", late),
        Value::nanos("unrelated", unrelated as f64),
    ];
    Measured::fired(values, count as u64)
}

/// Returns the longest lateness of short sleeps that end after `from`.
async fn sleep_shortly<T: Timers>(from: Instant, over: Arc<AtomicBool>) -> u64 {
    let mut longest = 0;
    while !over.load(Ordering::Relaxed) {
        let due = Instant::now() + SHORT;
        T::sleep_until(due).await;
        if Instant::now() > from {
            longest = longest.max(since(due));
        }
    }
    longest
}

/// Until shortly before the others are due, yields between two timers, so that its worker runs other tasks and none of them
/// waits in a slot that no other worker takes tasks from.
async fn make_timers_and_block<T: Timers>(due: Instant) {
    const MILLISECOND: Duration = Duration::from_millis(1);
    while Instant::now() < due - MILLISECOND {
        let _ = T::timeout(FAR, yield_now()).await;
    }
    let cx = &mut Context::from_waker(Waker::noop());
    while Instant::now() < due + MILLISECOND {
        arm(pin!(T::sleep(FAR)), cx);
    }
    thread::sleep(BLOCKED);
}
