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
/// Timers that fire alone: few, for each costs eight milliseconds' readings of the clock.
const FEW: usize = 16;

/// Many timers that are due together, from the moment at which the runtime is free to fire them until the last waker is
/// woken. An operation is one of the timers.
pub(crate) async fn fire<S: Side>(window: &Window) -> usize {
    for _ in 0..ROUNDS {
        let woken = Arc::new(AtomicUsize::new(0));
        let sleeps = armed::<S>(MANY, &woken);
        all_fire::<S>(window, sleeps, &woken).await;
    }
    ROUNDS * MANY
}

/// A timer that is armed, and fires alone, as in a quiet service.
pub(crate) async fn alone<S: Side>(window: &Window) -> usize {
    for _ in 0..FEW {
        let woken = Arc::new(AtomicUsize::new(0));
        let sleeps = window.around(|| armed::<S>(1, &woken));
        all_fire::<S>(window, sleeps, &woken).await;
    }
    FEW
}

/// The same deadline for all, give or take a millisecond.
fn armed<S: Side>(count: usize, woken: &Arc<AtomicUsize>) -> Vec<Boxed<S>> {
    let arm_one = |_| {
        let waker = Waker::from(Arc::new(Sleeper(Arc::clone(woken))));
        let mut sleep: Pin<Box<S::Sleep>> = Box::pin(S::sleep(Duration::from_millis(5)));
        arm(sleep.as_mut(), &mut Context::from_waker(&waker));
        sleep
    };
    (0..count).map(arm_one).collect()
}

async fn all_fire<S: Side>(window: &Window, sleeps: Vec<Boxed<S>>, woken: &AtomicUsize) {
    let due = Instant::now() + Duration::from_millis(8);
    // Each reading of the clock takes some time; see `clock.c`.
    while Instant::now() < due {}
    window.begin();
    yield_now().await;
    while S::FIRES && woken.load(Ordering::Relaxed) < sleeps.len() {
        yield_now().await;
    }
    window.end();
}

/// A waker of its own for each timer, which counts.
struct Sleeper(Arc<AtomicUsize>);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
