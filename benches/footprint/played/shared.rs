//! Code that the shapes share.

use std::pin::Pin;
use std::time::Duration;

use timers::Timers;
use tokio::task::yield_now;

/// A boxed timer.
pub(crate) type Boxed<T> = Pin<Box<<T as Timers>::Sleep>>;

/// The number of timers of shapes with many timers, and of tasks if each timer belongs to another task.
pub(crate) const MANY: usize = 64;

/// Creates a few timers in a task that yields, as tasks of a service do, so that a driver can bind the thread to its worker.
pub(crate) async fn settle<T: Timers>() {
    for _ in 0..20 {
        drop(T::sleep(Duration::from_millis(1)));
        yield_now().await;
    }
}

/// Returns a duration of 30 to 35 seconds, longer for each of the first 135 timers.
#[inline(always)]
pub(crate) fn half_a_minute(index: usize) -> Duration {
    Duration::from_millis(30_000 + (37 * index as u64) % 5000)
}
