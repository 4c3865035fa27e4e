//! Timers that are polled elsewhere than where they were made, while runtimes end in any order.
//!
//! One whose runtime has ended panics with tokio's timers, wherever it is polled. Ours goes on,
//! for the same deadline, where it is polled, if that runtime lives.

use std::pin::Pin;

use futures::FutureExt as _;
use tokio::runtime::Runtime;
use tokio::time::Instant;

use crate::outcome::End;
use crate::runtimes::{Current, KINDS, Kind, One, in_task, ticks};
use crate::time::Time;
use crate::twin::{finished, tried};
use support::{HOUR, SHUT_DOWN, counting, ms, poll, poll_quietly};

/// What has been done with a timer in the runtime it was made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    Registered,
    /// Reset, which registers it, and never polled.
    Reset,
    Fired,
}

use State::{Fired, New, Registered, Reset};

const STATES: [State; 4] = [New, Registered, Reset, Fired];

fn made<T: Time>(runtime: &Runtime, state: State) -> Pin<Box<T::Sleep>> {
    let _guard = runtime.enter();
    let mut sleep = T::boxed(if state == New { ms(20) } else { HOUR });
    match state {
        New => {}
        Registered => {
            assert!(poll_quietly(&mut sleep).is_pending());
            T::reset(sleep.as_mut(), Instant::now() + ms(20));
            assert!(poll_quietly(&mut sleep).is_pending());
        }
        Reset => T::reset(sleep.as_mut(), Instant::now() + ms(20)),
        Fired => {
            T::reset(sleep.as_mut(), Instant::now() + ms(1));
            runtime.block_on(sleep.as_mut());
        }
    }
    sleep
}

/// What tokio's does that is polled after its runtime's end.
fn tokios(of: Kind, state: State) -> End {
    let _ = (of, state);
    finished(Err::<(), _>(SHUT_DOWN))
}

#[test]
fn a_timer_whose_runtime_has_ended_goes_on_in_a_task_of_another() {
    fn body<T: Time>(one: Kind, two: Kind, state: State) -> Result<(), String> {
        let (one, two) = (one.build(), two.build());
        let sleep = made::<T>(&one, state);
        drop(one);
        let end = in_task(&two, sleep);
        two.block_on(ticks::<T>());
        end
    }
    let mut twins = twins!();
    for &one in KINDS {
        for two in [Current, One] {
            for state in STATES {
                differs!(twins, body(one, two, state), tokio: tokios(one, state),
                    wheel: finished(Ok::<_, ()>(())));
            }
        }
    }
}

#[test]
fn a_timer_whose_runtime_has_ended_goes_on_in_block_on_of_another() {
    fn body<T: Time>(one: Kind, two: Kind, state: State) -> Result<(), String> {
        let (one, two) = (one.build(), two.build());
        let sleep = made::<T>(&one, state);
        drop(one);
        tried(|| two.block_on(sleep))
    }
    let mut twins = twins!();
    for &one in KINDS {
        for two in [Current, One] {
            for state in STATES {
                differs!(twins, body(one, two, state), tokio: tokios(one, state),
                    wheel: finished(Ok::<_, ()>(())));
            }
        }
    }
}

/// It is waited for in the second while the first ends: what was waiting is woken.
#[test]
fn a_timer_whose_runtime_ends_while_a_task_of_another_waits_for_it() {
    fn body<T: Time>(one: Kind, two: Kind) -> Result<(), String> {
        let (one, two) = (one.build(), two.build());
        let mut sleep = {
            let _guard = one.enter();
            T::boxed(ms(500))
        };
        let (waits, waiting) = tokio::sync::oneshot::channel();
        let waiter = two.spawn(async move {
            assert!(futures::poll!(&mut sleep).is_pending());
            waits.send(()).unwrap();
            sleep.await;
        });
        two.block_on(waiting).unwrap();
        drop(one);
        two.block_on(crate::runtimes::joined(waiter))
    }
    let mut twins = twins!();
    for &one in KINDS {
        for two in [Current, One] {
            differs!(twins, body(one, two), tokio: tokios(one, Registered),
                wheel: finished(Ok::<_, ()>(())));
        }
    }
}

