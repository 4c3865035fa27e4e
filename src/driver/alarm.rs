//! The alarm: one `tokio::time::Interval` that rings for the earliest deadline of all
//! shards, when it is armed, and by whom. A driver of high resolution has a second source,
//! for what is near; see `high_resolution.rs`.
//!
//! tokio calls wakers with none of its locks held, on the thread that drives time. So the
//! waker of the interval fires what is due itself: that saves a hop through the run queue,
//! is on time when that is long, and is over before `advance().await` returns.
//!
//! From a deadline to tokio's timer it is a straight line: [`rearm`](Alarm::rearm), one at
//! a time; [`arm_earliest`](Alarm::arm_earliest), which settles on a target;
//! [`set`](Alarm::set), which has tokio ring for it.
//!
//! # Ground rules
//!
//! * **Never lost.** Whoever registers a deadline stores it in its shard's `next` and then
//!   loads `armed_for`; whoever arms stores `armed_for` and then loads every `next` again.
//!   All four are sequentially consistent, so at least one of the two sees the other.
//! * What rings, rings at `armed_for` or earlier, but for tokio's delay.
//! * **One at a time.** The first who asks does the work; all others, its own re-entrant
//!   calls among them, only make it look again.
//! * **A ring is recorded before any lock is taken**, and consumed before what is armed is
//!   compared. What is armed is never inferred: otherwise a ring that comes while somebody
//!   else arms leaves an alarm believed to be armed that has gone off.
//! * The interval is behind the `timer` mutex. It is locked by who arms, and for opening,
//!   closing, and asking which runtime this is. Under it tokio's own locks are taken, and
//!   atomics of shards are read; no shard is locked.
//! * **The driver's own clock.** A multi-thread runtime has the real one. A current-thread
//!   runtime has its own; see `alarm/paused.rs`.
//!
//! What is done with tokio's interval itself is in `alarm/timer.rs`.

mod paused;
mod timer;

use std::time::Duration;

use super::clock::Tick;
use super::high_resolution::NEAR;
use super::settings::Settings;
use super::sync::{AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering, lock};

use self::paused::NOT_PAUSED;
pub(super) use self::timer::AlarmTimer;

/// The least that can be armed ahead without tokio ringing on the spot.
const INSTANTLY: Duration = Duration::from_nanos(1);
/// How often it is tried to have tokio ring soon.
const TRIES: usize = 4;
/// Deadlines further ahead than this are approached in steps.
const DISTANT: Duration = Duration::from_secs(1);

/// What is armed, and for when.
pub(super) struct Alarm {
    armed_for: AtomicU64,
    /// How often somebody asked to arm since the one who is at it began.
    asked: AtomicUsize,
    rung: AtomicBool,
    /// What it is armed for is near, and may have been cancelled.
    is_stale: AtomicBool,
    settings: Settings,
    /// Where tokio's milliseconds begin, as far into one of ours; where the clock is, or
    /// may be, paused. There a timer that is cancelled must not draw the clock.
    phase: AtomicU64,
    timer: Mutex<Option<AlarmTimer>>,
}

impl Alarm {
    pub(super) fn new(settings: Settings) -> Self {
        Alarm {
            armed_for: AtomicU64::new(Tick::NEVER.0),
            asked: AtomicUsize::new(0),
            rung: AtomicBool::new(false),
            is_stale: AtomicBool::new(false),
            settings,
            phase: AtomicU64::new(NOT_PAUSED),
            timer: Mutex::new(None),
        }
    }

    /// Begins to ring for a driver. Nothing is armed yet.
    pub(super) fn open(&self, timer: AlarmTimer) {
        let mut serving = lock(&self.timer);
        self.armed_for.store(Tick::NEVER.0, Ordering::SeqCst);
        self.rung.store(false, Ordering::SeqCst);
        self.is_stale.store(false, Ordering::Relaxed);
        self.phase.store(NOT_PAUSED, Ordering::Relaxed);
        *serving = Some(timer);
    }

    /// Frees the interval, which keeps its runtime's handle alive.
    pub(super) fn close(&self) {
        let timer = lock(&self.timer).take();
        drop(timer);
    }

    /// When the alarm rings at the latest; [`Tick::NEVER`] when it does not.
    #[inline]
    pub(super) fn armed_for(&self) -> Tick {
        Tick(self.armed_for.load(Ordering::SeqCst))
    }

