//! The alarm: the one tokio timer behind a driver. It fires for the earliest deadline of all
//! shards.
//!
//! The alarm is a `tokio::time::Interval` (with high resolution, also a timerfd; both in
//! `interval.rs`) whose waker runs an expiry pass. tokio calls that waker on the thread that polls
//! tokio's time driver, with none of tokio's locks held.
//!
//! **Why does the pass run in the alarm's waker, and not in the driver task?** A task that is woken
//! waits in a run queue, which may be long; and if the worker that owns the queue blocks, the task
//! waits with it, and all timers of the runtime with the task. In the waker the pass is on time,
//! needs no trip through the queue, and is over before `advance().await` returns.
//!
//! **Why does the thread that arms the earliest timer move the alarm itself?** For the same reason:
//! if it woke the driver task instead, that task would wait behind the very task that has just
//! armed the timer.
//!
//! # From a deadline to tokio's timer
//!
//! [`rearm`](Alarm::rearm) takes the mutex and finds the target. [`settle`](Alarm::settle)
//! publishes the target, and looks at the shards again until none has an earlier deadline.
//! [`set`](Alarm::set) arms tokio's interval, or the timerfd.
//!
//! # Ground rules
//!
//! * **Never lost: store first, then load what the other side stores.** A thread that registers a
//!   deadline makes its shard's `next` no later than that, and then loads the shard's
//!   `fast_path_from`. A thread that arms the alarm stores `armed_for`, then each shard's
//!   `fast_path_from`, and then loads every `next` again. All of these are sequentially consistent,
//!   so at least one of the two threads sees what the other has stored, and the alarm is moved. A
//!   timer that is extended, that takes over a cached entry with an earlier deadline, or that finds
//!   `next` as early as its own deadline, stores nothing, because a thread has armed the alarm for
//!   `next`, or is about to.
//! * The alarm fires at `armed_for` or earlier, except for tokio's delay. `fast_path_from` is equal
//!   to `armed_for`, or later.
//! * **The mutex is held for arming, opening and closing, and to read the runtime's clock.**
//!   tokio's own locks are taken under it, and atomics of shards are read and written. No shard is
//!   locked under it, no runtime is entered while the alarm is armed, and a panic of tokio's is
//!   caught in `AlarmTimer::arm`, so nothing unwinds between the store of `armed_for` and the
//!   arming.
//! * **Record that the alarm fired before taking any lock, and consume the record before comparing
//!   the target with what is armed.** Only the record shows that the alarm is no longer set.
//!   Otherwise, if the alarm fires while another thread arms it, that thread would take it for
//!   armed.
//! * **The alarm may fire while it is being armed**, on the arming thread, if tokio's clock has
//!   passed the target. That is only recorded, because arming never fires another task's timer. The
//!   thread then requests a pass.
//! * **Compare deadlines with the driver's own clock.** A multi-thread runtime has the real clock.
//!   A current-thread runtime has its own, which may be paused and can only be read inside the
//!   runtime. Passes read that clock. Operations of timers read it only in `when.rs`.

pub(super) mod interval;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;
use std::time::Duration;

use self::interval::{ARMING, AlarmTimer, NEAR};
use super::shard::Shard;
use super::when::{Grid, UNKNOWN};
use crate::clock::{MILLISECOND, Tick};
use crate::settings::{Generation, Settings};
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering, is_traced, lock};

/// Deadlines further ahead than this are approached in steps.
const DISTANT: u64 = 1_000 * MILLISECOND;

/// A driver's alarm.
#[derive(Default)]
pub(super) struct Alarm {
    /// When the alarm fires at the latest, as published. (`AlarmTimer::armed` is what tokio, or the
    /// timerfd, is set for.)
    armed_for: AtomicU64,
    /// The alarm has fired, and no thread has armed it since.
    has_fired: AtomicBool,
    pub(super) grid: Grid,
    may_pause: AtomicBool,
    pub(super) timer: Mutex<Option<AlarmTimer>>,
    settings: Settings,
}

/// The earliest time at which a shard needs a pass.
pub(super) fn earliest(shards: &[Shard]) -> Tick {
    shards.iter().map(Shard::next).min().unwrap_or(Tick::NEVER)
}

