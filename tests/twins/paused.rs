//! What a paused clock shows: in which order, and at which millisecond.

use std::future::pending;
use std::time::Duration;

use futures::FutureExt as _;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;
use tokio::time::{Instant, advance};
use tokio_util::context::TokioContext;

use crate::time::{Exact, Time, Tokio};
use support::{ms, paused, poll_quietly};

fn since(start: Instant) -> u128 {
    start.elapsed().as_micros()
}

/// Moves the clock, and does not let the runtime look at it.
fn leap(by: Duration) {
    assert!(std::pin::pin!(advance(by)).now_or_never().is_none());
}

/// One that is overdue, because the clock has leapt, while the earliest is reset.
#[test]
fn resetting_the_earliest_timer_does_not_put_off_one_that_is_overdue() {
    fn body<T: Time>(first: u64, second: u64, leapt: u64, to: u64) -> [u128; 2] {
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
            T::reset(earliest.as_mut(), start + ms(to));
            let overdue = overdue.await.unwrap();
            earliest.await;
            [overdue, since(start)]
        })
    }
    let mut twins = twins!();
    for (first, second, leapt, to) in [
        (3, 5, 10, 100),
        (5, 5, 5, 100),
        (3, 5, 5, 100),
        (3, 50, 50, 51),
        (1, 2, 1000, 1001),
        (3, 5, 4, 100),
    ] {
        same!(twins, body(first, second, leapt, to));
    }
}

#[test]
fn dropping_the_earliest_timer_does_not_put_off_one_that_is_overdue() {
    fn body<T: Time>(leapt: u64) -> u128 {
        paused().block_on(async {
            let start = Instant::now();
            let (mut earliest, mut overdue) = (T::boxed(ms(3)), T::boxed(ms(5)));
            assert!(poll_quietly(&mut earliest).is_pending());
            assert!(poll_quietly(&mut overdue).is_pending());
            leap(ms(leapt));
            drop(earliest);
            overdue.await;
            since(start)
        })
    }
    let mut twins = twins!();
    for leapt in [1, 4, 5, 6, 60_000] {
        same!(twins, body(leapt));
    }
}

#[test]
fn what_is_made_after_a_leap_is_on_time() {
    fn body<T: Time>(leapt: u64) -> Vec<u128> {
        paused().block_on(async {
            let start = Instant::now();
            let mut early = T::boxed(ms(2));
            assert!(poll_quietly(&mut early).is_pending());
            leap(ms(leapt));
            let mut at = Vec::new();
            for after in [0, 1, 3] {
                T::sleep(ms(after)).await;
                at.push(since(start));
            }
            early.await;
            at.push(since(start));
            T::timeout(Duration::ZERO, pending::<()>())
                .await
                .unwrap_err();
            at.push(since(start));
            at
        })
    }
    let mut twins = twins!();
    for leapt in [1, 2, 7, 1_000_000] {
        same!(twins, body(leapt));
    }
}

#[test]
fn sleeps_of_nothing_and_first_ticks() {
    fn body<T: Time>(nanos: u64) -> Vec<u128> {
        paused().block_on(async {
            let start = Instant::now();
            let mut at = Vec::new();
            for _ in 0..3 {
                T::sleep(Duration::from_nanos(nanos)).await;
                at.push(since(start));
                let _ = T::timeout(Duration::from_nanos(nanos), pending::<()>()).await;
                at.push(since(start));
                let mut interval = T::interval(ms(7));
                let first = T::tick(&mut interval).await;
                at.push((first - start).as_micros());
                at.push(since(start));
            }
            at
        })
    }
    let mut twins = twins!();
    for nanos in [0, 1, 999_999, 1_000_000, 1_000_001] {
        same!(twins, body(nanos));
    }
}

#[test]
fn a_first_tick_is_ready_at_the_first_poll() {
    fn body<T: Time>() -> [bool; 2] {
        paused().block_on(async {
            let mut first = T::interval(ms(7));
            let at_once = T::tick(&mut first).now_or_never().is_some();
            T::sleep(ms(10)).await;
            let mut later = T::interval(ms(7));
            [at_once, T::tick(&mut later).now_or_never().is_some()]
        })
    }
    let mut twins = twins!();
    same!(twins, body());
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
            T::reset(kept.as_mut(), Instant::now() + ms(1));
            kept.as_mut().await;
        }
    }
    history
}

#[test]
fn paused_runtimes_take_turns_on_one_thread() {
    fn body<T: Time>() -> Vec<Vec<(usize, u128)>> {
        let runtimes = [paused(), paused(), paused()];
        let locals = [LocalSet::new(), LocalSet::new(), LocalSet::new()];
        let mut histories = Vec::new();
        for turn in 0..6 {
            let (runtime, local) = (&runtimes[turn % 3], &locals[(turn + turn / 3) % 3]);
            histories.push(local.block_on(runtime, history::<T>()));
            let task = local.spawn_local(history::<T>());
            histories.push(local.block_on(runtime, task).unwrap());
        }
        histories
    }
    let mut twins = twins!();
    same!(twins, body());
}

fn clockwork() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

#[test]
fn a_paused_runtime_nested_in_a_task() {
    fn body<T: Time>(before: bool) -> Vec<(usize, u128)> {
        let outer = clockwork();
        crate::runtimes::in_task(&outer, async move {
            if before {
                T::sleep(ms(1)).await;
            }
            let history = tokio::task::block_in_place(|| paused().block_on(history::<T>()));
            T::sleep(ms(1)).await;
            history
        })
        .unwrap()
    }
    let mut twins = twins!();
    twins.same(
        "body(false)",
        || body::<Tokio>(false),
        || body::<Exact>(false),
    );
    twins.same("body(true)", || body::<Tokio>(true), || body::<Exact>(true));
}

/// Made in one paused runtime, awaited in another, which stands still or goes on by itself.
#[test]
fn a_paused_runtime_awaits_a_timer_of_one_that_ticks() {
    fn body<T: Time>(registered: bool) -> u128 {
        let (paused, ticking) = (paused(), clockwork());
        let mut sleep = {
            let _guard = ticking.enter();
            T::boxed(ms(20))
        };
        assert!(!registered || poll_quietly(&mut sleep).is_pending());
        paused.block_on(async {
            let start = Instant::now();
            sleep.await;
            since(start)
        })
    }
    let mut twins = twins!();
    same!(twins, body(false));
    same!(twins, body(true));
}

#[test]
fn wrapped_in_the_context_of_a_paused_runtime_that_is_not_driven() {
    fn body<T: Time>() -> [bool; 2] {
        let (paused, ticking) = (paused(), clockwork());
        let polled = async {
            let mut sleep = T::boxed(ms(1));
            let before = poll_quietly(&mut sleep).is_ready();
            (before, sleep)
        };
        let handle = paused.handle().clone();
        let (before, sleep) = ticking.block_on(TokioContext::new(polled, handle));
        paused.block_on(sleep);
        [before, true]
    }
    let mut twins = twins!();
    same!(twins, body());
}

#[test]
fn polled_after_the_end_of_a_paused_runtime() {
    fn body<T: Time>(leapt: u64) -> Result<bool, String> {
        let runtime = paused();
        let mut sleep = runtime.block_on(async {
            let mut sleep = T::boxed(ms(10));
            assert!(poll_quietly(&mut sleep).is_pending());
            leap(ms(leapt));
            sleep
        });
        drop(runtime);
        crate::twin::tried(|| poll_quietly(&mut sleep).is_ready())
    }
    let mut twins = twins!();
    for leapt in [1, 10, 20] {
        same!(twins, body(leapt));
    }
}
