//! A paused clock shows the same times when the clock leaps, and beside runtimes whose clocks tick.
//!
//! Programs on paused clocks alone are those of `differential/`.

use crate::prelude::*;

use std::pin::pin;

use futures::{FutureExt as _, StreamExt as _};
use tokio::time::advance;
use tokio_util::context::TokioContext;

fn since(start: Instant) -> u128 {
    start.elapsed().as_micros()
}

/// Moves the clock, and does not let the runtime fire timers.
fn leap(by: Duration) {
    assert!(pin!(advance(by)).now_or_never().is_none());
}

/// A timer is overdue, because the clock has leapt, while the earliest timer is reset, or dropped.
#[test]
fn resetting_the_earliest_timer_does_not_put_off_one_that_is_overdue() {
    type Case = (u64, u64, u64, Option<u64>);

    fn body<T: Time>((first, second, leapt, to): Case) -> [u128; 2] {
        paused().block_on(async {
            let start = Instant::now();
            let (mut earliest, mut overdue) = (T::boxed(ms(first)), T::boxed(ms(second)));
            assert!(poll_quietly(&mut earliest).is_pending());
            let overdue = tokio::spawn(async move {
                overdue.as_mut().await;
                since(start)
            });
            tokio::task::yield_now().await;
            leap(ms(leapt));
            match to {
                Some(to) => earliest.as_mut().reset(start + ms(to)),
                None => earliest = T::boxed(ms(0)),
            }
            let overdue = overdue.await.unwrap();
            earliest.await;
            [overdue, since(start)]
        })
    }
    let mut cases = vec![
        (3, 5, 10, Some(100)),
        (5, 5, 5, Some(100)),
        (3, 5, 5, Some(100)),
        (3, 50, 50, Some(51)),
        (1, 2, 1000, Some(1001)),
        (3, 5, 4, Some(100)),
    ];
    cases.extend([1, 4, 5, 6, 60_000].map(|leapt| (3, 5, leapt, None)));
    same(cases, body::<Tokio>, body::<Ours>);
}

/// Which of many comes when, with timers that are made, reset and dropped on the way.
async fn history<T: Time>() -> Vec<(usize, u128)> {
    let start = Instant::now();
    let mut sleeps: FuturesUnordered<_> = FuturesUnordered::new();
    for n in 0..20_usize {
        let after = ms((n as u64 * 7) % 20 + 1);
        sleeps.push(T::sleep(after).map(move |()| n));
    }
    let (mut history, mut kept) = (Vec::new(), T::boxed(ms(3)));
    while let Some(n) = sleeps.next().await {
        history.push((n, since(start)));
        if n % 3 == 0 {
            kept.as_mut().reset(Instant::now() + ms(1));
            kept.as_mut().await;
        }
    }
    history
}

#[test]
fn a_paused_runtime_nested_in_a_task() {
    fn body<T: Time>((before, in_place): (bool, bool)) -> Result<Vec<(usize, u128)>, String> {
        in_task(&One.build(), async move {
            if before {
                T::sleep(ms(1)).await;
            }
            let nested = || paused().block_on(history::<T>());
            let history = match in_place {
                true => block_in_place(nested),
                false => spawn_blocking(nested).await.unwrap(),
            };
            T::sleep(ms(1)).await;
            history
        })
    }
    same([(false, true), (true, true)], body::<Tokio>, body::<Exact>);
    same([(false, false), (true, false)], body::<Tokio>, body::<Ours>);
}

/// Made in a runtime whose clock ticks, awaited in a paused runtime.
#[test]
fn a_paused_runtime_awaits_a_timer_of_one_that_ticks() {
    fn body<T: Time>(registered: bool) -> u128 {
        let (paused, ticking) = (paused(), One.build());
        let mut sleep = inside(ticking.handle(), || T::boxed(ms(20)));
        assert!(!registered || poll_quietly(&mut sleep).is_pending());
        paused.block_on(async {
            let start = Instant::now();
            sleep.await;
            since(start)
        })
    }
    same([false, true], body::<Tokio>, body::<Ours>);
}

#[test]
fn wrapped_in_the_context_of_a_paused_runtime_that_is_not_driven() {
    fn body<T: Time>() -> bool {
        let (paused, ticking) = (paused(), One.build());
        let polled = async {
            let mut sleep = T::boxed(ms(1));
            (poll_quietly(&mut sleep).is_ready(), sleep)
        };
        let handle = paused.handle().clone();
        let (is_ready, sleep) = ticking.block_on(TokioContext::new(polled, handle));
        paused.block_on(sleep);
        is_ready
    }
    same_once(body::<Tokio>, body::<Ours>);
}

#[test]
fn polled_after_the_end_of_a_paused_runtime() {
    fn body<T: Time>(leapt: u64) -> Result<bool, String> {
        let runtime = paused();
        let mut sleep = runtime.block_on(async {
            let sleep = registered(T::boxed(ms(10)));
            leap(ms(leapt));
            sleep
        });
        drop(runtime);
        tried(|| poll_quietly(&mut sleep).is_ready())
    }
    same([1, 10, 20], body::<Tokio>, body::<Ours>);
}

/// The first task that the hook is called for is the driver's own.
#[cfg(tokio_unstable)]
#[test]
fn a_paused_clock_does_not_stop_at_a_timer_that_a_hook_has_cancelled() {
    fn body<T: Time>() -> Duration {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.on_task_spawn(|_| assert!(poll_quietly(&mut T::boxed(ms(500))).is_pending()));
        let runtime = builder.enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let start = Instant::now();
            drop(T::sleep(ms(1)));
            let (tell, told) = futures::channel::oneshot::channel();
            let foreign = std::thread::spawn(|| {
                std::thread::sleep(ms(50));
                tell.send(())
            });
            told.await.unwrap();
            foreign.join().unwrap().unwrap();
            start.elapsed()
        })
    }
    same_once(body::<Tokio>, body::<Ours>);
}
