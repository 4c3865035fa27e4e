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
//! | `paused.rs` | tokio's milliseconds, and clocks that may be paused |
//! | `alarm.rs` | the alarm for the earliest deadline: when to arm, and on which thread |
//! | `mod.rs` | the driver: its shards, its alarm, its turns; opening and closing |
//! | `due.rs` | when a timer with a deadline fires |
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
mod alarm_timer;
mod cancel_queue;
pub(crate) mod clock;
pub(crate) mod context;
mod due;
mod fire;
#[cfg(all(test, loom))]
mod loom;
mod paused;
pub(crate) mod registry;
pub(crate) mod settings;
pub(crate) mod shard;
mod sync;
pub(crate) mod timer;
pub(crate) mod timerfd;
mod wakers;

use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use tokio::runtime::Handle;

use self::alarm::Alarm;
use self::alarm_timer::AlarmTimer;
use self::clock::{MILLISECOND, SOON, Tick};
use self::fire::{PER_TURN, Turn};
use self::settings::Settings;
use self::shard::Shard;
use self::sync::time::Interval;
use self::sync::{AtomicU64, AtomicUsize, Mutex, OnceLock, Ordering, lock};
use self::timerfd::HighResolution;
use crate::metrics::final_counts::FinalCounts;

/// Minimum interval from a turn, or an overdue check, to a check that asks for a turn.
const BETWEEN_CHECKS: u64 = 250_000;
/// From one look for overdue timers to the next in the same shard, if polls are slow or the worker
/// was without its processor. Tasks that a turn wakes between two such polls would only put off
/// tokio's look.
const SLOW_POLL: u64 = MILLISECOND;

/// Fires the timers of one runtime at a time; lives as long as the process.
pub(crate) struct Driver {
    shards: OnceLock<&'static [DriverShard]>,
    alarm: Alarm,
    task: Mutex<Request>,
    /// When a turn last left something over; [`Tick::NEVER`] if the next turn begins anew.
    left_over: AtomicU64,
    pub(crate) settings: Settings,
    /// When the driver began to serve its runtime.
    opened: AtomicU64,
    /// The shard that the next turn begins with.
    first: AtomicUsize,
    /// The last turn, or overdue check that did something.
    checked: AtomicU64,
    /// The counts of this time in service.
    last: Mutex<Arc<FinalCounts>>,
}

/// A shard and its driver.
pub(crate) struct DriverShard {
    pub(crate) shard: Shard,
    pub(crate) driver: &'static Driver,
    index: usize,
}

/// A shard of some driver. Drivers are never freed.
pub(crate) type ShardRef = &'static DriverShard;

/// A driver in service: the driver, and its generation.
#[derive(Clone, Copy)]
pub(crate) struct DriverRef {
    pub(crate) driver: &'static Driver,
    pub(crate) generation: u32,
}

