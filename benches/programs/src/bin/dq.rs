//! `DelayQueue`s: tokio-util's on Tokio, and tokio-wheel's own in the whole tree.
//!
//! With a size of 1 or 2, that many tasks each have a queue of 100,000 entries of 30 to 60 s. An operation removes an
//! entry, inserts one, resets one, and polls the queue. Every eighth operation also inserts an entry of 1 to 5 ms, which
//! expires.
//!
//! With a larger size, this many packets are in circulation, as in a node of a mix network. Each is inserted with a random
//! delay, expires, and is sent to a second task, which sends it back to the queue's task. An operation is one such round.

use std::future::poll_fn;
use std::ops::Range;
use std::task::Poll;
use std::time::Duration;

use anyhow::{Context as _, Result};
use load::{Counter, Load, on_workers};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// In the whole tree, Tokio's module of this name hides this one, as in `src/timers.rs`.
#[allow(dead_code)]
#[cfg(not(feature = "import"))]
mod wheel {
    pub(super) use tokio_util::time::DelayQueue;
}

const PENDING: usize = 100_000;
const MILLISECOND: Duration = Duration::from_millis(1);
const SHORT: Range<Duration> = MILLISECOND..Duration::from_millis(5);
const LONG: Range<Duration> = Duration::from_secs(30)..Duration::from_secs(60);
const DELAY: Range<Duration> = Duration::ZERO..Duration::from_millis(100);

fn main() -> Result<()> {
    on_workers(async |seconds, size| {
        let (load, tasks) = match size {
            1 | 2 => {
                let load = Load::new(size);
                let tasks = load.spawn(churn);
                (load, tasks)
            }
            _ => {
                let load = Load::new(1);
                let counter = load.counters().next().context("a counter")?;
                let (to_node, packets) = unbounded_channel();
                let (to_sink, expired) = unbounded_channel();
                (0..size).try_for_each(|packet| to_node.send(packet))?;
                let node = tokio::spawn(node(packets, to_sink));
                let sink = tokio::spawn(sink(size, expired, to_node, counter));
                (load, vec![node, sink])
            }
        };
        load.run(seconds, tasks).await?;
        Ok(())
    })
}

async fn churn(counter: Counter) {
    #[allow(unused_imports)]
    use tokio::*;
    let mut random = SmallRng::seed_from_u64(counter.task() as u64);
    let mut queue = wheel::DelayQueue::new();
    let long = (0..PENDING).map(|_| queue.insert(true, random.random_range(LONG)));
    let mut keys: Vec<_> = long.collect();
    let mut short = 0;
    for (step, _) in (0..).zip(counter.numbers()) {
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

async fn node(mut packets: UnboundedReceiver<usize>, to_sink: UnboundedSender<usize>) {
    #[allow(unused_imports)]
    use tokio::*;
    let mut random = SmallRng::seed_from_u64(0);
    let (mut queue, mut open) = (wheel::DelayQueue::new(), true);
    while open || !queue.is_empty() {
        select! {
            packet = packets.recv(), if open => match packet {
                Some(packet) => _ = queue.insert(packet, random.random_range(DELAY)),
                None => open = false,
            },
            expired = poll_fn(|cx| queue.poll_expired(cx)), if !queue.is_empty() => {
                let packet = expired.expect("an entry").into_inner();
                to_sink.send(packet).expect("the sink");
            }
        }
    }
}

/// A packet's number grows by `size` in each round.
async fn sink(
    size: usize,
    mut expired: UnboundedReceiver<usize>,
    to_node: UnboundedSender<usize>,
    counter: Counter,
) {
    let (mut to_node, mut ended) = (Some(to_node), 0);
    let mut rounds = vec![0; size];
    while let Some(packet) = expired.recv().await {
        let round = &mut rounds[packet % size];
        assert_eq!(packet / size, *round, "a packet was lost or came twice");
        *round += 1;
        match &to_node {
            Some(to_node) if counter.done() => to_node.send(packet + size).expect("the node"),
            _ => {
                to_node = None;
                ended += 1;
            }
        }
    }
    assert_eq!(ended, size, "packets were lost");
}
