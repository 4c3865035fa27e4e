//! The alarm: the one Tokio timer behind a driver. It fires for the earliest deadline of all
//! shards.
//!
//! The alarm is a `tokio::time::Interval`, and with high resolution also a timerfd (both are in
//! `interval.rs`). Its waker runs an expiry pass. Tokio calls that waker on the thread that polls
//! Tokio's drivers, and does not hold its timer lock then.
//!
//! **Why does the pass run in the alarm's waker, and not in the driver task?** A task that is woken
//! waits in a run queue, which may be long. If the worker that owns the queue blocks, the task
//! waits with it, and all timers of the runtime with the task. In the waker, the pass runs as soon
//! as any worker polls Tokio's time driver, and needs no trip through a queue. If a clock is
//! paused, the pass is also over before `tokio::time::advance().await` returns.
//!
//! **Why does the thread that arms the earliest timer move the alarm itself?** For the same reason:
//! if it woke the driver task instead, that task would wait behind the very task that has just
//! armed the timer.
//!
//! # From a deadline to Tokio's timer
//!
//! [`rearm`](Alarm::rearm) takes the mutex. [`settle`](Alarm::settle) finds the target, publishes
//! it, and looks at the shards again until none has an earlier deadline. [`set`](Alarm::set) arms
//! Tokio's interval, or the timerfd.
//!
//! | tick | meaning |
//! | --- | --- |
//! | a shard's `next` | the shard needs a pass then. It may be too early, but is never too late |
//! | the target | the earliest `next` of all shards or, if timers are deferred and that is earlier, `awaited_until`; earlier than both if deadlines fall: see [`target`](Alarm::target) |
//! | `Alarm::armed_for` | the target as published, before anything is armed for it. Other threads rely on it |
//! | `AlarmTimer::set_for` | the target that the interval or the timerfd was last set for; `NEVER` once `rearm` has found that one of them fired. Only under the mutex |
//! | `at`, `AlarmTimer::set_to` | when the interval or the timerfd fires for the target |
//!
//! # Ground rules
//!
//! * **Never lose a timer: store first, then load what the other side stores.**
//!   [`settle`](Alarm::settle) has the argument. `Home::ensure_alarm` is the other side.
//! * **The alarm fires no later than `armed_for`**, except in three cases. Tokio rounds up to a
//!   millisecond. A timerfd keeps a minimum distance, the *spacing*, between wake-ups. If the
//!   target passes while the interval is being set, a requested pass takes its place (see `set`).
//! * **When `settle` returns, `fast_path_from` is the later of `armed_for` and the present time**,
//!   plus a millisecond if timers fire with Tokio's milliseconds. (With a configured tick, or if the
//!   clock may be paused, it is [`Tick::NEVER`].)
//! * **Hold the mutex only to arm, open and close, to read the runtime's clock, and to ask Tokio
//!   which deadlines it has reached.** Tokio's own locks are taken under it, and atomics of shards
//!   are read and written. Lock no shard under it, and enter a runtime under it only to read its
//!   clock. Nothing may unwind between the store of `armed_for` and the arming: a panic of Tokio's
//!   is caught when the interval is armed, and setting the timerfd reports an error instead of
//!   panicking.
//! * **Record that the alarm fired before taking any lock, and consume the record before comparing
//!   the target with what is armed.** Only the record shows that the alarm is no longer set.
//!   Without it, a thread that re-arms the alarm after it fired could find the target equal to
//!   `AlarmTimer::set_for`, and would leave the alarm unset.
//! * **The alarm may fire while it is being armed**, on the arming thread, if Tokio's clock has
//!   passed the target. While [`ARMING`] is set, firing is only recorded, because that thread is
//!   inside an operation of its own timer and must not run another task's waker there. The thread
//!   then requests a pass.

pub(super) mod interval;

use std::cell::Cell;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use self::interval::{ARMING, AlarmTimer};
use super::grid::Grid;
use super::lifecycle::Home;
use super::wakers::contain;
use crate::clock::{MILLISECOND, Tick};
use crate::platform::{self, AtomicBool, AtomicU64, Mutex, Ordering, is_traced, lock};
use crate::settings::Settings;

