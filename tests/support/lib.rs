//! Code that the tests and a fuzz target share.
//!
//! | file | contents |
//! | --- | --- |
//! | `random.rs` | random numbers that a seed repeats |
//! | `process.rs` | a process of its own for a test, and its environment |
//! | `load.rs` | tasks that keep a runtime busy, and tasks that sleep |
//! | `panics.rs` | catches the panic of a function, with its message and line |
//! | `wakers.rs` | a waker that calls a function, and a single poll with a waker |
//! | `time.rs` | Tokio's timers and these, behind the same traits |
//! | `queue_model.rs` | `DelayQueue` beside a naive model |
//! | `storm/` | storms: threads that do to timers everything that can be done |
#![allow(missing_docs, missing_debug_implementations, reason = "for tests only")]

pub mod load;
mod panics;
mod process;
pub mod queue_model;
mod random;
pub mod storm;
pub mod time;
mod wakers;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::time::Instant;

pub use panics::{Panic, QUIET, install_hook, message_of, panic_of, tried, words};
pub use process::{in_a_process_of_its_own, in_a_process_with, number, resident_kib, this_test};
pub use random::Random;
pub use wakers::{OnWake, armed, armed_with, pending, poll, poll_quietly};

/// The names that nearly every test uses.
pub mod prelude {
    pub use std::cell::RefCell;
    pub use std::convert::identity;
    pub use std::fmt;
    pub use std::future::poll_fn;
    pub use std::ops::Range;
    pub use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    pub use std::pin::{Pin, pin};
    pub use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
    pub use std::sync::{Arc, Mutex, mpsc};
    pub use std::task::{Context, Poll, Wake, Waker};
    pub use std::thread;

    pub use futures::executor;
    pub use futures::future::join_all;
    pub use futures::stream::FuturesUnordered;
    pub use futures_test::task::{AwokenCount, new_count_waker};
    pub use tokio::runtime::{Builder, Handle, Runtime};
    pub use tokio::sync::oneshot;
    pub use tokio::task::{
        JoinHandle, JoinSet, LocalSet, block_in_place, coop, spawn_blocking, spawn_local, yield_now,
    };
    pub use tokio::time::MissedTickBehavior;
    pub use wheel::{Duration, Handle as Timers, Instant, Sleep, sleep, sleep_until, timeout};

    pub use super::time::{Ours, Time, Tokio};
    pub use super::*;
}

pub const SHUT_DOWN: &str = "A Tokio 1.x context was found, but it is being shutdown.";
pub const NO_RUNTIME: &str =
    "there is no reactor running, must be called from the context of a Tokio 1.x runtime";
pub const NO_TIMERS: &str = "A Tokio 1.x context was found, but timers are disabled. \
     Call `enable_time` on the runtime builder to enable timers.";

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

pub const HOUR: Duration = Duration::from_secs(3600);
pub const DAY: Duration = Duration::from_secs(24 * 3600);

pub fn current_thread() -> Runtime {
    on_workers(0)
}

/// Builds a runtime with this many workers, or a current-thread runtime if the number is 0.
pub fn on_workers(workers: usize) -> Runtime {
    with_workers(workers).build().unwrap()
}

pub use on_workers as multi_thread;

/// Returns the builder of such a runtime.
pub fn with_workers(workers: usize) -> Builder {
    let mut builder = match workers {
        0 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder.worker_threads(workers.max(1)).enable_all();
    builder
}

/// Builds a runtime whose clock is paused, and whose blocking threads are [`QUIET`].
pub fn paused() -> Runtime {
    let mut builder = with_workers(0);
    builder.start_paused(true).thread_name(QUIET);
    builder.build().unwrap()
}

/// Builds a paused runtime, and reports its clock's time at each return from a park.
pub fn watched() -> (Runtime, mpsc::Receiver<Instant>) {
    let (log, seen) = mpsc::channel();
    let mut builder = with_workers(0);
    builder.start_paused(true);
    builder.on_thread_unpark(move || _ = log.send(Instant::now()));
    (builder.build().unwrap(), seen)
}

/// Returns how far the paused clock advances while a task waits 50 ms, in real time, for a thread.
pub async fn clock_after_a_real_wait() -> Duration {
    let start = Instant::now();
    let (tx, rx) = oneshot::channel();
    thread::spawn(move || {
        thread::sleep(ms(50));
        tx.send(()).unwrap();
    });
    rx.await.unwrap();
    start.elapsed()
}

/// A way in which a runtime ends.
#[derive(Clone, Copy, Debug)]
pub enum End {
    Drop,
    Background,
    Timeout(Duration),
}

impl End {
    pub fn of(self, runtime: Runtime) {
        match self {
            End::Drop => drop(runtime),
            End::Background => runtime.shutdown_background(),
            End::Timeout(limit) => runtime.shutdown_timeout(limit),
        }
    }
}

/// Calls a function inside a runtime.
pub fn inside<R>(runtime: &Handle, f: impl FnOnce() -> R) -> R {
    let _guard = runtime.enter();
    f()
}

/// Returns a runtime of every kind, with its number of workers for messages.
pub fn runtimes() -> [(usize, Runtime); 4] {
    [0, 1, 2, 4].map(|workers| (workers, on_workers(workers)))
}

/// Runs a test that could hang on a thread of its own, and panics if it exceeds the limit.
pub fn within<T: Send + 'static>(limit: Duration, test: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    let name = thread::current().name().unwrap_or("test").to_owned();
    let run = move || drop(done.send(catch_unwind(AssertUnwindSafe(test))));
    thread::Builder::new().name(name).spawn(run).unwrap();
    match result.recv_timeout(limit) {
        Ok(Ok(value)) => value,
        Ok(Err(panic)) => resume_unwind(panic),
        Err(_) => panic!("not done within {limit:?}: it hangs"),
    }
}

/// Calls a function on a new thread, and the function that it returns while that thread ends, when Tokio's thread-locals may
/// be gone.
pub fn at_the_end_of_a_thread(prepare: impl FnOnce() -> Box<dyn FnOnce()> + Send + 'static) {
    struct Late(Option<Box<dyn FnOnce()>>);
    impl Drop for Late {
        fn drop(&mut self) {
            self.0.take().into_iter().for_each(|late| late());
        }
    }
    thread_local! {
        static LATE: RefCell<Late> = const { RefCell::new(Late(None)) };
    }
    let thread = thread::spawn(|| {
        // This is initialised before Tokio's own locals, and so is destroyed after them.
        LATE.with(|_| ());
        let late = prepare();
        LATE.with_borrow_mut(|end| end.0 = Some(late));
    });
    thread.join().unwrap();
}

/// Calls a function when dropped.
pub struct AtEnd<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Blocks this thread until the condition holds, in real time.
#[track_caller]
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..20_000 {
        if is_so() {
            return;
        }
        thread::sleep(ms(1));
    }
    panic!("{what}: not within 20 s");
}

/// Asserts that every timer that was registered has fired, was cancelled, or is pending.
#[track_caller]
pub fn assert_balanced(now: &wheel::MetricsSnapshot) {
    let accounted = now.fired + now.cancelled + now.pending as u64;
    assert_eq!(now.armed, accounted, "{now:?}");
    assert_eq!(now.lag.count(), now.fired, "{now:?}");
}
