//! Tasks that keep a runtime busy, and timers in that runtime.

use crate::prelude::*;

use tokio::sync::mpsc;

/// The time that a task computes between two yields: enough for the driver to find the runtime busy.
const WORK: Duration = Duration::from_micros(50);

pub fn compute() {
    let until = Instant::now() + WORK;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

/// Back into the queue, where `yield_now` lets tokio look at its events first.
pub async fn requeue() {
    let mut queued = false;
    poll_fn(|cx| {
        if queued {
            return Poll::Ready(());
        }
        queued = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Tells the tasks that keep a runtime busy to stop.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn is_told(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub fn tell(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Four tasks that yield, as `yield_now` does or by waking themselves.
pub fn spawn_yielders(runtime: &Runtime, stop: &Stop) {
    for by_itself in [true, false, true, false] {
        let stop = stop.clone();
        runtime.spawn(async move {
            while !stop.is_told() {
                compute();
                if by_itself {
                    requeue().await;
                } else {
                    yield_now().await;
                }
            }
        });
    }
}

/// Four tasks in a circle that wake one another, so that no queue is ever empty.
pub fn spawn_senders(runtime: &Runtime, stop: &Stop) {
    let (first, mut inbox) = mpsc::channel(8);
    for _ in 0..8 {
        first.try_send(()).unwrap();
    }
    let pass_on = |next: mpsc::Sender<()>, mut inbox: mpsc::Receiver<()>| {
        let stop = stop.clone();
        runtime.spawn(async move {
            while inbox.recv().await.is_some() && !stop.is_told() {
                compute();
                if next.send(()).await.is_err() {
                    return;
                }
            }
        });
    };
    for _ in 0..3 {
        let (next, receiver) = mpsc::channel(8);
        pass_on(next, std::mem::replace(&mut inbox, receiver));
    }
    pass_on(first, inbox);
}

/// Sleeps `times` times for up to `longest` microseconds. No sleep may be too short.
async fn sleep_often(mut random: Random, times: usize, longest: u64) {
    for _ in 0..times {
        let deadline = Instant::now() + Duration::from_micros(random.below(longest));
        sleep_until(deadline).await;
        assert!(Instant::now() >= deadline, "early");
    }
}

/// Spawns tasks that each sleep `times` times, for up to `longest` microseconds.
pub fn sleepers(runtime: &Runtime, tasks: u64, times: usize, longest: u64) -> Vec<JoinHandle<()>> {
    let mut seeds = Random::new(tasks);
    let mut sleeper = |_| sleep_often(Random::new(seeds.number()), times, longest);
    (0..tasks).map(|n| runtime.spawn(sleeper(n))).collect()
}
