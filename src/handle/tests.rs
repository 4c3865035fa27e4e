//! Tests of the counts that are not public: those of the wheels' internals and memory.

use std::task::{Context, Waker};
use std::time::Duration;

use tokio::runtime::{Builder as Runtimes, Runtime};

use super::{Metrics, metrics};
use crate::{Builder, Handle, Sleep, sleep};

const HOUR: Duration = Duration::from_secs(3_600);

fn runtime() -> Runtime {
    Runtimes::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
}

fn pending(mut sleep: Sleep) -> Sleep {
    let polled = std::pin::Pin::new(&mut sleep).poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    sleep
}

fn room(metrics: &Metrics) -> usize {
    metrics.snapshot().slab_capacity
}

#[test]
fn memory_follows_the_pending_timers() {
    runtime().block_on(async {
        let metrics = metrics();
        assert_eq!((metrics.snapshot().pending, room(&metrics)), (0, 0));
        let held: Vec<_> = (0..5_000).map(|_| pending(sleep(HOUR))).collect();
        assert_eq!(metrics.snapshot().pending, 5_000);
        assert!((5_000..8_000).contains(&room(&metrics)));
        drop(held);
        assert_eq!(metrics.snapshot().pending, 0);
        assert!(room(&metrics) <= 2_048, "emptied pages are freed");
    });
}

#[test]
fn memory_is_made_by_a_builder_and_freed_by_the_end_of_the_runtime() {
    let runtime = runtime();
    let (metrics, _held) = runtime.block_on(async {
        let wheel: Handle = Builder::new().capacity(9_000).build().unwrap();
        (wheel.metrics(), pending(wheel.sleep(HOUR)))
    });
    assert!(room(&metrics) >= 9_000);
    drop(runtime);
    assert_eq!(room(&metrics), 0);
}

#[cfg(feature = "test-util")]
#[test]
fn distant_timers_cascade_and_cancelled_ones_do_not() {
    let paused = Runtimes::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    paused.unwrap().block_on(async {
        let metrics = metrics();
        let held: Vec<_> = (0..100).map(|_| pending(sleep(HOUR))).collect();
        drop(held);
        tokio::time::sleep(2 * HOUR).await;
        let now = metrics.snapshot();
        assert_eq!((now.cascaded, now.passes), (0, 0), "the alarm was disarmed");
        // These are in one slot of 18 minutes, so the latter moves when the former is due.
        let _earlier = pending(sleep(HOUR - Duration::from_secs(1)));
        let _distant = pending(sleep(HOUR));
        crate::advance(HOUR + Duration::from_millis(2)).await;
        assert_eq!(metrics.snapshot().cascaded, 1);
    });
}
