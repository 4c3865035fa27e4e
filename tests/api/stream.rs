//! Streams and extension traits behave as documented, in cases that tokio-stream's own tests do not cover.
#![cfg(all(feature = "test-util", feature = "stream"))]

use support::prelude::*;

use futures::stream::{self, FusedStream, Stream, StreamExt as _};
use tokio_test::{assert_pending, assert_ready_eq, task};
use wheel::ext::stream::IntervalStream;
use wheel::ext::{FutureExt, StreamExt};
use wheel::{DelayQueue, interval};

/// Yields the given values, each after the given number of milliseconds.
fn delayed(items: &'static [(u64, u32)]) -> impl Stream<Item = u32> {
    stream::iter(items).then(|&(millis, value)| async move {
        sleep(ms(millis)).await;
        value
    })
}

#[tokio::test(start_paused = true)]
async fn a_delay_queue_is_a_stream_that_goes_on_after_none() {
    let mut queue = DelayQueue::new();
    for round in 0..2 {
        queue.insert(round, ms(5));
        let first = futures::StreamExt::next(&mut queue).await;
        assert_eq!(first.unwrap().into_inner(), round);
        assert!(futures::StreamExt::next(&mut queue).await.is_none());
    }
}

/// The hints count the errors and batches that may come, besides the items.
#[tokio::test(start_paused = true)]
async fn size_hints_hold() {
    let four = || stream::iter(0..4);
    let ticks = IntervalStream::new(interval(ms(1)));
    assert_eq!(
        (ticks.size_hint(), ticks.is_terminated()),
        ((usize::MAX, None), false)
    );
    assert_eq!(four().throttle(ms(1)).size_hint(), (4, Some(4)));
    assert_eq!(four().timeout(ms(1)).size_hint(), (4, Some(9)));
    assert_eq!(
        four().timeout_repeating(interval(ms(1))).size_hint(),
        (4, None)
    );
    assert_eq!(four().chunks_timeout(3, ms(1)).size_hint(), (1, Some(4)));
    let mut begun = pin!(delayed(&[(0, 1), (5, 2)]).chunks_timeout(3, ms(10)));
    assert_pending!(task::spawn(begun.next()).poll());
    assert_eq!(begun.size_hint(), (1, Some(2)));
}

#[tokio::test(start_paused = true)]
async fn after_the_end_no_item_is_late_and_a_throttled_stream_rests() {
    let start = Instant::now();
    let mut items = pin!(stream::iter(0..2).throttle(ms(10)).timeout(ms(15)));
    while items.next().await.is_some() {}
    assert_eq!(start.elapsed(), ms(20));
    sleep(ms(100)).await;
    assert_ready_eq!(task::spawn(items.next()).poll(), None);
}

#[tokio::test(start_paused = true)]
async fn a_throttle_of_zero_does_not_wait() {
    let start = Instant::now();
    let mut items = task::spawn(stream::iter(0..1000).throttle(Duration::ZERO));
    for at in 0..1000 {
        assert_ready_eq!(items.poll_next(), Some(at));
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn no_duration_is_too_long() {
    let mut items = stream::iter(0..2).throttle(Duration::MAX);
    assert_eq!(items.next().await, Some(0));
    assert_pending!(task::spawn(items.next()).poll());
    assert_eq!(items.into_inner().next().await, Some(1));

    let mut items = stream::iter(0..2).timeout(Duration::MAX);
    assert_eq!(items.next().await, Some(Ok(0)));
    let batches = stream::iter(0..2).chunks_timeout(usize::MAX, Duration::MAX);
    assert_eq!(batches.collect::<Vec<_>>().await, [[0, 1]]);
}

#[tokio::test(start_paused = true)]
async fn a_late_item_is_reported_at_every_tick() {
    let items = delayed(&[(25, 1), (0, 2), (15, 3)]);
    let items = items.timeout_repeating(interval(ms(10)));
    let start = Instant::now();
    let with_time = |item: Result<_, _>| (start.elapsed().as_millis(), item.ok());
    let seen: Vec<_> = items.map(with_time).collect().await;
    let before = [(0, None), (10, None), (20, None), (25, Some(1))];
    let after = [(25, Some(2)), (35, None), (40, Some(3))];
    assert_eq!(seen, [&before[..], &after].concat());
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_has_gone_leaves_no_timer() {
    let start = Instant::now();
    let items = stream::iter(0..2).chain(stream::pending());
    let mut batches = pin!(items.chunks_timeout(2, ms(10)));
    assert_eq!(batches.next().await, Some(vec![0, 1]));
    assert_eq!(start.elapsed(), Duration::ZERO, "a full batch waited");
    assert!(batches.next().timeout(HOUR).await.is_err());
    assert_eq!(start.elapsed(), HOUR);
}

#[tokio::test]
async fn a_batch_of_nothing_is_refused_at_the_callers_line() {
    let empty = || stream::empty::<()>().chunks_timeout(0, secs(1));
    assert_eq!(message_of(empty), "`max_size` must be non-zero.");
    assert_eq!(panic_of(empty).unwrap().file, file!());
}

#[test]
fn without_a_runtime_they_panic_at_the_callers_line() {
    let items = stream::pending::<()>;
    let future = std::future::pending::<()>;
    let panics = [
        panic_of(|| drop(items().timeout(secs(1)))),
        panic_of(|| drop(items().throttle(secs(1)))),
        panic_of(|| drop(FutureExt::timeout(future(), secs(1)))),
        panic_of(|| drop(future().timeout_at(Instant::now()))),
    ];
    for panic in panics {
        assert_eq!(panic.unwrap().file, file!());
    }
}