/// Opening and closing.
impl Driver {
    /// A driver that serves no runtime yet.
    fn leak(settings: Settings) -> &'static Driver {
        let driver: &'static Driver = Box::leak(Box::new(Driver {
            shards: OnceLock::new(),
            alarm: Alarm::new(settings),
            task: Mutex::new(Request::None),
            left_over: AtomicU64::new(Tick::NEVER.0),
            settings,
            opened: AtomicU64::new(0),
            first: AtomicUsize::new(0),
            checked: AtomicU64::new(0),
            last: Mutex::new(Arc::new(FinalCounts::new(0, settings.shards))),
        }));
        let all: Vec<DriverShard> = (0..settings.shards)
            .map(|index| DriverShard {
                shard: Shard::new(),
                driver,
                index,
            })
            .collect();
        // Set once, here: no other thread has seen the driver yet.
        let _ = driver.shards.set(all.leak());
        driver
    }

    /// Begins to serve a runtime. Nothing is armed, and no task runs, yet.
    fn open(
        &'static self,
        interval: Interval,
        precise: Option<HighResolution>,
        runtime: &Handle,
        capacity: usize,
    ) -> DriverRef {
        let now = Tick::now();
        let each = capacity.div_ceil(self.settings.shards);
        // A deadline that has just passed may still have to wait; see `due.rs`.
        let start = Tick(now.0.saturating_sub(MILLISECOND));
        for shard in self.shards() {
            shard.shard.open(start, each);
        }
        let serving = DriverRef::new(self, self.generation());
        self.opened.store(now.0, Ordering::Relaxed);
        self.left_over.store(Tick::NEVER.0, Ordering::Relaxed);
        self.checked.store(now.0, Ordering::Relaxed);
        let last = FinalCounts::new(serving.generation, self.shards().len());
        *lock(&self.last) = Arc::new(last);
        self.alarm.open(AlarmTimer {
            interval,
            precise,
            waker: Waker::from(Arc::new(AlarmWaker(serving))),
            armed: Tick::NEVER,
            runtime: runtime.clone(),
            generation: serving.generation,
            runs: false,
        });
        serving
    }

    /// Ends the service: frees the interval, and wakes all pending timers, whose next poll finds
    /// the driver closed.
    fn close(&'static self) {
        // First the alarm, so that no thread polls an interval of a runtime that ends.
        self.alarm.close();
        let last = Arc::clone(&lock(&self.last));
        for home in self.shards() {
            for waker in home.shard.close(|counted| last.set(home.index, counted)) {
                wakers::wake(waker);
            }
        }
        drop(self.take_task());
    }

    pub(crate) fn shards(&self) -> &'static [DriverShard] {
        self.shards.get().copied().unwrap_or(&[])
    }

    /// The runtime has taken the driver task, unless the runtime has ended since.
    fn begin(&self, generation: u32) {
        self.alarm.begin(generation);
        // A timer may have been registered before the task was spawned, and cancelled before the
        // clock was found to be paused. (Unless another thread is arming just now.)
        self.rearm();
        for home in self.shards() {
            self.retract(&home.shard);
        }
    }

    fn generation(&self) -> u32 {
        self.shards()[0].shard.generation()
    }
}

/// For timers and handles.
impl Driver {
    /// Where this generation leaves its last figures, unless a later generation has begun.
    pub(crate) fn last(&self, generation: u32) -> Option<Arc<FinalCounts>> {
        let last = lock(&self.last);
        (last.generation == generation).then(|| Arc::clone(&last))
    }

    /// A timer was registered for this deadline, before `plain_from`: has the alarm ring by then.
    #[cold]
    fn ring_by(&self, deadline: Tick) {
        if self.alarm.is_stale() {
            self.refresh();
        } else if deadline >= self.alarm.armed_for() {
            return;
        }
        self.rearm();
    }

    /// Has each shard find its next deadline anew, where that is soon: its timer may have been
    /// cancelled.
    fn refresh(&self) {
        let soon = Tick(self.alarm.now().0.saturating_add(SOON));
        let shards = self.shards().iter().map(|home| &home.shard);
        for shard in shards.filter(|shard| shard.next() <= soon) {
            shard.try_refresh();
        }
    }

    #[cold]
    fn rearm(&self) {
        if !self.arm() {
            self.ask_for_turn();
        }
    }

    /// Arms the alarm for the earliest deadline. Returns false when a turn is needed.
    fn arm(&self) -> bool {
        let publish = |plain_from| self.publish(plain_from);
        self.alarm.rearm(|| self.earliest(), publish)
    }

    /// Tells each shard from which deadline on the alarm need not be moved.
    fn publish(&self, plain_from: Tick) {
        let shards = self.shards().iter().map(|home| &home.shard);
        for shard in shards.filter(|shard| shard.plain_from() != plain_from) {
            shard.set_plain_from(plain_from);
        }
    }

    /// The same before a turn, whose alarm may have rung late: no timer for now is plain. Only
    /// ever later, so that a timer which had to move the alarm still does.
    fn raise(&self, plain_from: Tick) {
        let shards = self.shards().iter().map(|home| &home.shard);
        for shard in shards.filter(|shard| shard.plain_from() < plain_from) {
            shard.raise_plain_from(plain_from);
        }
    }

