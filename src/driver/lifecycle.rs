//! A driver: the shards and the alarm that fire the timers of one runtime, from its opening to its
//! closing.
//!
//! **A timer holds a reference to its [`Home`], not to its driver**, because the count of a home is
//! usually written by its own worker only. A home refers to its driver without keeping it alive: the
//! driver lives as long as its service and its handles. What is left of a closed driver is freed with
//! the last timer or handle, except that a thread keeps its last home, which is empty by then, until it
//! gets another home or ends.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

use super::alarm::Alarm;
use super::alarm::interval::AlarmTimer;
use super::shard::Shard;
use super::wakers;
use crate::clock::{MILLISECOND, Tick};
use crate::platform::runtime::{Handle, worker_index};
use crate::platform::{Descriptor, Mutex, is_traced, lock};
use crate::settings::Settings;

/// Fires the timers of one runtime.
pub(crate) struct Driver {
    pub(crate) homes: Box<[Arc<Home>]>,
    pub(super) alarm: Arc<Alarm>,
    /// Whether its task is being spawned. The driver then stays in the registry even if it is closed,
    /// which stops a recursion: a runtime that has ended drops the task inside `spawn`, and its hook
    /// for ended tasks may make a timer. That timer finds the closed driver, instead of starting
    /// another.
    pub(super) is_spawning: AtomicBool,
    /// The waker of the driver task, once that task was polled.
    pub(super) task: Mutex<Option<Waker>>,
    /// Number of passes.
    pub(crate) passes: AtomicU64,
    /// Number of passes in which nothing was due.
    pub(crate) idle_passes: AtomicU64,
}

/// Where a timer is: a shard, and the way from there to the driver.
#[repr(C)]
pub(crate) struct Home {
    pub(crate) shard: Shard,
    pub(super) alarm: Arc<Alarm>,
    /// It is freed only after it has shut down.
    pub(super) driver: Weak<Driver>,
    pub(super) index: usize,
}

/// The waker of a driver's alarm. It runs when the alarm fires: while Tokio polls its drivers, or on
/// a thread that is arming.
struct AlarmWaker(Weak<Driver>);

impl Wake for AlarmWaker {
    fn wake(self: Arc<Self>) {
        if let Some(driver) = self.0.upgrade() {
            driver.alarm_fired();
        }
    }
}

impl Driver {
    /// Opens a driver of the current runtime, whose handle this must be. Nothing is armed yet, and no
    /// task runs.
    ///
    /// # Panics
    ///
    /// Panics in a runtime without timers, with Tokio's message, at the caller's line.
    #[track_caller]
    pub(super) fn new(runtime: &Handle, settings: Settings, fd: Option<Descriptor>) -> Arc<Self> {
        let mut timer = AlarmTimer::new(runtime, fd);
        let now = Tick::now();
        // So that shards admit a deadline that has just passed; see `near.rs`.
        let start = Tick(now.0.saturating_sub(MILLISECOND));
        let capacity = settings.capacity.div_ceil(settings.shards);
        Arc::new_cyclic(|driver| {
            timer.waker = Waker::from(Arc::new(AlarmWaker(driver.clone())));
            let alarm = Arc::new(Alarm::new(timer, settings, now));
            let home = |index| {
                Arc::new(Home {
                    shard: Shard::new(start, capacity),
                    alarm: Arc::clone(&alarm),
                    driver: driver.clone(),
                    index,
                })
            };
            Driver {
                homes: (0..settings.shards).map(home).collect(),
                alarm: Arc::clone(&alarm),
                is_spawning: AtomicBool::new(true),
                task: Mutex::new(None),
                passes: AtomicU64::new(0),
                idle_passes: AtomicU64::new(0),
            }
        })
    }

