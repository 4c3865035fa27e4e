//! Without a runtime, timers of one, or after its end: panics with tokio's words, at tokio's line.

use std::convert::identity;
use std::future::pending;

use tokio::runtime::Builder;
use tokio::time::Instant;

use crate::runtimes::{Current, KINDS, Kind, MULTI, cross, end, in_task};
use crate::twin::{differs, same};
use support::time::{Ours, Sleep as _, Time, Tokio};
use support::{HOUR, NO_TIMERS, ms, poll_quietly, tried};

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
fn outside_of_any_runtime_and_once_one_has_been_left() {
    fn body<T: Time>((left, made): (Option<Kind>, Made)) {
        if let Some(kind) = left {
            let runtime = kind.build();
            runtime.block_on(async { make::<T>(made) });
            let _guard = runtime.enter();
            make::<T>(made);
        }
        make::<T>(made);
    }
    let left = [None, Some(Kind::Current), Some(Kind::One), Some(Kind::Two)];
    same(cross(left, ALL), body::<Tokio>, body::<Ours>);
}

#[test]
fn in_a_runtime_without_timers() {
    fn body<T: Time>((made, workers): (Made, usize)) -> [Result<(), String>; 3] {
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
        let spawned = in_task(&runtime, async move { make::<T>(made) });
        [entered, blocked_on, spawned]
    }
    same(cross(ALL, [0, 1]), body::<Tokio>, body::<Ours>);
}

/// On a worker that is known to be one the timer is the worker's own, as under any guard. Whether it
/// is known depends on the worker.
#[test]
fn under_the_guard_of_a_runtime_without_timers() {
    fn body<T: Time>((kind, made): (Kind, Made)) -> Result<(), String> {
        let under_guard = async move {
            T::sleep(ms(1)).await;
            let there = Builder::new_current_thread().build().unwrap();
            let made = tried(|| {
                let _guard = there.enter();
                make::<T>(made);
            });
            end(there);
            made
        };
        in_task(&kind.build(), under_guard).and_then(identity)
    }
    same(cross([Current], ALL), body::<Tokio>, body::<Ours>);
    let cases = cross(MULTI, ALL);
    let panicked = || Err(NO_TIMERS.to_owned());
    let either = [panicked(), Ok(())];
    differs(cases, body::<Tokio>, body::<Ours>, panicked(), &either);
}

#[test]
fn made_and_blocked_on_after_the_end() {
    fn body<T: Time>(kind: Kind) -> String {
        let runtime = kind.build();
        let handle = runtime.handle().clone();
        runtime.block_on(async { T::sleep(ms(1)).await });
        drop(runtime);
        let is_ready = |nap| {
            let _guard = handle.enter();
            let mut sleep = T::boxed(nap);
            let ready = tried(|| poll_quietly(&mut sleep).is_ready());
            let reset = tried(|| sleep.as_mut().reset(Instant::now() + HOUR));
            let again = tried(|| poll_quietly(&mut sleep).is_ready());
            (ready, reset, again)
        };
        let block = || tried(|| handle.block_on(async { T::sleep(ms(1)).await })).map(|()| true);
        let made = [HOUR, ms(0)].map(is_ready);
        format!("{made:?} {:?}", [block(), block()])
    }
    same(KINDS, body::<Tokio>, body::<Ours>);
}
