//! Timers for Tokio services that arm a timeout for every request, connection or packet, and cancel
//! nearly all of them before they fire.
//!
//! `tokio::time` keeps all of a runtime's timers behind one lock, which a timeout takes when it is
//! armed and again when it is cancelled. This crate gives each worker its own [hierarchical timing
//! wheel](timing_wheel), behind the same API. A timer that is cancelled before it fires, as most
//! are, usually writes only memory of its own worker.
//!
//! The package is called `tokio-wheel`, and its library `wheel`:
//!
//! ```toml
//! [dependencies]
//! tokio-wheel = "0.1" # not published yet: { path = "../tokio-wheel" }, or { git = "…" }
//! ```
//!
//! Write [`wheel::time`](time) instead of `tokio::time`, and change nothing else:
//!
//! ```
//! use wheel::time::{self, Duration}; // was: use tokio::time::{self, Duration};
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
//! New code can use the same items from the crate's root: [`wheel::sleep`](sleep()),
//! [`wheel::timeout`](timeout()), [`wheel::interval`](interval()).
//!
//! # Where to find what
//!
//! * [The guide](docs): [getting started](docs::getting_started), [whether to
//!   switch](docs::should_you_switch), [migrating](docs::migrating), [patterns](docs::patterns) and
//!   [recipes](docs::recipes), [testing with paused time](docs::testing),
//!   [tuning](docs::tuning), [patching the whole dependency tree](docs::whole_tree),
//!   [troubleshooting](docs::troubleshooting).
//! * [Guarantees](docs::guarantees): what the crate promises, each difference from `tokio::time`,
//!   and what is unspecified. The [glossary](docs::glossary) has the terms.
//! * [`Handle`] and [`Builder`]: custom drivers, and the settings of a driver.
//! * [`metrics()`]: how many timers are pending, cancelled and fired, and how late they fire.
//! * [`TimingWheel`]: the data structure alone, for anything that has deadlines.
//! * [`ext`]: extensions for futures, streams, hyper, tower and the `metrics` crate, and idle
//!   timeouts for readers and writers.
//!
//! # How it works
//!
//! The design starts from three assumptions: most timers are cancelled before they fire, a timer
//! that fires may be a millisecond or two late, and several threads arm and cancel timers at the
//! same time. So arming and cancelling are cheap and usually write only memory of the worker;
//! finding the next timer that is due may cost more.
//!
//! Each runtime has a *driver*. The driver has one *shard* per worker. A shard is a timing wheel
//! with its own lock, which other threads rarely take.
//!
//! * **Arming.** When a [`Sleep`] is first polled, it inserts an *entry* with its task's waker into
//!   the shard of the worker on which it was created. If that shard is locked, it uses another one.
//! * **Cancelling.** When a `Sleep` is dropped on the same worker, its entry is removed, or it
//!   stays in the wheel for the worker's next timer to reuse (the *cached entry*). If the shard is
//!   locked, or belongs to another worker because the task has moved, the cancel is *queued*, as a
//!   *late cancel*. A thread that locks the shard later applies it.
//! * **Firing.** Each driver has one `tokio::time::Interval`, the *alarm*, armed for the earliest
//!   deadline in any of its shards. The alarm fires on the thread that is polling Tokio's time and
//!   I/O drivers, and the driver makes an *expiry pass* right there, without a trip through the run
//!   queue. The pass fires every timer that is due. It takes up to 16 timers out of a shard per
//!   lock acquisition, and wakes their tasks after releasing the lock. Then it re-arms the alarm.
//!
//! Arming and cancelling take constant time, and lock at most one shard. A timer that becomes the
//! earliest of all also re-arms the alarm, which takes the alarm's lock and Tokio's timer lock.
//! (Arming a timer that is due in less than a millisecond may take both locks too, in order to read
//! Tokio's clock.) After the last timer has been cancelled, the alarm may still fire, at most once
//! for each shard, and is then disarmed. The alarm is a timer of Tokio's, so a paused clock
//! advances to the right deadline.
//!
//! ```text
//!   timeout(d, future)        drop               Tokio polls its drivers, on the thread
//!           │ arm              │ cancel          that waits for I/O ── fires ──┐
//!           ▼                  ▼                                               ▼
//!  ┌─ shard 0: a lock ───────────────────────┐  ┌─ shard 1 ─┐  ┌─ alarm ──────────┐
//!  │ level 2  │ │▪│ │ │▪│ … 256 slots        │  │           │  │ armed for the    │
//!  │ level 3  │ │ │▪│ │ │ …                  │  │ one for   │  │ earliest deadline│
//!  │ level 4  │▪│ │ │ │ │ …                  │  │ each      │  │ of all shards    │
//!  │           │                             │  │ worker    │  └──────────────────┘
//!  │           ▼                             │  │           │
//!  │  the slot's timers: waker, deadline     │  │           │
//!  ├─ late cancels ──────────────────────────┤  │           │
//!  │  timers dropped on other workers        │  │           │
//!  └─────────────────────────────────────────┘  └───────────┘
//! ```
//!
//! The wheel counts nanoseconds, so deadlines are stored exactly. A timer goes into the lowest
//! level on which its slot lies less than one full rotation ahead of the current slot. When the
//! clock reaches that slot, its timers *cascade* into lower levels, except that timers which are
//! already due and less than a millisecond apart fire together instead. A timer that is cancelled
//! before its slot is reached never moves.
//!
//! | level | slot width | rotation | typical timers |
//! | --- | --- | --- | --- |
//! | 0 – 1 | up to 256 ns | up to 65 µs | hardly any, because due timers less than a millisecond apart fire together instead of cascading further |
//! | 2 | 65 µs | 16.8 ms | pacing, retries |
//! | 3 | 16.8 ms | 4.3 s | calls |
//! | 4 | 4.3 s | 18 minutes | requests, request heads, idle connections |
//! | 5 | 18 minutes | 78 hours | sessions |
//! | 6 – 7 | 78 hours, 2.3 years | up to 500 years | timers that are not meant to fire |
//!
//! The page of [`timing_wheel`] describes how the slots are built, and where the idea comes from.
//!
//! # Limits
//!
//! * A runtime's clock may advance by at most 500 years. Deadlines beyond that do not elapse.
//! * A shard can hold a few hundred million timers.
//! * On a worker thread that has entered another runtime, a timer belongs to the worker's
//!   [runtime](docs::guarantees#which-runtime-a-timer-belongs-to).
//!
//! # Features
//!
//! No feature is on by default. `full` turns on all except `test-util`.
//!
//! * `high-resolution`: [`Builder::high_resolution`], on Linux. Turns on Tokio's `net`.
//! * `hyper`: [`WheelTimer`](ext::hyper::WheelTimer), for the builders of hyper and hyper-util.
//! * `metrics`: a [reporter](ext::metrics) that publishes the [counts](docs::metrics) to the
//!   `metrics` crate.
//! * `stream`: [`DelayQueue`] as a `Stream`, and tokio-stream's time [methods](ext::StreamExt) and
//!   [`IntervalStream`](ext::stream::IntervalStream).
//! * `test-util`: `pause`, `resume` and `advance`. Turns on Tokio's own `test-util`.
//! * `tower`: [`TimeoutLayer`](ext::tower::TimeoutLayer) and timeouts for bodies, for tower's and
//!   axum's stacks.
//! * `tracing`: the spans and events that Tokio's timers emit, so that tokio-console shows these
//!   timers. Turns on Tokio's own `tracing`.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The guide describes all features, and is compiled only with all of them.
#![cfg_attr(
    not(feature = "full"),
    allow(rustdoc::broken_intra_doc_links, reason = "links to what is off")
)]
#![forbid(unsafe_code)]
// `clippy.toml` lists what is denied here, and why.
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod build_error;
mod builder;
mod clock;
pub mod delay_queue;
#[cfg(all(any(doc, doctest), feature = "full"))]
pub mod docs;
mod driver;
pub mod error;
pub mod ext;
mod handle;
mod interval;
mod metrics;
mod platform;
mod settings;
mod sleep;
mod spans;
pub mod time;
mod timeout;
pub mod timing_wheel;
pub use self::build_error::BuildError;
pub use self::builder::Builder;
#[doc(inline)]
pub use self::delay_queue::DelayQueue;
pub use self::handle::Handle;
pub use self::interval::{Interval, interval, interval_at};
pub use self::metrics::{LagHistogram, Metrics, MetricsIntervals, MetricsSnapshot, metrics};
pub use self::sleep::{Sleep, sleep, sleep_until};
pub use self::timeout::{Timeout, timeout, timeout_at};
pub use self::timing_wheel::TimingWheel;

#[doc(no_inline)]
pub use std::time::Duration;
#[doc(no_inline)]
pub use tokio::time::{Instant, MissedTickBehavior};
#[cfg(feature = "test-util")]
#[doc(no_inline)]
pub use tokio::time::{advance, pause, resume};

/// Compiles the README's examples, which use all features.
#[cfg(all(doctest, feature = "full"))]
#[doc = include_str!("../README.md")]
struct Readme;
