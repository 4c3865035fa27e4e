//! A trait for the timers that a benchmark measures, so that each benchmark is written once and compiled for each
//! implementation.

use std::convert::Infallible;
use std::future::{Future, Pending, pending, poll_fn};
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt as _;
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

pub mod expiry;
pub mod shapes;

/// The name of all worker threads. Benchmarks use it to find their CPU time.
pub const WORKER: &str = "timers-worker";

/// A future that a timeout is put around.
pub trait Work: Future<Output: Send> + Send {}

impl<F: Future<Output: Send> + Send> Work for F {}

/// A future with a timeout around it.
pub trait Timeout<T, E>: Future<Output = Result<T, E>> + Send {}

impl<F: Future<Output = Result<T, E>> + Send, T, E> Timeout<T, E> for F {}

/// An implementation of timers.
pub trait Timers: Send + Sync + 'static {
    /// Its name in tables.
    const NAME: &'static str;
    /// Whether the timers ever fire.
    const FIRES: bool = true;

    /// A timer.
    type Sleep: Future<Output = ()> + Send + 'static;
    /// The error of a timeout.
    type Elapsed: Send + 'static;

    /// Like the function of `tokio::time`.
    fn sleep(after: Duration) -> Self::Sleep;

    /// Like the function of `tokio::time`.
    fn sleep_until(at: Instant) -> Self::Sleep;

    /// Like `tokio::time::Sleep::reset`. An implementation without it makes another timer.
    #[inline]
    fn reset(mut sleep: Pin<&mut Self::Sleep>, at: Instant) {
        sleep.set(Self::sleep_until(at));
    }

    /// Like the function of `tokio::time`.
    fn timeout<F: Work>(after: Duration, future: F) -> impl Timeout<F::Output, Self::Elapsed>;

    /// The cheapest timeout around a future that may be ready. An implementation that has none uses `timeout`.
    fn timeout_if_pending<F: Work>(
        after: Duration,
        future: F,
    ) -> impl Timeout<F::Output, Self::Elapsed> {
        Self::timeout(after, future)
    }

    /// Creates a runtime that has what the timers need, with this many workers, or a current-thread runtime if the number is 0.
    fn runtime(workers: usize) -> Runtime {
        builder(workers).build().expect("a runtime")
    }
}

