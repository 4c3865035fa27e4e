//! Timers that are awaited in another runtime's context (`RuntimeExt::wrap`) do not affect later ones.

use super::prelude::*;

use tokio_util::context::{RuntimeExt, TokioContext};

/// As in tokio-util's own example, the runtime that polls has no timers at all.
#[test]
fn a_runtime_without_timers_awaits_those_of_another() {
    fn body<T: Time>(of: Kind) {
        let there = of.builder().build().unwrap();
        let here = Builder::new_multi_thread().worker_threads(1).build();
        let here = here.unwrap();
        here.block_on(there.wrap(ticks::<T>()));
        let wrapped = there.wrap(async {
            let tick = || T::timeout(ms(5), T::sleep(ms(1)));
            join_all([tick(), tick(), tick()]).await
        });
        here.block_on(here.spawn(wrapped)).unwrap();
    }
    same([One, Two], body::<Tokio>, body::<Ours>);
}

/// A task waits for a timer of one second in another runtime's context, and that runtime ends first. Tokio's timer
/// panics. Ours may belong to the worker that made it, whose runtime is still running, and then fires.
#[test]
fn a_task_of_a_living_runtime_that_waits_in_the_context_of_one_that_ends() {
    fn body<T: Time>((kind, of): (Kind, Kind)) -> Result<(), String> {
        let (here, there) = (kind.build(), of.driven());
        let (waits, waiting) = oneshot::channel();
        let wait = async move {
            let sleep = armed(T::boxed(secs(1)));
            waits.send(()).unwrap();
            sleep.await;
        };
        let waiter = here.spawn(TokioContext::new(wait, there.handle.clone()));
        here.block_on(async {
            waiting.await.unwrap();
            there.end();
            joined(waiter).await
        })
    }
    same(cross([Current, Local], KINDS), body::<Tokio>, body::<Ours>);
    let cases = cross(MULTI, KINDS);
    let panicked = || Err(SHUT_DOWN.to_owned());
    let either = [panicked(), Ok(())];
    differs(cases, body::<Tokio>, body::<Ours>, panicked(), &either);
}

/// The context is that of a runtime that ended earlier.
#[test]
fn timers_made_in_the_context_of_a_runtime_that_has_ended() {
    fn body<T: Time>((kind, of): (Kind, Kind)) -> [Result<(), String>; 2] {
        let (here, there) = (kind.build(), of.build());
        let handle = there.handle().clone();
        drop(there);
        let wrapped = in_task(&here, TokioContext::new(ticks::<T>(), handle));
        [wrapped, in_task(&here, ticks::<T>())]
    }
    same(cross([Current, Local], KINDS), body::<Tokio>, body::<Ours>);
    let cases = cross(MULTI, KINDS);
    let panicked = || [Err(SHUT_DOWN.to_owned()), Ok(())];
    let either = [panicked(), [Ok(()), Ok(())]];
    differs(cases, body::<Tokio>, body::<Ours>, panicked(), &either);
}
