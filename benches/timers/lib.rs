//! Whose timers a program measures: one trait, so that everything is written once and compiled for each side.

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

/// The name of all workers, by which their CPU time is found.
pub const WORKER: &str = "timers-worker";

/// What is measured of a timer library.
pub trait Timers: Send + Sync + 'static {
    /// As tables say it.
    const NAME: &'static str;
    /// Whether the timers ever fire.
    const FIRES: bool = true;

    /// A timer.
    type Sleep: Future<Output = ()> + Send + 'static;
    /// The error of a timeout.
    type Elapsed: Send + 'static;

    /// As `tokio::time` has it.
    fn sleep(after: Duration) -> Self::Sleep;

    /// As `tokio::time` has it.
    fn sleep_until(at: Instant) -> Self::Sleep;

    /// As `tokio::time` has it.
    fn reset(sleep: Pin<&mut Self::Sleep>, at: Instant);

    /// As `tokio::time` has it.
    fn timeout<F>(
        after: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, Self::Elapsed>> + Send
    where
        F: Future<Output: Send> + Send;

    /// A runtime that has what the timers need.
    fn runtime(workers: usize) -> Runtime {
        builder(workers).build().expect("a runtime")
    }
}

/// As `#[tokio::main]` builds it, I/O and all; without workers a current-thread one.
pub fn builder(workers: usize) -> Builder {
    let mut builder = match workers {
        0 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder.worker_threads(workers.max(1)).thread_name(WORKER);
    builder.enable_all();
    builder
}

/// What [`Timers`] are in all modules with the API of `tokio::time`.
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
        fn timeout<F>(
            after: ::std::time::Duration,
            future: F,
        ) -> impl Future<Output = Result<F::Output, Self::Elapsed>> + Send
        where
            F: Future<Output: Send> + Send,
        {
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

/// `tokio::time` on a runtime with a timer per worker.
#[derive(Debug)]
pub enum Alt {}

impl Timers for Alt {
    const NAME: &'static str = "tokio-alt";

    as_in_tokio!(tokio::time);

    fn runtime(workers: usize) -> Runtime {
        let mut builder = builder(workers);
        #[cfg(tokio_unstable)]
        builder.enable_alt_timer();
        builder.build().expect("a runtime")
    }
}

/// This crate.
#[derive(Debug)]
pub enum Wheel {}

impl Timers for Wheel {
    const NAME: &'static str = "wheel";

    as_in_tokio!(wheel);
}

/// No timer: what sleeps is pending for ever, and registers nothing. No timer can go below it. May read the clock where a
/// timer is made, since every timer with a relative deadline has to.
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
    fn timeout<F>(
        _: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, Self::Elapsed>> + Send
    where
        F: Future<Output: Send> + Send,
    {
        read_clock::<READS_CLOCK>();
        future.map(Ok)
    }
}

#[inline]
fn read_clock<const READS: bool>() {
    if READS {
        read_it();
    }
}

/// Out of line: what is taken off all sides must not depend on what the compiler inlines elsewhere.
#[inline(never)]
fn read_it() {
    black_box(Instant::now());
}

/// Runs `work` once with the context of the task, in the only poll of a future.
pub async fn on_task<R>(work: impl FnOnce(&mut Context<'_>) -> R) -> R {
    let mut work = Some(work);
    poll_fn(move |cx| Poll::Ready(work.take().expect("one poll")(cx))).await
}

/// Arms a timer: polls it once, and it must not be due.
#[inline(always)]
pub fn arm<S: Future<Output = ()>>(sleep: Pin<&mut S>, cx: &mut Context<'_>) {
    assert!(sleep.poll(cx).is_pending(), "a timer of the future is due");
}
