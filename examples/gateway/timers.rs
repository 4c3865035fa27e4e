//! The two sets of timers, behind one trait so that the service is compiled once for each.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// The clock is tokio's on both sides, so instants need no abstraction.
pub(crate) use tokio::time::Instant;

/// What the service uses of a timer library.
pub(crate) trait Timers: 'static {
    /// What the table calls this side.
    const NAME: &'static str;

    type Sleep: Future<Output = ()> + Send;
    type Elapsed: Send;

    fn sleep(delay: Duration) -> Self::Sleep;

    fn sleep_until(deadline: Instant) -> Self::Sleep;

    fn reset(sleep: Pin<&mut Self::Sleep>, deadline: Instant);

    fn timeout<F>(
        limit: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, Self::Elapsed>> + Send
    where
        F: Future + Send;
}

/// One text for both sides: what differs is which module `time` names.
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

                fn sleep(delay: Duration) -> Self::Sleep {
                    time::sleep(delay)
                }

                fn sleep_until(deadline: Instant) -> Self::Sleep {
                    time::sleep_until(deadline)
                }

                fn reset(sleep: Pin<&mut Self::Sleep>, deadline: Instant) {
                    sleep.reset(deadline);
                }

                fn timeout<F>(
                    limit: Duration,
                    future: F,
                ) -> impl Future<Output = Result<F::Output, Self::Elapsed>> + Send
                where
                    F: Future + Send,
                {
                    time::timeout(limit, future)
                }
            }
        };
    };
}

timers!(Tokio, "tokio::time", tokio::time);
timers!(Wheel, "wheel", ::wheel);
