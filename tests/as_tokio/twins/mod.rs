//! Twins: a program ends on these timers as on `tokio::time`, whose behaviour is right by definition.
//!
//! Each body is generic over [`Time`](support::time::Time), takes a case, and is run in a process of its own:
//! once on tokio's timers and once on ours. Compared are the end (finished, with this value;
//! panicked, with these words; hung; died) and every panic on the way, on any thread. A twin that
//! is allowed to differ states tokio's end, and the ends that ours may have instead.
//!
//! | file | idea |
//! | --- | --- |
//! | `twin.rs` | runs both, and compares; the watchdog |
//! | `runtimes.rs` | kinds of runtimes, threads that drive them, and their ends |
//! | `guards.rs` | timers made, polled and kept under another runtime's `enter()` |
//! | `wrapped.rs` | timers awaited in another runtime's context, `RuntimeExt::wrap` |
//! | `blocked.rs` | workers that block, and drive their runtime no more |
//! | `borrowed.rs` | user code that tokio runs while a task is spawned: destructors in a runtime that shuts down |
//! | `dumps.rs` | task dumps, which poll without effect (`tokio_unstable`) |
//! | `hooks.rs` | timers that a runtime's hooks make (`tokio_unstable`) |
//! | `local_sets.rs` | `LocalSet`s: on blocking threads, and driven by one runtime after another |
//! | `moved.rs` | timers that are polled elsewhere, while runtimes end in any order |
//! | `pairs.rs` | made in each context, awaited in each |
//! | `shutdowns.rs` | runtimes that end while their tasks poll timers with wakers of all sorts |
//! | `subscribers.rs` | subscribers of tokio's own spans (`tokio_unstable`) |
//! | `threads.rs` | a current-thread runtime per thread, and several on one thread |
//! | `nothing.rs` | sleeps of nothing, first ticks, deadlines that have passed |
//! | `misuse.rs` | no runtime, no timers, a runtime that has ended |
//! | `paused.rs` | times on a paused clock (feature `test-util`) |
#![allow(clippy::async_yields_async, reason = "made here, awaited elsewhere")]

mod blocked;
mod borrowed;
#[cfg(all(tokio_unstable, target_os = "linux"))]
mod dumps;
mod guards;
#[cfg(tokio_unstable)]
mod hooks;
mod local_sets;
mod misuse;
mod moved;
mod nothing;
mod pairs;
#[cfg(feature = "test-util")]
mod paused;
mod runtimes;
mod shutdowns;
#[cfg(all(tokio_unstable, target_os = "linux"))]
mod subscribers;
mod threads;
mod twin;
mod wrapped;

mod prelude {
    pub(crate) use super::runtimes::*;
    pub(crate) use super::twin::*;
    pub(crate) use support::prelude::*;
    pub(crate) use support::time::{Exact, Interval as _, Ours, Sleep as _, Time, Tokio};
}
