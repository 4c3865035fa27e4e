//! User code uses timers while Tokio is spawning a task, and so has its current handle borrowed.
//!
//! A runtime that is shutting down drops a new task inside `spawn`, and the destructor of that task's
//! future is user code. No runtime can be entered there. Whatever that code does to a timer, the timers
//! of other runtimes still fire.

use super::prelude::*;

use std::future::pending;

/// What the destructor of a task's clean-up does to a timer.
#[derive(Clone, Copy, Debug)]
enum Last {
    /// Drops an armed timer.
    Drop,
    /// Resets the timer first, to a later or an earlier deadline. (A `DelayQueue` does the latter if an entry
    /// is inserted that is due before all others.)
    Extend,
    MoveEarlier,
    /// First polls the timer with another waker.
    Poll,
    /// First makes and polls another timer.
    Make,
}

use Last::{Extend, Make, MoveEarlier, Poll};

const LASTS: [Last; 5] = [Last::Drop, Extend, MoveEarlier, Poll, Make];

/// Returns a value whose drop does something to a timer of the current runtime.
fn clean_up<T: Time>(last: Last) -> AtEnd<impl FnMut() + Send> {
    let mut sleep = armed(T::boxed(HOUR));
    AtEnd(move || match last {
        Last::Drop => {}
        Extend => sleep.as_mut().reset(Instant::now() + 2 * HOUR),
        MoveEarlier => sleep.as_mut().reset(Instant::now() + ms(1)),
        Poll => _ = poll_quietly(&mut sleep),
        Make => _ = poll_quietly(&mut T::boxed(ms(1))),
    })
}

/// Returns a value whose drop spawns a clean-up, as a connection does that closes in an orderly way.
fn connection<T: Time>(last: Last) -> AtEnd<impl FnMut() + Send> {
    let mut clean_up = Some(clean_up::<T>(last));
    AtEnd(move || {
        let clean_up = clean_up.take();
        tokio::spawn(async move {
            let _clean_up = clean_up;
            pending::<()>().await;
        });
    })
}

/// Spawns a task that keeps a connection until the runtime ends. The task is older than the driver task, so the runtime
/// drops it first.
fn connect<T: Time>(runtime: &Built, last: Last) {
    runtime.block_on(async move {
        tokio::spawn(async move {
            let _connection = connection::<T>(last);
            pending::<()>().await;
        });
        tokio::task::yield_now().await;
        T::sleep(ms(2)).await;
    });
}

/// Waits for a timer of another runtime.
fn later<T: Time>() -> Result<(), String> {
    tried(|| One.build().block_on(async { T::sleep(ms(5)).await }))
}

/// The runtimes that end: one of each kind, and one with a paused clock.
const RUNTIMES: &[fn() -> Built] = &[
    || Current.build(),
    || Local.build(),
    || One.build(),
    || Two.build(),
    #[cfg(feature = "test-util")]
    || Built::Movable(support::paused()),
];

#[test]
fn a_task_spawns_its_clean_up_while_the_runtime_ends() {
    fn body<T: Time>((runtime, last): (usize, Last)) -> Result<(), String> {
        let runtime = RUNTIMES[runtime]();
        connect::<T>(&runtime, last);
        drop(runtime);
        later::<T>()
    }
    let cases = cross(0..RUNTIMES.len(), LASTS);
    same(cases, body::<Tokio>, body::<Ours>);
}

/// The timers belong to a runtime that is still running.
#[test]
fn a_task_is_spawned_under_the_guard_of_a_runtime_that_has_ended() {
    fn body<T: Time>((kind, last): (Kind, Last)) -> Result<(), String> {
        let (here, ended) = (kind.build(), Current.build());
        let handle = ended.handle().clone();
        drop(ended);
        here.block_on(async {
            let connection = connection::<T>(last);
            inside(&handle, || drop(connection));
            T::sleep(ms(2)).await;
        });
        drop(here);
        later::<T>()
    }
    same(cross(KINDS, LASTS), body::<Tokio>, body::<Ours>);
}
