//! `pingora_timeout`: 10 ms ticks; timers that share a deadline share an entry, and none is removed before it is due.

use std::future::{Pending, pending};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::Map;
use pingora_timeout::Elapsed;
use pingora_timeout::fast_timeout::{FastOrTokioTimeout, fast_timeout};
use timers::{Timeout, Timers, Work};
use tokio::time::Instant;

pub(crate) struct Pingora;

impl Timers for Pingora {
    const NAME: &'static str = "pingora";
    /// The type of pingora's `fast_sleep` cannot be named, so this is a timeout around a future that never completes.
    type Sleep =
        Map<pingora_timeout::Timeout<Pending<()>, FastOrTokioTimeout>, fn(Result<(), Elapsed>)>;
    type Elapsed = Elapsed;

    #[inline]
    fn sleep(after: Duration) -> Self::Sleep {
        fast_timeout(after, pending()).map(drop)
    }

    #[inline]
    fn sleep_until(at: Instant) -> Self::Sleep {
        Self::sleep(at.saturating_duration_since(Instant::now()))
    }

    #[inline]
    fn timeout<F: Work>(after: Duration, future: F) -> impl Timeout<F::Output, Self::Elapsed> {
        fast_timeout(after, future)
    }
}
