//! Timers for Tokio services that arm and cancel a timeout per request, per
//! connection, per packet.
//!
//! tokio keeps all timers of a runtime behind one lock, which every armed and every cancelled
//! timeout takes. Here each worker has a [hierarchical timing wheel](timing_wheel) of its own,
//! and a timer that is cancelled before firing, as most are, writes nothing that all workers
//! write.
//!
//! The package is called `tokio-wheel`, the library `wheel`:
//!
//! ```toml
//! [dependencies]
//! tokio-wheel = "0.1" # until that is published: { path = "../tokio-wheel" }, or { git = "…" }
//! ```
//!
//! Say [`wheel::time`](time) where `tokio::time` stood, and change nothing else:
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
//! In new code the root is shorter, and has the same items: [`wheel::sleep`](sleep()),
//! [`wheel::timeout`](timeout()), [`wheel::interval`](interval()).
//!
//! * [The guide](docs): switching, [recipes](docs::recipes) for hyper, axum, tonic, reqwest and
//!   pools, [patterns](docs::patterns) from a graceful shutdown to a cache, and [the contract](docs::guarantees): the promises, the points left open, and each
//!   difference from `tokio::time`.
//! * [`Wheel`] and [`Builder`]: a driver with settings of your own.
//! * [`metrics()`]: how many timers are cancelled and how many fire, and how late.
//! * [`TimingWheel`]: the data structure alone, for anything that has deadlines.
//! * [`ext`]: for futures, streams, hyper, tower and the crate `metrics`; idle timeouts for readers
//!   and writers.
//!
//! # How it works
//!
//! Most timers are cancelled before they fire. Those that fire may do so a millisecond
//! or two late, but never early. Several threads arm and cancel timers at once. So
//! arming and cancelling are cheap, and write nothing that all workers write; finding
//! the next timer that is due may cost more.
//!
//! * **Arming.** A [`Sleep`] that is polled inserts its task's waker into the wheel of the
//!   worker on which the timer was made: that worker's *shard*.
//! * **Cancelling.** Dropped on the same worker, the timer is removed, or left in place for the
//!   worker's next timer. Dropped elsewhere, because its task has moved to another worker,
//!   the timer goes into the shard's *change queue*, which the next thread that uses the shard
//!   empties.
//! * **Firing.** The *alarm* is a `tokio::time::Interval` for all shards, armed for the
//!   earliest deadline of all. It rings inside tokio's own turn, on the thread that drives time
//!   and waits for I/O. Due timers fire there and then: 16 per hold of a shard's lock.
//!   Their wakers are woken after the release of the lock.
//!
//! Arming and cancelling take constant time and at most one lock, which other threads seldom
//! want. Only a timer that is due before all others has the alarm armed anew. While there are
//! no timers, the alarm is not armed. The alarm is a timer of tokio's, and so a paused clock
//! advances to the right deadline.
//!
//! ```text
//!   timeout(d, future)        drop               tokio's turn, on the thread
//!           │ arm              │ cancel          that waits for I/O ── rings ──┐
//!           ▼                  ▼                                               ▼
//!  ┌─ shard 0: a lock ───────────────────────┐  ┌─ shard 1 ─┐  ┌─ alarm ──────────┐
//!  │ level 2  │ │▪│ │ │▪│ … 256 slots        │  │           │  │ armed for the    │
//!  │ level 3  │ │ │▪│ │ │ …                  │  │ one for   │  │ earliest deadline│
//!  │ level 4  │▪│ │ │ │ │ …                  │  │ each      │  │ of all shards    │
//!  │           │                             │  │ worker    │  └──────────────────┘
//!  │           ▼                             │  │           │
//!  │  the slot's timers: waker, deadline     │  │           │
//!  ├─ change queue ──────────────────────────┤  │           │
//!  │  timers dropped on other workers        │  │           │
//!  └─────────────────────────────────────────┘  └───────────┘
//! ```
//!
//! A tick is a nanosecond, so deadlines are kept as they are. A timer goes to the lowest level
//! on which its slot is less than a turn ahead. When the clock comes to that slot, its timers
//! *cascade* to the levels below. A timer that is cancelled before that is never moved.
//!
//! | level | a slot is | a turn is | its timers |
//! | --- | --- | --- | --- |
//! | 0 – 1 | up to 256 ns | up to 65 µs | hardly any: timers of a slot of level 2 fire together once all are due |
//! | 2 | 65 µs | 16.8 ms | pacing, retries |
//! | 3 | 16.8 ms | 4.3 s | calls |
//! | 4 | 4.3 s | 18 minutes | requests, heads, idle connections |
//! | 5 | 18 minutes | 78 hours | sessions |
//! | 6 – 7 | 78 hours, 2.3 years | up to 500 years | timers that are meant never to fire |
//!
//! How the slots are built, and where the idea is from, is on the page of
//! [`timing_wheel`].
//!
//! # Limits
//!
//! * A runtime's clock may show at most 500 years more than at its start.
//!   Deadlines beyond do not elapse.
//! * Some hundred million timers per shard.
//! * On a worker thread, in a context of another runtime, a timer belongs to the worker's
//!   [runtime](docs::guarantees#which-runtime-a-timer-belongs-to).
//!
//! # Features
//!
//! None is on by default. All but `test-util` are in `full`.
//!
//! * `high-resolution`: [`Builder::high_resolution`], on Linux; turns on tokio's `net`.
//! * `hyper`: [`WheelTimer`](ext::hyper::WheelTimer), for hyper's and hyper-util's builders.
//! * `metrics`: a [reporter](ext::metrics) of the [counts](docs::metrics) to the `metrics` crate.
//! * `tower`: [`TimeoutLayer`](ext::tower::TimeoutLayer) and limits for bodies, for tower's and
//!   axum's stacks.
//! * `stream`: [`DelayQueue`] is a `Stream`, and there are tokio-stream's time
//!   [methods](ext::StreamExt) and its [`IntervalStream`](ext::stream::IntervalStream).
//! * `test-util`: `pause`, `resume` and `advance`; turns on tokio's own.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The pages are about all features, and there only with all of them.
#![cfg_attr(
    not(feature = "full"),
    allow(rustdoc::broken_intra_doc_links, reason = "links to what is off")
)]
#![forbid(unsafe_code)]