    /// Whoever registers a timer next is to look at the alarm, too.
    pub(super) fn set_stale(&self) {
        self.is_stale.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn is_stale(&self) -> bool {
        self.is_stale.load(Ordering::Relaxed)
    }

    /// A ring before this is none of ours: the clock went back, or the runtime is about to
    /// end. With a descriptor one may come early: tokio's, for that to be set; one of a
    /// descriptor that has just been set anew, which is to be set once more; and one of a
    /// descriptor that was left alone.
    pub(super) fn rings_from(&self) -> Tick {
        match self.settings.is_precise {
            true => self.armed_for().saturating_sub(NEAR),
            false => self.armed_for(),
        }
    }

    /// Now, by the driver's own clock. [`Tick::ZERO`] when the driver has ended.
    pub(super) fn now(&self) -> Tick {
        if !self.settings.is_local {
            return Tick::really_now();
        }
        let timer = lock(&self.timer);
        timer.as_ref().map_or(Tick::ZERO, AlarmTimer::now)
    }

    fn now_by(&self, timer: &AlarmTimer) -> Tick {
        match self.settings.is_local {
            true => timer.now(),
            false => Tick::really_now(),
        }
    }

    /// The driver task is one of the runtime's: as long as there is a timer, and none can be
    /// taken out under its lock, that runtime has not ended. Says whether tokio's own timers
    /// are ready when it has.
    pub(super) fn begin(&self, generation: u32) -> bool {
        let mut timer = lock(&self.timer);
        let own = timer
            .as_mut()
            .filter(|timer| timer.generation == generation);
        own.is_some_and(|timer| {
            timer.runs = true;
            timer.is_workers = timer.is_per_worker();
            timer.is_workers
        })
    }

    /// Records that the alarm went off. `true` if that is for others to see to: this
    /// thread is arming.
    pub(super) fn ring(&self) -> bool {
        // Not a store: the models take one for older than what others have swapped before.
        self.rung.swap(true, Ordering::SeqCst);
        timer::is_arming()
    }

    fn take_ring(&self) -> bool {
        self.rung.swap(false, Ordering::SeqCst)
    }

    /// Arms for the deadline that `earliest` finds. `false` when a turn is needed to do it.
    #[cold]
    pub(super) fn rearm(&self, earliest: impl Fn() -> Tick) -> bool {
        self.one_at_a_time(|timer| self.arm_earliest(timer, &earliest))
    }

    /// Runs `arm` until nobody has asked for it since it last began; at once returns if
    /// another thread, or a caller further up the stack, is at it.
    fn one_at_a_time(&self, mut arm: impl FnMut(&mut AlarmTimer) -> bool) -> bool {
        let mut armed = true;
        if self.asked.fetch_add(1, Ordering::SeqCst) > 0 {
            return armed;
        }
        loop {
            let seen = self.asked.load(Ordering::SeqCst);
            // There is none when the driver has ended.
            armed = lock(&self.timer).as_mut().is_none_or(&mut arm);
            let done = self
                .asked
                .compare_exchange(seen, 0, Ordering::SeqCst, Ordering::SeqCst);
            if done.is_ok() {
                return armed;
            }
        }
    }

    fn arm_earliest(&self, timer: &mut AlarmTimer, earliest: &impl Fn() -> Tick) -> bool {
        let now = self.now_by(timer);
        let rang = self.take_ring();
        if rang {
            timer.rang(now);
        }
        // An alarm for a timer that is gone costs one wake-up, and is left; but not one
        // that is overdue, or soon rings.
        let is_stale = self.is_stale.swap(false, Ordering::Relaxed);
        let leave = timer.armed > now && !is_stale && !self.may_pause();
        let left = if leave { timer.armed } else { Tick::NEVER };
        let target = self.settle(left, || self.target(earliest(), now));
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

    /// Publishes the earliest deadline, which `target` finds, or what is left armed where
    /// that comes first; and looks again.
    fn settle(&self, left: Tick, target: impl Fn() -> Tick) -> Tick {
        loop {
            let settled = left.min(target());
            self.armed_for.store(settled.0, Ordering::SeqCst);
            if target() >= settled {
                return settled;
            }
        }
    }

    /// What to arm for when it is `now`.
    ///
    /// A distant deadline is approached in steps of seven eighths: of timers each of
    /// which is due a little before the last one only few have to move the alarm.
    /// That costs a few wake-ups on the way to a deadline, however distant.
    fn target(&self, earliest: Tick, now: Tick) -> Tick {
        let ahead = earliest.saturating_since(now);
        // A paused clock would stop at each step.
        if ahead > DISTANT && earliest != Tick::NEVER && !self.may_pause() {
            now.saturating_add(ahead / 8 * 7)
        } else {
            earliest
        }
    }

    /// Has the descriptor ring for what is due at `target`, or tokio, if there is none or
    /// that is far. `false` when tokio rang on the spot: it has come past that, and a turn is
    /// to see to it.
    fn set(&self, timer: &mut AlarmTimer, target: Tick, now: Tick) -> bool {
        // A ring that has come since is no more on the way.
        if self.rung.load(Ordering::SeqCst) {
            timer.forget();
        }
        let at = match self.may_pause() {
            true => Some(target),
            false => timer.tokio_rings_at(target, now),
        };
        let Some(at) = at else { return true };
        // tokio moves a timer lazily: it would still wake up for the earlier time.
        if timer.armed < target {
            timer.disarm(now);
            self.take_ring();
        }
        if timer.arm(at, target) {
            return true;
        }
        // The driver task may wait in the queue of a worker that blocks, so tokio is to ring
        // for it. This thread may have lost its processor, and tokio gone on: by a new clock,
        // more than once. (On a thread that is about to end there is none.)
        for _ in 0..TRIES {
            self.take_ring();
            let at = self.now_by(timer).saturating_add(INSTANTLY);
            if timer.arm(at, target) {
                break;
            }
        }
        false
    }
}
