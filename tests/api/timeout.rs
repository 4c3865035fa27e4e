//! A `Timeout` limits a future to the given time, however long that is.
#![cfg(feature = "test-util")]

use support::prelude::*;

use std::future::pending;

use tokio_test::{assert_pending, task};
use wheel::advance;
use wheel::ext::FutureExt as _;

#[tokio::test(start_paused = true)]
async fn a_timeout_can_be_polled_on_after_it_has_elapsed() {
    type Make = fn(oneshot::Receiver<u8>) -> wheel::Timeout<oneshot::Receiver<u8>>;
    let make: [Make; 2] = [
        |rx| timeout(ms(10), rx),
        |rx| rx.timeout_if_pending(Duration::ZERO),
    ];
    for make in make {
        let (tx, rx) = oneshot::channel();
        let mut late = make(rx);
        assert!((&mut late).await.is_err());
        assert!((&mut late).await.is_err());
        tx.send(5).unwrap();
        assert_eq!((&mut late).await, Ok(Ok(5)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_very_long_timeout_never_elapses() {
    let eager = timeout(Duration::MAX, pending::<()>());
    let lazy = pending::<()>().timeout_if_pending(Duration::MAX);
    for never in [eager, lazy] {
        let mut never = task::spawn(never);
        assert_pending!(never.poll());
        advance(secs(10 * 365 * 24 * 3600)).await;
        assert_pending!(never.poll());
    }
    assert_eq!(wheel::metrics().snapshot().armed, 0);
}

#[test]
fn a_future_that_burns_the_budget_does_not_outlive_its_timeout() {
    async fn burning() {
        loop {
            coop::consume_budget().await;
        }
    }
    let late = async { burning().timeout_if_pending(ms(10)).await };
    assert!(current_thread().block_on(late).is_err());
}

/// `timeout_if_pending`: the time counts from the first poll in which the future is pending.
mod if_pending {
    use std::future::ready;

    use super::*;

    /// Returns how many timers were armed, and how many are pending.
    fn armed_and_pending() -> (u64, usize) {
        let now = wheel::metrics().snapshot();
        (now.armed, now.pending)
    }

    #[tokio::test(start_paused = true)]
    async fn a_ready_future_arms_nothing_however_long_it_was_not_polled() {
        for limit in [Duration::ZERO, ms(1), HOUR, Duration::MAX] {
            let in_time = ready(5).timeout_if_pending(limit);
            advance(ms(20)).await;
            assert_eq!(in_time.await, Ok(5), "{limit:?}");
        }
        assert_eq!(armed_and_pending().0, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_counts_from_the_first_pending_poll() {
        let start = Instant::now();
        let lazy = pending::<()>().timeout_if_pending(ms(10));
        let eager = timeout(ms(10), pending::<()>());
        advance(ms(8)).await;
        assert!(eager.await.is_err());
        assert_eq!(start.elapsed(), ms(10));
        assert!(lazy.await.is_err());
        assert_eq!(start.elapsed(), ms(20));
    }

    /// Later polls neither set the time again nor arm another timer.
    #[tokio::test(start_paused = true)]
    async fn polls_after_the_first_change_nothing() {
        let mut late = task::spawn(pending::<()>().timeout_if_pending(ms(10)));
        for waited in 0..10 {
            assert_pending!(late.poll(), "after {waited} ms");
            assert_eq!(armed_and_pending(), (1, 1));
            advance(ms(1)).await;
        }
        assert!(late.is_woken());
        assert!(late.await.is_err());
    }

    /// Yields, waits for a delay, and is then ready.
    async fn after(yields: usize, delay: Option<Duration>) {
        for _ in 0..yields {
            yield_now().await;
        }
        if let Some(delay) = delay {
            sleep(delay).await;
        }
    }

    /// Returns whether a future was in time, and when, on a clock that is not at a whole millisecond.
    fn outcome<T, E>(future: impl AsyncFn() -> Result<T, E>) -> (bool, Duration) {
        paused().block_on(async {
            advance(Duration::from_micros(300)).await;
            let start = Instant::now();
            (future().await.is_ok(), start.elapsed())
        })
    }

    /// If it is polled when it is made, it behaves as Tokio's timeout does.
    #[test]
    fn polled_immediately_it_behaves_as_tokios_timeout() {
        for limit in [0, 1, 2, 5].map(ms) {
            for delay in [None, Some(0), Some(1), Some(2), Some(5), Some(9)] {
                for yields in 0..3 {
                    let future = || after(yields, delay.map(ms));
                    let theirs = outcome(async || tokio::time::timeout(limit, future()).await);
                    let ours = outcome(async || future().timeout_if_pending(limit).await);
                    assert_eq!(ours, theirs, "{limit:?} for {delay:?}, {yields} yields");
                }
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn dropping_it_or_taking_the_future_out_cancels_the_timer() {
        let unpolled = pending::<()>().timeout_if_pending(ms(10));
        drop(unpolled);
        drop(pending::<()>().timeout_if_pending(ms(10)).into_inner());
        assert_eq!(armed_and_pending(), (0, 0));
        for take_out in [false, true] {
            let polled = armed(Box::pin(pending::<()>()).timeout_if_pending(ms(10)));
            assert_eq!(armed_and_pending().1, 1);
            if take_out {
                drop(polled.into_inner());
            } else {
                drop(polled);
            }
            assert_eq!(armed_and_pending().1, 0, "{take_out}");
        }
    }

    /// Its timer belongs to the runtime in which the future is first pending.
    #[test]
    fn it_may_be_moved_to_another_runtime_before_its_first_poll() {
        let [home, other] = [paused(), paused()];
        let moved = inside(home.handle(), || pending::<()>().timeout_if_pending(HOUR));
        drop(home);
        let start = other.block_on(async { Instant::now() });
        assert!(other.block_on(moved).is_err());
        other.block_on(async {
            assert_eq!(start.elapsed(), HOUR);
            assert_eq!(armed_and_pending(), (1, 0));
        });
    }

    #[test]
    fn a_pending_poll_outside_a_runtime_panics_and_a_ready_one_does_not() {
        let (tx, rx) = oneshot::channel();
        let mut outside = inside(current_thread().handle(), || rx.timeout_if_pending(HOUR));
        assert_eq!(message_of(|| poll_quietly(&mut outside)), NO_RUNTIME);
        tx.send(5).unwrap();
        assert_eq!(poll_quietly(&mut outside), Poll::Ready(Ok(Ok(5))));
    }

    /// A thread that has made timers needs a runtime for the next one, too: as a worker, as a blocking thread, and after it
    /// has left the runtime.
    #[test]
    fn a_thread_with_timers_may_make_one_wherever_a_runtime_is_current() {
        let make = || drop(armed(pending::<()>().timeout_if_pending(HOUR)));
        for (name, runtime) in support::runtimes() {
            let task = runtime.spawn(async move {
                for _ in 0..3 {
                    make();
                    yield_now().await;
                }
                if name > 0 {
                    block_in_place(make);
                }
                spawn_blocking(make).await.unwrap();
            });
            runtime.block_on(task).unwrap();
            inside(runtime.handle(), make);
            let outside = message_of(|| pending::<()>().timeout_if_pending(HOUR));
            assert_eq!(outside, NO_RUNTIME, "{name}");
        }
    }

    #[test]
    fn debug_shows_whether_it_is_armed() {
        paused().block_on(async {
            let mut shown = pending::<()>().timeout_if_pending(ms(10));
            assert!(format!("{shown:?}").contains("delay: 10ms"), "{shown:?}");
            assert!(poll_quietly(&mut shown).is_pending());
            assert!(format!("{shown:?}").contains("delay: Sleep {"), "{shown:?}");
        });
    }
}
