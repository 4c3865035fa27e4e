//! The driver: fires the timers of one runtime.
//!
//! ```text
//!  register / cancel / reset                     tokio's turn         driver task
//!        │ (timer.rs)                                 │ rings               │ polled
//!        ▼                                            ▼                     ▼
//!  ┌─ Driver ──────────────────────────────────────────────────────────────────┐
//!  │ Shard 0: clock, next, Lock<wheel of wakers>    Shard 1 …    one per worker  │
//!  │ Plan: planned, asked, rung                     Alarm: tokio::time::Interval │
//!  └───────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! | file | one idea |
//! | --- | --- |
//! | `clock.rs` | instants, ticks, rounding |
//! | `shard.rs` | a wheel behind a lock: who owns an entry, how long a hold lasts |
//! | `mail.rs` | cancels that found their shard busy |
//! | `spare.rs` | a timer that a thread has cancelled, left for its next one |
//! | `kept.rs` | wakers of timers that are done, for a reset |
//! | `plan.rs` | what is armed, and that no deadline is missed |
//! | `alarm.rs` | the interval that rings in tokio's turn |
//! | `tally.rs` | what is counted, and what is read of it |
//! | `lag.rs` | how late timers fire: a histogram |
//! | `turn.rs` | firing what is due, in bounded holds, wakers outside the lock |
//! | `watch.rs` | being on time in a busy runtime: when the driver task looks at the clock |
//! | `foreign.rs` | waking and dropping wakers, which may panic |
//! | `registry.rs` | which driver belongs to which runtime; drivers that have ended |
//! | `local.rs` | finding it again without touching anything shared |
//! | `timer.rs` | one timer: the states that a `Sleep` goes through |
//! | `timer/register.rs` | how it gets into a wheel |
//! | `settings.rs` | what a `Builder` sets |
//! | `vtable.rs` | the identity of a waker in nine bytes |
//! | `sync.rs` | the real primitives, or those of the models |
//! | `loom/` | the models: every race, in every order |
//!
//! # Ground rules
//!
//! * Locks are taken in this order and never the other way: `alarm`, then
//!   tokio's own. A shard's lock is taken alone, but for that of its mailbox,
//!   which is taken under it. No waker is woken, cloned or dropped under any of
//!   them, but for the driver task's own.
//! * Turns, and every comparison of a deadline with now, happen in the driver's
//!   own runtime; elsewhere a timer is only put into its shard.
//! * Only the end of the driver task closes a driver. Drivers are never freed:
//!   a `Sleep` refers to one for ever, at no cost per timer. One that has ended
//!   goes to a pool; the *generation*, checked under the shard's lock, tells a
//!   `Sleep` that the driver it knew is gone.
//!
//! # What an operation writes, and who else writes there
//!
//! Every line of memory that threads share; what is in a `Sleep` itself, or in a
//! thread-local, is nobody else's. *The shard* is that of the thread which made
//! the timer, unless that was busy when the timer was registered. Shards, and the
//! spares in them, are aligned so that no two have a line in common.
//!
//! | operation | writes |
//! | --- | --- |
//! | making a timer | nothing; *handle* once or twice per task and thread, while the thread remembers the task; the registry once per thread |
//! | registering | *task* (its waker is cloned), *lock*, *entry*, *slot*; *next* if it is the shard's earliest; *spare* if a timer was left there, which is taken out as by a cancel |
//! | registering in the place of what was left in *spare* | *spare*, *lock*, *entry*; *slot* and *next* as with a reset |
//! | cancelling into *spare* | *spare*, by plain stores |
//! | cancelling otherwise | *lock*, *entry*, *slot*, *task* (its waker is dropped); seldom the entries of up to four neighbours, whose bunches merge |
//! | cancelling where the lock is held | *mail*; *driver task* if it is held once more; else as the holder |
//! | polling again, with the same waker | nothing |
//! | polling again, with another one | *lock*, *entry*, *task* of both |
//! | resetting what is pending | *lock*, *entry*; *slot*, if the one that it is in comes too late; *next* as above; if it is due at once, as cancelling, and the task is woken |
//! | a `Sleep` that says it is ready, and its drop or reset | *kept*, *task*, each time; `timeout` and `interval` do not |
//! | registering or resetting to before `planned` | *alarm*, too |
//! | a look of the driver task, which keeps watch, that finds nothing due | *driver task* |
//! | firing | *turns* per turn; *lock*, *next*, *clock* and the *spare*s in use per hold; *entry*, *slot*, the histogram of lag and *task* (it is woken) per timer; at the end *alarm* |
//!
//! | line | who else writes it, and when |
//! | --- | --- |
//! | *lock*: the lock, the counts and the wheel's own fields behind it | whoever takes it: a turn, if something is due here or in the mail; a thread that cancels, resets or polls with another waker what was registered here before its task was stolen; one that shares the shard, because there are more threads with timers than shards; one whose own shard is busy; a reader of metrics; a cancel in a paused runtime, to take its alarm back |
//! | *entry*: a place in the slab, and its page's free list | the same, under the lock |
//! | *slot*: a level's bits, a bunch's header, a cell in it | the same, under the lock |
//! | *next*, beside *clock* | the same, under the lock. Turns, and whoever re-arms, read every shard's `next`; a poll reads `clock` |
//! | *spare*: a line for each thread that has claimed one | stored by its thread alone when it is filled; emptied, under the lock, also by a turn that fires here and by a reader of metrics. Claimed anew when its thread has ended or gone to another shard |
//! | *task*: the reference count and state in the header of tokio's task | tokio, wherever the task is woken or polled |
//! | *mail* | cancels that find the lock held; whoever releases it then |
//! | *kept* | the threads whose shard this is, where a `Sleep` is polled that has fired; whoever drops or resets it elsewhere |
//! | *handle*: the count of references to the runtime's handle | every worker; spawning a task writes it too. Also a timer that is made outside of tasks, or is polled for the first time with a waker that is not its task's |
//! | *alarm*: `asked`, `rung`, `planned`, the alarm's mutex, tokio's timers | every worker that registers what is earlier than `planned`; each turn |
//! | *driver task*, *turns*: the driver's own waker, `turns`, `idle_turns`, `first`, the watch's `from` and `passed` | turns, looks, and cancels that find a lock held twice; who sets the alarm reads `from`, and writes it when a watch begins |
//!
//! Memory is allocated per page of 2048 entries and per bunch of 64 cells.
//! `planned`, the settings, `takes_back` and the table of vtables are read by all;
//! the first is written per alarm, the others when a driver starts, a clock is found
//! paused, or a vtable is met for the first time.
//!
//! **Why that carries to 64 workers.** A worker that arms and cancels for its own
//! tasks writes its own *lock*, *entry*, *slot* and *spare*, lines that no other
//! worker writes, and the *task* that it is polling, which is shared with or without
//! timers. What all workers write is written per task, as spawning it does, or per
//! alarm, and that rings about once in a millisecond at most: tokio's clock ticks so.
//! Each ring costs a worker a miss or two on the driver, and some holds of its lock
//! where something is due; the thread that it rings on reads as many `next`s as there
//! are shards. While the runtime is busy, the driver task is polled once or a few times
//! per round of one worker's queue, and reads `planned` to see that nothing is due; the
//! other workers do not notice. A stolen task cancels what it has at its former worker's,
//! and arms the next timer at its new one's. So nothing that is paid per timer grows with
//! workers.
//!
//! **What does not.** Timers each of which is due before all others: every one goes
//! through *alarm*. More threads with timers than shards: those which share one find
//! it busy at times. Timers polled with wakers of their own, as `FuturesUnordered`
//! has, or made outside of tasks: each asks for the runtime, *handle*. And what is
//! due at once is fired by one thread, though the others do not wait for it.

