//! Whose timers a program measures: one trait, so that everything is written once and compiled for each side.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio::time::Instant;

pub mod expiry;
pub mod shapes;

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

/// This crate.
#[derive(Debug)]
pub enum Wheel {}

impl Timers for Wheel {
    const NAME: &'static str = "wheel";

    as_in_tokio!(wheel);
}