    /// A timer of this shard was cancelled or put off. Where the clock may be paused,
    /// auto-advance must not stop at its deadline.
    #[cold]
    fn retract(&self, shard: &Shard) {
        if self.alarm.may_pause() && shard.refresh() && self.alarm.armed_for() < self.earliest() {
            self.rearm();
        }
    }

    /// The earliest time at which a shard wants a turn.
    fn earliest(&self) -> Tick {
        let nexts = self.shards().iter().map(|home| home.shard.next());
        nexts.min().unwrap_or(Tick::NEVER)
    }

    /// The next timer of this shard is overdue, or will soon be due.
    ///
    /// tokio looks at its timers only where a worker has run out of tasks, or has polled 61. In a
    /// busy runtime the driver task is sooner. In a quiet runtime the alarm may be armed for a
    /// timer that has been cancelled. Rearm with the next timer; otherwise a sleeping worker
    /// wakes for nothing.
    #[cold]
    fn check_for_overdue(&self, shard: &Shard, now: Tick) {
        let is_busy = shard.look(now) < SLOW_POLL;
        let is_overdue = shard.next() <= now;
        let apart = if is_overdue { BETWEEN_CHECKS } else { SOON / 2 };
        // A turn that outlived a runtime with an advanced clock may have left a far later time.
        if now.0.abs_diff(self.checked.load(Ordering::Relaxed)) < apart {
            return;
        }
        // By the driver's own clock: `now` may be another runtime's.
        self.checked.store(self.alarm.now().0, Ordering::Relaxed);
        if !is_overdue {
            self.alarm.set_stale();
            shard.set_plain_from(Tick::NEVER);
        } else if is_busy && !self.settings.current_thread {
            self.ask_for_turn();
        }
    }
}

/// Turns.
impl Driver {
    /// Fires the timers that are due at `now`, or about `limit` of them; `true` if all.
    fn turn(&self, generation: u32, now: Tick, limit: usize) -> bool {
        self.raise(self.alarm.plain_from(now));
        self.checked.store(now.0, Ordering::Relaxed);
        let mut turn = Turn::new(generation, now, self.settings.hold, limit);
        let done = self.visit(&mut turn);
        if let Some(counts) = self.last(generation) {
            counts.count_turn(turn.is_idle);
        }
        done
    }

    fn visit(&self, turn: &mut Turn) -> bool {
        let shards = self.shards();
        let first = self.first.load(Ordering::Relaxed);
        for index in (first..shards.len()).chain(0..first) {
            if !turn.visit(&shards[index].shard, || self.alarm.now()) {
                // The next turn begins with the next shard, however many timers are due in this
                // shard.
                let next = (index + 1) % shards.len();
                self.first.store(next, Ordering::Relaxed);
                return false;
            }
        }
        true
    }

    /// The alarm went off: in tokio's turn, or on a thread that was arming.
    fn rung(&self, generation: u32) {
        if self.alarm.ring() {
            return;
        }
        // Early: the clock went back, or the runtime is about to end. The driver task, if that
        // still runs, rearms; the interval is not touched here.
        let now = self.alarm.now();
        if now < self.alarm.rings_from() {
            return self.ask_for_turn();
        }
        let limit = match self.settings.current_thread {
            true => usize::MAX,
            false => PER_TURN,
        };
        let done = self.turn(generation, now, limit);
        if !(self.arm() && done) {
            self.ask_for_turn();
        }
    }

