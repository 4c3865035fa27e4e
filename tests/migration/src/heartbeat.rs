//! A pinned field, a stream of ticks, and a `select!` loop.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::{Stream, StreamExt as _};
use tokio::{
    sync::mpsc, // where messages come from
    time::{self as clock, Instant, MissedTickBehavior},
};
use tokio_stream::wrappers::{IntervalStream, ReceiverStream};

/// Ends when no item has come for a while.
pub struct UntilIdle<S> {
    stream: S,
    idle: Pin<Box<tokio::time::Sleep>>,
    limit: clock::Duration,
}

impl<S> UntilIdle<S> {
    pub fn new(stream: S, limit: clock::Duration) -> Self {
        let idle = Box::pin(::tokio::time::sleep(limit));
        UntilIdle {
            stream,
            idle,
            limit,
        }
    }
}

impl<S: Stream + Unpin> Stream for UntilIdle<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        if let Poll::Ready(item) = self.stream.poll_next_unpin(cx) {
            let end = Instant::now() + self.limit;
            self.idle.as_mut().reset(end);
            return Poll::Ready(item);
        }
        self.idle.as_mut().poll(cx).map(|()| None)
    }
}

pub fn ticks(every: clock::Duration) -> impl Stream<Item = Instant> {
    let mut interval = clock::interval(every);
    interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
    IntervalStream::new(interval)
}

/// Counts the messages of a minute.
pub async fn in_a_minute(messages: mpsc::Receiver<u32>) -> usize {
    let mut messages = ReceiverStream::new(messages);
    let end = clock::sleep(clock::Duration::from_secs(60));
    tokio::pin!(end);
    let mut count = 0;
    loop {
        tokio::select! {
            () = &mut end => return count,
            Some(_) = messages.next() => count += 1,
            _ = tokio::time::sleep(clock::Duration::from_secs(120)) => unreachable!("the end comes first"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_stream_ends() {
    let seconds = clock::Duration::from_secs;
    let ticks = ticks(seconds(1)).take(3).chain(futures::stream::pending());
    let start = Instant::now();
    let all: Vec<_> = UntilIdle::new(Box::pin(ticks), seconds(5)).collect().await;
    assert_eq!((all.len(), start.elapsed()), (3, seconds(7)));
}

#[tokio::test(start_paused = true)]
async fn messages_are_counted_for_a_minute() {
    let (sender, receiver) = mpsc::channel(10);
    let sending = tokio::spawn(async move {
        loop {
            clock::sleep(clock::Duration::from_millis(9_999)).await;
            sender.send(1).await.unwrap();
        }
    });
    assert_eq!(in_a_minute(receiver).await, 6);
    sending.abort();
}
