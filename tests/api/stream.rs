//! Streams and extension traits behave as documented, in cases that tokio-stream's own tests do not cover.
#![cfg(all(feature = "test-util", feature = "stream"))]

use support::prelude::*;

use futures::stream::{self, FusedStream, Stream, StreamExt as _};
use tokio_test::{assert_pending, assert_ready_eq, task};
use wheel::delay_queue::Expired;
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

/// Returns all items, and after how many milliseconds each came.
async fn timed<S: Stream>(items: S) -> Vec<(u128, S::Item)> {
    let start = Instant::now();
    let with_time = |item| (start.elapsed().as_millis(), item);
    items.map(with_time).collect().await
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

/// Code that calls `StreamExt::next` on tokio-util's queue also compiles here: on a reference, on a pinned or boxed queue,
/// and if the future has to be `Unpin`.
#[tokio::test(start_paused = true)]
#[allow(clippy::needless_borrow, reason = "such code must compile")]
async fn calls_of_stream_exts_next_compile_with_the_queues_own_next() {
    let mut queue = DelayQueue::new();
    (1..=8).for_each(|n| _ = queue.insert(n, ms(n)));
    let mut found = Vec::new();
    found.extend(queue.next().await);
    found.extend((&mut queue).next().await);
    tokio::select! {
        Some(expired) = queue.next() => found.push(expired),
        else => unreachable!(),
    }
    futures::select! {
        expired = futures::FutureExt::fuse(queue.next()) => found.extend(expired),
        complete => unreachable!(),
    }
    match futures::future::select(queue.next(), sleep(HOUR)).await {
        futures::future::Either::Left((expired, _)) => found.extend(expired),
        futures::future::Either::Right(_) => unreachable!(),
    }
    let boxed = tokio::spawn(async move {
        let mut queue = Box::new(queue);
        (queue.next().await, *queue)
    });
    let (next, queue) = boxed.await.unwrap();
    found.extend(next);
    let mut queue = pin!(queue);
    found.extend(queue.next().await);
    found.extend(queue.as_mut().next().await);
    let found: Vec<_> = found.into_iter().map(Expired::into_inner).collect();
    assert_eq!(found, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[tokio::test(start_paused = true)]
async fn an_interval_stream_never_ends() {
    let start = Instant::now();
    let mut ticks = IntervalStream::new(interval(ms(10)));
    assert_eq!(ticks.size_hint(), (usize::MAX, None));
    for tick in 0..5 {
        assert_eq!(ticks.next().await, Some(start + ms(10 * tick)));
        assert!(!ticks.is_terminated());
    }
    assert_eq!(AsRef::<wheel::Interval>::as_ref(&ticks).period(), ms(10));
    AsMut::<wheel::Interval>::as_mut(&mut ticks).reset_after(ms(3));
    ticks.next().await;
    assert_eq!(start.elapsed(), ms(43));
    let mut inner = wheel::ext::stream::IntervalStream::into_inner(ticks);
    assert_eq!(inner.tick().await, start + ms(53));
}

#[tokio::test(start_paused = true)]
async fn throttled_items_are_apart() {
    let start = Instant::now();
    let items = stream::iter(0..4).throttle(ms(10));
    assert_eq!(items.size_hint(), (4, Some(4)));
    assert_eq!(timed(items).await, [(0, 0), (10, 1), (20, 2), (30, 3)]);
    // The end waits as an item does.
    assert_eq!(start.elapsed(), ms(40));
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
async fn a_late_item_is_reported_once_and_still_comes() {
    let mut items = pin!(delayed(&[(0, 1), (35, 2), (5, 3)]).timeout(ms(10)));
    let seen = timed(items.as_mut().map(Result::ok)).await;
    let expected = [(0, Some(1)), (10, None), (35, Some(2)), (40, Some(3))];
    assert_eq!(seen, expected);
    // After the end, the stream reports no late item.
    sleep(ms(100)).await;
    assert_ready_eq!(task::spawn(items.next()).poll(), None);
    assert_eq!(items.size_hint(), (0, Some(1)));
}

#[tokio::test(start_paused = true)]
async fn a_late_item_is_reported_at_every_tick() {
    let items = delayed(&[(25, 1), (0, 2), (15, 3)]);
    let items = items.timeout_repeating(interval(ms(10)));
    assert_eq!(items.size_hint(), (3, None));
    let seen = timed(items.map(Result::ok)).await;
    let before = [(0, None), (10, None), (20, None), (25, Some(1))];
    let after = [(25, Some(2)), (35, None), (40, Some(3))];
    assert_eq!(seen, [&before[..], &after].concat());
}

#[tokio::test(start_paused = true)]
async fn batches_go_out_full_or_old_or_last() {
    let items = delayed(&[(0, 1), (0, 2), (0, 3), (5, 4), (2, 5), (20, 6)]);
    let seen = timed(items.chunks_timeout(3, ms(10))).await;
    assert_eq!(seen, [(0, vec![1, 2, 3]), (15, vec![4, 5]), (27, vec![6])]);
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_has_gone_leaves_no_timer() {
    let start = Instant::now();
    let items = stream::iter(0..2).chain(stream::pending());
    let mut batches = pin!(items.chunks_timeout(2, ms(10)));
    assert_eq!(batches.next().await, Some(vec![0, 1]));
    assert!(batches.next().timeout(HOUR).await.is_err());
    assert_eq!(start.elapsed(), HOUR);
}

#[tokio::test(start_paused = true)]
async fn the_rest_of_a_batch_can_be_taken_out() {
    let mut inner = pin!(delayed(&[(0, 1), (0, 2), (5, 3)]));
    let mut batches = pin!(inner.as_mut().chunks_timeout(10, ms(10)));
    assert_eq!(batches.size_hint(), (0, Some(3)));
    assert_pending!(task::spawn(batches.next()).poll());
    assert_eq!(batches.size_hint(), (1, Some(2)));
    assert_eq!(batches.as_mut().into_remainder(), [1, 2]);
    assert!(batches.as_mut().into_remainder().is_empty());
    assert_eq!(inner.next().await, Some(3));
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
