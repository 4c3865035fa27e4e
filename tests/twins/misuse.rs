//! No runtime, no timers, a runtime that has ended: panics with tokio's words, at tokio's line.

use std::convert::identity;
use std::future::pending;

use tokio::runtime::{Builder, Handle};
use tokio::time::Instant;

use crate::runtimes::{KINDS, Kind, end, in_task};
use crate::time::Time;
use crate::twin::tried;
use support::{HOUR, ms, poll_quietly};

/// How a timer comes to be; each with a line of its own.
#[derive(Clone, Copy, Debug)]
enum Made {
    Sleep,
    SleepUntil,
    Timeout,
    Interval,
}

use Made::{Interval, Sleep, SleepUntil, Timeout};

const ALL: [Made; 4] = [Sleep, SleepUntil, Timeout, Interval];

fn make<T: Time>(made: Made) {
    match made {
        Sleep => drop(T::sleep(ms(1))),
        SleepUntil => drop(T::sleep_until(Instant::now())),
        Timeout => drop(T::timeout(ms(1), pending::<()>())),
        Interval => drop(T::interval(ms(1))),
    }
}

#[test]
fn outside_of_any_runtime() {
    fn body<T: Time>(made: Made) {
        make::<T>(made);
    }
    let mut twins = twins!();
    for made in ALL {
        same!(twins, body(made));
    }
}

#[test]
fn once_a_runtime_has_been_left() {
    fn body<T: Time>(kind: Kind, made: Made) {
        let runtime = kind.build();
        runtime.block_on(async { make::<T>(made) });
        {
            let _guard = runtime.enter();
            make::<T>(made);
        }
        make::<T>(made);
    }
    let mut twins = twins!();
    for &kind in KINDS {
        for made in ALL {
            same!(twins, body(kind, made));
        }
    }
}

#[test]
fn in_a_runtime_without_timers() {
    fn body<T: Time>(made: Made, workers: usize) -> [Result<(), String>; 3] {
        let runtime = match workers {
            0 => Builder::new_current_thread().build(),
            _ => Builder::new_multi_thread().worker_threads(workers).build(),
        };
        let runtime = runtime.unwrap();
        let entered = tried(|| {
            let _guard = runtime.enter();
            make::<T>(made);
        });
        let blocked_on = tried(|| runtime.block_on(async { make::<T>(made) }));
        [
            entered,
            blocked_on,
            in_task(&runtime, async move { make::<T>(made) }),
        ]
    }
    let mut twins = twins!();
    for made in ALL {
        for workers in [0, 1] {
            same!(twins, body(made, workers));
        }
    }
}

/// A worker of a runtime with timers, in the context of one that has none. Ours may be the
/// worker's, as under any guard.
async fn under_a_guard_without_timers<T: Time>(made: Made) -> Result<(), String> {
    T::sleep(ms(1)).await;
    let there = Builder::new_current_thread().build().unwrap();
    let made = tried(|| {
        let _guard = there.enter();
        make::<T>(made);
    });
    end(there);
    made
}

#[test]
fn under_the_guard_of_a_runtime_without_timers() {
    use crate::runtimes::Current;

    fn body<T: Time>(made: Made) -> Result<(), String> {
        in_task(&Current.build(), under_a_guard_without_timers::<T>(made)).and_then(identity)
    }
    let mut twins = twins!();
    for made in ALL {
        same!(twins, body(made));
    }
}

/// On a worker that is known to be one the timer is the worker's own.
#[test]
fn on_a_worker_under_the_guard_of_a_runtime_without_timers() {
    use crate::runtimes::MULTI;
    use crate::twin::finished;
    use support::NO_TIMERS;

    fn body<T: Time>(kind: Kind, made: Made) -> Result<(), String> {
        in_task(&kind.build(), under_a_guard_without_timers::<T>(made)).and_then(identity)
    }
    // Whether it is known depends on the worker.
    let mut twins = twins!().calm();
    for made in ALL {
        for &kind in MULTI {
            let panicked = finished(Err::<(), _>(NO_TIMERS));
            differs!(twins, body(kind, made), tokio: panicked, wheel: panicked,
                finished(Ok::<_, ()>(())));
        }
    }
}

#[test]
fn made_after_the_end_and_polled() {
    fn body<T: Time>(kind: Kind) -> Vec<Result<bool, String>> {
        let runtime = kind.build();
        let handle = runtime.handle().clone();
        drop(runtime);
        let _guard = handle.enter();
        let mut sleeps = [T::boxed(HOUR), T::boxed(ms(0))];
        sleeps
            .iter_mut()
            .map(|sleep| tried(|| poll_quietly(sleep).is_ready()))
            .collect()
    }
    let mut twins = twins!();
    for &kind in KINDS {
        same!(twins, body(kind));
    }
}

#[test]
fn block_on_of_the_handle_after_the_end() {
    fn body<T: Time>(kind: Kind) -> Vec<Result<(), String>> {
        let runtime = kind.build();
        let handle: Handle = runtime.handle().clone();
        runtime.block_on(async { T::sleep(ms(1)).await });
        end(runtime);
        let block = || handle.block_on(async { T::sleep(ms(1)).await });
        vec![tried(block), tried(block)]
    }
    let mut twins = twins!();
    for &kind in KINDS {
        same!(twins, body(kind));
    }
}

/// `block_on(sleep(..))`, made before the runtime is entered, is a beginner's panic.
#[test]
fn the_argument_of_block_on_is_made_outside() {
    fn body<T: Time>(kind: Kind) {
        let runtime = kind.build();
        runtime.block_on(T::sleep(ms(1)));
    }
    let mut twins = twins!();
    for &kind in KINDS {
        same!(twins, body(kind));
    }
}
