//! The sides, behind one trait so that everything is compiled once for each.

use std::convert::Infallible;
use std::future::{Future, Pending, pending};
use std::time::Duration;

use futures::FutureExt as _;
use tokio::time::Instant;

/// What the tasks use of a timer library.
pub(crate) trait Timers: 'static {
    const NAME: &'static str;

    type Sleep: Future<Output = ()> + Send;
    type Elapsed: Send;

    fn sleep_until(deadline: Instant) -> Self::Sleep;

    fn timeout<F>(
        limit: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, Self::Elapsed>> + Send
    where
        F: Future<Output: Send> + Send;
}

/// One text for both: what differs is which module `time` names.
macro_rules! timers {
    ($side:ident, $name:literal, $time:path) => {
        #[derive(Debug)]
        pub(crate) enum $side {}

        const _: () = {
            use $time as time;

            impl Timers for $side {
                const NAME: &'static str = $name;

                type Sleep = time::Sleep;
                type Elapsed = time::error::Elapsed;

                fn sleep_until(deadline: Instant) -> Self::Sleep {
                    time::sleep_until(deadline)
                }

                fn timeout<F>(
                    limit: Duration,
                    future: F,
                ) -> impl Future<Output = Result<F::Output, Self::Elapsed>> + Send
                where
                    F: Future<Output: Send> + Send,
                {
                    time::timeout(limit, future)
                }
            }
        };
    };
}

timers!(Tokio, "tokio::time", tokio::time);
timers!(Wheel, "wheel", ::wheel);

/// No timers: a task is as large as it is.
#[derive(Debug)]
pub(crate) enum Without {}

impl Timers for Without {
    const NAME: &'static str = "without";

    type Sleep = Pending<()>;
    type Elapsed = Infallible;

    fn sleep_until(_: Instant) -> Self::Sleep {
        pending()
    }

    fn timeout<F>(
        _: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, Infallible>> + Send
    where
        F: Future<Output: Send> + Send,
    {
        future.map(Ok)
    }
}
