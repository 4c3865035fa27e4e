//! `bare` where the timers fire: the same work, with something else in the timer's place.

use std::future::{Future, poll_fn};
use std::hint::black_box;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::figure::{Measured, Scale};
use crate::fire;
use crate::peer::{Tokio, Wheel};
use crate::stage::Stage;

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
