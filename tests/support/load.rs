//! Tasks that keep a runtime busy, and tasks that sleep in that runtime.

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

/// Puts the task back into the queue immediately. (`yield_now` lets Tokio poll its drivers first.)
pub async fn requeue() {
    poll_fn(|cx| Poll::Ready(cx.waker().clone())).await.wake();
    futures::pending!();
}

/// Spawns four tasks that yield, as `yield_now` does or by waking themselves.
pub fn spawn_yielders(runtime: &Handle) -> JoinSet<()> {
    let mut all = JoinSet::new();
    for wakes_itself in [true, false, true, false] {
        let yields = async move {
            loop {
                compute();
                match wakes_itself {
                    true => requeue().await,
                    false => yield_now().await,
                }
            }
        };
        all.spawn_on(yields, runtime);
    }
    all
}

/// Spawns four tasks that pass messages around in a circle, so that the run queues are never all empty.
pub fn spawn_senders(runtime: &Handle) -> JoinSet<()> {
    let mut all = JoinSet::new();
    let (mut nexts, inboxes): (Vec<_>, Vec<_>) = (0..4).map(|_| mpsc::channel(8)).unzip();
    (0..8).for_each(|_| nexts[0].try_send(()).unwrap());
    nexts.rotate_left(1);
    for (next, mut inbox) in nexts.into_iter().zip(inboxes) {
        let passes_on = async move {
            while inbox.recv().await.is_some() {
                compute();
                let _ = next.send(()).await;
            }
        };
        all.spawn_on(passes_on, runtime);
    }
    all
}

/// Spawns tasks that each sleep `times` times, for up to `longest` microseconds, and assert that no sleep is too short.
pub fn sleepers(runtime: &Runtime, tasks: u64, times: usize, longest: u64) -> Vec<JoinHandle<()>> {
    let spawn = |seed| {
        let mut random = Random::new(seed);
        runtime.spawn(async move {
            for _ in 0..times {
                let deadline = Instant::now() + Duration::from_micros(random.below(longest));
                sleep_until(deadline).await;
                assert!(Instant::now() >= deadline, "early");
            }
        })
    };
    (0..tasks).map(spawn).collect()
}
