//! The longest stall of a worker of real-time priority that shares its processor with a normal thread, where both arm and
//! cancel timers of one wheel.
//!
//! The worker preempts the other thread wherever that is, also while it holds a lock. A lock that is waited for by
//! spinning, or by yielding to threads of the same priority, is never released then: the worker keeps the processor until
//! the kernel takes it away, after most of a second. A lock that is waited for asleep costs what the other thread needs to
//! release it.

use std::fs;
use std::pin::pin;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use common::process::Busy;
use timers::{Timers, arm};

use crate::figure::Measured;
use crate::stage::Stage;

const TIME: Duration = Duration::from_secs(5);
const TO_FIRST_PROCESSOR: [&str; 4] = ["taskset", "-c", "-p", "0"];
const TO_REAL_TIME: [&str; 4] = ["chrt", "-f", "-p", "10"];

/// Whether this process may have threads of real-time priority, and the kernel keeps a part of each processor from them.
pub(crate) fn is_permitted() -> bool {
    let limit = fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us");
    let tried = thread::spawn(|| this_thread(TO_REAL_TIME)).join();
    limit.is_ok_and(|limit| limit.trim() != "-1") && tried.expect("no panic")
}

/// The longest stalls of the worker and of the other thread, and the time for each timer of both.
pub(crate) fn stall<T: Timers>() -> Measured {
    assert!(is_permitted(), "no real-time priority is permitted here");
    let stage = Stage::bare::<T>(1);
    let _busy = Busy::start(4);
    let stop = Arc::new(AtomicBool::new(false));
    let (handle, stopped) = (stage.runtime.handle().clone(), Arc::clone(&stop));
    let other = thread::spawn(move || {
        assert!(this_thread(TO_FIRST_PROCESSOR));
        let _guard = handle.enter();
        stalls::<T>(|| !stopped.load(Ordering::Relaxed))
    });
    let worker = stage.on_worker(|_| {
        assert!(this_thread(TO_FIRST_PROCESSOR) && this_thread(TO_REAL_TIME));
        let until = Instant::now() + TIME;
        stalls::<T>(|| {
            // Comes back in the middle of whatever the other thread does.
            thread::sleep(Duration::from_micros(50));
            Instant::now() < until
        })
    });
    stop.store(true, Ordering::Relaxed);
    let other = other.join().expect("no panic");
    let each = TIME.as_nanos() as f64 / (worker.1 + other.1) as f64;
    let [worker, other] = [worker.0, other.0].map(|longest| longest.as_nanos() as f64);
    Measured::cancelled([worker, other, each], 0)
}

/// Has a program change what the kernel does with this thread. Whether that is permitted.
fn this_thread([program, arguments @ ..]: [&str; 4]) -> bool {
    let thread = fs::read_link("/proc/thread-self").unwrap_or_default();
    let mut command = Command::new(program);
    command.args(arguments).args(thread.file_name());
    command.output().is_ok_and(|output| output.status.success())
}

/// The longest time that arming and cancelling takes, and how many timers there are.
fn stalls<T: Timers>(goes_on: impl Fn() -> bool) -> (Duration, usize) {
    const AT_ONCE: usize = 4;
    let mut cx = Context::from_waker(Waker::noop());
    let (mut longest, mut operations) = (Duration::ZERO, 0);
    while goes_on() {
        for _ in 0..AT_ONCE {
            let begin = Instant::now();
            arm(pin!(T::sleep(Duration::from_secs(60))), &mut cx);
            longest = longest.max(begin.elapsed());
        }
        operations += AT_ONCE;
    }
    (longest, operations)
}
