//! In a busy runtime, the check for late timers fires them in time, and costs no more passes than
//! it should.
//!
//! Idle runtimes are tested in `tests/stress/parks.rs`.

use crate::everywhere::*;

use std::iter::repeat_with;

use futures::future::select_all;
use support::load::{compute, requeue};

/// Here Tokio polls its timers only after a million polls of tasks, and the run queue is never
/// empty. A task that keeps making timers requests a pass, which fires the timers that are due.
#[test]
fn a_busy_task_that_makes_timers_fires_them_before_tokio_polls_its_own() {
    const POLLS: usize = 100_000;
    within(LIMIT, || {
        let runtime = with_workers(1).event_interval(1_000_000).build().unwrap();
        let start = Instant::now();
        let busy = runtime.spawn(async move {
            let sleeper = tokio::spawn(async move {
                for _ in 0..20 {
                    sleep(ms(2)).await;
                }
                wheel::metrics().snapshot().idle_passes
            });
            for _ in 0..POLLS {
                if sleeper.is_finished() {
                    return sleeper.await.unwrap();
                }
                compute();
                timeout(HOUR, requeue()).await.unwrap();
            }
            panic!("after {POLLS} polls a timer had not fired");
        });
        let noops = runtime.block_on(busy).unwrap();
        // Fewer than one pass per millisecond should find nothing due.
        let most = start.elapsed().as_millis() + 10;
        assert!(u128::from(noops) < most, "{noops} of at most {most}");
    });
}

/// Each poll takes milliseconds, as on a machine that other programs keep busy. Tokio polls its own
/// timers once all woken tasks have been polled. An expiry pass between two polls would wake more
/// tasks, and delay that.
#[test]
fn while_polls_are_slow_tokio_polls_its_own_timers_as_often_as_without_ours() {
    fn polls_until_tokio_fires<T: Time>() -> u64 {
        let polls = Arc::new(AtomicU64::new(0));
        let runtime = with_workers(1).build().unwrap();
        for _ in 0..16 {
            let polls = Arc::clone(&polls);
            runtime.spawn(async move {
                for length in (100..1_600).step_by(211).cycle() {
                    let sleeps = repeat_with(|| T::boxed(Duration::from_micros(length)));
                    select_all(sleeps.take(8)).await;
                    polls.fetch_add(1, Ordering::Relaxed);
                    // In real time, by which the driver tells slow polls from quick ones.
                    thread::sleep(ms(3));
                }
            });
        }
        runtime.block_on(async { tokio::time::sleep(ms(3)).await });
        polls.load(Ordering::Relaxed)
    }
    within(LIMIT, || {
        let all = |polls: fn() -> u64| repeat_with(polls).take(5).sum::<u64>();
        let theirs = all(polls_until_tokio_fires::<Tokio>);
        let ours = all(polls_until_tokio_fires::<Ours>);
        // A pass between any two polls would make several times as many polls necessary.
        let most = 2 * theirs + 200;
        assert!(ours <= most, "{ours} polls, {theirs} with Tokio's timers");
    });
}

/// After 61 polls of tasks, Tokio polls its timers, and fires all that are due. Here, each poll of the
/// driver task fires some of them.
#[test]
fn each_poll_of_the_driver_task_fires_timers_of_a_mass_expiry_and_a_later_timer_overtakes() {
    const ALL: usize = 20_000;
    let run = || {
        let (waker, fired) = new_count_waker();
        multi_thread(1).block_on(async {
            let deadline = Instant::now() + secs(1);
            let overtakes = deadline + ms(1);
            let all = (0..ALL).map(|_| armed_with(sleep_until(deadline), &waker));
            let _all: Vec<_> = all.collect();
            let (fired, mut tasks) = (Arc::new(fired), JoinSet::new());
            let count = Arc::clone(&fired);
            let later = tokio::spawn(async move {
                sleep_until(overtakes).await;
                count.get()
            });
            for _ in 0..8 {
                let fired = Arc::clone(&fired);
                tasks.spawn(async move {
                    tokio::time::sleep_until(deadline).await;
                    // In real time, because a worker has to be blocked until the later timer is due.
                    thread::sleep(overtakes.saturating_duration_since(Instant::now()));
                    let mut polls = 0;
                    while fired.get() < ALL {
                        polls += u64::from(fired.get() > 0);
                        requeue().await;
                    }
                    polls
                });
            }
            let polls = tasks.join_all().await.iter().sum::<u64>();
            (polls, later.await.unwrap())
        })
    };
    within(LIMIT, move || {
        // The driver task fires 192 timers each time, and the eight tasks are polled once in between. If
        // other programs stop it for 100 ms, all fire together.
        let is_right = |(polls, before)| {
            println!("{polls} polls, {before} fired before");
            (200..=1_000).contains(&polls) && before < ALL / 2
        };
        assert!(repeat_with(run).take(5).any(is_right));
    });
}

/// A pass has deferred timers, or even left some in the wheel, when the clock is paused and advanced.
#[test]
fn a_paused_clock_fires_timers_in_order_even_if_some_were_deferred_before() {
    async fn order<T: Time>(all: u64) -> Vec<u64> {
        let ((log, fired), due) = (mpsc::channel(), Instant::now() + secs(1));
        let armed = |index| {
            let (log, after) = (log.clone(), 100 * index / all);
            let waker = OnWake::waker(move || log.send(after).unwrap());
            armed_with(Box::pin(T::sleep_until(due + ms(after))), &waker)
        };
        let _all: Vec<_> = (0..all).map(armed).collect();
        requeue().await;
        // In real time: half of the timers are due when Tokio next polls its timers.
        while Instant::now() < due + ms(50) {}
        requeue().await;
        tokio::time::pause();
        tokio::time::advance(secs(1)).await;
        fired.try_iter().collect()
    }
    for all in [400, 4_000] {
        let theirs = current_thread().block_on(order::<Tokio>(all));
        assert_eq!(current_thread().block_on(order::<Ours>(all)), theirs);
    }
}

/// In an idle service, each call is answered long before its deadline. Without the check for
/// cancelled timers, the worker would wake up once per call for a timer that was cancelled.
#[test]
fn an_idle_runtime_does_not_wake_up_for_each_cancelled_timer() {
    const CALLS: u64 = 100;
    let idle_passes = |_| {
        let runtime = multi_thread(1);
        let calls = runtime.spawn(async {
            for _ in 0..CALLS {
                let answer = tokio::time::sleep(ms(2));
                // On a busy machine, a call may take longer.
                let _ = wheel::timeout(ms(5), answer).await;
            }
            wheel::metrics().snapshot().idle_passes
        });
        runtime.block_on(calls).unwrap()
    };
    let fewest = (0..5).map(idle_passes).min().unwrap();
    assert!(fewest < CALLS / 10, "{fewest} passes in {CALLS} calls");
}