/// How long the alarm leaves deferred timers to the driver task.
const PATIENCE: Duration = Duration::from_nanos(100 * MILLISECOND);

/// A driver's alarm, to which the home of each timer refers. It is aligned, to take few cache lines.
#[repr(align(64))]
pub(super) struct Alarm {
    /// See the table above. [`Tick::NEVER`] if no timer is armed.
    armed_for: AtomicU64,
    /// The record that the alarm has fired, until `rearm` consumes it.
    has_fired: AtomicBool,
    /// See [`awaited_until`](Self::awaited_until).
    awaited_until: AtomicU64,
    pub(super) grid: Grid,
    /// Whether the clock is, or may be, paused. Once set, it stays set.
    may_pause: AtomicBool,
    /// The mutex of the rules above. It holds `None` once the driver has shut down.
    timer: Mutex<Option<AlarmTimer>>,
    pub(super) runtime: platform::runtime::Id,
    pub(super) settings: Settings,
    /// The tick at which the driver was opened.
    pub(super) opened: Tick,
}

/// Returns the earliest deadline of these shards, or [`Tick::NEVER`] if nothing is armed.
pub(super) fn earliest(homes: &[Arc<Home>]) -> Tick {
    let nexts = homes.iter().map(|home| home.shard.next());
    nexts.min().unwrap_or(Tick::NEVER)
}

impl Alarm {
    /// Creates the alarm of a driver that is opened now. Nothing is armed yet.
    pub(super) fn new(timer: AlarmTimer, settings: Settings, opened: Tick) -> Self {
        Alarm {
            armed_for: AtomicU64::new(Tick::NEVER.0),
            has_fired: AtomicBool::new(false),
            awaited_until: AtomicU64::new(Tick::NEVER.0),
            grid: Grid::unknown(),
            may_pause: AtomicBool::new(false),
            runtime: timer.runtime.id(),
            timer: Mutex::new(Some(timer)),
            settings,
            opened,
        }
    }

    /// Gives back the interval, to be dropped, because it would keep the handle of its runtime
    /// alive. Its drop may run user code: a subscriber sees it.
    pub(super) fn close(&self) -> Option<AlarmTimer> {
        lock(&self.timer).take()
    }

    /// Returns the time by the driver's own clock. On a current-thread runtime, that is the runtime's
    /// own, and this also notes if the clock may be paused. A clock that does not show the real time is
    /// paused, or was paused earlier. With the feature `test-util`, every clock may be paused.
    pub(super) fn read_clock(&self) -> Tick {
        if !self.settings.current_thread {
            return Tick::really_now();
        }
        if self.may_pause() {
            return self.runtimes_now();
        }
        let (before, now) = (Tick::really_now(), self.runtimes_now());
        let is_virtual = now < before || now > Tick::really_now();
        if now != Tick::ZERO && (is_virtual || cfg!(feature = "test-util")) {
            self.set_may_pause();
        }
        now
    }

    /// Returns the time by the runtime's own clock. Outside the runtime, enters it, and returns
    /// [`Tick::ZERO`] if that is not possible or if the driver has shut down. Inside, which is where
    /// almost all calls come from, this takes no lock.
    fn runtimes_now(&self) -> Tick {
        let enter = || platform::now_in(&lock(&self.timer).as_ref()?.runtime);
        let now = platform::now_if_current(self.runtime).or_else(enter);
        now.map_or(Tick::ZERO, Tick::of)
    }

