//! The alarm rings for the earliest deadline of all shards: a `tokio::time::Interval`, whose waker
//! fires due timers.
//!
//! tokio calls wakers with none of its locks held, on the thread that drives time. So the interval's
//! own waker runs the turn: that saves a hop through the run queue, is on time when the queue is
//! long, and is over before `advance().await` returns.
//!
//! | file | idea |
//! | --- | --- |
//! | `mod.rs` | when the alarm is armed, for which tick, and by which thread |
//! | `interval.rs` | tokio's interval: arming, its runtime's clock; a probe beside it |
//! | `grid.rs` | where tokio's milliseconds begin |
//! | `timerfd.rs` | high resolution: a second source, for near deadlines |
//!
//! From a deadline to tokio's timer: [`rearm`](Alarm::rearm) takes the mutex and finds a target;
//! [`settle`](Alarm::settle) publishes the target, and looks again until no shard has an earlier
//! deadline; [`set`](Alarm::set) has tokio, or the timerfd, ring for the target.
//!
//! # Ground rules
//!
//! * **Never lost.** A thread that registers a deadline makes its shard's `next` no later than
//!   that, and then loads the shard's `plain_from`. A thread that arms stores `armed_for`, then
//!   `plain_from` of each shard, and then loads every `next` again. All of these are sequentially
//!   consistent, so at least one of the two threads sees the store of the other. A timer that is
//!   put off, that takes the place of a spare with an earlier deadline, or that finds `next` as early,
//!   stores nothing: a thread has armed for `next`, or is to look again.
//! * The alarm rings at `armed_for` or earlier, but for tokio's delay. `plain_from` is equal to
//!   `armed_for`, or later.
//! * **Under the mutex.** The interval is locked for arming, opening and closing, and for a look at
//!   the runtime's clock. Tokio's own locks are taken meanwhile, and atomics of shards are read and
//!   written. No shard is locked, no runtime is entered while arming, and a panic of tokio's is
//!   caught in `AlarmTimer::arm`: nothing can unwind between the store of `armed_for` and the arming.
//! * **A ring is recorded before any lock is taken**, and consumed before the target is compared
//!   with the armed tick. Only a recorded ring shows that the alarm is no longer set. Otherwise
//!   a ring that comes while another thread arms would leave an alarm that counts as armed.
//! * **A ring while arming.** tokio rings on the spot, on the arming thread, if its clock has passed
//!   the target. Such a ring is only recorded, because arming never fires another task's timer. The
//!   thread then asks for a turn.
//! * **The driver's own clock.** A multi-thread runtime has the real clock. A current-thread
//!   runtime has its own, which may be paused. Turns read that clock in the runtime. Operations of
//!   timers read it only for an overdue check, for a timer of tokio's next millisecond, and in
//!   `Driver::unless_long_due`.

mod grid;
pub(super) mod interval;
pub(crate) mod timerfd;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use self::grid::Grid;
use self::interval::{AlarmTimer, is_arming};
use self::timerfd::NEAR;
use super::shard::{Shard, Shards};
use crate::clock::{MILLISECOND, Tick};
use crate::settings::{Generation, Settings};
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering, lock};

/// Deadlines further ahead than this are approached in steps.
const DISTANT: u64 = 1_000 * MILLISECOND;

/// A driver's alarm.
#[derive(Default)]
pub(super) struct Alarm {
    /// What is published: when the alarm rings at the latest. (`AlarmTimer::armed` is what tokio, or
    /// the timerfd, is set for.)
    armed_for: AtomicU64,
    /// The alarm rang, and no thread has armed since.
    has_rung: AtomicBool,
    pub(super) grid: Grid,
    may_pause: AtomicBool,
    pub(super) timer: Mutex<Option<AlarmTimer>>,
    settings: Settings,
}

/// The earliest time at which a shard wants a turn.
pub(super) fn earliest(shards: impl Shards) -> Tick {
    shards.map(Shard::next).min().unwrap_or(Tick::NEVER)
}

