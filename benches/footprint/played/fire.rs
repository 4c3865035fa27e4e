//! Timers that fire.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::Instant;

use crate::shapes::{Boxed, MANY};
use crate::window::Window;
use timers::{Timers as Side, arm};

const ROUNDS: usize = 4;

/// Many timers that are due together, from the moment at which the runtime is free to fire them until the last waker is
/// woken. An operation is one of the timers.
pub(crate) async fn fire<S: Side>(window: &Window) -> usize {
    for _ in 0..ROUNDS {
        let woken = Arc::new(AtomicUsize::new(0));
        let at = Instant::now() + Duration::from_millis(5);
        let sleeps = armed::<S>(&woken);
        // Each reading of the clock takes some time; see `clock.c`.
        while Instant::now() < at + Duration::from_millis(3) {}
        window.begin();
        yield_now().await;
        while S::FIRES && woken.load(Ordering::Relaxed) < sleeps.len() {
            yield_now().await;
        }
        window.end();
    }
    ROUNDS * MANY
}

/// The same deadline for all, give or take a millisecond.
fn armed<S: Side>(woken: &Arc<AtomicUsize>) -> Vec<Boxed<S>> {
    let arm_one = |_| {
        let waker = Waker::from(Arc::new(Sleeper(Arc::clone(woken))));
        let mut sleep: Pin<Box<S::Sleep>> = Box::pin(S::sleep(Duration::from_millis(5)));
        arm(sleep.as_mut(), &mut Context::from_waker(&waker));
        sleep
    };
    (0..MANY).map(arm_one).collect()
}

/// A waker of its own for each timer, which counts.
struct Sleeper(Arc<AtomicUsize>);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
