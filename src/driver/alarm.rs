//! The alarm: a `tokio::time::Interval` that rings for the earliest deadline of all shards. This
//! file says when the alarm is armed, and by which thread. A driver of high resolution has a second
//! source for near deadlines; see `timerfd.rs`.
//!
//! tokio calls wakers with none of its locks held, on the thread that drives time. So the waker of
//! the interval itself fires due timers: that saves a hop through the run queue, is on time when
//! the queue is long, and is over before `advance().await` returns.
//!
//! The way from a deadline to tokio's timer is a straight line: [`rearm`](Alarm::rearm), on a
//! single thread at a time; [`arm_earliest`](Alarm::arm_earliest), which publishes a target until
//! the target is stable; [`set`](Alarm::set), which has tokio ring for the target.
//!
//! # Ground rules
//!
//! * **Never lost.** A thread that registers a deadline makes its shard's `next` no later than
//!   that, and then loads the shard's `plain_from`. A thread that arms stores `armed_for`, then
//!   `plain_from` of each shard, and then loads every `next` again. All of these are sequentially
//!   consistent, so at least one of the two threads sees the store of the other. A timer that is
//!   put off, or takes the place of a spare with an earlier deadline, does neither: `next` is no
//!   later than the earlier deadline, and a thread has armed for `next`, or is to look again.
//! * The alarm rings at `armed_for` or earlier, but for tokio's delay. `plain_from` is equal to
//!   `armed_for`, or later.
//! * **One at a time.** The first request to rearm does the work. All others, also those that a
//!   ring makes meanwhile on the same thread, only have that thread look again.
//! * **A ring is recorded before any lock is taken**, and consumed before the target is compared
//!   with the armed tick. The armed tick is never inferred: otherwise a ring that comes while
//!   another thread arms would leave an alarm that has gone off, and counts as armed.
//! * The interval is behind the `timer` mutex, which is locked for arming, opening and closing, and
//!   for a look at the runtime's clock. Under that mutex tokio's own locks are taken, and atomics
//!   of shards are read and written; no shard is locked.
//! * **The driver's own clock.** A multi-thread runtime has the real clock. A current-thread
//!   runtime has its own; see `paused.rs`.
//!
//! The handling of tokio's interval itself is in `alarm_timer.rs`.

use std::time::Duration;

use super::alarm_timer::{AlarmTimer, is_arming};
use super::clock::{MILLISECOND, Tick};
use super::paused::Grid;
use super::settings::Settings;
use super::sync::{AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering, lock};
use super::timerfd::NEAR;

/// Deadlines further ahead than this are approached in steps.
const DISTANT: u64 = 1_000 * MILLISECOND;

/// A driver's alarm: the tick that is armed for, the requests, and the interval.
pub(super) struct Alarm {
    armed_for: AtomicU64,
    /// Pending requests to rearm; non-zero while a thread is arming.
    requests: AtomicUsize,
    rung: AtomicBool,
    /// Recompute the target at the next registration: the alarm would ring soon, and the timer of
    /// that tick may have been cancelled.
    is_stale: AtomicBool,
    settings: Settings,
    grid: Grid,
    timer: Mutex<Option<AlarmTimer>>,
}

impl Alarm {
    pub(super) fn new(settings: Settings) -> Self {
        Alarm {
            armed_for: AtomicU64::new(Tick::NEVER.0),
            requests: AtomicUsize::new(0),
            rung: AtomicBool::new(false),
            is_stale: AtomicBool::new(false),
            settings,
            grid: Grid::new(),
            timer: Mutex::new(None),
        }
    }