/// Opening, closing, and the clock.
impl Alarm {
    pub(super) fn new(settings: Settings) -> Self {
        Alarm {
            settings,
            ..Alarm::default()
        }
    }

    /// Begins to fire for a driver. Nothing is armed yet.
    pub(super) fn open(&self, timer: AlarmTimer) {
        let mut current = lock(&self.timer);
        self.armed_for.store(Tick::NEVER.0, Ordering::SeqCst);
        self.has_fired.store(false, Ordering::SeqCst);
        self.grid.set(UNKNOWN);
        self.may_pause.store(false, Ordering::Relaxed);
        *current = Some(timer);
    }

    /// The driver task was spawned, and may not have been polled yet. While this lock is held and
    /// there is a timer, the runtime has not ended.
    pub(super) fn begin(&self, generation: Generation) {
        let mut timer = lock(&self.timer);
        if let Some(timer) = timer.as_mut().filter(|it| it.generation == generation) {
            timer.has_task = true;
            if self.settings.current_thread {
                self.note_clock(timer);
            }
        }
    }

    /// Frees the interval, which keeps its runtime's handle alive.
    pub(super) fn close(&self) {
        let timer = lock(&self.timer).take();
        drop(timer);
    }

    /// Now, by the driver's own clock. [`Tick::ZERO`] if the driver has shut down, or its runtime
    /// cannot be entered. On a current-thread runtime, also notes that the clock may be paused.
    pub(super) fn now(&self) -> Tick {
        if !self.settings.current_thread {
            return Tick::really_now();
        }
        let mut timer = lock(&self.timer);
        let now = timer.as_mut().and_then(|timer| self.note_clock(timer));
        now.unwrap_or(Tick::ZERO)
    }

    /// A clock that does not show the real time is paused, or was resumed after an advance. If
    /// tokio is built to pause clocks, every clock may be paused.
    fn note_clock(&self, timer: &mut AlarmTimer) -> Option<Tick> {
        let before = Tick::really_now();
        let now = timer.now()?;
        let is_virtual = now < before || now > Tick::really_now();
        if !self.may_pause() && (is_virtual || cfg!(feature = "test-util")) {
            self.set_may_pause(timer);
        }
        Some(now)
    }

    pub(super) fn set_may_pause(&self, timer: &mut AlarmTimer) {
        self.may_pause.store(true, Ordering::Relaxed);
        // The alarm was armed by another clock, so it has to be armed again, or disarmed.
        if timer.armed != Some(Tick::NEVER) {
            timer.armed = None;
        }
    }

    /// Whether the clock is, or may be, paused.
    pub(super) fn may_pause(&self) -> bool {
        self.may_pause.load(Ordering::Relaxed)
    }

    /// Asks tokio about its own time. `None` before the runtime has taken the driver task, and if
    /// tokio panics: the runtime's time may end before that task is dropped, if a waker holds the
    /// task up.
    pub(super) fn ask<R>(&self, ask: impl FnOnce(&mut AlarmTimer) -> R) -> Option<R> {
        // Tokio's timers do not answer while a task dump traces this thread.
        if is_traced(Waker::noop()) {
            return None;
        }
        let mut timer = lock(&self.timer);
        let timer = timer.as_mut().filter(|timer| timer.has_task)?;
        catch_unwind(AssertUnwindSafe(|| ask(timer))).ok()
    }
}

/// Firing.
impl Alarm {
    /// When the alarm fires at the latest; [`Tick::NEVER`] while nothing is armed.
    pub(super) fn armed_for(&self) -> Tick {
        Tick(self.armed_for.load(Ordering::SeqCst))
    }

    /// Whether the alarm has fired too early at this time, which happens when the clock goes back,
    /// and when the runtime is about to end. With a timerfd it may fire early for good reasons:
    /// tokio's interval does, so that the timerfd is set, and so does a timerfd that has just been
    /// set again, or was left alone.
    pub(super) fn is_early(&self, now: Tick) -> bool {
        let ahead = NEAR * u32::from(self.settings.is_precise);
        now < self.armed_for().saturating_sub(ahead)
    }

    /// Records that the alarm fired. Returns `true` if this thread is arming the alarm, and will
    /// find the record itself.
    pub(super) fn note_fired(&self) -> bool {
        // Not a store: the models take a store for older than earlier swaps.
        self.has_fired.swap(true, Ordering::SeqCst);
        ARMING.with(Cell::get)
    }