mod build_error;
mod builder;
mod clock;
mod counts;
pub mod delay_queue;
#[cfg(all(any(doc, doctest), feature = "full"))]
pub mod docs;
mod driver;
pub mod error;
pub mod ext;
mod handle;
mod interval;
mod metrics;
mod settings;
mod sleep;
mod spans;
mod sync;
pub mod time;
mod timeout;
mod wheel;

pub mod timing_wheel {
    //! A hierarchical timing wheel: the data structure alone, without clock, lock or waker.
    //!
    //! Time is a `u64` of ticks, and a tick is as long as the caller likes. Inserting, removing
    //! and rescheduling take constant time, however many entries there are. Time passes when
    //! [`TimingWheel::advance`] is called. A loop that drives a wheel by a clock is among the
    //! [recipes](crate::docs::recipes#the-wheel-alone-in-a-loop-of-your-own).
    //!
    //! A wheel has levels, and each level is a ring of `SLOTS` slots. A slot of level 0 is a
    //! single tick wide. A slot of each further level is as wide as the whole ring below it.
    //! Levels are made when a deadline first needs them. With 64 slots, eleven levels cover all
    //! of `u64`, so no deadline is too far.
    //!
    //! ```text
    //! TimingWheel, 64 slots a level, now = 5
    //!                 slot 0    1     …    5     6     7     …    63
    //! level 0, 1 tick:                   [now]  [·]   [▪]             a bit per slot: is it occupied?
    //! level 1, 64:       [now] [▪]                                    ticks 64 ..= 127
    //! level 2, 4096:     [now]  │                      …
    //!                           │
    //!                           ▼            the slot's list of keys
    //!                      ┌────┬────┬────┬────┬────┐
    //!                      │ 17 │  3 │    │ 40 │  8 │   a cell is a key, or a hole that a
    //!                      └─┬──┴─┬──┴────┴─┬──┴─┬──┘   removed key has left
    //!                        ▼    ▼         ▼    ▼
    //!      paged slab:     { value, deadline, slot and place of its key } …
    //! ```
    //!
    //! An entry goes to the lowest level on which its slot is less than a turn ahead of the
    //! slot that holds `now`. When the clock comes to its slot, an entry that is due fires; any
    //! other *cascades*, which means a move to a lower level. So each entry fires at its very
    //! tick, and moves at most once a level.
    //!
    //! The keys in a slot are a vector. Removing an entry leaves a hole there, and touches no other
    //! entry. Later keys fill the holes; if there are more holes than keys in a long vector, each
    //! removal moves up to four keys from its end into holes, and so makes it shorter.
    //!
    //! No operation moves more than a small constant of entries: the slab grows by pages, and
    //! [`TimingWheel::advance_bounded`] stops when its budget is used up. Only the keys of a slot,
    //! four bytes each, are copied as a whole, when their vector grows.
    //!
    //! The idea is Varghese and Lauck's (*Hashed and Hierarchical Timing Wheels*, 1987). That a
    //! turn begins with the slot of `now`, and not at a multiple of its length, is from Kafka's
    //! `TimingWheel`.

    pub use crate::wheel::*;
}

pub use self::build_error::BuildError;
pub use self::builder::Builder;
pub use self::counts::{LagHistogram, MetricsSnapshot};
#[doc(inline)]
pub use self::delay_queue::DelayQueue;
pub use self::handle::Wheel;
pub use self::interval::{Interval, interval, interval_at};
pub use self::metrics::{MetricsIntervals, WheelMetrics, metrics};
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

/// The README's examples compile. They are about all features.
#[cfg(all(doctest, feature = "full"))]
#[doc = include_str!("../README.md")]
struct Readme;
