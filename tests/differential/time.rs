//! The functions under comparison, by one name each.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

pub(crate) trait Time: Send + Sync + 'static {
    type Sleep: Sleep;
    type Interval: Interval;

    fn sleep(duration: Duration) -> Self::Sleep;
    fn sleep_until(deadline: Instant) -> Self::Sleep;
    fn interval(period: Duration) -> Self::Interval;
    fn interval_at(start: Instant, period: Duration) -> Self::Interval;
    /// Without its output: whether it was in time is what can differ.
    fn timeout<F>(duration: Duration, future: F) -> impl Future<Output = InTime> + Send
    where
        F: Future + Send;
    fn timeout_at<F>(deadline: Instant, future: F) -> impl Future<Output = InTime> + Send
    where
        F: Future + Send;
}

/// `false`: the deadline has elapsed.
pub(crate) type InTime = bool;

pub(crate) trait Sleep: Future<Output = ()> + Send + 'static {
    fn deadline(&self) -> Instant;
    fn is_elapsed(&self) -> bool;
    fn reset(self: Pin<&mut Self>, deadline: Instant);
}

pub(crate) trait Interval: Send + 'static {
    fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior);
    fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant>;
    fn reset(&mut self);
    fn reset_immediately(&mut self);
    fn reset_after(&mut self, after: Duration);
}

macro_rules! implement {
    ($name:ident: $($time:ident)::+) => {
        pub(crate) enum $name {}

        impl Time for $name {
            type Sleep = $($time)::+::Sleep;
            type Interval = $($time)::+::Interval;

            fn sleep(duration: Duration) -> Self::Sleep {
                $($time)::+::sleep(duration)
            }

            fn sleep_until(deadline: Instant) -> Self::Sleep {
                $($time)::+::sleep_until(deadline)
            }

            fn interval(period: Duration) -> Self::Interval {
                $($time)::+::interval(period)
            }

            fn interval_at(start: Instant, period: Duration) -> Self::Interval {
                $($time)::+::interval_at(start, period)
            }

            fn timeout<F>(duration: Duration, future: F) -> impl Future<Output = InTime> + Send
            where
                F: Future + Send,
            {
                let timeout = $($time)::+::timeout(duration, future);
                async { timeout.await.is_ok() }
            }

            fn timeout_at<F>(deadline: Instant, future: F) -> impl Future<Output = InTime> + Send
            where
                F: Future + Send,
            {
                let timeout = $($time)::+::timeout_at(deadline, future);
                async { timeout.await.is_ok() }
            }
        }

        impl Sleep for $($time)::+::Sleep {
            fn deadline(&self) -> Instant {
                self.deadline()
            }

            fn is_elapsed(&self) -> bool {
                self.is_elapsed()
            }

            fn reset(self: Pin<&mut Self>, deadline: Instant) {
                self.reset(deadline);
            }
        }

        impl Interval for $($time)::+::Interval {
            fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
                self.set_missed_tick_behavior(behavior);
            }

            fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
                self.poll_tick(cx)
            }

            fn reset(&mut self) {
                self.reset();
            }

            fn reset_immediately(&mut self) {
                self.reset_immediately();
            }

            fn reset_after(&mut self, after: Duration) {
                self.reset_after(after);
            }
        }
    };
}

implement!(Tokio: tokio::time);
implement!(Wheel: wheel);
