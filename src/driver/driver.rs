//! A driver: the shards and the alarm that fire the timers of one runtime, from its opening to its
//! closing.
//!
//! # Ground rules
//!
//! * **Drivers are never freed**, because a `Sleep` refers to its driver's shard for as long as it
//!   lives, and counting those references would cost every timer two writes to a cache line that
//!   all workers share. Instead, a driver that has shut down goes to a pool, and may run for
//!   another runtime later. A driver that is opened starts from nothing: whatever its last runtime
//!   left behind is reset.
//! * **The generation counts the runtimes that a driver has run for.** Every operation of a timer
//!   names its generation, and is refused under the shard's lock once that has ended.
//! * **Only dropping its `Service` closes a driver.** The driver task owns the service, so a driver
//!   runs until that task ends. (If another thread installs a driver for the same runtime first,
//!   the service is dropped without a task.)

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use std::task::Waker;

use super::alarm::interval::AlarmTimer;
use super::alarm::{self, Alarm};
use super::shard::Shard;
use super::wakers;
use crate::clock::{MILLISECOND, Tick};
use crate::counts::FinalCounts;
use crate::settings::{Generation, Settings};
use crate::sync::{AtomicU64, Mutex, Ordering, is_traced, lock, worker_index};

/// Fires the timers of one runtime at a time, and lives as long as the process.
pub(crate) struct Driver {
    shards: OnceLock<Box<[Shard]>>,
    pub(super) alarm: Alarm,
    /// The waker of the driver task, once that task was polled.
    pub(super) task: Mutex<Option<Waker>>,
    pub(crate) settings: Settings,
    /// The tick at which the driver was opened.
    pub(super) opened: AtomicU64,
    /// The generations that have been told to shut down: see [`DriverRef::shutdown`].
    ends: Mutex<BTreeSet<Generation>>,
    /// The counts of the present generation.
    last: Mutex<(Generation, Arc<FinalCounts>)>,
}

/// A running driver: the driver, and its generation.
#[derive(Clone, Copy)]
pub(crate) struct DriverRef {
    pub(crate) driver: &'static Driver,
    pub(crate) generation: Generation,
}

/// Opening and closing.
impl Driver {
    /// Creates a driver that runs for no runtime yet.
    pub(super) fn leak(settings: Settings) -> &'static Driver {
        let driver: &'static Driver = Box::leak(Box::new(Driver {
            shards: OnceLock::new(),
            alarm: Alarm::new(settings),
            task: Mutex::new(None),
            settings,
            opened: AtomicU64::new(0),
            ends: Mutex::new(BTreeSet::new()),
            last: Mutex::new((0, Arc::new(FinalCounts::new(settings.shards)))),
        }));
        // Each shard refers to its driver, so the shards come second. No other thread has seen
        // either yet.
        let shards = (0..settings.shards).map(|index| Shard::new(driver, index));
        let _ = driver.shards.set(shards.collect());
        driver
    }

    /// Begins to run for a runtime, with this alarm. Nothing is armed yet, and no task runs.
    pub(super) fn open(&'static self, mut timer: AlarmTimer, capacity: usize) -> DriverRef {
        let opened = DriverRef::new(self, self.generation());
        timer.generation = opened.generation;
        timer.waker = Waker::from(Arc::new(opened));
        let now = Tick::now();
        // A deadline that has just passed may still have to wait; see `when.rs`.
        let start = Tick(now.0.saturating_sub(MILLISECOND));
        for shard in self.shards() {
            shard.open(start, capacity.div_ceil(self.settings.shards));
        }
        self.opened.store(now.0, Ordering::Relaxed);
        let last = Arc::new(FinalCounts::new(self.settings.shards));
        *lock(&self.last) = (opened.generation, last);
        self.alarm.open(timer);
        opened
    }

    /// Notes that the driver task was spawned. The runtime may have ended since, which closes the
    /// driver.
    pub(super) fn begin(&'static self, generation: Generation) {
        self.alarm.begin(generation);
        // A timer may have been registered before the task was spawned, and cancelled before the
        // clock was found to be paused. The alarm must not stay armed for it.
        self.rearm();
        for shard in self.shards() {
            self.retract(shard);
        }
    }

    /// Closes the driver and wakes all pending timers, whose next poll finds the driver closed.
    /// Returns what has to be dropped last.
    pub(super) fn close(&'static self) -> Option<AlarmTimer> {
        // Close the alarm first, so that no thread polls an interval of a runtime that has ended.
        let timer = self.alarm.close();
        let last = Arc::clone(&lock(&self.last).1);
        for (index, shard) in self.shards().iter().enumerate() {
            let pending = shard.close(|counted| last.set(index, counted));
            wakers::wake_all(pending);
        }
        let task = lock(&self.task).take();
        drop(task);
        timer
    }

    pub(crate) fn shards(&'static self) -> &'static [Shard] {
        self.shards.get().map_or(&[], |shards| shards)
    }

    /// Returns `true` if [`DriverRef::shutdown`] was called in this generation.
    pub(super) fn is_shut_down(&self, generation: Generation) -> bool {
        lock(&self.ends).contains(&generation)
    }

    pub(super) fn generation(&'static self) -> Generation {
        self.shards()[0].generation()
    }

    /// Returns where this generation leaves its final counts, or `None` if a later generation has
    /// begun.
    pub(crate) fn last(&self, generation: Generation) -> Option<Arc<FinalCounts>> {
        let (of, last) = &*lock(&self.last);
        (*of == generation).then(|| Arc::clone(last))
    }
}

