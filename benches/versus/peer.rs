//! Timers that take part beside those that other programs measure, too.

use std::future::{Future, Pending, pending};
use std::pin::Pin;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::Map;
use pingora_timeout::fast_timeout::{FastOrTokioTimeout, fast_timeout};
use pingora_timeout::{Elapsed, Timeout};
use timers::{Timers, as_in_tokio, builder};
use tokio::runtime::Runtime;
use tokio::time::Instant;

/// The library with high resolution, and so many microseconds from ring to ring.
pub(crate) struct Precise<const MICROS: u64>;

impl<const MICROS: u64> Timers for Precise<MICROS> {
    const NAME: &'static str = "precise";

    as_in_tokio!(wheel);

    fn runtime(workers: usize) -> Runtime {
        let runtime = builder(workers).build().expect("a runtime");
        #[cfg(all(feature = "high-resolution", target_os = "linux"))]
        let _driver = runtime.block_on(async {
            let tick = Duration::from_micros(MICROS);
            let precise = wheel::Builder::new().high_resolution(true).tick(tick);
            precise.install().expect("a descriptor")
        });
        runtime
    }
}

/// `pingora_timeout`: 10 ms ticks, timers that share a deadline share an entry, nothing is ever removed.
pub(crate) struct Pingora;

impl Timers for Pingora {
    const NAME: &'static str = "pingora";
    /// Its own `fast_sleep` cannot be named, a timeout of a future that never ends can.
    type Sleep = Map<Timeout<Pending<()>, FastOrTokioTimeout>, fn(Result<(), Elapsed>)>;
    type Elapsed = Elapsed;

    #[inline]
    fn sleep(after: Duration) -> Self::Sleep {
        fast_timeout(after, pending()).map(drop)
    }

    #[inline]
    fn sleep_until(at: Instant) -> Self::Sleep {
        Self::sleep(at.saturating_duration_since(Instant::now()))
    }

    fn reset(mut sleep: Pin<&mut Self::Sleep>, at: Instant) {
        sleep.set(Self::sleep_until(at));
    }

    #[inline]
    fn timeout<F>(
        after: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, Self::Elapsed>> + Send
    where
        F: Future<Output: Send> + Send,
    {
        fast_timeout(after, future)
    }
}
