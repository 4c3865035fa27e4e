//! Timers that take part: tokio's and ours, others, and none. Every workload is written once, against [`Peer`].

use std::future::{Future, Pending, pending};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pingora_timeout::fast_timeout::{FastOrTokioTimeout, fast_timeout};
use timers::as_in_tokio;
pub(crate) use timers::{Bare, Timers, Tokio, Wheel};
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

/// The name every worker thread carries, by which its CPU time is found.
pub(crate) const WORKER: &str = "versus-worker";

/// Timers, and the runtime that they need.
pub(crate) trait Peer: Timers {
    /// A runtime as `#[tokio::main]` builds it, I/O and all; without workers a current-thread one.
    fn runtime(workers: usize) -> Runtime {
        builder(workers).build().expect("a runtime")
    }
}

impl Peer for Tokio {}
impl Peer for Wheel {}
impl Peer for Bare {}
impl Peer for Pingora {}

fn builder(workers: usize) -> Builder {
    let mut builder = match workers {
        0 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    if workers > 0 {
        builder.worker_threads(workers);
    }
    builder.thread_name(WORKER).enable_all();
    builder
}

/// The library with high resolution, and so many microseconds from ring to ring.
pub(crate) struct Precise<const MICROS: u64>;

impl<const MICROS: u64> Timers for Precise<MICROS> {
    const NAME: &'static str = "precise";

    as_in_tokio!(wheel);
}

impl<const MICROS: u64> Peer for Precise<MICROS> {
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

/// `tokio::time` on a runtime with a timer per worker.
pub(crate) struct Alt;

impl Timers for Alt {
    const NAME: &'static str = "tokio-alt";

    as_in_tokio!(tokio::time);
}

impl Peer for Alt {
    fn runtime(workers: usize) -> Runtime {
        let mut builder = builder(workers);
        #[cfg(tokio_unstable)]
        builder.enable_alt_timer();
        builder.build().expect("a runtime")
    }
}

/// `pingora_timeout`: 10 ms ticks, timers that share a deadline share an entry, nothing is ever removed.
pub(crate) struct Pingora;

/// Its own `fast_sleep` cannot be named, a timeout of a future that never ends can.
pub(crate) struct PingoraSleep(pingora_timeout::Timeout<Pending<()>, FastOrTokioTimeout>);

impl Future for PingoraSleep {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx).map(|_| ())
    }
}

impl Timers for Pingora {
    const NAME: &'static str = "pingora";
    type Sleep = PingoraSleep;
    type Elapsed = pingora_timeout::Elapsed;

    #[inline]
    fn sleep(after: Duration) -> Self::Sleep {
        PingoraSleep(fast_timeout(after, pending()))
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
