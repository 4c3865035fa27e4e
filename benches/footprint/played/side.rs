//! The side without timers, beside tokio's and ours: what the program itself costs, to be taken off both.

use std::convert::Infallible;
use std::future::{Future, Pending, pending};
use std::hint::black_box;
use std::pin::Pin;
use std::time::Duration;

pub(crate) use timers::{Timers as Side, Tokio, Wheel};
use tokio::time::Instant;

/// Reads the clock where a timer is made, since every timer with a relative deadline has to.
pub(crate) enum Bare {}

impl Side for Bare {
    const NAME: &'static str = "bare";
    const FIRES: bool = false;

    type Sleep = Pending<()>;
    type Elapsed = Infallible;

    #[inline]
    fn sleep(_: Duration) -> Self::Sleep {
        read_clock();
        pending()
    }

    #[inline]
    fn sleep_until(_: Instant) -> Self::Sleep {
        pending()
    }

    #[inline]
    fn reset(_: Pin<&mut Self::Sleep>, _: Instant) {}

    #[inline]
    fn timeout<F>(
        _: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, Self::Elapsed>> + Send
    where
        F: Future<Output: Send> + Send,
    {
        read_clock();
        futures::FutureExt::map(future, Ok)
    }
}

/// Out of line: what the bench takes off all sides must not depend on what the compiler inlines elsewhere.
#[inline(never)]
fn read_clock() {
    black_box(Instant::now());
}