    /// A poll of the driver task. The first poll was not asked for; where a clock was advanced,
    /// that poll might fire timers that tokio's clock has not come to yet.
    fn poll_task(&self, generation: u32, is_first: bool, task: &Waker) {
        drop(self.take_task());
        let now = self.alarm.now();
        let waited = self.take_wait(now);
        let is_void = is_first && self.alarm.may_pause();
        // A timer per microsecond of the wait: where polls are slow a few turns fire all, and that
        // takes a fraction of the time.
        let limit = PER_TURN.max((waited.unwrap_or(0) / 1_000) as usize);
        // Armed whether the turn is done or not: the driver task may wait for a worker that blocks,
        // and `plain_from` has to keep up with the clock.
        let is_done = is_void || self.turn(generation, now, limit) & self.arm();
        let is_asked = self.set_task(task);
        if !is_done || is_asked {
            let end = self.alarm.now();
            self.left_over.store(end.0, Ordering::Relaxed);
            take_another_turn(waited, end.0.saturating_sub(now.0), task);
        }
    }

    /// How long the driver task has waited since the turn that left something over; `None` if the
    /// next turn begins anew.
    fn take_wait(&self, now: Tick) -> Option<u64> {
        let since = Tick(self.left_over.swap(Tick::NEVER.0, Ordering::Relaxed));
        (since != Tick::NEVER).then(|| now.0.saturating_sub(since.0))
    }

    /// Leaves the driver task's waker for the next request. Returns true if there was a request
    /// since the waker was taken.
    fn set_task(&self, task: &Waker) -> bool {
        let left = Request::Waker(task.clone());
        let before = mem::replace(&mut *lock(&self.task), left);
        matches!(before, Request::Made)
    }

    fn take_task(&self) -> Option<Waker> {
        match mem::replace(&mut *lock(&self.task), Request::None) {
            Request::Waker(task) => Some(task),
            Request::None | Request::Made => None,
        }
    }

    /// Wakes the driver task, or, while that task is polled, has it polled again.
    #[cold]
    fn ask_for_turn(&self) {
        let before = mem::replace(&mut *lock(&self.task), Request::Made);
        if let Request::Waker(task) = before {
            task.wake();
        }
    }
}

/// Has the driver task polled again, after a turn that `took` so long. If the run queue was nearly
/// empty, so that the task waited for less than a fourth of that: once this worker has looked at I/O
/// and at tokio's timers, which a mass expiry would put off for 61 turns. Otherwise, and after the
/// first turn, from the run queue: tokio looks after 61 polls there.
fn take_another_turn(waited: Option<u64>, took: u64, task: &Waker) {
    if waited.is_none_or(|waited| waited >= took / 4) {
        return task.wake_by_ref();
    }
    let yields = pin!(tokio::task::yield_now());
    let _pending = yields.poll(&mut Context::from_waker(task));
}

/// A request for a turn of the driver task.
enum Request {
    /// None so far, and the driver task is polled, or there is none.
    None,
    /// None so far: the driver task's waker.
    Waker(Waker),
    Made,
}

/// The alarm's waker.
struct AlarmWaker(DriverRef);

impl Wake for AlarmWaker {
    fn wake(self: Arc<Self>) {
        let AlarmWaker(serving) = *self;
        if serving.is_open() {
            serving.driver.rung(serving.generation);
        }
    }
}

impl DriverRef {
    fn new(driver: &'static Driver, generation: u32) -> Self {
        DriverRef { driver, generation }
    }

    /// Whether the driver still serves in this generation.
    pub(crate) fn is_open(self) -> bool {
        self.driver.generation() == self.generation
    }

    pub(crate) fn is(self, other: DriverRef) -> bool {
        std::ptr::eq(self.driver, other.driver) && self.generation == other.generation
    }

    /// The shard for a worker's index, or any other thread's number.
    #[inline]
    pub(crate) fn shard(self, number: usize) -> ShardRef {
        let shards = self.driver.shards();
        let own = shards.get(number);
        own.unwrap_or_else(|| &shards[number % shards.len()])
    }
}

impl DriverShard {
    /// The other shards of the driver.
    fn others(&'static self) -> impl Iterator<Item = ShardRef> {
        let shards = self.driver.shards();
        shards[self.index + 1..].iter().chain(&shards[..self.index])
    }
}
