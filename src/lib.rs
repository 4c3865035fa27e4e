//! Timers for Tokio services that arm and cancel a timeout per request, per
//! connection, per packet.
//!
//! tokio keeps all timers of a runtime behind one lock, which every armed and
//! every cancelled timeout takes. Here each worker has a [hierarchical timing
//! wheel](timing_wheel) of its own, and a timer that is cancelled before it
//! fires, as most are, writes nothing that all workers write.
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
//! * [The guide](docs): switching, [recipes](docs::recipes) for hyper, axum, tonic,
//!   reqwest and pools, and [each difference](docs::semantics) from `tokio::time`.
//! * [`Wheel`] and [`Builder`]: a driver with settings of one's own.
//! * [`metrics()`](metrics()): what becomes of timers, and how late they fire.
//! * [`TimingWheel`]: the data structure alone, for anything that has deadlines.
//!
//! # How it works
//!
//! The design assumes that most timers are cancelled before they fire, that those
//! which fire may do so a millisecond or two late but never early, and that
//! several threads arm and cancel them at once. So arming and cancelling must be
//! cheap, and share nothing; finding the next timer that is due may cost more.
//!
//! A [`Sleep`] that is polled puts its task's waker into the wheel of the worker it
//! was made on, a *shard*; when it is dropped there, that is taken out, or left in place
//! for the worker's next timer. A task that has moved to another worker leaves a note in
//! the shard's cancel queue, which the shard's next user collects. All of it takes
//! constant time and at most one lock, which other threads seldom want. Only a timer that is due before all others
//! tells the *alarm*, which is one `tokio::time::Interval` for all shards. It rings
//! inside tokio's own turn, on the thread that drives time and waits for I/O; what
//! is due is fired there and then, sixteen timers per hold of a lock, their wakers
//! woken outside of it. Nothing is armed while there are no timers, and a paused
//! clock knows the next deadline, since a timer of tokio's stands for it.
//!
//! ```text
//!   timeout(d, future)        drop               tokio's turn, on the thread
//!           │ register         │ cancel          that waits for I/O ── rings ──┐
//!           ▼                  ▼                                               ▼
//!  ┌─ shard 0: a lock ───────────────────────┐  ┌─ shard 1 ─┐  ┌─ alarm ──────────┐
//!  │ level 2  │ │▪│ │ │▪│ … 256 slots        │  │           │  │ set to the first │
//!  │ level 3  │ │ │▪│ │ │ …  a bit per slot: │  │ one for   │  │ deadline of all  │
//!  │ level 4  │▪│ │ │ │ │ …  is it occupied? │  │ each      │  │ shards           │
//!  │           │                             │  │ worker    │  └──────────────────┘
//!  │           ▼ chain of bunches            │  │           │
//!  │    keys ▪▪▪·▪▪·… 64 to a bunch          │  │           │
//!  │          │                              │  │           │
//!  │          ▼                              │  │           │
//!  │  slab: { waker, deadline, place } …     │  │           │
//!  └─────────────────────────────────────────┘  └───────────┘
//! ```
//!
//! A tick is a nanosecond, so deadlines are kept as they are. A timer goes to the
//! lowest level on which its slot is less than one turn ahead; when the clock comes
//! to that slot, its timers *cascade* to the levels below. Timers that are cancelled
//! before that are never moved.
//!
//! | level | a slot is | a turn is | who is there |
//! | --- | --- | --- | --- |
//! | 0 – 1 | up to 256 ns | up to 65 µs | nobody: what is less than a slot of level 2 apart fires together |
//! | 2 | 65 µs | 16.8 ms | pacing, retries |
//! | 3 | 16.8 ms | 4.3 s | calls |
//! | 4 | 4.3 s | 18 minutes | requests, heads, idle connections |
//! | 5 | 18 minutes | 78 hours | sessions |
//! | 6 – 7 | 78 hours, 2.3 years | up to 500 years | what is meant never to fire |
//!
//! Levels are made when a deadline needs one. The idea is Varghese and Lauck's
//! *Hashed and Hierarchical Timing Wheels* (1987), the sliding clocks are Kafka's;
//! [`timing_wheel`] tells how its slots and its slab are built.
//!
//! # Limits
//!
//! * A runtime's clock may show at most 500 years more than at its start.
//!   Deadlines beyond do not elapse.
//! * Some hundred million timers per shard.
//! * On a worker, in a context of another runtime, a timer is the worker's own:
//!   [where](docs::semantics#which-runtime-a-timer-belongs-to).
//!
//! # Features
//!
//! None is on by default. All but `test-util` are in `full`.
//!
//! * `hyper`: [`WheelTimer`], for hyper's and hyper-util's builders.
//! * `metrics`: a reporter of what is [counted](mod@metrics) to the `metrics` crate.
//! * `tower`: [`TimeoutLayer`](tower::TimeoutLayer), for tower's and axum's stacks.
//! * `stream`: [`DelayQueue`] is a `Stream`, and there are tokio-stream's time
//!   methods and wrappers.
//! * `test-util`: `pause`, `resume` and `advance`; turns on tokio's own.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The pages are about all features, and there only with all of them.
#![cfg_attr(
    not(feature = "full"),
    allow(rustdoc::broken_intra_doc_links, reason = "links to what is off")
)]
#![forbid(unsafe_code)]

mod builder;
pub mod delay_queue;
#[cfg(all(any(doc, doctest), feature = "full"))]
pub mod docs;
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

/// The README's examples compile. They are about all features.
#[cfg(all(doctest, feature = "full"))]
#[doc = include_str!("../README.md")]
struct Readme;
