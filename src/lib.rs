//! Timers for Tokio services that arm and cancel a timeout per request, per
//! connection, per packet.
//!
//! tokio keeps all timers of a runtime behind one lock, which every armed and
//! every cancelled timeout takes. Here each worker has a [hierarchical timing
//! wheel](timing_wheel) of its own, and a timer that is cancelled before it
//! fires, as most are, touches nothing that another worker writes.
//!
//! Put `use wheel as time;` where `use tokio::time;` stood, and change nothing
//! else:
//!
//! ```
//! use wheel as time;
//! use wheel::Duration;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! time::sleep(Duration::from_millis(1)).await;
//!
//! let answer = time::timeout(Duration::from_secs(1), async { 42 }).await;
//! assert_eq!(answer, Ok(42));
//!
//! let mut interval = time::interval(Duration::from_millis(5));
//! interval.tick().await;
//! # }
//! ```
//!
//! # What is the same
//!
//! Names, signatures, panics, the rounding up to tokio's milliseconds, paused
//! clocks (`start_paused`, `pause`, `advance`), cooperative budgets. tokio's own
//! published tests pass with only the import changed.
//!
//! # What is different
//!
//! * [`Sleep`] is `Unpin`, 48 bytes, and has [`reset_unpin`](Sleep::reset_unpin).
//! * [`error::Elapsed`] is a type of its own.
//! * The driver is one task per runtime, started by the first timer. It shows in
//!   `num_alive_tasks`.
//! * A waker that panics when woken takes nothing else down. Where panics abort
//!   (`panic = "abort"`) it aborts the process, as everywhere.
//! * Timers that are due in the same quarter of a millisecond may be woken in
//!   any order.
//!
//! # How it works
//!
//! A `Sleep` that is polled puts its waker into the wheel of the thread it was
//! made on, and takes it out when it is dropped. A single
//! `tokio::time::Interval` is armed for the earliest deadline of all wheels; it
//! rings inside tokio's own turn, on the thread that drives time, and what is
//! due is fired there and then, sixteen timers per hold of a lock. Nothing is
//! armed while there are no timers.
//!
//! Built with `--cfg tokio_unstable` and `Builder::enable_alt_timer`, tokio
//! keeps that interval with the worker that armed it last: while that worker is
//! blocked, all timers wait, as a blocked worker's own timers do there anyway.
//!
//! # Limits
//!
//! * Inside `let _guard = other.enter();`, within a task that has armed timers
//!   before, a timer goes to the task's own runtime, not to `other`; and so does
//!   one that is made inside a nested `block_on` and leaves it before any timer
//!   has been polled there. Use [`Wheel`] in such places.
//! * Futures that poll their parts with wakers of their own, as
//!   `FuturesUnordered` does, have each timer ask for its runtime once: about 20
//!   ns, and a counter that workers share.
//! * A runtime's clock may show at most 584 years more than at its start.
//!   Deadlines beyond do not elapse.
//! * Some hundred million timers per shard.
//!
//! # Features
//!
//! * `test-util`: `pause`, `resume` and `advance`; turns on tokio's own.
//! * `stream`: [`DelayQueue`] is a `Stream`, and there are tokio-stream's time methods and wrappers.
//! * `metrics`: publishes what is [counted](mod@metrics) to the `metrics` crate.
//! * `full`: everything else, that is `stream` and `metrics`.
#![forbid(unsafe_code)]

mod builder;
pub mod delay_queue;
mod driver;
pub mod error;
mod future_ext;
mod handle;
#[cfg(feature = "hyper")]
pub mod hyper;
mod interval;
pub mod metrics;
mod sleep;
#[cfg(feature = "stream")]
pub mod stream;
mod timeout;
#[cfg(feature = "tower")]
pub mod tower;
mod wheel;

/// The data structure alone: [`TimingWheel`] and what belongs to it.
pub mod timing_wheel {
    pub use crate::wheel::*;
}

/// Under the name that tokio-stream has for it: [`IntervalStream`].
#[cfg(feature = "stream")]
pub mod wrappers {
    #[doc(no_inline)]
    pub use crate::stream::IntervalStream;
}

pub use self::builder::{BuildError, Builder};
#[doc(inline)]
pub use self::delay_queue::DelayQueue;
pub use self::future_ext::FutureExt;
pub use self::handle::Wheel;
#[cfg(feature = "hyper")]
#[doc(inline)]
pub use self::hyper::WheelTimer;
pub use self::interval::{Interval, interval, interval_at};
#[doc(inline)]
pub use self::metrics::{WheelMetrics, metrics};
pub use self::sleep::{Sleep, sleep, sleep_until};
#[cfg(feature = "stream")]
#[doc(inline)]
pub use self::stream::{IntervalStream, StreamExt};
pub use self::timeout::{Timeout, timeout, timeout_at};
pub use self::timing_wheel::TimingWheel;

#[doc(no_inline)]
pub use std::time::Duration;
#[doc(no_inline)]
pub use tokio::time::{Instant, MissedTickBehavior};
#[cfg(feature = "test-util")]
#[doc(no_inline)]
pub use tokio::time::{advance, pause, resume};

/// The README's examples compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
