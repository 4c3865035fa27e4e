//! The other crates with timers finer than a millisecond. All of them open a kernel descriptor for each timer.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use timers::{Timeout, Timers, Work};
use tokio::time::Instant;

/// tokio-hrtime. Its sleeps cannot be reset after they have completed.
pub(crate) enum Hrtime {}

impl Timers for Hrtime {
    const NAME: &'static str = "tokio-hrtime";

    type Sleep = tokio_hrtime::Sleep;
    type Elapsed = tokio_hrtime::error::Elapsed;

    fn sleep(after: Duration) -> Self::Sleep {
        tokio_hrtime::sleep(after)
    }

    fn sleep_until(at: Instant) -> Self::Sleep {
        tokio_hrtime::sleep_until(at.into_std())
    }

    fn timeout<F: Work>(after: Duration, future: F) -> impl Timeout<F::Output, Self::Elapsed> {
        tokio_hrtime::timeout(after, future)
    }
}

/// Implements the trait for a crate whose `Delay` can fail. The crate has no `timeout`, so this one is what its users write.
macro_rules! delays {
    ($crate_name:ident, $timers:ident, $delay:ident, $name:literal) => {
        pub(crate) enum $timers {}

        pub(crate) struct $delay($crate_name::Delay);

        impl Future for $delay {
            type Output = ();

            fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
                let done = pin!(&mut self.0).poll(cx);
                done.map(|result| result.expect("a timer descriptor"))
            }
        }

        impl Timers for $timers {
            const NAME: &'static str = $name;

            type Sleep = $delay;
            type Elapsed = ();

            fn sleep(after: Duration) -> $delay {
                Self::sleep_until(Instant::now() + after)
            }

            fn sleep_until(at: Instant) -> $delay {
                $delay($crate_name::Delay::new(at.into_std()).expect("a timer descriptor"))
            }

            fn reset(mut sleep: Pin<&mut $delay>, at: Instant) {
                sleep.0.reset(at.into_std());
            }

            async fn timeout<F: Work>(after: Duration, future: F) -> Result<F::Output, ()> {
                let limit = Self::sleep(after);
                tokio::select! {
                    biased;
                    output = future => Ok(output),
                    () = limit => Err(()),
                }
            }
        }
    };
}

delays!(tokio_timerfd, Timerfd, TimerfdDelay, "tokio-timerfd");
delays!(tokio_timerd, Timerd, TimerdDelay, "tokio-timerd");
