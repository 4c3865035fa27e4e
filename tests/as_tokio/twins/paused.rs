//! A paused clock shows the same times as with Tokio's timers when it is advanced, and beside runtimes whose clocks run.
//!
//! `random/` has the programs that use paused clocks only.

use super::prelude::*;

use futures::FutureExt as _;
use tokio::time::advance;

fn since(start: Instant) -> u128 {
    start.elapsed().as_micros()
}

/// A timer is overdue because the clock was advanced. Meanwhile, the earliest timer is reset or dropped.
#[test]
fn resetting_the_earliest_timer_does_not_delay_one_that_is_overdue() {
    type Case = (Kind, (u64, u64, u64, Option<u64>));

    fn body<T: Time>((kind, (first, second, advanced_by, to)): Case) -> [u128; 2] {
        let runtime = kind.built(kind.builder().start_paused(true));
        runtime.block_on(async {
            let start = Instant::now();
            let (mut earliest, mut overdue) = (T::boxed(ms(first)), T::boxed(ms(second)));
            assert!(poll_quietly(&mut earliest).is_pending());
            let overdue = tokio::spawn(async move {
                overdue.as_mut().await;
                since(start)
            });
            tokio::task::yield_now().await;
            // The clock moves, but the runtime fires no timer yet.
            assert!(pin!(advance(ms(advanced_by))).now_or_never().is_none());
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
    cases.extend([1, 4, 5, 6, 60_000].map(|advanced_by| (3, 5, advanced_by, None)));
    same(cross([Current, Local], cases), body::<Tokio>, body::<Ours>);
}

#[test]
fn a_paused_runtime_nested_in_a_task() {
    fn body<T: Time>((before, in_place): (bool, bool)) -> Result<u128, String> {
        in_task(&One.build(), async move {
            if before {
                T::sleep(ms(1)).await;
            }
            let nested = || {
                paused().block_on(async {
                    let start = Instant::now();
                    join_all((1..20).map(|n| T::boxed(ms(n)))).await;
                    since(start)
                })
            };
            let passed = match in_place {
                true => block_in_place(nested),
                false => spawn_blocking(nested).await.unwrap(),
            };
            T::sleep(ms(1)).await;
            passed
        })
    }
    same(
        cross([false, true], [false, true]),
        body::<Tokio>,
        body::<Ours>,
    );
}

/// The timer was made in a runtime whose clock runs.
#[test]
fn a_paused_runtime_awaits_a_timer_of_one_whose_clock_runs() {
    fn body<T: Time>(registered: bool) -> u128 {
        let (paused, running) = (paused(), One.build());
        let mut sleep = inside(running.handle(), || T::boxed(ms(20)));
        assert!(!registered || poll_quietly(&mut sleep).is_pending());
        paused.block_on(async {
            let start = Instant::now();
            sleep.await;
            since(start)
        })
    }
    same([false, true], body::<Tokio>, body::<Ours>);
}

/// The first task for which the runtime calls the hook is the driver task.
#[cfg(tokio_unstable)]
#[test]
fn a_paused_clock_does_not_stop_at_a_timer_that_a_hook_has_cancelled() {
    fn body<T: Time>((): ()) -> Duration {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.on_task_spawn(|_| assert!(poll_quietly(&mut T::boxed(ms(500))).is_pending()));
        let runtime = builder.enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            drop(T::sleep(ms(1)));
            clock_after_a_real_wait().await
        })
    }
    same([()], body::<Tokio>, body::<Ours>);
}
