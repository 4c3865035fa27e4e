//! `DelayQueue`s whose entries seldom expire: tokio-util's on Tokio, and tokio-wheel's own in the whole tree.
//!
//! Two tasks each have a queue of 100,000 entries of 30 to 60 s. An operation removes an entry, inserts one, resets one, and
//! polls the queue. Every eighth operation also inserts an entry of 1 to 5 ms, which expires.

use std::future::poll_fn;
use std::ops::Range;
use std::task::Poll;
use std::time::Duration;

use anyhow::Result;
use load::{Caller, Load, on_workers};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};

/// In the whole tree, Tokio's module of this name hides this one, as in `src/timers.rs`.
#[allow(dead_code, unused_imports)]
#[cfg(not(feature = "import"))]
mod wheel {
    pub(super) use tokio_util::time::DelayQueue;
}

const PENDING: usize = 100_000;
const MILLISECOND: Duration = Duration::from_millis(1);
const SHORT: Range<Duration> = MILLISECOND..Duration::from_millis(5);
const LONG: Range<Duration> = Duration::from_secs(30)..Duration::from_secs(60);

fn main() -> Result<()> {
    on_workers(async |seconds| {
        let load = Load::new(2);
        let tasks = load.spawn(churn);
        load.run(seconds, tasks).await?;
        Ok(())
    })
}

async fn churn(mut caller: Caller) {
    #[allow(unused_imports)]
    use tokio::*;
    let mut random = SmallRng::seed_from_u64(caller.counter.task() as u64);
    let mut queue = wheel::DelayQueue::new();
    let long = (0..PENDING).map(|_| queue.insert(true, random.random_range(LONG)));
    let mut keys: Vec<_> = long.collect();
    let mut short = 0;
    while let Some(step) = caller.next().await {
        let [one, other] = [(); 2].map(|()| random.random_range(0..PENDING));
        assert!(queue.remove(&keys[one]).into_inner());
        keys[one] = queue.insert(true, random.random_range(LONG));
        queue.reset(&keys[other], random.random_range(LONG));
        if step % 8 == 0 {
            queue.insert(false, random.random_range(SHORT));
            short += 1;
        }
        poll_fn(|cx| {
            while let Poll::Ready(expired) = queue.poll_expired(cx) {
                let is_long = expired.expect("an entry").into_inner();
                assert!(!is_long, "an entry of 30 s has expired");
                short -= 1;
            }
            Poll::Ready(())
        })
        .await;
        if step % 16 == 0 {
            task::yield_now().await;
        }
    }
    for _ in 0..short {
        let expired = poll_fn(|cx| queue.poll_expired(cx)).await;
        assert!(!expired.expect("an entry").into_inner());
    }
    assert_eq!(queue.len(), PENDING, "entries were lost");
}