mod alarm;
pub(crate) mod clock;
mod foreign;
mod kept;
pub(crate) mod lag;
pub(crate) mod local;
#[cfg(all(test, loom))]
mod loom;
mod mail;
mod plan;
pub(crate) mod registry;
pub(crate) mod settings;
pub(crate) mod shard;
mod spare;
mod sync;
pub(crate) mod tally;
pub(crate) mod timer;
mod turn;
mod vtable;
mod watch;

use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

use tokio::runtime;

use self::alarm::{Alarm, HORIZON, is_arming};
use self::clock::Tick;
use self::plan::Plan;
use self::settings::{Active, Settings};
use self::shard::Shard;
use self::sync::time::Interval;
use self::sync::{AtomicBool, AtomicU64, AtomicUsize, Mutex, OnceLock, Ordering, lock};
use self::tally::{Last, Turns};
use self::watch::Watch;

/// What tokio adds to a deadline at most.
const ROUNDED_UP: u64 = 999_999;
/// Deadlines further ahead than this are approached in steps.
const DISTANT: Duration = Duration::from_secs(1);
/// How often an alarm that rings while it is being set is set again before the
/// driver task is asked to do it.
const SET_ATTEMPTS: usize = 3;

/// Fires the timers of one runtime at a time; lives as long as the process.
pub(crate) struct Driver {
    shards: OnceLock<&'static [Home]>,
    plan: Plan,
    alarm: Mutex<Option<Alarm>>,
    /// The driver task's waker.
    task: Mutex<Option<Waker>>,
    watch: Watch,
    settings: Active,
    /// A cancelled timer must not draw a paused clock: its alarm is taken back.
    takes_back: AtomicBool,
    /// Threads that have been given a shard so far.
    threads: AtomicUsize,
    /// The shard that the next turn begins with.
    first: AtomicUsize,
    turns: AtomicU64,
    idle_turns: AtomicU64,
    /// Where this time in service leaves its last figures.
    last: Mutex<Arc<Last>>,
}

