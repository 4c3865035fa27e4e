//! Measures how late the last of many timers is that are due together, and checks that all have fired.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Wake;
use std::time::Duration;

use timers::Timers;
use timers::expiry::Count;
use tokio::time::Instant;

use crate::stage::spawn_many;

/// Records how late timers fire. As a waker it records its wakes.
pub(crate) struct Last {
    pub(crate) due: Instant,
    late: AtomicU64,
    fired: Count,
}

impl Last {
    pub(crate) fn new(lead: Duration) -> Arc<Self> {
        Arc::new(Self {
            due: Instant::now() + lead,
            late: AtomicU64::default(),
            fired: Count::default(),
        })
    }

    fn note(&self) {
        self.late.fetch_max(since(self.due), Ordering::Relaxed);
        self.fired.add();
    }

    /// Blocks until `count` timers have fired. Returns by how many nanoseconds the last one was late.
    pub(crate) fn wait_for(&self, count: usize) -> f64 {
        self.fired.wait_for(count);
        self.late.load(Ordering::Relaxed) as f64
    }
}

impl Wake for Last {
    fn wake(self: Arc<Self>) {
        self.note();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.note();
    }
}

/// Spawns tasks that are all due at the same time.
pub(crate) async fn spawn_sleepers<T: Timers>(count: usize, last: Arc<Last>) {
    spawn_many(count, || sleep::<T>(Arc::clone(&last))).await;
}

async fn sleep<T: Timers>(last: Arc<Last>) {
    T::sleep_until(last.due).await;
    last.note();
}

/// Returns the nanoseconds since `due`.
pub(crate) fn since(due: Instant) -> u64 {
    due.elapsed().as_nanos() as u64
}
