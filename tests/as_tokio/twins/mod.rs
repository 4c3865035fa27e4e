//! Twins: a program ends on these timers as it does on `tokio::time`, whose behaviour is right by definition.
//!
//! Each body is generic over [`Time`](support::time::Time) and takes a case. It runs twice, each time in a process of
//! its own: once on Tokio's timers, and once on ours. The twin compares how the two ended (finished with this value,
//! panicked with this message, hung, or died), and every panic on the way, on any thread. A twin that is allowed to
//! differ states how Tokio's run ends, and how ours may end instead.
//!
//! | file | contents |
//! | --- | --- |
//! | `twin.rs` | runs a body on both, and compares the ends; the watchdog |
//! | `runtimes.rs` | kinds of runtimes, threads that drive them, and how they end |
//! | `guards.rs` | timers that are made, polled and kept inside another runtime's `enter()` |
//! | `wrapped.rs` | timers that are awaited in another runtime's context (`RuntimeExt::wrap`) |
//! | `blocked.rs` | workers that block, so that they no longer drive their runtime |
//! | `borrowed.rs` | user code that Tokio runs while it spawns a task: destructors in a runtime that is shutting down |
//! | `dumps.rs` | task dumps, whose polls arm nothing (`tokio_unstable`) |
//! | `hooks.rs` | timers that a runtime's hooks make (`tokio_unstable`) |
//! | `local_sets.rs` | `LocalSet`s on blocking threads, and `LocalSet`s that one runtime drives after another |
//! | `lost.rs` | wake-ups that Tokio drops because another library's waker panics |
//! | `moved.rs` | timers that are polled in another runtime, while runtimes end in any order |
//! | `pairs.rs` | timers that are made in each kind of context, and awaited in each |
//! | `shutdowns.rs` | runtimes that end while their tasks poll timers with various wakers |
//! | `subscribers.rs` | subscribers of Tokio's own spans (`tokio_unstable`) |
//! | `threads.rs` | several runtimes that take turns on one thread |
//! | `nothing.rs` | zero-length sleeps, first ticks, and deadlines that have passed |
//! | `misuse.rs` | a runtime without timers |
//! | `paused.rs` | times on a paused clock (feature `test-util`) |
#![allow(clippy::async_yields_async, reason = "timers are awaited elsewhere")]

mod blocked;
mod borrowed;
#[cfg(all(tokio_unstable, target_os = "linux"))]
mod dumps;
mod guards;
#[cfg(tokio_unstable)]
mod hooks;
mod local_sets;
mod lost;
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
    pub(crate) use support::time::{Interval as _, Ours, Sleep as _, Time, Tokio};
}