/// A shard and the driver that it is part of.
pub(crate) struct Home {
    pub(crate) shard: Shard,
    pub(crate) driver: &'static Driver,
    index: usize,
}

impl Driver {
    /// A driver with so many shards, which serves nobody yet.
    fn leak(shards: usize) -> &'static Driver {
        let driver: &'static Driver = Box::leak(Box::new(Driver {
            shards: OnceLock::new(),
            plan: Plan::new(),
            alarm: Mutex::new(None),
            task: Mutex::new(None),
            watch: Watch::new(),
            settings: Active::new(),
            takes_back: AtomicBool::new(false),
            threads: AtomicUsize::new(0),
            first: AtomicUsize::new(0),
            turns: AtomicU64::new(0),
            idle_turns: AtomicU64::new(0),
            last: Mutex::new(Arc::new(Last::new(0, shards))),
        }));
        let homes: Vec<Home> = (0..shards)
            .map(|index| Home {
                shard: Shard::new(),
                driver,
                index,
            })
            .collect();
        // Set once, here: nobody else has seen the driver yet.
        let _ = driver.shards.set(homes.leak());
        driver
    }

    pub(crate) fn shards(&self) -> &'static [Home] {
        self.shards.get().copied().unwrap_or(&[])
    }

    pub(crate) fn generation(&self) -> u32 {
        self.shards()[0].shard.generation()
    }

    /// Begins to serve a runtime. Nothing is armed, and no task runs, yet.
    fn open(&'static self, interval: Interval, runtime: runtime::Id, settings: &Settings) {
        let now = Tick::now();
        let each = settings.capacity.div_ceil(self.shards().len());
        for home in self.shards() {
            home.shard.open(now, each);
        }
        self.plan.clear();
        self.watch.open(now, settings.fires_all);
        self.settings.set(settings, now);
        self.threads.store(0, Ordering::Relaxed);
        let may_pause = cfg!(feature = "test-util") && settings.fires_all;
        self.takes_back.store(may_pause, Ordering::Relaxed);
        self.turns.store(0, Ordering::Relaxed);
        self.idle_turns.store(0, Ordering::Relaxed);
        let last = Last::new(self.generation(), self.shards().len());
        *lock(&self.last) = Arc::new(last);
        self.note_clock();
        let ring = Ring {
            driver: self,
            generation: self.generation(),
        };
        let alarm = Alarm::new(interval, Waker::from(Arc::new(ring)), runtime, now);
        *lock(&self.alarm) = Some(alarm);
    }

    /// Ends the service: frees the interval, which keeps the runtime's handle
    /// alive, and wakes everything that is pending, to find that out.
    fn close(&'static self) {
        // First the alarm, so that nobody polls an interval of a runtime that ends.
        let alarm = lock(&self.alarm).take();
        drop(alarm);
        let last = Arc::clone(&lock(&self.last));
        // Set once: a generation is closed once.
        let _ = last.turns.set(self.turns());
        for home in self.shards() {
            for waker in home.shard.close(|counted| last.set(home.index, counted)) {
                foreign::wake(waker);
            }
        }
        let task = lock(&self.task).take();
        drop(task);
    }

    pub(crate) fn turns(&self) -> Turns {
        Turns {
            all: self.turns.load(Ordering::Relaxed),
            idle: self.idle_turns.load(Ordering::Relaxed),
        }
    }

    /// Where this generation leaves its last figures, unless it is long gone.
    pub(crate) fn last(&self, generation: u32) -> Option<Arc<Last>> {
        let last = lock(&self.last);
        last.is_of(generation).then(|| Arc::clone(&last))
    }

    /// When the alarm rings at the latest.
    #[inline]
    pub(crate) fn planned(&self) -> Tick {
        self.plan.planned()
    }

    #[inline]
    pub(crate) fn settings(&self) -> &Active {
        &self.settings
    }

    /// The earliest time at which a shard wants a turn.
    fn earliest(&self) -> Tick {
        let nexts = self.shards().iter().map(|home| home.shard.next());
        nexts.min().unwrap_or(Tick::NEVER)
    }

    /// What to arm the alarm for when it is `now`, as far as that is known.
    ///
    /// A distant deadline is approached in steps of seven eighths: of timers each of
    /// which is due a little before the last one only few have to move the alarm.
    /// That costs a few wake-ups on the way to a deadline, however distant.
    fn target(&self, now: Option<Tick>) -> Tick {
        let earliest = self.earliest();
        if earliest == Tick::NEVER {
            return Tick::NEVER;
        }
        let Some(now) = now else {
            let reached = self.shards()[0].shard.clock();
            return earliest.min(reached.saturating_add(HORIZON));
        };
        let ahead = earliest.saturating_since(now);
        // A paused clock would stop at each step.
        if ahead > DISTANT && !self.takes_back() {
            return now.saturating_add((ahead / 8 * 7).min(HORIZON));
        }
        earliest.min(now.saturating_add(HORIZON))
    }

    /// Now, if that can be told here: everywhere when the driver's clock cannot be
    /// paused, else in its own runtime only.
    #[inline]
    pub(crate) fn now_at_home(&self) -> Option<Tick> {
        self.now_or(|| lock(&self.alarm).as_ref()?.now())
    }

    /// The same where somebody can ask the alarm.
    #[inline]
    fn now_or(&self, by_alarm: impl FnOnce() -> Option<Tick>) -> Option<Tick> {
        if self.settings.fires_all() {
            by_alarm()
        } else {
            Some(Tick::really_now())
        }
    }

    /// Arms the alarm for the earliest deadline; see `plan.rs`.
    #[cold]
    pub(crate) fn rearm(&self) {
        let mut begins = false;
        self.plan.rearm(|| {
            self.arm_with(|alarm| {
                // Not a caller's: the driver may serve another runtime by now.
                let now = self.now_or(|| alarm.now());
                let set = self.arm_once(alarm, now);
                begins |= now.is_some_and(|now| self.watch.begins(now, self.planned()));
                set
            });
        });
        if begins {
            self.wake_to_watch();
        }
    }

    /// Sets the alarm with `set`, which says `false` when it rang meanwhile.
    fn arm_with(&self, mut set: impl FnMut(&mut Alarm) -> bool) {
        for _ in 0..SET_ATTEMPTS {
            let mut slot = lock(&self.alarm);
            let Some(alarm) = slot.as_mut() else { return };
            if set(alarm) {
                return;
            }
        }
        self.ask_for_turn();
    }

    fn arm_once(&self, alarm: &mut Alarm, now: Option<Tick>) -> bool {
        if self.plan.take_ring() {
            alarm.armed = Tick::NEVER;
        }
        if now.is_some() {
            self.note_clock();
        }
        // An alarm for a timer that is gone costs one wake-up, and is left; but not for
        // one that a look was quicker to fire.
        let overdue = now.is_some_and(|now| alarm.armed <= now);
        let keep = (!self.takes_back() && !overdue).then_some(alarm.armed);
        let target = self.plan.settle(keep, || self.target(now));
        if target == alarm.armed {
            true
        } else if target != Tick::NEVER {
            alarm.set(self.ring_time(target), target, now)
        } else if now.is_some() {
            alarm.disarm();
            // Disarming rings once, on this thread.
            self.plan.take_ring();
            true
        } else {
            false
        }
    }

    /// What the interval is set to so that it rings at `target`.
    ///
    /// A paused clock moves by whole milliseconds, and tokio rounds up to those
    /// of its runtime. Paused inside one, it would ring a millisecond late.
    fn ring_time(&self, target: Tick) -> Tick {
        let rounded_up = self.takes_back() && clock::is_virtual();
        let early = if rounded_up { ROUNDED_UP } else { 0 };
        Tick(target.0.saturating_sub(early))
    }

    /// Whether a cancelled timer's alarm is taken back: where a clock is, or
    /// may be, paused.
    #[inline]
    pub(crate) fn takes_back(&self) -> bool {
        self.takes_back.load(Ordering::Relaxed)
    }

    /// Only the clock of a current-thread runtime can be paused.
    fn note_clock(&self) {
        if !self.takes_back() && self.settings.fires_all() && clock::is_virtual() {
            self.takes_back.store(true, Ordering::Relaxed);
        }
    }

    /// After a timer of this shard was cancelled or put off, where the clock may
    /// be paused.
    #[cold]
    pub(crate) fn take_back(&self, shard: &Shard) {
        if shard.refresh() && self.planned() < self.earliest() {
            self.rearm();
        }
    }

    /// Wakes the driver task.
    #[cold]
    pub(crate) fn ask_for_turn(&self) {
        let task = lock(&self.task).take();
        if let Some(task) = task {
            task.wake();
        }
    }

    /// Keeps the driver task's waker. `true` if somebody has taken the last one, to
    /// ask for a turn.
    fn listen(&self, task: &Waker) -> bool {
        let mut slot = lock(&self.task);
        let asked = slot.is_none();
        if asked {
            *slot = Some(task.clone());
        }
        asked
    }

    /// The shard of a thread that has none yet.
    fn assign(&'static self) -> &'static Home {
        let turn = self.threads.fetch_add(1, Ordering::Relaxed);
        &self.shards()[turn % self.shards().len()]
    }
}

impl Home {
    /// The shards of the driver, this one first.
    pub(crate) fn and_others(&'static self) -> impl Iterator<Item = &'static Home> {
        let shards = self.driver.shards();
        shards[self.index..].iter().chain(&shards[..self.index])
    }
}

/// The alarm's waker.
struct Ring {
    driver: &'static Driver,
    generation: u32,
}

impl Wake for Ring {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.driver.generation() == self.generation {
            self.driver.rung(self.generation);
        }
    }
}

impl Driver {
    /// The alarm went off: in tokio's turn, or on a thread that was setting it.
    fn rung(&self, generation: u32) {
        self.plan.ring();
        if is_arming() {
            return;
        }
        // Early: the clock went back, or the runtime is about to end. Not a time
        // to touch the interval; the driver task, if it still runs, will.
        let now = Tick::now();
        if now < self.planned() {
            return self.ask_for_turn();
        }
        if self.turn_in_tokios_turn(generation, now) {
            self.rearm();
        }
    }
}
