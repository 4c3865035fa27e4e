//! Timers that fire.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::Instant;

use crate::shared::{Boxed, MANY};
use crate::window::Window;
use timers::{Timers, arm};

const ROUNDS: usize = 4;
/// The number of timers that fire alone. There are few, because each needs eight milliseconds of clock readings.
const FEW: usize = 16;

/// Many timers that are due together, from the moment when the runtime can fire them until the last waker is woken. Each timer
/// is an operation.
pub(crate) async fn fire<T: Timers>(window: &Window) -> usize {
    for _ in 0..ROUNDS {
        let woken = Arc::new(AtomicUsize::new(0));
        let sleeps = armed::<T>(MANY, &woken);
        all_fire::<T>(window, sleeps, &woken).await;
    }
    ROUNDS * MANY
}

/// A timer that is armed and fires alone, as in an idle service.
pub(crate) async fn alone<T: Timers>(window: &Window) -> usize {
    for _ in 0..FEW {
        let woken = Arc::new(AtomicUsize::new(0));
        let sleeps = window.around(|| armed::<T>(1, &woken));
        all_fire::<T>(window, sleeps, &woken).await;
    }
    FEW
}

/// Arms timers whose deadlines are within a millisecond, and returns them.
fn armed<T: Timers>(count: usize, woken: &Arc<AtomicUsize>) -> Vec<Boxed<T>> {
    let arm_one = |_| {
        let waker = Waker::from(Arc::new(Sleeper(Arc::clone(woken))));
        let mut sleep: Pin<Box<T::Sleep>> = Box::pin(T::sleep(Duration::from_millis(5)));
        arm(sleep.as_mut(), &mut Context::from_waker(&waker));
        sleep
    };
    (0..count).map(arm_one).collect()
}

async fn all_fire<T: Timers>(window: &Window, sleeps: Vec<Boxed<T>>, woken: &AtomicUsize) {
    let due = Instant::now() + Duration::from_millis(8);
    // Each reading of the clock takes some time; see `clock.c`.
    while Instant::now() < due {}
    window.begin();
    yield_now().await;
    while T::FIRES && woken.load(Ordering::Relaxed) < sleeps.len() {
        yield_now().await;
    }
    window.end();
}

/// A waker that counts. Each timer has its own.
struct Sleeper(Arc<AtomicUsize>);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
