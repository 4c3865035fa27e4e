//! A timer that is polled in another runtime than it was made in survives the end of either runtime.
//!
//! A Tokio timer whose runtime has ended panics when it is polled, in any runtime. Ours continues with the same deadline
//! in the runtime that polls it, if that runtime is running.

use super::prelude::*;

use std::future::pending;

use futures::FutureExt as _;

/// The state that a timer has reached in the runtime that it was made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    Registered,
    /// The timer was reset, which arms it, and was never polled.
    Reset,
    Fired,
}

use State::{Fired, New, Registered, Reset};

const STATES: [State; 4] = [New, Registered, Reset, Fired];

fn made<T: Time>(runtime: &Built, state: State) -> Pin<Box<T::Sleep>> {
    let _guard = runtime.enter();
    let mut sleep = T::boxed(if state == New { secs(20) } else { HOUR });
    match state {
        New => {}
        Registered => {
            assert!(poll_quietly(&mut sleep).is_pending());
            sleep.as_mut().reset(Instant::now() + secs(20));
            assert!(poll_quietly(&mut sleep).is_pending());
        }
        Reset => sleep.as_mut().reset(Instant::now() + secs(20)),
        Fired => {
            sleep.as_mut().reset(Instant::now() + ms(1));
            runtime.block_on(sleep.as_mut());
        }
    }
    sleep
}

/// A task of the second runtime awaits the timer while the first ends: the task is woken.
#[test]
fn a_timer_whose_runtime_ends_while_a_task_of_another_waits_for_it() {
    fn body<T: Time>((one, two): (Kind, Kind)) -> Result<(), String> {
        let (one, two) = (one.build(), two.build());
        let mut sleep = inside(one.handle(), || T::boxed(secs(1)));
        let (waits, waiting) = oneshot::channel();
        let waiter = two.spawn(async move {
            assert!(futures::poll!(&mut sleep).is_pending());
            waits.send(()).unwrap();
            sleep.await;
        });
        two.block_on(waiting).unwrap();
        drop(one);
        two.block_on(joined(waiter))
    }
    let cases = cross(KINDS, [Current, Local, One]);
    let panicked = Err(SHUT_DOWN.to_owned());
    differs(cases, body::<Tokio>, body::<Ours>, panicked, &[Ok(())]);
}

/// The second runtime, which polled the timer, ends; the timer belongs to the first.
#[test]
fn a_timer_that_was_polled_in_a_runtime_that_has_ended_fires_in_its_own() {
    fn body<T: Time>((one, two, state): (Kind, Kind, State)) -> Result<(), String> {
        let (one, two) = (one.build(), two.build());
        let mut sleep = made::<T>(&one, state);
        let polled = in_task(&two, async move {
            let _ready = (&mut sleep).now_or_never();
            (sleep, T::boxed(HOUR))
        });
        let (mut sleep, other) = polled?;
        drop(two);
        sleep.as_mut().reset(Instant::now() + ms(1));
        let end = in_task(&one, sleep);
        drop(other);
        one.block_on(ticks::<T>());
        end
    }
    let cases = cross3(KINDS, [Current, One], STATES);
    same(cases, body::<Tokio>, body::<Ours>);
}

#[test]
fn polled_reset_and_dropped_after_the_end() {
    fn body<T: Time>((kind, state): (Kind, State)) -> ([bool; 2], Vec<Result<bool, String>>) {
        let (runtime, other) = (kind.build(), kind.build());
        let (mut sleep, mut kept) = (made::<T>(&runtime, state), made::<T>(&runtime, state));
        let (mut timeout, mut interval) = runtime.block_on(async {
            let timeout = armed(Box::pin(T::timeout(HOUR, pending::<()>())));
            let mut interval = T::interval(HOUR);
            interval.tick().await;
            (timeout, interval)
        });
        drop(runtime);
        let elapsed = [sleep.is_elapsed(), kept.is_elapsed()];
        let polled = |sleep: &mut Pin<Box<T::Sleep>>| tried(|| poll_quietly(sleep).is_ready());
        let mut ends = vec![polled(&mut kept), polled(&mut kept)];
        ends.push(tried(|| poll_quietly(&mut timeout).is_ready()));
        for _ in 0..2 {
            ends.push(tried(|| {
                poll_quietly(&mut Box::pin(interval.tick())).is_ready()
            }));
            interval.reset();
        }
        let reset =
            |sleep: &mut Pin<Box<T::Sleep>>, to| tried(|| sleep.as_mut().reset(to)).map(|()| true);
        ends.push(reset(&mut sleep, Instant::now() + HOUR));
        ends.push(polled(&mut sleep));
        let _guard = other.enter();
        ends.push(reset(&mut sleep, Instant::now() + HOUR));
        ends.push(reset(&mut sleep, Instant::now() - ms(5)));
        ends.push(tried(|| drop((sleep, kept))).map(|()| true));
        (elapsed, ends)
    }
    same(cross(KINDS, STATES), body::<Tokio>, body::<Ours>);
}
