//! The sides, behind one trait so that everything is compiled once for each.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

/// What the tasks use of a timer library.
pub(crate) trait Timers: 'static {
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
    ($side:ident, $time:path) => {
        #[derive(Debug)]
        pub(crate) enum $side {}

        const _: () = {
            use $time as time;

            impl Timers for $side {
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

timers!(Tokio, tokio::time);
timers!(Wheel, ::wheel);