    /// Begins to ring for a driver. Nothing is armed yet.
    pub(super) fn open(&self, timer: AlarmTimer) {
        let mut serving = lock(&self.timer);
        self.armed_for.store(Tick::NEVER.0, Ordering::SeqCst);
        self.rung.store(false, Ordering::SeqCst);
        self.is_stale.store(false, Ordering::Relaxed);
        self.grid.forget();
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

    pub(super) fn set_stale(&self) {
        self.is_stale.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stale(&self) -> bool {
        self.is_stale.load(Ordering::Relaxed)
    }

    /// Earliest legitimate wake-up. A wake-up before that comes where the clock went back, or the
    /// runtime is about to end. With a timerfd, wake-ups may come early: tokio's, for the timerfd
    /// to be set, and those of a timerfd that has just been set anew, or was left alone.
    pub(super) fn rings_from(&self) -> Tick {
        match self.settings.is_precise {
            true => self.armed_for().saturating_sub(NEAR),
            false => self.armed_for(),
        }
    }

    /// Now, by the driver's own clock. [`Tick::ZERO`] when the driver has ended.
    pub(super) fn now(&self) -> Tick {
        if !self.settings.current_thread {
            return Tick::really_now();
        }
        let timer = lock(&self.timer);
        timer.as_ref().map_or(Tick::ZERO, AlarmTimer::now)
    }

    fn now_by(&self, timer: &AlarmTimer) -> Tick {
        match self.settings.current_thread {
            true => timer.now(),
            false => Tick::really_now(),
        }
    }

    /// The same, and notes a clock that may be paused. Only that of a current-thread runtime can.
    fn note_clock(&self, timer: &mut AlarmTimer) -> Tick {
        match self.settings.current_thread && !self.may_pause() {
            true => self.grid.note_clock(timer),
            false => self.now_by(timer),
        }
    }

    /// Whether the clock is, or may be, paused.
    #[inline]
    pub(super) fn may_pause(&self) -> bool {
        self.grid.may_pause()
    }

    /// tokio's milliseconds are the models' ticks.
    #[cfg(all(test, loom))]
    pub(super) fn know_grid(&self) {
        self.grid.know();
    }

    #[cfg(all(test, loom))]
    pub(super) fn pause(&self) {
        self.grid.pause(lock(&self.timer).as_mut().unwrap());
    }

    /// Rounds up to the millisecond that tokio fires in. `None` while the runtime has not taken
    /// the driver task.
    pub(super) fn tokios_millisecond(&self, deadline: Tick) -> Option<Tick> {
        self.grid.round_up(deadline).or_else(|| {
            let timer = lock(&self.timer);
            let running = timer.as_ref().filter(|timer| timer.runs);
            running.into_iter().for_each(|timer| self.grid.learn(timer));
            self.grid.round_up(deadline)
        })
    }

    /// Whether tokio has come to the whole millisecond that this deadline fires in.
    pub(super) fn has_come(&self, deadline: Tick) -> bool {
        let timer = lock(&self.timer);
        let timer = timer.as_ref().filter(|timer| timer.runs);
        timer.is_none_or(|timer| timer.has_come(deadline))
    }

    /// The runtime has taken the driver task. As long as there is a timer, which is not taken out
    /// while its lock is held, that runtime has not ended.
    pub(super) fn begin(&self, generation: u32) {
        let mut timer = lock(&self.timer);
        if let Some(timer) = timer.as_mut().filter(|it| it.generation == generation) {
            timer.runs = true;
        }
    }

    /// Records that the alarm went off. Returns true if this thread is arming; the armer handles
    /// the wake-up.
    pub(super) fn ring(&self) -> bool {
        // Not a store: the models take a store for older than earlier swaps.
        self.rung.swap(true, Ordering::SeqCst);
        is_arming()
    }

    fn take_ring(&self) -> bool {
        self.rung.swap(false, Ordering::SeqCst)
    }

    /// Arms for the deadline that `earliest` finds; `publish` stores `plain_from` in each shard.
    /// Returns false when a turn is needed to fire due timers.
    #[cold]
    pub(super) fn rearm(&self, earliest: impl Fn() -> Tick, publish: impl Fn(Tick)) -> bool {
        self.one_at_a_time(|timer| self.arm_earliest(timer, &earliest, &publish))
    }

    /// Runs `arm` until there has been no request since its last run began. Returns at once if
    /// another thread, or a caller further up the stack, is arming.
    fn one_at_a_time(&self, mut arm: impl FnMut(&mut AlarmTimer) -> bool) -> bool {
        let mut armed = true;
        if self.requests.fetch_add(1, Ordering::SeqCst) > 0 {
            return armed;
        }
        loop {
            let seen = self.requests.load(Ordering::SeqCst);
            // There is no timer when the driver has ended.
            armed = lock(&self.timer).as_mut().is_none_or(&mut arm);
            let done = self
                .requests
                .compare_exchange(seen, 0, Ordering::SeqCst, Ordering::SeqCst);
            if done.is_ok() {
                return armed;
            }
        }
    }

    fn arm_earliest(
        &self,
        timer: &mut AlarmTimer,
        earliest: &impl Fn() -> Tick,
        publish: &impl Fn(Tick),
    ) -> bool {
        let now = self.note_clock(timer);
        let rang = self.take_ring();
        if rang {
            timer.rang(now);
        }
        // An alarm for a cancelled timer costs a single wake-up, and is left; but not an alarm that
        // is overdue, or rings soon.
        let is_stale = self.is_stale.swap(false, Ordering::Relaxed);
        let leave = timer.armed > now && !is_stale && !self.may_pause();
        let left = if leave { timer.armed } else { Tick::NEVER };
        let target = self.settle(left, || self.target(earliest(), now), publish);
        if target == timer.armed {
            true
        } else if target != Tick::NEVER {
            self.set(timer, target, now)
        } else {
            timer.disarm(now);
            // Disarming rings once, on this thread.
            self.take_ring();
            true
        }
    }

    /// Stores min(left, target), then re-reads until stable.
    fn settle(&self, left: Tick, target: impl Fn() -> Tick, publish: &impl Fn(Tick)) -> Tick {
        loop {
            let settled = left.min(target());
            self.armed_for.store(settled.0, Ordering::SeqCst);
            publish(self.plain_from(settled));
            if target() >= settled {
                return settled;
            }
        }
    }

    /// From which deadline on a timer is armed as given: nothing has to be rounded, the alarm need
    /// not be moved, and unless the alarm is overdue, a millisecond of tokio's lies between.
    pub(super) fn plain_from(&self, armed_for: Tick) -> Tick {
        if self.settings.tick != 1 || self.may_pause() {
            Tick::NEVER
        } else if self.settings.is_precise {
            armed_for
        } else {
            Tick(armed_for.0.saturating_add(MILLISECOND))
        }
    }

    /// The tick to arm for at `now`.
    ///
    /// A distant deadline is approached in steps of seven eighths: of timers each of which is due a
    /// little before the last only few have to move the alarm. That costs a few wake-ups on the way
    /// to a deadline, however distant.
    fn target(&self, earliest: Tick, now: Tick) -> Tick {
        let ahead = earliest.0.saturating_sub(now.0);
        // A paused clock would stop at each step.
        if ahead > DISTANT && earliest != Tick::NEVER && !self.may_pause() {
            Tick(now.0 + ahead / 8 * 7)
        } else {
            earliest
        }
    }

    /// Has the timerfd wake the alarm for `target`, or tokio, if there is no timerfd or the target
    /// is far. Returns false when tokio rang on the spot: its clock has passed the target, and a
    /// turn is needed.
    fn set(&self, timer: &mut AlarmTimer, target: Tick, now: Tick) -> bool {
        // A wake-up that has come since is no longer expected.
        if self.rung.load(Ordering::SeqCst) {
            timer.forget();
        }
        let at = match self.may_pause() {
            true => Some(target),
            false => timer.tokio_rings_at(target, now),
        };
        let Some(at) = at else { return true };
        // tokio moves a timer lazily, and would still wake up for the earlier time.
        if timer.armed < target {
            timer.disarm(now);
            self.take_ring();
        }
        if timer.arm(at, target) {
            return true;
        }
        // This thread has lost its processor meanwhile, and tokio's clock has gone on. The driver
        // task may wait in the queue of a worker that blocks, so tokio is to ring all the same.
        self.take_ring();
        let soon = Duration::from_nanos(MILLISECOND);
        timer.arm(self.now_by(timer).saturating_add(soon), target);
        false
    }
}
