//! A `DelayQueue` whose entries all expire: tokio-util's on Tokio, and tokio-wheel's own in the whole tree.
//!
//! Packets are in circulation, as in a node of a mix network. Each is inserted with a random delay, expires, and is sent to a
//! second task, which sends it back to the queue's task. An operation is one such round.

use std::future::poll_fn;
use std::ops::Range;
use std::time::Duration;

use anyhow::{Context as _, Result};
use load::{Counter, Load, on_workers};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// In the whole tree, Tokio's module of this name hides this one, as in `src/timers.rs`.
#[allow(dead_code, unused_imports)]
#[cfg(not(feature = "import"))]
mod wheel {
    pub(super) use tokio_util::time::DelayQueue;
}

const PACKETS: usize = 200_000;
const DELAY: Range<Duration> = Duration::ZERO..Duration::from_millis(100);

fn main() -> Result<()> {
    on_workers(async |seconds| {
        let load = Load::new(1);
        let counter = load.counters().next().context("a counter")?;
        let (to_node, packets) = unbounded_channel();
        let (to_sink, expired) = unbounded_channel();
        (0..PACKETS).try_for_each(|packet| to_node.send(packet))?;
        let node = tokio::spawn(node(packets, to_sink));
        let sink = tokio::spawn(sink(expired, to_node, counter));
        load.run(seconds, vec![node, sink]).await?;
        Ok(())
    })
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

/// A packet's number grows by `PACKETS` in each round.
async fn sink(
    mut expired: UnboundedReceiver<usize>,
    to_node: UnboundedSender<usize>,
    counter: Counter,
) {
    let (mut to_node, mut ended) = (Some(to_node), 0);
    let mut rounds = vec![0; PACKETS];
    while let Some(packet) = expired.recv().await {
        let round = &mut rounds[packet % PACKETS];
        assert_eq!(packet / PACKETS, *round, "a packet was lost or came twice");
        *round += 1;
        match &to_node {
            Some(to_node) if counter.done() => to_node.send(packet + PACKETS).expect("the node"),
            _ => {
                to_node = None;
                ended += 1;
            }
        }
    }
    assert_eq!(ended, PACKETS, "packets were lost");
}
