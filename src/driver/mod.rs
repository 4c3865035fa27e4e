//! The driver: fires the timers of a runtime. The guide's page *Design* explains the ideas. This page
//! defines the terms, lists the files, follows a timer through them when it is armed, cancelled and
//! fired, and states the rules that hold in every file.
//!
//! # Terms
//!
//! * **Shard.** A driver usually has one *shard* for each worker: a timing wheel behind a lock. An
//!   armed timer has an *entry* in the wheel of one shard, with its deadline and the waker of its
//!   task. The shard's *clock* is the tick to which its wheel was advanced, or is being advanced by
//!   a pass, and its *next* is when it needs the next expiry pass, never later than the earliest
//!   deadline in the wheel. It is earlier if the timer that it was lowered for was cancelled or
//!   reset, because a search for the earliest deadline reads only a few timers.
//! * **Home.** A shard, and the way from there to the driver. A timer holds a reference to its home.
//! * **Alarm.** The one Tokio timer behind a driver. When it fires, the driver runs an *expiry
//!   pass*, which fires timers that are due, or *defers* them if there are many. The *target* is
//!   the tick that the alarm has to be armed for: usually the earliest `next` of all shards.
//! * **Fast path.** The alarm publishes `fast_path_from` in each shard. A deadline at or after it
//!   needs no rounding and cannot move the alarm, so it takes the *fast path*. An earlier deadline
//!   is *near*, and takes the slow path: `near.rs` says at which tick the timer fires.
//! * **Cached entry.** The entry of a cancelled timer that stays in the wheel so that the next
//!   timer can take it over. A shard has at most one.
//! * **Late cancel.** A cancel that is queued, because its thread has another home, or because the
//!   shard is busy. Threads that lock the shard afterwards apply it.
//!
//! # Files
//!
//! The files are listed from the bottom up: each uses only those above it, except that a driver
//! (`lifecycle.rs`) requests passes and runs them when its alarm fires (`pass.rs`). They build on the
//! crate's `platform.rs` (locks, atomics and Tokio, which the models and the simulation replace), on
//! `clock.rs` (instants, ticks and rounding), on `timing_wheel/`, and on `metrics/`.
//!
//! | file | what it explains |
//! | --- | --- |
//! | `wakers.rs` | how wakers, which are user code, are compared and woken, and how user code is contained |
//! | `shard.rs` | who owns an entry; late cancels; the cached entry |
//! | `shard/operations.rs` | what timers do with a shard |
//! | `shard/expiry.rs` | what the driver does with a shard |
//! | `grid.rs` | when Tokio's milliseconds begin |
//! | `alarm/interval.rs` | the two sources of the alarm: Tokio's interval, and a timerfd |
//! | `alarm/mod.rs` | how the alarm is armed for the earliest deadline, and why no timer is lost |
//! | `near.rs` | when a near deadline fires: rounding, Tokio's milliseconds, clocks that may be paused |
//! | `lifecycle.rs` | how a driver is opened, arms its alarm, and is closed; homes |
//! | `pass.rs` | the expiry pass, and the check for late timers that requests one |
//! | `registry.rs` | which driver runs for which runtime; the driver task |
//! | `context.rs` | which driver a new timer belongs to, and in which shard it is armed |
//! | `timer.rs`, `timer/changes.rs` | a timer: its states, its polls, and its changes |
//! | `loom/` | models that run the races between two threads in every order |
//! | `simulation/` | threads, runtimes and timers on a fake Tokio that misbehaves, in random orders |
//!
//! # A timer's way through the files
//!
//! **Arm.** The first poll does it:
//!
//! ```text
//! sleep → Timer::new → context::runtime          whose timer it is; arms nothing
//! first poll → Timer::poll
//!   ├ place → context::home_in                   this thread's home in that runtime's driver
//!   ├ deadline from `fast_path_from` on: arm_at_home
//!   │   ├ Shard::arm                             one try of the lock
//!   │   │   ├ ShardState::put                    takes over the cached entry, or inserts one
//!   │   │   └ lower_next                         publishes the shard's earliest deadline
//!   │   ├ Home::ensure_alarm                     earlier than the alarm? Alarm::rearm
//!   │   └ Shard::tidy                            applies late cancels
//!   └ a near deadline, or a busy shard: arm
//!       ├ Alarm::when_near                       rounds a near deadline
//!       └ arm_at_home, or arm_anywhere in another shard
//! ```
//!
//! **Cancel.** The drop of an armed timer calls `Timer::disarm`. If its home is one of this
//! thread's and the lock is free, `Shard::cancel` makes its entry the cached entry, or removes it
//! if another is cached. Otherwise `Shard::cancel_later` queues a late cancel. A later holder of
//! the lock applies it (`unlock_and_tidy`) and drops the waker after releasing the lock. If the
//! clock may be paused, the drop itself also re-arms the alarm (`Home::rearm_after_cancel_if_paused`).
//!
//! **Fire.** The thread that polls Tokio's time driver calls the alarm's waker, which records that
//! the alarm fired and runs an expiry pass (`Driver::run_pass`). In each shard, `Shard::fire_due`
//! applies the late cancels that are queued, and then takes the lock, moves the shard's clock,
//! collects the wakers of at most [`BATCH`] due timers, and wakes them after the release, until no
//! timer is due. If there are many, it defers them, and `Shard::fire_deferred` fires them in the driver
//! task. Then `Alarm::rearm` arms the alarm for the earliest deadline that is left.
//!
//! **End.** The runtime drops the driver task, which owns the driver's `Service`. That closes the
//! alarm and each shard, and wakes the timers that are pending.
//!
//! # Ground rules
//!
//! * **Take locks in this order: the alarm's mutex, then Tokio's own.** A shard's lock is taken
//!   alone, except that the lock of its late cancels is taken under it. Every other mutex, such as
//!   the registry's, is locked alone.
//! * **Wake, clone and drop no waker under a lock**, because that runs user code, which may use
//!   timers of the same shard and would deadlock. Three uses are exempt, because they concern only
//!   the driver's own wakers: Tokio clones and drops the alarm's waker when the alarm is armed, under
//!   the alarm's mutex; Tokio may wake it there, and it then only records that the alarm fired; and
//!   the driver task's waker is cloned under the mutex that protects it. (User code other than wakers
//!   may run under the alarm's mutex: see `alarm/interval.rs`.)
//! * **Timer operations tolerate panics and re-entry**, except under the alarm's mutex. While one
//!   runs, Tokio may call user code, such as a runtime hook or a destructor, and that code may
//!   panic or use timers itself. An operation must therefore keep no flag that such a panic would
//!   leave set. It must not enter a runtime either, except to read a current-thread runtime's clock
//!   from another thread (`platform::now_in`).
//! * **Arming and cancelling avoid waiting for a shard's lock**, because this thread may have
//!   preempted its holder, which cannot release the lock while this thread spins. If the shard is
//!   busy, arming takes another shard, and a cancel is queued. Arming waits only if every shard is
//!   locked. (Queueing a cancel, and applying queued ones, may wait for the lock of their list, under
//!   which cancels are only copied.) Three operations wait while the shard is busy, usually for one
//!   critical section: a reset; a poll with another waker; and, if the clock may be paused, re-arming
//!   after a cancel.
//! * **Compare deadlines with the driver's own clock only**, because a clock that was paused shows
//!   a different time from the real one. A multi-thread runtime has the real clock. A current-thread
//!   runtime has its own, which may be paused and can only be read inside the runtime: passes read
//!   it, and operations of timers only in `near.rs`. The check for late timers uses the current
//!   runtime's clock, because it only decides whether a pass is requested.
//! * **The rare situations of a deadline are behind one comparison**, with the shard's
//!   `fast_path_from`: an alarm to be moved, a configured tick, a clock that may be paused. The
//!   fast path therefore pays for none of them.
//!
//! # Shared writes of each operation
//!
//! The table lists only writes to cache lines that threads share. A `Sleep` itself, and a
//! thread-local, belong to a single thread. *The shard* is the timer's, usually that of the worker
//! that polls it. *The published line* is the cache line of the shard's fields that all threads
//! read.
//!
//! | operation | writes |
//! | --- | --- |
//! | making a timer on a worker, except the first | nothing |
//! | making a timer elsewhere | the reference count of the runtime's handle |
//! | arming | the reference counts of the task and of this worker's home; the shard's lock, an entry, a slot |
//! | arming in the cached entry | the task's reference count; the shard's lock, the entry; its slot, if that starts after the new deadline |
//! | arming again on another worker than before | in addition, the reference count of the other home |
//! | arming the earliest timer of the shard | in addition, the published line |
//! | arming the earliest timer of all | in addition, the alarm, and the published line of each shard |
//! | cancelling on the shard's own worker | the shard's lock, the entry; the reference counts of the task and of the home; the slot, if another entry is cached already |
//! | cancelling elsewhere, or while the shard is busy | the shard's list of late cancels, and the published line; the reference count of the home |
//! | polling again, with the same waker | nothing |
//! | polling again, with another waker | the reference counts of both tasks; the shard's lock, the entry |
//! | resetting | the shard's lock, the entry; the slot, if the entry has to move; as when arming, if the timer is now the earliest |
//! | an expiry pass | per shard in which something is due or a cancel is queued: its lock, entries, slots, published line; per timer its task; once, the alarm, and the published line of each shard |
//!
//! So a task that stays on its worker writes only the cache lines of that worker. A task that was
//! stolen writes the list of late cancels of its former worker once for each timer that it took
//! along.
//!
//! [`BATCH`]: crate::settings::BATCH

mod alarm;
pub(crate) mod context;
mod grid;
mod lifecycle;
#[cfg(all(test, loom))]
mod loom;
mod near;
mod pass;
pub(crate) mod registry;
pub(crate) mod shard;
#[cfg(all(test, shuttle))]
mod simulation;
pub(crate) mod timer;
mod wakers;

pub(crate) use self::lifecycle::Driver;