    /// Notes that the clock may be paused. If a timerfd is set, its next expiry arms the interval.
    pub(super) fn set_may_pause(&self) {
        self.may_pause.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn may_pause(&self) -> bool {
        self.may_pause.load(Ordering::Relaxed)
    }

    /// Asks Tokio about its own time. Returns `None` if the driver has shut down, if a task dump
    /// traces this thread, or if Tokio panics. Tokio panics if its time driver has shut down. The
    /// driver task is normally dropped before that, but a waker that blocks can delay the drop.
    pub(super) fn ask<R>(&self, ask: impl FnOnce(&mut AlarmTimer) -> R) -> Option<R> {
        // In a traced poll, every timer of Tokio's is pending, so its answer means nothing.
        if is_traced(Waker::noop()) {
            return None;
        }
        let mut timer = lock(&self.timer);
        let timer = timer.as_mut()?;
        contain(|| ask(timer))
    }

    pub(super) fn armed_for(&self) -> Tick {
        Tick(self.armed_for.load(Ordering::SeqCst))
    }

    /// Returns `true` if the alarm, having fired at `now`, fired too early. That happens if the
    /// clock went back, if the runtime is about to shut down, or if another thread has re-armed the
    /// alarm for a later target since Tokio began to fire it.
    ///
    /// With a timerfd, the alarm may fire up to `TIMERFD_RANGE` before its target without being
    /// too early: Tokio's interval fires then so that the timerfd can be set, and a timerfd may
    /// still expire for an earlier target that it was set for.
    pub(super) fn is_early(&self, now: Tick) -> bool {
        let ahead = platform::TIMERFD_RANGE * u32::from(self.settings.is_precise);
        now < self.armed_for().saturating_sub(ahead)
    }

    /// Records that the alarm fired. Returns `true` if this thread is arming the alarm, and will
    /// find the record itself.
    pub(super) fn note_fired(&self) -> bool {
        // A swap, because loom may order a later plain store before earlier swaps.
        self.has_fired.swap(true, Ordering::SeqCst);
        ARMING.with(Cell::get)
    }

    /// Returns until when the alarm leaves deferred timers to the driver task: [`PATIENCE`] after a pass
    /// has deferred timers, or [`Tick::NEVER`] if none has since the task last ran.
    pub(super) fn awaited_until(&self) -> Tick {
        Tick(self.awaited_until.load(Ordering::Relaxed))
    }

    /// Notes that the driver task runs.
    pub(super) fn note_task(&self) {
        self.awaited_until.store(Tick::NEVER.0, Ordering::Relaxed);
    }

    /// Consumes the record. Returns `true` if the alarm has fired since it was last consumed.
    fn take_fired(&self) -> bool {
        self.has_fired.swap(false, Ordering::SeqCst)
    }

    /// Arms the alarm for the earliest deadline of the shards, or disarms it if there is none.
    /// Returns `false` if a pass is needed, because the alarm could not be armed: its time had come,
    /// or Tokio panicked.
    #[cold]
    pub(super) fn rearm(&self, homes: &[Arc<Home>]) -> bool {
        let mut timer = lock(&self.timer);
        // There is no timer if the driver has shut down.
        let Some(timer) = timer.as_mut() else {
            return true;
        };
        // If the clock may be paused, nothing depends on the time.
        let now = match self.may_pause() {
            true => Tick::ZERO,
            false => Tick::really_now(),
        };
        if self.take_fired() {
            timer.forget_all(Tick(now.0 + self.settings.spacing));
        }
        let target = self.settle(homes, timer, now);
        timer.is_falling = target < timer.set_for && timer.set_for != Tick::NEVER;
        if !self.settings.current_thread {
            timer.watch(target.max(now), now);
        }
        timer.set_for == target || self.set(timer, target, now)
    }

    /// Returns when the alarm fires the deferred timers, if there are any. Call this under the mutex.
    fn await_task(&self, homes: &[Arc<Home>], now: Tick) -> Tick {
        if homes.iter().all(|home| home.shard.deferred() == 0) {
            return Tick::NEVER;
        }
        let until = self.awaited_until().min(now.saturating_add(PATIENCE));
        self.awaited_until.store(until.0, Ordering::Relaxed);
        until
    }

    /// Finds and publishes the target, and starts again if a shard got an earlier deadline in the
    /// meantime. Returns the target.
    ///
    /// **No timer is lost**, because each side stores first, and then loads what the other stores:
    ///
    /// ```text
    /// a thread that arms the alarm                a thread that arms a timer
    /// 1. stores `armed_for`, `fast_path_from`     1. stores `next`, at most `when`
    /// 2. loads every `next`                       2. loads those two: ensure_alarm
    /// ```
    ///
    /// All of these are sequentially consistent, so at least one thread sees what the other stores.
    /// Then either the thread on the left starts again, or the one on the right re-arms the alarm.
    /// (`lower_next` and `publish_fast_path` skip a store that changes nothing; then an earlier
    /// store under the same lock counts.)
    fn settle(&self, homes: &[Arc<Home>], timer: &AlarmTimer, now: Tick) -> Tick {
        let resumes_by = self.await_task(homes, now);
        loop {
            let target = self.target(earliest(homes).min(resumes_by), timer, now);
            self.armed_for.store(target.0, Ordering::SeqCst);
            let fast_path_from = self.fast_path_after(target.max(now));
            for home in homes {
                home.shard.publish_fast_path(fast_path_from);
            }
            if earliest(homes) >= target {
                return target;
            }
        }
    }

    /// Returns the target for the earliest deadline: that deadline itself or, if the alarm was moved to an
    /// earlier time and has to be moved once more before it fires, an eighth of the remaining time
    /// earlier. So a series of falling deadlines seldom moves the alarm, which then fires once for nothing.
    /// (With high resolution, a timer would be late after that, by the spacing.)
    fn target(&self, earliest: Tick, timer: &AlarmTimer, now: Tick) -> Tick {
        let may_lead = timer.is_falling && !self.settings.is_precise && !self.may_pause();
        match may_lead && earliest < timer.set_for {
            true => Tick(earliest.0 - earliest.0.saturating_sub(now.0) / 8),
            false => earliest,
        }
    }

    /// Returns the deadline from which on a timer takes the fast path, if the alarm fires at
    /// `fires_at`, which is not before the present time. Two facts make the fast path safe. Such a
    /// timer cannot move the alarm, because its deadline is not before the target. And it needs no
    /// rounding: either resolution is high, or it stays at least a millisecond ahead until the
    /// alarm fires.
    fn fast_path_after(&self, fires_at: Tick) -> Tick {
        if self.settings.tick.is_some() || self.may_pause() {
            Tick::NEVER
        } else if self.settings.is_precise {
            fires_at
        } else {
            Tick(fires_at.0.saturating_add(MILLISECOND))
        }
    }

    /// Arms the timerfd or Tokio's interval for `target`, or nothing for [`Tick::NEVER`]. Returns `false`
    /// as [`rearm`](Self::rearm) does.
    fn set(&self, timer: &mut AlarmTimer, target: Tick, now: Tick) -> bool {
        // 1. The timerfd, if it can be set. If the alarm has fired since `rearm` consumed the record,
        // the timerfd's expiry may have been delivered. So do not wait for it.
        if self.has_fired.load(Ordering::SeqCst) {
            timer.set_to = Tick::NEVER;
        }
        let at = match self.may_pause() {
            true => Some(target),
            false => timer.set_timerfd(target, now),
        };
        let Some(at) = at else {
            return true;
        };
        // 2. Otherwise the interval. Tokio moves a timer to a later time lazily, and would still wake
        // up, or advance a paused clock, for the earlier time. An interval registers its next tick only
        // when it is polled for it. So this first lets it fire now, on this thread, and consumes the
        // record.
        if timer.set_for < target {
            timer.arm_interval(Tick::ZERO, Tick::NEVER);
            self.take_fired();
        }
        if target == Tick::NEVER || timer.arm_interval(at, target) {
            return true;
        }
        // 3. Tokio's clock has passed the target, because this thread was preempted or because the
        // previous pass took a long time, so the interval has fired on this thread. The caller wakes
        // the driver task, but that may wait in the queue of a worker that blocks, so Tokio has to
        // fire again in a millisecond. (A current-thread runtime has no other worker to run the
        // pass, and its clock may be paused.)
        self.take_fired();
        if !self.settings.current_thread {
            let soon = Duration::from_nanos(MILLISECOND);
            timer.arm_interval(Tick::really_now().saturating_add(soon), target);
        }
        false
    }
}
