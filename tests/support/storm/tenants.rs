//! Tasks that wait in all the ways there are, in runtimes that end underneath them.

use crate::prelude::*;

use std::future::pending;

use wheel::interval;

use super::shared::Shared;

/// The longest wait, in microseconds.
const LONGEST: u64 = 20_000;

/// Spawns a task, which stays until the storm is over or the runtime ends.
pub(crate) fn settle(shared: &Arc<Shared>, runtime: &Handle, seed: u64) {
    let shared = shared.clone();
    let wait = Wait::begin(&shared);
    runtime.spawn(async move {
        let _wait = wait;
        let mut random = Random::new(seed);
        while shared.pass().await {
            let _wait = Wait::begin(&shared);
            live(&shared, &mut random).await;
        }
    });
}

/// Counts a wait, whether completed or dropped.
struct Wait(Arc<Shared>);

impl Wait {
    fn begin(shared: &Arc<Shared>) -> Self {
        shared.counts.waits.up();
        Wait(shared.clone())
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.0.counts.waited.up();
    }
}

async fn live(shared: &Arc<Shared>, random: &mut Random) {
    let length = Duration::from_micros(random.below(LONGEST));
    let deadline = Instant::now() + length;
    match random.below(9) {
        0 | 1 => sleep(length).await,
        2 => assert(shared, timeout(length, pending::<()>()).await.is_err()),
        3 => return assert(shared, timeout(LONG, yield_now()).await.is_ok()),
        4 => return put_off(shared, random).await,
        5 => drop(join_all((0..20).map(|i| sleep(length * i / 20))).await),
        6 => return ticks(shared, length / 8).await,
        7 => return abort(shared, length).await,
        // A worker that is not there for a while.
        _ => return thread::sleep(length / 20),
    }
    let waited = Instant::now() >= deadline - length / 20;
    assert(shared, waited || length.is_zero());
}

const LONG: Duration = Duration::from_secs(3600);

fn assert(shared: &Shared, holds: bool) {
    if !holds {
        shared
            .counts
            .fail("a task was told of a timer too early, or too late");
    }
}

/// A timer that is put off again and again, polled and reset in a `select!`.
async fn put_off(shared: &Arc<Shared>, random: &mut Random) {
    let mut times = random.below(5);
    let pause = Duration::from_micros(random.below(2000));
    let idle = Duration::from_millis(5);
    // Before the timer is made: the thread may lose its processor in between.
    let mut last = Instant::now();
    let mut quiet = sleep(idle);
    loop {
        tokio::select! {
            () = sleep(pause), if times > 0 => {
                times -= 1;
                last = Instant::now();
                quiet.reset_unpin(last + idle);
            }
            () = &mut quiet => break,
        }
    }
    assert(shared, last.elapsed() >= idle);
}

async fn ticks(shared: &Arc<Shared>, period: Duration) {
    let start = Instant::now();
    let mut interval = interval(period.max(Duration::from_nanos(1)));
    for count in 0..4 {
        interval.tick().await;
        assert(shared, start.elapsed() >= period * count);
    }
}

/// A task that is aborted at about the time when its timer fires.
async fn abort(shared: &Arc<Shared>, length: Duration) {
    let wait = Wait::begin(shared);
    let deadline = Instant::now() + length;
    let child = tokio::spawn(async move {
        let _wait = wait;
        sleep_until(deadline).await;
    });
    sleep_until(deadline).await;
    child.abort();
}