/// Like the runtime of `#[tokio::main]`, with I/O.
pub fn builder(workers: usize) -> Builder {
    let mut builder = match workers {
        0 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder.worker_threads(workers.max(1)).thread_name(WORKER);
    builder.enable_all();
    builder
}

/// Creates a runtime on which another timer is due every 500 ms, as in a service: usually before the measured ones.
/// Without that timer, each measured timer would be the earliest, and Tokio would write to its eventfd for it.
pub fn service<T: Timers>(workers: usize) -> Runtime {
    let runtime = T::runtime(workers);
    runtime.spawn(async {
        loop {
            T::sleep(Duration::from_millis(500)).await;
        }
    });
    runtime
}

/// Implements [`Timers`] for a module with the API of `tokio::time`.
#[macro_export]
macro_rules! as_in_tokio {
    ($($time:ident)::+) => {
        type Sleep = $($time)::+::Sleep;
        type Elapsed = $($time)::+::error::Elapsed;

        #[inline]
        fn sleep(after: ::std::time::Duration) -> Self::Sleep {
            $($time)::+::sleep(after)
        }

        #[inline]
        fn sleep_until(at: ::tokio::time::Instant) -> Self::Sleep {
            $($time)::+::sleep_until(at)
        }

        #[inline]
        fn reset(sleep: ::std::pin::Pin<&mut Self::Sleep>, at: ::tokio::time::Instant) {
            sleep.reset(at);
        }

        #[inline]
        fn timeout<F: $crate::Work>(
            after: ::std::time::Duration,
            future: F,
        ) -> impl $crate::Timeout<F::Output, Self::Elapsed> {
            $($time)::+::timeout(after, future)
        }
    };
}

/// `tokio::time`.
#[derive(Debug)]
pub enum Tokio {}

impl Timers for Tokio {
    const NAME: &'static str = "tokio";

    as_in_tokio!(tokio::time);
}

/// `tokio::time` on a runtime with Tokio's alternative timer.
#[derive(Debug)]
pub enum Alt {}

impl Timers for Alt {
    const NAME: &'static str = "alternative timer";

    as_in_tokio!(tokio::time);

    fn runtime(workers: usize) -> Runtime {
        let mut builder = builder(workers);
        #[cfg(tokio_unstable)]
        builder.enable_alt_timer();
        builder.build().expect("a runtime")
    }
}

/// tokio-wheel.
#[derive(Debug)]
pub enum Wheel {}

impl Timers for Wheel {
    const NAME: &'static str = "tokio-wheel";

    as_in_tokio!(wheel);

    #[inline]
    fn timeout_if_pending<F: Work>(
        after: Duration,
        future: F,
    ) -> impl Timeout<F::Output, Self::Elapsed> {
        wheel::ext::FutureExt::timeout_if_pending(future, after)
    }
}

/// tokio-wheel with high resolution, and at least `MICROS` microseconds from one wake-up to the next.
#[cfg(feature = "high-resolution")]
#[derive(Debug)]
pub enum Precise<const MICROS: u64> {}

#[cfg(feature = "high-resolution")]
impl<const MICROS: u64> Timers for Precise<MICROS> {
    const NAME: &'static str = match MICROS {
        1 => "spacing of 1 µs",
        50 => "tokio-wheel, high resolution",
        100 => "spacing of 100 µs",
        200 => "spacing of 200 µs",
        500 => "spacing of 500 µs",
        _ => "another spacing",
    };

    as_in_tokio!(wheel);

    fn runtime(workers: usize) -> Runtime {
        let runtime = builder(workers).build().expect("a runtime");
        let precise = wheel::Builder::new().high_resolution(true);
        let precise = precise.spacing(Duration::from_micros(MICROS));
        let installed = runtime.block_on(async { precise.install() });
        installed.expect("a timer descriptor");
        runtime
    }
}

/// No timer: a sleep is pending forever and registers nothing, so no implementation can be faster. May read the clock when a
/// timer is created, because every timer with a relative deadline must.
#[derive(Debug)]
pub enum Bare<const READS_CLOCK: bool = false> {}

impl<const READS_CLOCK: bool> Timers for Bare<READS_CLOCK> {
    const NAME: &'static str = "bare";
    const FIRES: bool = false;

    type Sleep = Pending<()>;
    type Elapsed = Infallible;

    #[inline]
    fn sleep(_: Duration) -> Self::Sleep {
        read_clock::<READS_CLOCK>();
        pending()
    }

    #[inline]
    fn sleep_until(_: Instant) -> Self::Sleep {
        pending()
    }

    #[inline]
    fn reset(_: Pin<&mut Self::Sleep>, _: Instant) {}

    #[inline]
    fn timeout<F: Work>(_: Duration, future: F) -> impl Timeout<F::Output, Self::Elapsed> {
        read_clock::<READS_CLOCK>();
        future.map(Ok)
    }

    /// Reads no clock, because a ready future needs none.
    #[inline]
    fn timeout_if_pending<F: Work>(
        _: Duration,
        future: F,
    ) -> impl Timeout<F::Output, Self::Elapsed> {
        future.map(Ok)
    }
}

#[inline]
fn read_clock<const READS: bool>() {
    if READS {
        read_it();
    }
}

/// Kept out of line: what is subtracted from all implementations must not depend on what the compiler inlines elsewhere.
#[inline(never)]
fn read_it() {
    black_box(Instant::now());
}

/// Runs `work` once with the context of the task, in a future's only poll.
pub async fn on_task<R>(work: impl FnOnce(&mut Context<'_>) -> R) -> R {
    let mut work = Some(work);
    poll_fn(move |cx| Poll::Ready(work.take().expect("one poll")(cx))).await
}

/// Arms a timer by polling it once. It must not be due.
#[inline(always)]
pub fn arm<S: Future<Output = ()>>(sleep: Pin<&mut S>, cx: &mut Context<'_>) {
    assert!(sleep.poll(cx).is_pending(), "a timer of the future is due");
}
