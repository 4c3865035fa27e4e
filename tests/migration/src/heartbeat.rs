//! Streams of ticks, a pinned field, and a `select!` loop.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::{Stream, StreamExt};
use pin_project_lite::pin_project;
use tokio::{
    sync::mpsc,
    time::{self as clock, Instant, MissedTickBehavior},
};
use tokio_stream::wrappers::{IntervalStream, ReceiverStream};

pin_project! {
    /// Ends when nothing has come for so long.
    pub struct UntilIdle<S> {
        #[pin]
        stream: S,
        #[pin]
        idle: tokio::time::Sleep,
        limit: std::time::Duration,
    }
}

impl<S> UntilIdle<S> {
    pub fn new(stream: S, limit: std::time::Duration) -> Self {
        UntilIdle {
            stream,
            idle: tokio::time::sleep(limit),
            limit,
        }
    }
}

impl<S: Stream> Stream for UntilIdle<S> {
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let mut me = self.project();
        if let Poll::Ready(item) = me.stream.poll_next(cx) {
            me.idle.as_mut().reset(Instant::now() + *me.limit);
            return Poll::Ready(item);
        }
        me.idle.poll(cx).map(|()| None)
    }
}

pub fn ticks(every: std::time::Duration) -> impl Stream<Item = Instant> {
    let mut interval = clock::interval(every);
    interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
    IntervalStream::new(interval)
}

/// How many messages come in a minute.
pub async fn in_a_minute(messages: mpsc::Receiver<u32>) -> usize {
    let mut messages = ReceiverStream::new(messages);
    let end = clock::sleep(std::time::Duration::from_secs(60));
    tokio::pin!(end);
    let mut count = 0;
    loop {
        tokio::select! {
            () = &mut end => return count,
            Some(_) = messages.next() => count += 1,
            _ = tokio::time::sleep(std::time::Duration::from_secs(120)) => unreachable!("the end comes first"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_idle_ends() {
    let ticks = ticks(std::time::Duration::from_secs(1))
        .take(3)
        .chain(futures::stream::pending());
    let start = Instant::now();
    let all: Vec<_> = UntilIdle::new(ticks, std::time::Duration::from_secs(5))
        .collect()
        .await;
    assert_eq!(
        (all.len(), start.elapsed()),
        (3, std::time::Duration::from_secs(7))
    );
}

#[tokio::test(start_paused = true)]
async fn messages_are_counted_for_a_minute() {
    let (sender, receiver) = mpsc::channel(10);
    let sending = tokio::spawn(async move {
        for n in 0.. {
            clock::sleep(std::time::Duration::from_millis(9_999)).await;
            if sender.send(n).await.is_err() {
                break;
            }
        }
    });
    assert_eq!(in_a_minute(receiver).await, 6);
    sending.abort();
}