/// The second, in which it was polled, ends; it belongs to the first.
#[test]
fn a_timer_that_was_polled_in_a_runtime_that_has_ended_fires_in_its_own() {
    fn body<T: Time>(one: Kind, two: Kind, state: State) -> Result<(), String> {
        let (one, two) = (one.build(), two.build());
        let mut sleep = made::<T>(&one, state);
        let polled = in_task(&two, async move {
            let _ready = (&mut sleep).now_or_never();
            (sleep, T::boxed(HOUR))
        });
        let (mut sleep, theirs) = polled?;
        drop(two);
        T::reset(sleep.as_mut(), Instant::now() + ms(1));
        let end = in_task(&one, sleep);
        drop(theirs);
        one.block_on(ticks::<T>());
        end
    }
    let mut twins = twins!();
    for &one in KINDS {
        for two in [Current, One] {
            for state in STATES {
                same!(twins, body(one, two, state));
            }
        }
    }
}

#[test]
fn polled_outside_of_any_runtime_after_the_end() {
    fn body<T: Time>(kind: Kind, state: State) -> (bool, Vec<Result<bool, String>>) {
        let runtime = kind.build();
        let mut sleep = made::<T>(&runtime, state);
        drop(runtime);
        let elapsed = T::is_elapsed(&sleep);
        let twice = (0..2).map(|_| tried(|| poll_quietly(&mut sleep).is_ready()));
        (elapsed, twice.collect())
    }
    let mut twins = twins!();
    for &kind in KINDS {
        for state in STATES {
            same!(twins, body(kind, state));
        }
    }
}

#[test]
fn reset_and_dropped_after_the_end() {
    fn body<T: Time>(kind: Kind, state: State) -> Vec<Result<(), String>> {
        let (runtime, other) = (kind.build(), kind.build());
        let mut sleep = made::<T>(&runtime, state);
        let kept = made::<T>(&runtime, state);
        drop(runtime);
        let outside = tried(|| T::reset(sleep.as_mut(), Instant::now() + HOUR));
        let polled = tried(|| assert!(poll_quietly(&mut sleep).is_ready()));
        let _guard = other.enter();
        let inside = tried(|| T::reset(sleep.as_mut(), Instant::now() + HOUR));
        let past = tried(|| T::reset(sleep.as_mut(), Instant::now() - ms(5)));
        vec![outside, polled, inside, past, tried(|| drop((sleep, kept)))]
    }
    let mut twins = twins!();
    for &kind in KINDS {
        for state in STATES {
            same!(twins, body(kind, state));
        }
    }
}

#[test]
fn the_end_wakes_what_waits_once() {
    fn body<T: Time>(kind: Kind) -> (usize, usize) {
        let runtime = kind.build();
        let (waker, count) = counting();
        let mut sleeps: Vec<_> = {
            let _guard = runtime.enter();
            (0..100).map(|n| T::boxed(HOUR + ms(n))).collect()
        };
        for sleep in &mut sleeps {
            assert!(poll(sleep, &waker).is_pending());
        }
        sleeps.truncate(90);
        drop(runtime);
        (
            count.wakes(),
            sleeps.iter().filter(|sleep| T::is_elapsed(sleep)).count(),
        )
    }
    let mut twins = twins!();
    for &kind in KINDS {
        same!(twins, body(kind));
    }
}

/// A relay: each runtime ends once the next has taken over.
#[test]
fn a_timer_goes_from_runtime_to_runtime_before_each_ends() {
    fn body<T: Time>(kind: Kind, last: Kind) -> Vec<Result<(), String>> {
        let mut runtime = kind.build();
        let mut ends = Vec::new();
        for _ in 0..3 {
            let next = last.build();
            let sleep = made::<T>(&runtime, Registered);
            let waiter = next.spawn(sleep);
            runtime.block_on(ticks::<T>());
            let end = runtime.block_on(crate::runtimes::joined(waiter));
            drop(std::mem::replace(&mut runtime, next));
            ends.push(end);
        }
        ends
    }
    let mut twins = twins!();
    for &kind in KINDS {
        same!(twins, body(kind, One));
    }
}
