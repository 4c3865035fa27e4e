//! Other crates with timers.

use std::future::{Future, Pending, pending};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::Map;
use pingora_timeout::Elapsed;
use pingora_timeout::fast_timeout::{FastOrTokioTimeout, fast_timeout};
use timers::{Timeout, Timers, Work};
use tokio::time::Instant;

/// `pingora_timeout`: 10 ms ticks; timers that share a deadline share an entry, and none is removed before it is due.
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

/// `tokio_timerfd`, whose `Delay` is finer than a millisecond, and a descriptor of the kernel.
pub(crate) struct Timerfd;

pub(crate) struct Delay(tokio_timerfd::Delay);

impl Future for Delay {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let done = Pin::new(&mut self.0).poll(cx);
        done.map(|result| result.expect("a timer descriptor"))
    }
}

impl Timers for Timerfd {
    const NAME: &'static str = "tokio-timerfd";

    type Sleep = Delay;
    type Elapsed = ();

    fn sleep(after: Duration) -> Delay {
        Self::sleep_until(Instant::now() + after)
    }

    fn sleep_until(at: Instant) -> Delay {
        Delay(tokio_timerfd::Delay::new(at.into_std()).expect("a timer descriptor"))
    }

    fn reset(mut sleep: Pin<&mut Delay>, at: Instant) {
        sleep.0.reset(at.into_std());
    }

    /// The crate has no timeout, and nothing measures one.
    async fn timeout<F: Work>(_: Duration, future: F) -> Result<F::Output, ()> {
        Ok(future.await)
    }
}
