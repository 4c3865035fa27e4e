//! The driver: fires the timers of a runtime. The crate's documentation tells how the driver works;
//! this page lists the files, and the rules that hold in all of them.
//!
//! From the bottom up: a file uses files above its own row of this table, and none below.
//!
//! | file | idea |
//! | --- | --- |
//! | `sync.rs` | the real primitives, or those of the models |
//! | `clock.rs` | instants, ticks, rounding |
//! | `settings.rs` | the settings that a `Builder` makes |
//! | `wakers.rs` | wakers are told apart, woken, dropped |
//! | `cancel_queue.rs` | cancels that come from other workers |
//! | `shard.rs`, `shard/turn.rs` | a wheel behind a lock: the owner of an entry; the operations of timers; those of the driver |
//! | `fire.rs` | firing due timers, in bounded holds |
//! | `timerfd.rs` | high resolution: a timerfd, and its setting |
//! | `alarm_timer.rs` | tokio's interval, and its runtime |
//! | `alarm.rs` | the alarm for the earliest deadline: when to arm, and on which thread |
//! | `mod.rs` | the driver: its shards, its alarm, its turns; opening and closing |
//! | `when.rs` | when a timer with a deadline fires: rounding, tokio's milliseconds, clocks that may be paused |
//! | `registry.rs` | which driver serves which runtime; the driver task; drivers that have ended |
//! | `context.rs` | the owner of a timer: the driver and the shard for a timer made here |
//! | `timer.rs` | a timer: its states |
//! | `loom/` | the models: every race, in every order |
//!
//! # Ground rules
//!
//! * Locks are taken in this order and never the other way: the alarm's, then tokio's own. A
//!   shard's lock is taken alone, but for that of its cancel queue, which is taken under the
//!   shard's. No waker is woken, cloned or dropped under any lock, but for two of the driver's own:
//!   the driver task's, which is cloned, and the alarm's, which only records a ring there.
//! * Deadlines are compared with the driver's own clock, and no other; see `alarm.rs`.
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
//! | cancelling elsewhere | the shard's cancel queue, and the count of cancels there |
//! | polling again, with the same waker | nothing |
//! | polling again, with another waker; resetting | the shard's lock, the entry; the slot, if the entry has to move |
//! | arming the earliest timer of all | the alarm, and in each shard the line that all threads read |
//! | a turn | per shard in which something is due: its lock, entries, slots, clock; per timer its task; the alarm once; in each shard the line that all threads read |
//!
//! So a task that stays on its worker writes lines of that worker's only; a task that was stolen
//! writes its former worker's cancel queue once per timer that the task took along.
//! `benches/transfers` counts which lines change hands.

mod alarm;
mod cancel_queue;
pub(crate) mod clock;
pub(crate) mod context;
#[allow(
    clippy::module_inception,
    reason = "the driver, among the files around it"
)]
mod driver;
mod fire;
#[cfg(all(test, loom))]
mod loom;
mod overdue;
pub(crate) mod registry;
pub(crate) mod settings;
pub(crate) mod shard;
mod sync;
pub(crate) mod timer;
mod turns;
mod wakers;
mod when;

pub(crate) use self::alarm::timerfd;
pub(crate) use self::driver::DriverRef;
