//! The driver: fires the timers of a runtime. The crate's documentation explains how the driver
//! works. This page lists the files, follows a timer through them three times, and has the rules
//! that hold in all.
//!
//! # Files
//!
//! From the bottom up. Below are the crate's `sync.rs`, with the primitives, real or of the models;
//! `clock.rs`, with instants, ticks and rounding; the wheel; and the counts.
//!
//! | file | idea |
//! | --- | --- |
//! | `wakers.rs` | wakers are user code: told apart, woken, dropped |
//! | `shard.rs` | a wheel behind a lock: who owns an entry; late cancels; the cached entry |
//! | `shard/operations.rs` | what timers do with a shard |
//! | `shard/expiry.rs` | what the driver does with a shard |
//! | `alarm/mod.rs` | the alarm fires for the earliest deadline, and no timer is lost |
//! | `alarm/interval.rs` | what fires it: tokio's interval, and a timerfd |
//! | `when.rs` | near deadlines: rounding, tokio's milliseconds, clocks that may be paused |
//! | `driver.rs` | a driver is opened, arms its alarm, and is closed |
//! | `pass.rs` | an expiry pass, and the check for late timers that requests one |
//! | `registry.rs` | which driver runs for which runtime; the driver task |
//! | `context.rs` | which driver and shard a timer belongs to that is made here |
//! | `timer.rs`, `timer/changes.rs` | a timer: its states, its polls, and its changes |
//! | `loom/` | the models: every race, in every order |
//!
//! # Three ways through the files
//!
//! **Arm.** `sleep` calls `Timer::new_at`, which gets the shard from `context::shard`. The first
//! poll is `Timer::poll`. If this task has just cancelled a timer here, `register_again` takes over
//! that timer's entry, the *cached entry*, with `Shard::arm_again`, and that is all. Otherwise
//! `Timer::arm` tries the shard's lock in `Shard::arm`, which inserts an entry (`ShardState::put`)
//! and publishes the deadline if it is the shard's earliest (`lower_next`). If the shard is busy,
//! `register_anywhere` tries the other shards. A deadline before the shard's `fast_path_from` goes
//! through `Driver::when_near` first, which rounds it. After the insert, `ensure_alarm` compares
//! the deadline with `fast_path_from` again. If it is earlier, `Driver::rearm` and `Alarm::rearm`
//! make tokio's interval fire earlier.
//!
//! **Cancel.** The drop of a registered timer calls `Timer::unregister`. If the thread's last timer
//! was made in this shard and the lock is free, `Shard::cache` keeps the entry as the cached entry,
//! or `Shard::cancel` removes it. Otherwise `Shard::cancel_later` queues the cancel, and whoever
//! locks the shard next applies it (`unlock_and_tidy`) and drops the waker after the release. If
//! the clock may be paused, `Driver::retract` re-arms the alarm without the timer.
//!
//! **Fire.** The thread that polls tokio's time driver calls the alarm's waker, which records that
//! the alarm fired and runs an expiry pass (`Driver::run_pass`). For each shard, `Shard::expire`
//! takes the lock, moves the shard's clock, and collects the wakers of at most [`BATCH`] due
//! timers, which are woken after the release, until no timer is due. Then `Alarm::rearm` arms the
//! alarm for the earliest deadline that is left.
//!
//! # Ground rules
//!
//! * **Take locks in this order: the alarm's mutex, then tokio's own.** A shard's lock is taken
//!   alone, except for the lock of its late cancels, which is taken under it. No waker is woken,
//!   cloned or dropped under any lock, with two exceptions, neither of which runs user code: tokio
//!   may wake the alarm's own waker under the alarm's mutex, and it then only records that; and the
//!   driver task's waker is cloned under the mutex that protects it.
//! * **No operation of a timer leaves a mark that a panic could leave behind.** None enters a
//!   runtime, except to read a current-thread runtime's clock on another thread (`sync::now_in`).
//!   What tokio runs in between (a hook, a destructor) may panic, or use timers.
//! * **Arming and cancelling do not wait for a shard's lock.** Arming takes another shard, and a
//!   cancel is queued. A reset, a poll with another waker, and a retraction of the alarm of a clock
//!   that may be paused wait for one critical section. Arming waits only if every shard is locked.
//! * Deadlines are compared with the driver's own clock, and no other; see `alarm/mod.rs`.
//! * Drivers are never freed; see `driver.rs`. The *generation*, checked under the shard's lock,
//!   tells a `Sleep` that its driver has shut down.
//! * All rare situations (an alarm to be moved, a configured tick, a clock that may be paused) are
//!   behind a single comparison of the deadline with the shard's `fast_path_from`.
//!
//! # Shared writes of each operation
//!
//! Only cache lines that threads share count: a `Sleep` itself, and a thread-local, belong to a
//! single thread. *The shard* is that of the worker that made the timer.
//!
//! | operation | writes |
//! | --- | --- |
//! | making a timer on a worker | nothing |
//! | making a timer elsewhere | the reference count of the runtime's handle |
//! | arming | the task's reference count; the shard's lock, an entry, a slot |
//! | arming in the cached entry | the task's reference count; the shard's lock, an entry |
//! | cancelling on the shard's own worker | the shard's lock, an entry; a slot, if an entry is cached already; the task's reference count |
//! | cancelling elsewhere, or while the shard is busy | the shard's list of late cancels, and its published length |
//! | polling again, with the same waker | nothing |
//! | polling again, with another waker; resetting | the shard's lock, the entry; the slot, if the entry has to move |
//! | arming the earliest timer of all | the alarm, and in each shard the line that all threads read |
//! | an expiry pass | per shard in which something is due: its lock, entries, slots, clock; per timer its task; the alarm once; in each shard the line that all threads read |
//!
//! So a task that stays on its worker writes lines of that worker only. A task that was stolen
//! writes the list of late cancels of its former worker once for each timer that it took along.
//! `benches/transfers` counts which lines change hands.
//!
//! [`BATCH`]: crate::settings::BATCH

mod alarm;
pub(crate) mod context;
#[allow(
    clippy::module_inception,
    reason = "the driver, among the files around it"
)]
mod driver;
#[cfg(all(test, loom))]
mod loom;
mod pass;
pub(crate) mod registry;
pub(crate) mod shard;
pub(crate) mod timer;
mod wakers;
mod when;

pub(crate) use self::alarm::interval::{DEFAULT_SPACING, HighResolution};
pub(crate) use self::driver::DriverRef;
