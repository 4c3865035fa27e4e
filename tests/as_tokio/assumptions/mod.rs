//! The driver's assumptions about tokio, beyond tokio's documentation: a test for each.
//!
//! A test that fails here means that tokio does something else now, not that the driver is wrong.
//! The message names the assumption and the file that relies on it; where a lock would be taken twice,
//! the test hangs, and its own name says so. Nothing here uses this crate's timers. All tests are run with the
//! lowest tokio that `Cargo.toml` allows, too.
//!
//! | assumed | relied on for |
//! | --- | --- |
//! | `task_wakers.rs` | |
//! | a waker keeps a task's memory, never its future | keeping a cancelled timer's waker until the late cancel is applied |
//! | `timers.rs` | |
//! | an interval registers by `reset_at`, and needs no runtime to be current | arming on any thread |
//! | a deadline that has passed fires immediately, on this thread | telling such a wake-up from others while arming |
//! | an exhausted budget leaves a timer unregistered; `unconstrained` does not | polling in any task |
//! | wakers of timers are called outside of tokio's locks, on a thread that drives them | firing in the alarm's waker |
//! | only clocks of current-thread runtimes are ever paused | reading the real clock elsewhere |
//! | `descriptors.rs` | |
//! | wakers of descriptors are called outside of tokio's locks | firing in the alarm's waker |
//! | registering panics without I/O, and the end of a runtime is an error | errors of `Builder`, the end of a driver |
//! | `paused.rs` | |
//! | a tick that is ready leaves nothing registered | disarming |
//! | a timer that is reset to a later deadline is moved lazily | disarming before arming for later |
//! | `advance` returns after the wakers were called | timers that are on time under `advance` |
//! | a paused clock stops at registered timers alone | exact virtual time |
//! | deadlines are rounded up to milliseconds since the runtime's beginning | finding that grid by probes |
//! | `ends.rs` | |
//! | tasks are dropped before time ends | closing a driver by dropping its task |
//! | a task that is spawned on a runtime which ends or has ended is dropped inside `spawn` | the pool of drivers |
//! | an interval panics after its runtime's end, in known words | timers that outlive their runtime |
//! | a thread that is about to end says so | timers in destructors of thread-locals |
//! | `contexts.rs` | |
//! | `worker_index()` by context | whose timer it is |
//! | a thread works for a single runtime | a thread that was a worker's stays that worker's |
//! | as many workers as `num_workers()` says | a shard for each |
//! | `foreign.rs` | |
//! | entering panics while a task is spawned | an `enter` that panics counts as "no clock" |
//! | the current handle can be had, and timers be moved, meanwhile | operations enter no runtime |
//!
//! # Calls of tokio's that can panic, or run user code
//!
//! | call | what can happen | what is done about that | test |
//! | --- | --- | --- | --- |
//! | `Handle::current`, when a timer is made | panics outside of a runtime | comes first, at the caller's line | `api/drop_in.rs` |
//! | `time::sleep`, when a driver is made | panics in a runtime without timers | comes before a driver is taken from the pool | `api/drop_in.rs` |
//! | `Handle::enter`, for a current-thread runtime's clock | panics while a task is spawned, and at a thread's end | caught: the driver has no clock then | `foreign.rs`, `twins/borrowed.rs` |
//! | `Handle::spawn`, of the driver task and of a task that binds a thread | calls hooks, which may make timers or panic; drops the task if the runtime has ended | no lock is held; a guard ends the start | `ends.rs`, `twins/hooks.rs` |
//! | `Interval::poll_tick`, when the alarm is set | panics after its runtime's end; wakes immediately | caught; the waker only notes that the alarm fired, on the arming thread | `ends.rs`, `timers.rs` |
//! | `Sleep::poll`, of the probe | panics after its runtime's end | not polled before the runtime has taken the driver task, nor after that task's drop; caught | `ends.rs` |
//! | `AsyncFd::poll_read_ready` | an error after its runtime's end | tokio's timer is used | `descriptors.rs` |
//! | a waker's `clone`, `wake`, `drop` | anything | with no lock held; all but the timer's own contained | `reentrancy.rs` |

use support::prelude::*;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{self, Interval, MissedTickBehavior};

/// Fails with the name of an assumption, and of the file that relies on the assumption. Compiles only
/// while that file exists.
macro_rules! assumed {
    ($file:literal; $($assumption:literal: $holds:expr $(,)?)+) => {
        const _: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/", $file));
        $(assert!(
            $holds,
            "src/{} assumes of tokio, and it is no longer so: {}",
            $file,
            $assumption,
        );)+
    };
}

mod contexts;
#[cfg(target_os = "linux")]
mod descriptors;
mod ends;
mod foreign;
#[cfg(feature = "test-util")]
mod paused;
mod task_wakers;
mod timers;

fn both() -> [Runtime; 2] {
    [current_thread(), multi_thread(2)]
}

fn interval() -> Interval {
    let mut interval = time::interval(ms(1));
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

/// As the driver arms.
fn arm(interval: &mut Interval, at: Instant, waker: &Waker) -> Poll<Instant> {
    interval.reset_at(at);
    poll(&mut poll_fn(|cx| interval.poll_tick(cx)), waker)
}

/// Before the runtime's beginning, so that tokio has passed it however late tokio looks at its timers.
fn past() -> Instant {
    let now = Instant::now();
    let day = now.checked_sub(secs(24 * 3600));
    day.unwrap_or_else(|| now - secs(1))
}

fn in_an_hour() -> Instant {
    Instant::now() + secs(3600)
}

/// The message of a waker while this thread drives the runtime, for some seconds at most.
fn told_while_driving<T>(runtime: &Runtime, told: &mut UnboundedReceiver<T>) -> Option<T> {
    let told = async { time::timeout(secs(20), told.recv()).await };
    runtime.block_on(told).ok().flatten()
}
