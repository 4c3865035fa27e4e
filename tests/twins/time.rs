//! The timers of a body: tokio's, ours, or ours made by a handle.

use std::fmt::Debug;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

/// What both modules have, under the names that both give it.
pub(crate) trait Time: Send + Sync + 'static {
    type Sleep: Future<Output = ()> + Debug + Send + Sync + 'static;
    type Interval: Debug + Send + Sync + 'static;

    fn sleep(duration: Duration) -> Self::Sleep;
    fn sleep_until(deadline: Instant) -> Self::Sleep;
    fn reset(sleep: Pin<&mut Self::Sleep>, deadline: Instant);
    fn is_elapsed(sleep: &Self::Sleep) -> bool;
    fn timeout<F: Future<Output: Send> + Send>(
        duration: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, ()>> + Send;
    fn interval(period: Duration) -> Self::Interval;
    fn poll_tick(interval: &mut Self::Interval, cx: &mut Context<'_>) -> Poll<Instant>;

    fn tick(interval: &mut Self::Interval) -> impl Future<Output = Instant> + Send {
        poll_fn(move |cx| Self::poll_tick(interval, cx))
    }

    #[track_caller]
    fn boxed(duration: Duration) -> Pin<Box<Self::Sleep>> {
        Box::pin(Self::sleep(duration))
    }
}

macro_rules! times {
    ($($name:ident: $($module:ident)::+,)+) => {$(
        pub(crate) struct $name;

        impl Time for $name {
            type Sleep = $($module)::+::Sleep;
            type Interval = $($module)::+::Interval;

            #[track_caller]
            fn sleep(duration: Duration) -> Self::Sleep {
                $($module)::+::sleep(duration)
            }

            #[track_caller]
            fn sleep_until(deadline: Instant) -> Self::Sleep {
                $($module)::+::sleep_until(deadline)
            }

            #[track_caller]
            fn reset(sleep: Pin<&mut Self::Sleep>, deadline: Instant) {
                sleep.reset(deadline);
            }

            fn is_elapsed(sleep: &Self::Sleep) -> bool {
                sleep.is_elapsed()
            }

            #[track_caller]
            fn timeout<F: Future<Output: Send> + Send>(
                duration: Duration,
                future: F,
            ) -> impl Future<Output = Result<F::Output, ()>> + Send {
                let timeout = $($module)::+::timeout(duration, future);
                async move { timeout.await.map_err(drop) }
            }

            #[track_caller]
            fn interval(period: Duration) -> Self::Interval {
                $($module)::+::interval(period)
            }

            fn poll_tick(interval: &mut Self::Interval, cx: &mut Context<'_>) -> Poll<Instant> {
                interval.poll_tick(cx)
            }
        }
    )+};
}

times! {
    Tokio: tokio::time,
    Ours: wheel,
    Exact: by_handle,
}

/// A handle asks for the current runtime, also on a worker of another.
mod by_handle {
    use std::time::Duration;

    use tokio::time::Instant;
    use wheel::Wheel;
    pub(super) use wheel::{Interval, Sleep, Timeout};

    pub(super) fn sleep(duration: Duration) -> Sleep {
        Wheel::current().sleep(duration)
    }

    pub(super) fn sleep_until(deadline: Instant) -> Sleep {
        Wheel::current().sleep_until(deadline)
    }

    pub(super) fn timeout<F: Future>(duration: Duration, future: F) -> Timeout<F> {
        Wheel::current().timeout(duration, future)
    }

    pub(super) fn interval(period: Duration) -> Interval {
        Wheel::current().interval(period)
    }
}