/// Arming the alarm.
impl Driver {
    /// Arms the alarm for the earliest deadline. If tokio's clock has passed that, requests a pass.
    ///
    /// While a task dump traces this thread, tokio arms nothing, so the driver task re-arms the
    /// alarm after the dump. On a worker, tokio wakes that task itself after the dump; on any
    /// other thread, this function does.
    #[cold]
    pub(super) fn rearm(&'static self) {
        if cfg!(tokio_unstable) {
            let task = lock(&self.task).clone();
            if is_traced(task.as_ref().unwrap_or(Waker::noop())) {
                if worker_index().is_none() {
                    self.request_pass();
                }
                return;
            }
        }
        if !self.alarm.rearm(self.shards()) {
            self.request_pass();
        }
    }

    /// Re-arms the alarm after a timer of this shard was cancelled or reset, if the clock may be
    /// paused. Without this, tokio would advance the paused clock to the old deadline.
    #[cold]
    pub(super) fn retract(&'static self, shard: &Shard) {
        let is_later = self.alarm.may_pause() && shard.refresh(shard.wait());
        if is_later && self.alarm.armed_for() < alarm::earliest(self.shards()) {
            self.rearm();
        }
    }
}

impl DriverRef {
    pub(super) fn new(driver: &'static Driver, generation: Generation) -> Self {
        DriverRef { driver, generation }
    }

    /// Returns `true` if the driver is still running in this generation.
    pub(crate) fn is_open(self) -> bool {
        self.driver.generation() == self.generation
    }

    /// Makes the driver task end, which closes the driver and wakes all pending timers.
    pub(crate) fn shutdown(self) {
        let DriverRef { driver, generation } = self;
        if self.is_open() {
            // Store this before waking the driver task, which reads `ends` at the end of each poll.
            lock(&driver.ends).insert(generation);
            driver.request_pass();
        }
    }

    /// Returns `true` if both are the same driver in the same generation.
    pub(crate) fn is(self, other: DriverRef) -> bool {
        std::ptr::eq(self.driver, other.driver) && self.generation == other.generation
    }

    /// Returns the shard for a worker's index, or for any other thread's number.
    pub(crate) fn shard(self, number: usize) -> &'static Shard {
        let shards = self.driver.shards();
        let own = shards.get(number);
        own.unwrap_or_else(|| &shards[number % shards.len()])
    }
}
