//! `bare`: the same work without a timer. No timer can go below it, and none has to.

use std::convert::Infallible;
use std::future::{Future, Pending, pending, poll_fn};
use std::hint::black_box;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};
use std::time::Duration;

use futures::FutureExt as _;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::cancel::FreshTask;
use crate::figure::{Measured, Scale, Workload};
use crate::fire;
use crate::peer::{Peer, Tokio, Wheel};
use crate::stage::Stage;

/// No timer: what sleeps is pending for ever, and registers nothing.
enum Bare {}

impl Peer for Bare {
    const NAME: &'static str = "bare";
    type Sleep = Pending<()>;
    type Elapsed = Infallible;

    fn sleep(_: Duration) -> Self::Sleep {
        pending()
    }

    fn sleep_until(_: Instant) -> Self::Sleep {
        pending()
    }

    fn reset(_: Pin<&mut Self::Sleep>, _: Instant) {}

    fn timeout<F>(
        _: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, Self::Elapsed>> + Send
    where
        F: Future<Output: Send> + Send,
    {
        future.map(Ok)
    }
}

/// Tasks that are spawned, pending once and joined.
pub(crate) fn fresh_task(workers: usize) -> impl Fn(Scale) -> Measured {
    move |scale| FreshTask { workers }.run::<Bare>(scale)
}

/// What the machine itself adds to a wait: while our timers fire, a worker looks at the clock, for as long as it would
/// arm and cancel a timer, so that as many waits are compared.
pub(crate) fn insert_wait(scale: Scale) -> Measured {
    const LOOKS: usize = 3;
    fire::insert_wait::<Wheel>(scale, |_, _| {
        for _ in 0..LOOKS {
            black_box(Instant::now());
        }
    })
}

/// A million tasks woken, polled and ended. Another task wakes them, at the times that their timers would.
pub(crate) fn fire_tasks(scale: Scale) -> Measured {
    let stage = Stage::new::<Tokio>(fire::WORKERS);
    let sleepers = Sleepers::default();
    let sleep = {
        let sleepers = sleepers.clone();
        |at| sleepers.sleep(at)
    };
    fire::fire_tasks(&stage, scale, sleep, || {
        drop(stage.handle().spawn(wake(sleepers.take())));
    })
}

/// Who is to be woken, and when.
#[derive(Clone, Default)]
struct Sleepers(Arc<Mutex<Vec<(Instant, Waker)>>>);

impl Sleepers {
    /// Pending once.
    fn sleep(self, at: Instant) -> impl Future<Output = ()> + Send {
        let mut sleepers = Some(self);
        poll_fn(move |cx| match sleepers.take() {
            Some(sleepers) => {
                sleepers.lock().push((at, cx.waker().clone()));
                Poll::Pending
            }
            None => Poll::Ready(()),
        })
    }

    /// The earliest first.
    fn take(&self) -> Vec<(Instant, Waker)> {
        let mut sleepers = mem::take(&mut *self.lock());
        sleepers.sort_by_key(|(at, _)| *at);
        sleepers
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Instant, Waker)>> {
        self.0.lock().expect("nobody panics while pushing")
    }
}

/// Wakes those whose time has come, once a millisecond.
async fn wake(sleepers: Vec<(Instant, Waker)>) {
    let mut sleepers = sleepers.into_iter().peekable();
    let mut tick = interval(Duration::from_millis(1));
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    while sleepers.peek().is_some() {
        let now = tick.tick().await;
        while let Some((_, waker)) = sleepers.next_if(|(at, _)| *at <= now) {
            waker.wake();
        }
    }
}
