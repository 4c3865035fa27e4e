//! What the driver assumes of Tokio beyond Tokio's documentation: a test for each assumption.
//!
//! If a test fails here, Tokio has changed; the driver is not necessarily wrong. The message names the assumption and the
//! file that relies on it. If Tokio took a lock twice, the test would hang, and the test's own name says so. Nothing
//! here uses this crate's timers.
//!
//! | assumption | what relies on it |
//! | --- | --- |
//! | `task_wakers.rs` | |
//! | a waker keeps a task's memory alive, but not its future | a cancelled timer's waker is kept until the late cancel is applied |
//! | `timers.rs` | |
//! | `reset_at` registers an interval, and needs no current runtime | any thread can arm the alarm |
//! | a deadline that has passed fires immediately, on this thread | a thread that arms the alarm can tell such a wake-up from others |
//! | if the budget is exhausted, a timer is pending without being registered, unless it is `unconstrained` | the alarm can be armed in any task |
//! | timers' wakers are called outside of Tokio's locks, on a thread that drives time | the alarm's waker runs an expiry pass |
//! | only the clock of a current-thread runtime is ever paused | the driver of any other runtime reads the real clock |
//! | `descriptors.rs` | |
//! | descriptors' wakers are called outside of Tokio's locks | the alarm's waker runs an expiry pass |
//! | registering a descriptor panics in a runtime without I/O, and using it after the runtime's end returns an error | `Builder` returns an error, and a driver can end |
//! | `paused.rs` | |
//! | a tick that is ready leaves nothing registered | this disarms the alarm |
//! | a timer that is reset to a later deadline is moved lazily | the alarm is disarmed before it is armed for a later time |
//! | `advance` returns after the wakers were called | timers are on time under `advance` |
//! | a paused clock stops only at registered timers | virtual time is exact |
//! | deadlines are rounded up to milliseconds since the start of the runtime | the probe finds these milliseconds |
//! | `ends.rs` | |
//! | a runtime drops its tasks before it ends its time driver | dropping the driver task closes the driver |
//! | a runtime that is ending or has ended drops a new task inside `spawn` | a driver that is started there closes immediately |
//! | an interval panics after its runtime's end, with a known message | timers that outlive their runtime panic with the same message |
//! | a thread that is about to end reports it | destructors of thread-locals may use timers |
//! | `contexts.rs` | |
//! | which contexts have a `worker_index()` | the rule that says which runtime a timer belongs to |
//! | a thread works for one runtime only | a thread that was a worker is never bound to another runtime |
//! | there are as many workers as `num_workers()` says | there is a shard for each |
//! | `foreign.rs` | |
//! | entering a runtime panics while a task is spawned | the driver then has no clock to read |
//! | the current handle is available meanwhile, and timers can be armed | timer operations enter no runtime |
//!
//! # Calls of Tokio that can panic, or run user code
//!
//! | call | what can happen | what the driver does about it | test |
//! | --- | --- | --- | --- |
//! | `Handle::current`, when a timer is made | it panics outside a runtime | it calls this first, so that the panic has the caller's line | `api/drop_in.rs` |
//! | `time::sleep`, when a driver is made | it panics in a runtime without timers | it calls this before it makes the driver | `api/drop_in.rs` |
//! | `Handle::enter`, to read a current-thread runtime's clock | it panics while a task is spawned, and while a thread ends | it catches the panic, and has no clock then | `foreign.rs`, `twins/borrowed.rs` |
//! | `Handle::spawn`, of the driver task and of a task that binds a thread | it calls hooks, which may make timers or panic; if the runtime has ended, it drops the task | it holds no lock, and a guard ends the installing | `ends.rs`, `twins/hooks.rs` |
//! | `Interval::poll_tick`, when the alarm is armed | it panics after the runtime's end; it may wake the alarm's waker immediately | it catches the panic; on the arming thread, the waker only records that the alarm fired | `ends.rs`, `timers.rs` |
//! | `Sleep::poll`, of the probe | it panics after the runtime's end | it polls the probe only between the spawn and the drop of the driver task, and catches the panic | `ends.rs` |
//! | `AsyncFd::poll_read_ready` | it returns an error after the runtime's end | it uses Tokio's interval instead | `descriptors.rs` |
//! | a waker's `clone`, `wake`, `drop` | anything | it holds no lock, and catches the panics of all wakers except the timer's own | `driver/reentrancy.rs` |

use support::prelude::*;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{self, Interval};

/// Fails with an assumption, and with the name of the file that relies on it. Compiles only if that file exists.
macro_rules! assumed {
    ($file:literal; $($assumption:literal: $holds:expr $(,)?)+) => {
        const _: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/", $file));
        $(assert!(
            $holds,
            "src/{} assumes this of Tokio, which no longer holds: {}",
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
mod paused;
mod task_wakers;
mod timers;

fn both() -> [Runtime; 2] {
    [current_thread(), multi_thread(2)]
}

fn interval() -> Interval {
    time::interval(ms(1))
}

/// Arms an interval as the driver does.
fn arm(interval: &mut Interval, at: Instant, waker: &Waker) -> Poll<Instant> {
    interval.reset_at(at);
    poll(&mut poll_fn(|cx| interval.poll_tick(cx)), waker)
}

/// Returns an instant before the start of the runtime, which Tokio's time has passed in any case.
fn past() -> Instant {
    let now = Instant::now();
    let day = now.checked_sub(secs(24 * 3600));
    day.unwrap_or_else(|| now - secs(1))
}

fn in_an_hour() -> Instant {
    Instant::now() + secs(3600)
}

/// Spawns a task that waits forever. When the task is dropped, the receiver gets the value of `say`.
fn reports_at_its_end<T: Send + 'static>(
    handle: &Handle,
    mut say: impl FnMut() -> T + Send + 'static,
) -> mpsc::Receiver<T> {
    let (tell, told) = mpsc::channel();
    let end = AtEnd(move || {
        let _ = tell.send(say());
    });
    handle.spawn(async move {
        let _end = end;
        std::future::pending::<()>().await;
    });
    told
}

/// Drives the runtime until a waker sends a message, for 20 seconds at most.
fn told_while_driving<T>(runtime: &Runtime, told: &mut UnboundedReceiver<T>) -> Option<T> {
    let told = async { time::timeout(secs(20), told.recv()).await };
    runtime.block_on(told).ok().flatten()
}