    /// Notes whether the clock may be paused (by reading it), and finds Tokio's milliseconds. Call
    /// this after the driver task was spawned. From then on, a runtime that ends drops that task,
    /// which closes the driver, before its time driver ends. (For the exception, see `Alarm::ask`.)
    pub(super) fn begin(&self) {
        self.is_spawning.store(false, Ordering::Relaxed);
        let now = self.alarm.read_clock();
        let grid = &self.alarm.grid;
        self.alarm
            .ask(|timer| grid.find(now, |deadline| timer.tokio_has_reached(deadline)));
        // A timer may have been armed before the task was spawned, and cancelled before the clock
        // was found to be paused. The alarm must not stay armed for it. `rearm` ends the fast path,
        // and re-arming after a cancel searches each shard.
        self.rearm();
        let homes = self.homes.iter();
        homes.for_each(|home| home.rearm_after_cancel_if_paused());
    }

    /// Closes the driver and wakes all pending timers, whose next poll finds the driver closed.
    /// Returns what has to be dropped last.
    pub(super) fn close(&self) -> Option<AlarmTimer> {
        // Close the alarm first, so that no thread polls an interval of a runtime that has ended.
        let timer = self.alarm.close();
        // Close every shard before a timer is woken, because its waker may wait for a timer of another
        // shard. (The wakers of queued cancels are dropped earlier. Their drops must not wait.)
        let pending: Vec<_> = self.shards().map(Shard::close).collect();
        pending.into_iter().for_each(wakers::wake_all);
        let task = lock(&self.task).take();
        drop(task);
        timer
    }

    pub(crate) fn shards(&self) -> impl Iterator<Item = &Shard> {
        self.homes.iter().map(|home| &home.shard)
    }

    /// Returns `true` if the driver is still running.
    pub(crate) fn is_open(&self) -> bool {
        !self.homes[0].shard.is_closed()
    }

    /// Arms the alarm for the earliest deadline. If Tokio's clock has passed that, requests a pass.
    ///
    /// While a task dump traces this thread, Tokio arms nothing, so the driver task re-arms the
    /// alarm after the dump. On a worker, `is_traced` leaves the task's waker with Tokio, which wakes it
    /// after the dump. Elsewhere, this function wakes it.
    #[cold]
    pub(super) fn rearm(&self) {
        let task = || lock(&self.task).clone();
        let is_traced = cfg!(tokio_unstable) && is_traced(task().as_ref().unwrap_or(Waker::noop()));
        let needs_pass = match is_traced {
            true => worker_index().is_none(),
            false => !self.alarm.rearm(&self.homes),
        };
        if needs_pass {
            self.request_pass();
        }
    }
}

impl Home {
    /// Moves the alarm if this deadline is earlier. Call this after the entry has its deadline.
    ///
    /// **No timer is lost**: `Alarm::settle` has the argument.
    ///
    /// Call this even if `next` was early enough already, because the thread that published that
    /// `next` may be preempted before it arms the alarm. Extending a timer is exempt: this was
    /// called for the entry's earlier deadline, when it was armed or last reset, and whoever raises
    /// `next` after that (a pass, or re-arming after a cancel) re-arms the alarm afterwards.
    ///
    /// The second comparison alone would do. The first reads only the shard's own cache line, and
    /// decides for every timer on the fast path.
    #[inline(always)]
    pub(super) fn ensure_alarm(&self, when: Tick) {
        if when < self.shard.fast_path_from() && when < self.alarm.armed_for() {
            self.rearm();
        }
    }

    /// Re-arms the alarm of the driver.
    #[cold]
    pub(super) fn rearm(&self) {
        if let Some(driver) = self.driver.upgrade() {
            driver.rearm();
        }
    }

    /// Re-arms the alarm after a timer of this home was cancelled or reset, if the clock may be
    /// paused. Without this, Tokio would advance the paused clock to the old deadline.
    #[inline(always)]
    pub(super) fn rearm_after_cancel_if_paused(&self) {
        if self.alarm.may_pause() {
            self.rearm_after_cancel();
        }
    }

    #[cold]
    fn rearm_after_cancel(&self) {
        let held = self.shard.apply_late_cancels_and_lock();
        if self.shard.raise_next(held) {
            self.rearm();
        }
    }
}
