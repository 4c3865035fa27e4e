//! Both sides' timers by one name.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use common::Side;
use tokio::time::Instant;

pub(crate) trait Timers: Send + Sync + 'static {
    const SIDE: Side;
    type Sleep: Future<Output = ()> + Send + 'static;

    fn sleep(duration: Duration) -> Self::Sleep;
    fn reset(sleep: Pin<&mut Self::Sleep>, deadline: Instant);
}

pub(crate) struct Tokio;
pub(crate) struct Wheel;

impl Timers for Tokio {
    const SIDE: Side = Side::Tokio;
    type Sleep = tokio::time::Sleep;

    fn sleep(duration: Duration) -> Self::Sleep {
        tokio::time::sleep(duration)
    }

    fn reset(sleep: Pin<&mut Self::Sleep>, deadline: Instant) {
        sleep.reset(deadline);
    }
}

impl Timers for Wheel {
    const SIDE: Side = Side::Wheel;
    type Sleep = wheel::Sleep;

    fn sleep(duration: Duration) -> Self::Sleep {
        wheel::sleep(duration)
    }

    fn reset(sleep: Pin<&mut Self::Sleep>, deadline: Instant) {
        sleep.reset(deadline);
    }
}
