//! Whose timer it is: on a worker thread of a multi-thread runtime that runtime's, elsewhere the
//! current one's. What that means where another runtime is current, and what to do about it.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::mpsc;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use futures::executor;
use support::{HOUR, ms, multi_thread, within};
use tokio::runtime::{Handle, Runtime};
use tokio::task::{block_in_place, coop, spawn_blocking, yield_now};
use wheel::{Sleep, Wheel, sleep};

/// More than any machine takes.
const LIMIT: Duration = Duration::from_secs(60);
/// Longer than a timer of some milliseconds takes if it fires, wherever it does.
#[cfg(not(feature = "test-util"))]
const A_WHILE: Duration = Duration::from_millis(300);

/// A runtime and the driver of its timers.
fn other() -> (Runtime, Handle, Wheel) {
    let runtime = multi_thread(1);
    let (handle, wheel) = (
        runtime.handle().clone(),
        runtime.block_on(async { Wheel::current() }),
    );
    (runtime, handle, wheel)
}

fn made_within(handle: &Handle, duration: Duration) -> Sleep {
    let _guard = handle.enter();
    sleep(duration)
}

/// Registers a timer with the waker of the task around; `false` if it is due already.
async fn register(sleep: &mut Sleep) -> bool {
    let polled = poll_fn(|cx| {
        let mut sleep = pin!(coop::unconstrained(&mut *sleep));
        Poll::Ready(sleep.as_mut().poll(cx))
    });
    polled.await.is_pending()
}

/// Returns once this thread is known to be a worker: its first timers are the current runtime's.
async fn known(handle: &Handle, wheel: &Wheel) {
    // With `test-util` the driver takes another path yet.
    while !cfg!(feature = "test-util") {
        let mut sleep = made_within(handle, HOUR);
        assert!(register(&mut sleep).await);
        if wheel.pending() == 0 {
            return;
        }
        drop(sleep);
        // By timers of its own a thread comes to be known.
        assert!(support::poll_quietly(&mut sleep_here()).is_pending());
        yield_now().await;
    }
}

// As in `known`.
#[cfg(not(feature = "test-util"))]
#[test]
fn on_a_worker_thread_a_timer_belongs_to_the_workers_runtime() {
    within(LIMIT, || {
        let (runtime, handle, theirs) = other();
        let here = multi_thread(1);
        let task = here.spawn(async move {
            known(&handle, &theirs).await;
            let ours = Wheel::current();
            let before = ours.pending();
            let mut sleep = made_within(&handle, HOUR);
            assert!(register(&mut sleep).await);
            assert_eq!((ours.pending() - before, theirs.pending()), (1, 0));
        });
        here.block_on(task).unwrap();
        drop(runtime);
    });
}

#[test]
fn elsewhere_a_timer_belongs_to_the_current_runtime() {
    within(LIMIT, || {
        let (runtime, handle, theirs) = other();
        let here = multi_thread(1);
        let is_theirs = |theirs: &Wheel, mut sleep: Sleep| {
            assert!(support::poll_quietly(&mut sleep).is_pending());
            theirs.pending() == 1
        };
        assert!(
            is_theirs(&theirs, made_within(&handle, HOUR)),
            "a plain thread"
        );
        let task = here.spawn(async move {
            yield_now().await;
            let sleep = block_in_place(|| made_within(&handle, HOUR));
            assert!(is_theirs(&theirs, sleep), "`block_in_place`");
            let (there, wheel) = (handle.clone(), theirs.clone());
            let blocking = spawn_blocking(move || {
                assert!(is_theirs(&wheel, made_within(&there, HOUR)), "blocking");
                there.block_on(async { is_theirs(&wheel, sleep_here()) })
            });
            assert!(blocking.await.unwrap(), "`block_on` on a blocking thread");
        });
        here.block_on(task).unwrap();
        drop(runtime);
    });
}

fn sleep_here() -> Sleep {
    sleep(HOUR)
}

/// On the only worker of a runtime, makes a timer in the context of another runtime, which is
/// driven. A thread awaits it, and the worker waits for that thread, for so long at most. Returns
/// whether the timer fired while the worker waited. In the end it fires anyway.
fn fires_while_the_worker_waits(
    timer: impl Fn() -> Sleep + Send + 'static,
    at_most: Duration,
) -> bool {
    within(LIMIT, move || {
        let (runtime, handle, wheel) = other();
        let here = multi_thread(1);
        let task = here.spawn(async move {
            known(&handle, &wheel).await;
            // Registered here: then it is for the driver to find it due, however late it is polled.
            let sleep = loop {
                let mut sleep = {
                    let _guard = handle.enter();
                    timer()
                };
                if register(&mut sleep).await {
                    break sleep;
                }
            };
            let (tell, told) = mpsc::channel();
            let waits = thread::spawn(move || {
                executor::block_on(sleep);
                let _ = tell.send(());
            });
            (told.recv_timeout(at_most).is_ok(), waits)
        });
        let (fired, waits) = here.block_on(task).unwrap();
        waits.join().unwrap();
        drop(runtime);
        fired
    })
}

// As in `known`.
#[cfg(not(feature = "test-util"))]
#[test]
fn a_timer_in_a_context_that_was_entered_waits_for_the_workers_runtime_to_be_driven() {
    let fired = fires_while_the_worker_waits(|| sleep(ms(20)), A_WHILE);
    assert!(!fired, "nobody drives the runtime that it belongs to");
}

#[test]
fn a_wheels_timer_fires_though_the_worker_that_made_it_waits() {
    let timer = || Wheel::current().sleep(ms(20));
    assert!(fires_while_the_worker_waits(timer, LIMIT));
}