    fn take_fired(&self) -> bool {
        self.has_fired.swap(false, Ordering::SeqCst)
    }
}

/// Arming.
impl Alarm {
    /// Arms for the earliest deadline of the shards. Returns `false` if a pass is needed to fire
    /// due timers.
    #[cold]
    pub(super) fn rearm(&self, shards: &[Shard]) -> bool {
        let mut timer = lock(&self.timer);
        // There is no timer if the driver has shut down.
        let Some(timer) = timer.as_mut() else {
            return true;
        };
        // Nothing depends on the time of a clock that may be paused.
        let now = Tick::really_now();
        if self.take_fired() {
            timer.forget_all(now);
        }
        let target = self.settle(shards, now);
        if timer.armed == Some(target) {
            true
        } else if target != Tick::NEVER {
            self.set(timer, target, now)
        } else {
            self.disarm(timer);
            true
        }
    }

    /// Publishes the target; again if a shard has an earlier deadline by then.
    fn settle(&self, shards: &[Shard], now: Tick) -> Tick {
        let target = || self.target(earliest(shards), now);
        loop {
            let settled = target();
            self.armed_for.store(settled.0, Ordering::SeqCst);
            let fast_path_from = self.fast_path_from(settled.max(now));
            for shard in shards {
                if shard.fast_path_from() != fast_path_from {
                    shard.set_fast_path_from(fast_path_from);
                }
            }
            if target() >= settled {
                return settled;
            }
        }
    }

    /// The tick to arm for at `now`.
    ///
    /// A distant deadline is approached in steps of seven eighths. So among timers each of which is
    /// due a little before all others, only few have to move the alarm. The price is a few wake-ups
    /// on the way to a deadline, however distant. A paused clock would stop at each step, so there
    /// it has none.
    fn target(&self, earliest: Tick, now: Tick) -> Tick {
        let ahead = earliest.0.saturating_sub(now.0);
        if ahead > DISTANT && earliest != Tick::NEVER && !self.may_pause() {
            Tick(now.0 + ahead / 8 * 7)
        } else {
            earliest
        }
    }

    /// From which deadline on a timer takes the fast path, if the alarm fires at `fires_at`:
    /// nothing has to be rounded, the alarm need not be moved, and a millisecond of tokio's lies
    /// between.
    fn fast_path_from(&self, fires_at: Tick) -> Tick {
        if self.settings.tick != 1 || self.may_pause() {
            Tick::NEVER
        } else if self.settings.is_precise {
            fires_at
        } else {
            Tick(fires_at.0.saturating_add(MILLISECOND))
        }
    }

    /// Arms the timerfd for `target`, or tokio's interval if there is no timerfd or the target is
    /// far. Returns `false` if tokio fired immediately because its clock has passed the target.
    fn set(&self, timer: &mut AlarmTimer, target: Tick, now: Tick) -> bool {
        // A wake-up that has come since is no longer expected.
        if self.has_fired.load(Ordering::SeqCst) {
            timer.forget_timerfd();
        }
        let at = if self.may_pause() {
            Some(target)
        } else {
            timer.tokio_fires_at(target, now)
        };
        let Some(at) = at else { return true };
        // tokio moves a timer lazily, and would still wake up for the earlier time.
        if timer.armed < Some(target) {
            self.disarm(timer);
        }
        if timer.arm(at, target) {
            return true;
        }
        // This thread has lost its processor, and tokio's clock has gone on. The driver task may
        // wait in the queue of a worker that blocks, so tokio is to fire all the same.
        self.take_fired();
        if !self.settings.current_thread {
            let soon = Duration::from_nanos(MILLISECOND);
            timer.arm(Tick::really_now().saturating_add(soon), target);
        }
        false
    }

    /// Leaves nothing registered with tokio, so that a paused clock does not advance to a timer
    /// that was cancelled. An interval that has just yielded a tick, and is not polled for the
    /// next, has no timer. So this lets the interval fire now, on this thread, and takes the record
    /// back.
    fn disarm(&self, timer: &mut AlarmTimer) {
        timer.arm(Tick::ZERO, Tick::NEVER);
        self.take_fired();
    }
}
