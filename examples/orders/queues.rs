//! The two queues behind one trait, and the sleep that goes with each.

use std::future::Future;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

/// What both queues have.
pub(crate) trait Queue {
    type Key: Copy;
    const NAME: &str;
    fn new() -> Self;
    fn insert(&mut self, order: u32, timeout: Duration) -> Self::Key;
    fn remove(&mut self, key: &Self::Key) -> u32;
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<u32>>;
    fn len(&self) -> usize;
    fn sleep_until(deadline: Instant) -> impl Future<Output = ()>;
}

pub(crate) type Wheel = wheel::DelayQueue<u32>;
pub(crate) type TokioUtil = tokio_util::time::DelayQueue<u32>;

macro_rules! queue {
    ($queue:ty, $name:literal, $key:ty, $sleep_until:path) => {
        impl Queue for $queue {
            type Key = $key;
            const NAME: &str = $name;
            fn new() -> Self {
                <$queue>::new()
            }
            fn insert(&mut self, order: u32, timeout: Duration) -> Self::Key {
                self.insert(order, timeout)
            }
            fn remove(&mut self, key: &Self::Key) -> u32 {
                self.remove(key).into_inner()
            }
            fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<u32>> {
                let polled = self.poll_expired(cx);
                polled.map(|expired| expired.map(|expired| expired.into_inner()))
            }
            fn len(&self) -> usize {
                self.len()
            }
            fn sleep_until(deadline: Instant) -> impl Future<Output = ()> {
                $sleep_until(deadline)
            }
        }
    };
}

queue!(Wheel, "wheel", wheel::delay_queue::Key, wheel::sleep_until);
queue!(
    TokioUtil,
    "tokio-util",
    tokio_util::time::delay_queue::Key,
    tokio::time::sleep_until
);
