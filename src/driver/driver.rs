//! A driver: its shards and its alarm, from the opening for a runtime until the closing, at the
//! runtime's end or by a shutdown.
//!
//! # Ground rules
//!
//! * Drivers are never freed. A `Sleep` refers to its driver for ever, at no cost per timer. A driver
//!   that has ended goes to a pool, and may serve another runtime. A driver that is opened begins
//!   from nothing: whatever its last time in service left behind is reset.
//! * The *generation* counts the times in service. Each operation of a timer names its generation,
//!   and is refused under the shard's lock once that generation has ended.
//! * Only the end of the driver task closes a driver.

use std::sync::{Arc, OnceLock};
use std::task::Waker;

use super::alarm::interval::AlarmTimer;
use super::alarm::{self, Alarm};
use super::shard::{Shard, Shards};
use super::wakers;
use crate::clock::{MILLISECOND, Tick};
use crate::counts::FinalCounts;
use crate::settings::{Generation, Settings};
use crate::sync::{AtomicU16, AtomicU64, Mutex, Ordering, lock};

/// Fires the timers of one runtime at a time; lives as long as the process.
pub(crate) struct Driver {
    shards: OnceLock<&'static [DriverShard]>,
    pub(super) alarm: Alarm,
    /// The driver task, once that was polled.
    pub(super) task: Mutex<Option<Waker>>,
    pub(crate) settings: Settings,
    /// When the driver was opened.
    pub(super) opened: AtomicU64,
    /// Generations below this are to end: see [`DriverRef::shutdown`].
    pub(super) ends: AtomicU16,
    /// The counts of this time in service, and its generation.
    last: Mutex<(Generation, Arc<FinalCounts>)>,
}

/// A shard, and its driver.
pub(crate) struct DriverShard {
    pub(crate) shard: Shard,
    pub(crate) driver: &'static Driver,
    pub(super) index: usize,
}

/// A shard of some driver.
pub(crate) type ShardRef = &'static DriverShard;

/// A driver in service: the driver, and its generation.
#[derive(Clone, Copy)]
pub(crate) struct DriverRef {
    pub(crate) driver: &'static Driver,
    pub(crate) generation: Generation,
}

/// Opening and closing.
impl Driver {
    /// A driver that serves no runtime yet.
    pub(super) fn leak(settings: Settings) -> &'static Driver {
        let driver: &'static Driver = Box::leak(Box::new(Driver {
            shards: OnceLock::new(),
            alarm: Alarm::new(settings),
            task: Mutex::new(None),
            settings,
            opened: AtomicU64::new(0),
            ends: AtomicU16::new(0),
            last: Mutex::new((0, Arc::new(FinalCounts::new(settings.shards)))),
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

    /// Begins to serve a runtime, with this alarm. Nothing is armed, and no task runs, yet.
    pub(super) fn open(&self, alarm: AlarmTimer, capacity: usize) {
        let now = Tick::now();
        let each = capacity.div_ceil(self.settings.shards);
        // A deadline that has just passed may still have to wait; see `when.rs`.
        let start = Tick(now.0.saturating_sub(MILLISECOND));
        for shard in self.each_shard() {
            shard.open(start, each);
        }
        self.opened.store(now.0, Ordering::Relaxed);
        let last = Arc::new(FinalCounts::new(self.shards().len()));
        *lock(&self.last) = (self.generation(), last);
        self.alarm.open(alarm);
    }

    /// The runtime has taken the driver task, unless the runtime has ended since.
    pub(super) fn begin(&self, generation: Generation) {
        self.alarm.begin(generation);
        // A timer may have been registered before the task was spawned, and cancelled before the
        // clock was found to be paused. (Unless another thread is arming just now.)
        self.rearm();
        for shard in self.each_shard() {
            self.retract(shard);
        }
    }

    /// Ends the service: frees the interval, and wakes all pending timers, whose next poll finds
    /// the driver closed.
    pub(super) fn close(&'static self) {
        // First the alarm, so that no thread polls an interval of a runtime that ends.
        self.alarm.close();
        let last = Arc::clone(&lock(&self.last).1);
        for home in self.shards() {
            for waker in home.shard.close(|counted| last.set(home.index, counted)) {
                wakers::wake(waker);
            }
        }
        let task = lock(&self.task).take();
        drop(task);
    }

    pub(crate) fn shards(&self) -> &'static [DriverShard] {
        self.shards.get().copied().unwrap_or(&[])
    }

    pub(super) fn each_shard(&self) -> impl Shards {
        self.shards().iter().map(|home| &home.shard)
    }

    pub(super) fn generation(&self) -> Generation {
        self.shards()[0].shard.generation()
    }

    /// Where this generation leaves its last figures, unless a later generation has begun.
    pub(crate) fn last(&self, generation: Generation) -> Option<Arc<FinalCounts>> {
        let (of, last) = &*lock(&self.last);
        (*of == generation).then(|| Arc::clone(last))
    }
}

/// Arming.
impl Driver {
    /// A timer was registered for this deadline, which is before `plain_from`: has the alarm ring no
    /// later.
    #[cold]
    pub(super) fn arm_for(&self, deadline: Tick) {
        if deadline < self.alarm.armed_for() {
            self.rearm();
        }
    }

    /// Arms the alarm for the earliest deadline. If tokio's clock has passed that, asks for a turn.
    #[cold]
    pub(super) fn rearm(&self) {
        if !self.alarm.rearm(self.each_shard()) {
            self.ask_for_turn();
        }
    }

    /// A timer of this shard was cancelled or put off. Where the clock may be paused, auto-advance
    /// must not stop at its deadline.
    #[cold]
    pub(super) fn retract(&self, shard: &Shard) {
        let is_later = self.alarm.may_pause() && shard.refresh_in(shard.wait());
        if is_later && self.alarm.armed_for() < alarm::earliest(self.each_shard()) {
            self.rearm();
        }
    }
}

impl DriverRef {
    pub(super) fn new(driver: &'static Driver, generation: Generation) -> Self {
        DriverRef { driver, generation }
    }

    /// Whether the driver still serves in this generation.
    pub(crate) fn is_open(self) -> bool {
        self.driver.generation() == self.generation
    }

    /// Has the driver task end, which closes the driver, and wakes the timers that are pending.
    pub(crate) fn shutdown(self) {
        let DriverRef { driver, generation } = self;
        if self.is_open() {
            // First: the driver task looks at `ends` at the end of each poll.
            driver.ends.fetch_max(generation + 1, Ordering::Relaxed);
            driver.ask_for_turn();
        }
    }

    pub(crate) fn is(self, other: DriverRef) -> bool {
        std::ptr::eq(self.driver, other.driver) && self.generation == other.generation
    }

    /// The shard for a worker's index, or any other thread's number.
    pub(crate) fn shard(self, number: usize) -> ShardRef {
        let shards = self.driver.shards();
        let own = shards.get(number);
        own.unwrap_or_else(|| &shards[number % shards.len()])
    }
}

impl DriverShard {
    /// The other shards of the driver.
    pub(super) fn others(&'static self) -> impl Iterator<Item = ShardRef> {
        let shards = self.driver.shards();
        shards[self.index + 1..].iter().chain(&shards[..self.index])
    }
}
