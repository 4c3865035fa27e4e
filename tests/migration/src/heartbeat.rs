//! A stream of ticks, and a `select!` loop.

use futures::{Stream, StreamExt as _};
use tokio::{
    sync::mpsc, // where messages come from
    time::{self as clock, Duration, Instant, MissedTickBehavior},
};
use tokio_stream::wrappers::{IntervalStream, ReceiverStream};

pub fn ticks(every: Duration) -> impl Stream<Item = Instant> {
    let mut interval = clock::interval(every);
    interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
    IntervalStream::new(interval)
}

/// Counts the messages that come until `end`.
pub async fn count_until(end: ::tokio::time::Sleep, messages: mpsc::Receiver<u32>) -> usize {
    let mut messages = ReceiverStream::new(messages);
    tokio::pin!(end);
    let mut count = 0;
    loop {
        tokio::select! {
            () = &mut end => return count,
            Some(_) = messages.next() => count += 1,
            _ = tokio::time::sleep(Duration::from_secs(120)) => unreachable!("the end comes first"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn messages_are_counted_for_a_minute() {
    let (sender, receiver) = mpsc::channel(10);
    let sending = tokio::spawn(async move {
        let mut ticks = std::pin::pin!(ticks(Duration::from_millis(9_999)));
        while ticks.next().await.is_some() {
            sender.send(1).await.unwrap();
        }
    });
    let end = clock::sleep(Duration::from_secs(60));
    assert_eq!(count_until(end, receiver).await, 7);
    sending.abort();
}
