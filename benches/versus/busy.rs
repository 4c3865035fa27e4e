//! Measures how late timers fire that are due together, on a worker that always has a task ready.
//!
//! The ready tasks wake themselves, so the worker's queue is never empty. The worker therefore does not park, and polls the
//! runtime's drivers only after a number of polls of tasks.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use timers::Timers;
use timers::expiry::Sleeps;
use tokio::time::Instant;

use crate::benchmark::{Measured, Value};
use crate::last::{Last, spawn_sleepers};
use crate::stage::{Stage, armed, compute};

const COUNT: usize = 100_000;
const READY: usize = 4;
/// Time to arm all of them.
const LEAD: Duration = Duration::from_millis(1000);

/// Measures how late the last of many tasks is, and the last of many wakers that only count. The polls of the ready tasks become
/// longer and longer.
///
/// Woken tasks wait in the scheduler's shared queue, from which a busy worker takes one now and then. With longer polls this
/// would take tens of seconds with any implementation.
pub(crate) fn busy<T: Timers>() -> Measured {
    let mut values = vec![Value::nanos("tasks", tasks::<T>())];
    for poll in [0, 50, 200].map(Duration::from_micros) {
        let what = format!("wakers, polls of {poll:?}");
        values.push(Value::nanos(what, wakers::<T>(poll)));
    }
    let fired = values.len() * COUNT;
    Measured::fired(values, fired as u64)
}

fn tasks<T: Timers>() -> f64 {
    beside_ready_tasks::<T, _>(Duration::ZERO, |stage, last| {
        stage.run(spawn_sleepers::<T>(COUNT, last));
    })
}

fn wakers<T: Timers>(poll: Duration) -> f64 {
    beside_ready_tasks::<T, _>(poll, |stage, last| {
        stage.on_worker(move |_| arm_all::<T>(&last))
    })
}

/// Keeps what `arm` returns until all timers have fired.
fn beside_ready_tasks<T: Timers, R>(
    poll: Duration,
    arm: impl FnOnce(&Stage, Arc<Last>) -> R,
) -> f64 {
    let stage = Stage::bare::<T>(1);
    let (last, over) = (Last::new(LEAD), Arc::new(AtomicBool::new(false)));
    let armed = arm(&stage, Arc::clone(&last));
    for _ in 0..READY {
        stage.runtime.spawn(stay_ready(poll, Arc::clone(&over)));
    }
    assert!(Instant::now() < last.due, "arming took too long");
    let late = last.wait_for(COUNT);
    over.store(true, Ordering::Relaxed);
    drop(armed);
    late
}

fn arm_all<T: Timers>(last: &Arc<Last>) -> Sleeps<T> {
    let waker = Waker::from(Arc::clone(last));
    let cx = &mut Context::from_waker(&waker);
    (0..COUNT).map(|_| armed::<T>(cx, last.due)).collect()
}

/// Computes for `poll`, and then waits at the end of the worker's queue.
async fn stay_ready(poll: Duration, over: Arc<AtomicBool>) {
    poll_fn(|cx| {
        compute(poll);
        if over.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