impl Alarm {
    pub(super) fn new(settings: Settings) -> Self {
        Alarm {
            settings,
            ..Alarm::default()
        }
    }

    /// Begins to ring for a driver. Nothing is armed yet.
    pub(super) fn open(&self, timer: AlarmTimer) {
        let mut serving = lock(&self.timer);
        self.armed_for.store(Tick::NEVER.0, Ordering::SeqCst);
        self.has_rung.store(false, Ordering::SeqCst);
        self.grid.forget();
        self.may_pause.store(false, Ordering::Relaxed);
        *serving = Some(timer);
    }

    /// Frees the interval, which keeps its runtime's handle alive.
    pub(super) fn close(&self) {
        let timer = lock(&self.timer).take();
        drop(timer);
    }

    /// When the alarm rings at the latest; [`Tick::NEVER`] while nothing is armed.
    pub(super) fn armed_for(&self) -> Tick {
        Tick(self.armed_for.load(Ordering::SeqCst))
    }

    /// Earliest legitimate wake-up. A wake-up before that comes where the clock went back, or the
    /// runtime is about to end. With a timerfd, wake-ups may come early: tokio's, for the timerfd
    /// to be set, and those of a timerfd that has just been set anew, or was left alone.
    pub(super) fn earliest_ring(&self) -> Tick {
        match self.settings.is_precise {
            true => self.armed_for().saturating_sub(NEAR),
            false => self.armed_for(),
        }
    }

    /// Now, by the driver's own clock. [`Tick::ZERO`] when the driver has ended, and where its
    /// runtime cannot be entered. Of a current-thread runtime, also notes a clock that may be paused.
    pub(super) fn now(&self) -> Tick {
        if !self.settings.current_thread {
            return Tick::really_now();
        }
        let mut timer = lock(&self.timer);
        let now = timer.as_mut().and_then(|timer| self.note_clock(timer));
        now.unwrap_or(Tick::ZERO)
    }

