//! The driver: fires the timers of a runtime. The crate's documentation tells how the driver works.
//! This page lists the files, follows three ways through them, and has the rules that hold in all.
//!
//! # Files
//!
//! From the bottom up: a file uses files above its own row, and no other of this folder. Below are
//! the crate's `sync.rs`, with the primitives, the real ones or those of the models, `clock.rs`, with
//! instants, ticks and rounding, the wheel, and the counts.
//!
//! | file | idea |
//! | --- | --- |
//! | `wakers.rs` | wakers are told apart, woken, dropped |
//! | `shard.rs` | a wheel behind a lock: the owner of an entry, late cancels, and the operations of timers |
//! | `shard/turn.rs` | the driver's operations on a shard |
//! | `alarm/` | tokio's interval rings for the earliest deadline |
//! | `driver.rs` | a driver is opened, closed, and has its alarm armed |
//! | `turns.rs` | a turn fires all that is due, in bounded holds |
//! | `overdue.rs` | the look: a busy runtime's timers fire on time |
//! | `when.rs` | when a timer fires: rounding, tokio's milliseconds, clocks that may be paused |
//! | `registry.rs` | which driver serves which runtime; the driver task; drivers that have ended |
//! | `context.rs` | which driver and shard a timer belongs to that is made here |
//! | `timer.rs`, `timer/` | a timer: its states, and its changes |
//! | `loom/` | the models: every race, in every order |
//!
//! # Three ways through the files
//!
//! **Arm.** `sleep` calls `Timer::new_at`, which has the shard from `context::shard`. The first poll
//! is `Timer::poll`. If this task has just cancelled a timer here, `register_again` takes that
//! timer's entry, the *spare*, with `Shard::arm_again`, and that is all. Otherwise `poll_plain`
//! tries the shard's lock in `Shard::arm`, and `register_at` that of other shards if the shard is
//! busy: `ShardState::put` inserts the entry, and `announce`
//! publishes a deadline that is the shard's earliest. A deadline before the shard's `plain_from` goes
//! through `Driver::when_near` first, which rounds the deadline. After the insert `have_alarm_ring`
//! compares with `plain_from` again and calls `Driver::arm_for`, and `Alarm::rearm` has tokio's
//! interval ring earlier.
//!
//! **Cancel.** The drop of a registered timer calls `Timer::unregister`. On a thread whose
//! last timer was made in this shard, if the lock is free, `Shard::leave` leaves the entry as the spare, or
//! `Shard::cancel` removes the entry. On another thread, or if the shard is busy, `Shard::cancel_later`
//! pushes the entry into a list. The next thread that locks the shard removes the entry
//! (`unlock_and_tidy`), and drops the waker after the release. Where the clock may be paused,
//! `Driver::retract` takes the alarm back.
//!
//! **Ring.** The thread that drives time polls the interval and calls the alarm's waker, which notes the
//! ring and begins a `Driver::turn`, which goes through the shards. `Shard::expire` holds a shard's
//! lock, moves its clock, and collects the wakers of [`HOLD`] due timers, which are woken after the
//! release, until all that are due have fired. Then `Alarm::rearm` arms for the earliest deadline that
//! is left.
//!
//! # Ground rules
//!
//! * Locks are taken in this order and never the other way: the alarm's, then tokio's own. A
//!   shard's lock is taken alone, but for that of its late cancels, which is taken under the
//!   shard's. No waker is woken, cloned or dropped under any lock, but for the alarm's
//!   own, which only records a ring there.
//! * No operation of a timer leaves a mark that a panic could leave behind. None enters a runtime,
//!   except to read a current-thread runtime's clock on another thread (`sync::now_in`). What
//!   tokio runs in between (a hook, a destructor) may panic, or use timers.
//! * No operation of a timer waits for a shard's lock, but for a reset, and a retraction of the alarm
//!   of a clock that may be paused: see `sync.rs`. Arming and polling again take another shard; a cancel
//!   goes into the list of late cancels.
//! * Deadlines are compared with the driver's own clock, and no other; see `alarm/mod.rs`.
//! * Only the end of the driver task closes a driver. Drivers are never freed: a `Sleep` refers to
//!   its driver for ever, at no cost per timer. A driver that has ended goes to a pool; the
//!   *generation*, checked under the shard's lock, tells a `Sleep` that its driver has ended.
//! * All rare situations (an alarm to be moved, a configured tick, a clock that may be paused) are
//!   behind a single comparison of the deadline with the shard's `plain_from`.
//!
//! # Shared writes of each operation
//!
//! Only lines of memory that threads share: a `Sleep` itself, and a thread-local, belong to a
//! single thread. *The shard* is that of the worker that made the timer.
//!
//! | operation | writes |
//! | --- | --- |
//! | making a timer on a worker | nothing |
//! | making a timer elsewhere | the count of references to the runtime's handle |
//! | arming | the task's reference count; the shard's lock, an entry, a slot |
//! | arming in the place of the spare | the task's reference count; the shard's lock, an entry |
//! | cancelling on the shard's own worker | the shard's lock, an entry; a slot, if there is a spare already; the task's reference count |
//! | cancelling elsewhere, or while the shard is busy | the shard's list of late cancels |
//! | polling again, with the same waker | nothing |
//! | polling again, with another waker; resetting | the shard's lock, the entry; the slot, if the entry has to move |
//! | arming the earliest timer of all | the alarm, and in each shard the line that all threads read |
//! | a turn | per shard in which something is due: its lock, entries, slots, clock; per timer its task; the alarm once; in each shard the line that all threads read |
//!
//! So a task that stays on its worker writes lines of that worker's only; a task that was stolen
//! writes its former worker's list of late cancels once per timer that the task took along.
//! `benches/transfers` counts which lines change hands.
//!
//! [`HOLD`]: crate::settings::HOLD

mod alarm;
pub(crate) mod context;
#[allow(
    clippy::module_inception,
    reason = "the driver, among the files around it"
)]
mod driver;
#[cfg(all(test, loom))]
mod loom;
mod overdue;
pub(crate) mod registry;
pub(crate) mod shard;
pub(crate) mod timer;
mod turns;
mod wakers;
mod when;

pub(crate) use self::alarm::timerfd;
pub(crate) use self::driver::DriverRef;