    /// A clock that is not the real clock is paused, or resumed after an advance. Where tokio is
    /// built to pause clocks, every clock may be paused.
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
        // The alarm was armed by another clock, and is to be armed anew, or disarmed.
        if timer.armed != Tick::NEVER {
            timer.armed = Tick::ZERO;
        }
    }

    /// Whether the clock is, or may be, paused.
    pub(super) fn may_pause(&self) -> bool {
        self.may_pause.load(Ordering::Relaxed)
    }

    /// The millisecond of tokio's that this deadline fires in. Learns the grid if need be. `None`
    /// while the runtime has not taken the driver task.
    pub(super) fn tokios_millisecond(&self, deadline: Tick) -> Option<Tick> {
        self.grid.round_up(deadline).or_else(|| {
            self.ask(|timer| self.grid.learn(timer))?;
            self.grid.round_up(deadline)
        })
    }

    /// Whether tokio has come to this millisecond of its own, or the clock was there long ago. Not
    /// where the driver is about to end: the end wakes the timer.
    pub(super) fn has_come(&self, tokios: Tick) -> bool {
        self.ask(|timer| timer.has_come_by_now(tokios)) == Some(true)
    }

    /// Asks tokio. `None` while the runtime has not taken the driver task, and where tokio panics: the
    /// runtime's time has ended before that task was dropped, which a waker in its turn holds up.
    fn ask<R>(&self, ask: impl FnOnce(&mut AlarmTimer) -> R) -> Option<R> {
        let mut timer = lock(&self.timer);
        let timer = timer.as_mut().filter(|timer| timer.runs)?;
        catch_unwind(AssertUnwindSafe(|| ask(timer))).ok()
    }

    /// The driver task was spawned, and may not have been polled yet. While this lock is held and
    /// there is a timer, the runtime has not ended.
    pub(super) fn begin(&self, generation: Generation) {
        let mut timer = lock(&self.timer);
        if let Some(timer) = timer.as_mut().filter(|it| it.generation == generation) {
            timer.runs = true;
            if self.settings.current_thread {
                self.note_clock(timer);
            }
        }
    }

    /// Records that the alarm went off. Returns true if this thread is arming just now, and takes
    /// care of the ring itself.
    pub(super) fn note_ring(&self) -> bool {
        // Not a store: the models take a store for older than earlier swaps.
        self.has_rung.swap(true, Ordering::SeqCst);
        is_arming()
    }

    fn take_ring(&self) -> bool {
        self.has_rung.swap(false, Ordering::SeqCst)
    }

    /// Arms for the earliest deadline of the shards. Returns false when a turn is needed to fire due
    /// timers.
    #[cold]
    pub(super) fn rearm(&self, shards: impl Shards) -> bool {
        let mut timer = lock(&self.timer);
        // There is no timer when the driver has ended.
        let Some(timer) = timer.as_mut() else {
            return true;
        };
        // Nothing depends on the time of a clock that may be paused.
        let now = Tick::really_now();
        if self.take_ring() {
            timer.forget_all(now);
        }
        let target = self.settle(shards, now);
        if target == timer.armed {
            true
        } else if target != Tick::NEVER {
            self.set(timer, target, now)
        } else {
            self.disarm(timer);
            true
        }
    }

    /// Leaves nothing registered with tokio, so that a paused clock does not advance to a timer
    /// that was cancelled. An interval that has just yielded a tick, and is not polled for the
    /// next, has no timer. That tick is a ring on this thread.
    fn disarm(&self, timer: &mut AlarmTimer) {
        timer.arm(Tick::ZERO, Tick::NEVER);
        self.take_ring();
    }

    /// Publishes the target; again if a shard has an earlier deadline meanwhile.
    fn settle(&self, shards: impl Shards, now: Tick) -> Tick {
        let target = || self.target(earliest(shards.clone()), now);
        loop {
            let settled = target();
            self.armed_for.store(settled.0, Ordering::SeqCst);
            let plain_from = self.plain_from(settled.max(now));
            for shard in shards.clone().filter(|it| it.plain_from() != plain_from) {
                shard.set_plain_from(plain_from);
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
    /// on the way to a deadline, however distant.
    fn target(&self, earliest: Tick, now: Tick) -> Tick {
        let ahead = earliest.0.saturating_sub(now.0);
        // A paused clock would stop at each step.
        if ahead > DISTANT && earliest != Tick::NEVER && !self.may_pause() {
            Tick(now.0 + ahead / 8 * 7)
        } else {
            earliest
        }
    }

    /// From which deadline on a timer is armed as given: nothing has to be rounded, the alarm need
    /// not be moved, and a millisecond of tokio's lies between.
    fn plain_from(&self, rings_at: Tick) -> Tick {
        if self.settings.tick != 1 || self.may_pause() {
            Tick::NEVER
        } else if self.settings.is_precise {
            rings_at
        } else {
            Tick(rings_at.0.saturating_add(MILLISECOND))
        }
    }

    /// Has the timerfd wake the alarm for `target`, or tokio, if there is no timerfd or the target
    /// is far. Returns false when tokio rang on the spot: its clock has passed the target, and a
    /// turn is needed.
    fn set(&self, timer: &mut AlarmTimer, target: Tick, now: Tick) -> bool {
        // A wake-up that has come since is no longer expected.
        if self.has_rung.load(Ordering::SeqCst) {
            timer.forget_timerfd();
        }
        let at = match self.may_pause() {
            true => Some(target),
            false => timer.tokio_rings_at(target, now),
        };
        let Some(at) = at else { return true };
        // tokio moves a timer lazily, and would still wake up for the earlier time.
        if timer.armed < target {
            self.disarm(timer);
        }
        if timer.arm(at, target) {
            return true;
        }
        // This thread has lost its processor meanwhile, and tokio's clock has gone on. The driver
        // task may wait in the queue of a worker that blocks, so tokio is to ring all the same.
        self.take_ring();
        if !self.settings.current_thread {
            let soon = Duration::from_nanos(MILLISECOND);
            timer.arm(Tick::really_now().saturating_add(soon), target);
        }
        false
    }
}
