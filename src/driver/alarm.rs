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
//! * `armed_for` is never later than the time at which tokio really rings.
//! * **One at a time.** The first who asks does the work; all others, its own re-entrant
//!   calls among them, only make it look again.
//! * **A ring is recorded before any lock is taken**, and consumed before what is armed is
//!   compared. What is armed is never inferred: otherwise a ring that comes while somebody
//!   else arms leaves an alarm believed to be armed that has gone off.
//! * The interval is behind the `timer` mutex. It is locked by who arms, and for opening,
//!   closing, and asking which runtime this is. Under it tokio's own locks are taken, and
//!   atomics of shards are read; no shard is locked.
//! * Arming may ring at once, on this very thread, if tokio's clock has passed the time.
//!   Such a ring fires nothing (arming never fires a stranger's timer): [`is_arming`] tells
//!   it to leave a note only. Whoever armed then asks the driver task for a turn.
//! * A runtime that has ended panics when its interval is polled. A driver is closed, and
//!   its interval taken out, before that. Should tokio ever end things in another order,
//!   arming must not panic all the same: it is caught. tokio's timers per worker panic from
//!   when their runtime begins to end. So they are armed only where a timer of the user's
//!   own would be that runtime's too; elsewhere the driver task is asked to.
//! * **The driver's own clock.** A multi-thread runtime has the real one. That of a
//!   current-thread runtime may be paused, and the context here may be another runtime's,
//!   also where the driver's task is polled: so its own runtime is entered, and asked.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::coop;
use tokio::time::{Instant, MissedTickBehavior};

use super::clock::{MILLISECOND, SOON, Tick};
use super::high_resolution::{HighResolution, LEAD, NEAR};
use super::sync::time::{self, Interval};
use super::sync::{
    AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering, enter, lock, now_in, thread_local,
};

/// The least that can be armed ahead without tokio ringing on the spot.
const INSTANTLY: Duration = Duration::from_nanos(1);
/// How often it is tried to have tokio ring soon.
const TRIES: usize = 4;
/// Deadlines further ahead than this are approached in steps.
const DISTANT: Duration = Duration::from_secs(1);
/// tokio has certainly passed what is so long ago.
const PAST: Duration = Duration::from_secs(24 * 60 * 60);

/// The clock is the real one, as far as is known.
const NOT_PAUSED: u64 = u64::MAX;

/// What is armed, and for when.
pub(super) struct Alarm {
    armed_for: AtomicU64,
    /// How often somebody asked to arm since the one who is at it began.
    asked: AtomicUsize,
    rung: AtomicBool,
    /// The timer that it is armed for, or an earlier one, has been cancelled.
    stale: AtomicBool,
    /// The clock is that of a current-thread runtime.
    is_local: bool,
    /// Where tokio's milliseconds begin, as far into one of ours; where the clock is, or
    /// may be, paused. There a timer that is cancelled must not draw the clock.
    phase: AtomicU64,
    /// There is a descriptor.
    is_precise: AtomicBool,
    timer: Mutex<Option<AlarmTimer>>,
}

impl Alarm {
    pub(super) fn new(is_local: bool) -> Self {
        Alarm {
            armed_for: AtomicU64::new(Tick::NEVER.0),
            asked: AtomicUsize::new(0),
            rung: AtomicBool::new(false),
            stale: AtomicBool::new(false),
            is_local,
            phase: AtomicU64::new(NOT_PAUSED),
            is_precise: AtomicBool::new(false),
            timer: Mutex::new(None),
        }
    }

    /// Begins to ring for a driver. Nothing is armed yet.
    pub(super) fn open(&self, timer: AlarmTimer) {
        self.armed_for.store(Tick::NEVER.0, Ordering::SeqCst);
        self.rung.store(false, Ordering::SeqCst);
        self.stale.store(false, Ordering::Relaxed);
        self.phase.store(NOT_PAUSED, Ordering::Relaxed);
        let is_precise = timer.precise.is_some();
        self.is_precise.store(is_precise, Ordering::Relaxed);
        *lock(&self.timer) = Some(timer);
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

    /// A timer that was due at this time has been cancelled.
    #[inline]
    pub(super) fn note_cancel(&self, when: Tick) {
        if when <= self.armed_for() {
            self.stale.store(true, Ordering::Relaxed);
        }
    }

    /// Until when it is looked up anew what is due, if it is `now`: before the alarm rings
    /// for a timer that is gone.
    pub(super) fn soon(&self, now: Tick) -> Tick {
        match self.stale.load(Ordering::Relaxed) {
            true => now.saturating_add(SOON),
            false => now,
        }
    }

    /// Whether there is a descriptor.
    pub(super) fn is_precise(&self) -> bool {
        self.is_precise.load(Ordering::Relaxed)
    }

    /// A ring before this is none of ours: the clock went back, or the runtime is about to
    /// end. With a descriptor one may come early: tokio's, for that to be set; and one of a
    /// descriptor that has just been set anew, which is to be set once more.
    pub(super) fn rings_from(&self) -> Tick {
        match self.is_precise() {
            true => self.armed_for().saturating_sub(NEAR),
            false => self.armed_for(),
        }
    }

    /// Whether this is a current-thread runtime's.
    #[inline]
    pub(super) fn is_local(&self) -> bool {
        self.is_local
    }

    /// Whether the clock is, or may be, paused.
    #[inline]
    pub(super) fn may_pause(&self) -> bool {
        self.phase.load(Ordering::Relaxed) != NOT_PAUSED
    }

    /// The clock has been found to be paused, or may be at any time. From now on deadlines
    /// fire in tokio's milliseconds, of which one begins `here`.
    pub(super) fn set_may_pause(&self, here: Tick) {
        self.phase.store(here.0 % MILLISECOND, Ordering::Relaxed);
        if let Some(timer) = lock(&self.timer).as_mut() {
            // From now on by tokio's clock.
            timer.armed = Tick::NEVER;
        }
    }

    /// Where the clock may be paused, rounds up to the millisecond that tokio fires in.
    pub(super) fn round_up(&self, deadline: Tick) -> Tick {
        match self.phase.load(Ordering::Relaxed) {
            NOT_PAUSED => deadline,
            phase => deadline.round_up(MILLISECOND, Tick(phase)),
        }
    }

    /// Now, by the driver's own clock. [`Tick::ZERO`] when the driver has ended.
    pub(super) fn now(&self) -> Tick {
        if !self.is_local() {
            return Tick::really_now();
        }
        let timer = lock(&self.timer);
        timer.as_ref().map_or(Tick::ZERO, AlarmTimer::now)
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

    /// Whether tokio has come to the whole millisecond that this deadline fires in.
    pub(super) fn has_come(&self, deadline: Tick) -> bool {
        let timer = lock(&self.timer);
        let timer = timer.as_ref().filter(|timer| timer.runs);
        timer.is_none_or(|timer| timer.has_come(deadline))
    }

    /// Where one of the whole milliseconds begins that tokio fires timers in.
    pub(super) fn a_millisecond_of_tokios(&self) -> Option<Tick> {
        let timer = lock(&self.timer);
        let timer = timer.as_ref().filter(|timer| timer.runs)?;
        Some(timer.a_millisecond_of_tokios())
    }

    /// Records that the alarm went off. `true` if that is for others to see to: this
    /// thread is arming.
    pub(super) fn ring(&self) -> bool {
        self.rung.store(true, Ordering::SeqCst);
        is_arming()
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
        let now = timer.now();
        let rang = self.take_ring();
        if rang {
            timer.rang(now);
        }
        // An alarm for a timer that is gone costs one wake-up, and is left; but not one
        // that is overdue, or will soon be.
        let leave = !self.may_pause() && timer.armed > self.soon(now);
        let left = if leave { timer.armed } else { Tick::NEVER };
        if rang || !leave {
            self.stale.store(false, Ordering::Relaxed);
        }
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
        let at = if self.may_pause() {
            target
        } else if timer.arm_precisely(target, now) {
            return true;
        } else {
            timer.before(target, now)
        };
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
            let at = timer.now().saturating_add(INSTANTLY);
            if timer.arm(at, target) {
                break;
            }
        }
        false
    }
}

/// An interval, what it is armed for, and the runtime it belongs to.
pub(super) struct AlarmTimer {
    pub(super) interval: Interval,
    /// Rings for what is near.
    pub(super) precise: Option<HighResolution>,
    /// Rings.
    pub(super) waker: Waker,
    /// [`Tick::NEVER`] when nothing is registered with tokio.
    pub(super) armed: Tick,
    pub(super) runtime: Handle,
    /// That is a current-thread one.
    pub(super) is_local: bool,
    /// The driver's.
    pub(super) generation: u32,
    /// That runtime has taken the driver task.
    pub(super) runs: bool,
    /// What rings is one of tokio's timers per worker.
    pub(super) is_workers: bool,
}

impl AlarmTimer {
    /// An interval of the current runtime.
    ///
    /// # Panics
    ///
    /// As `tokio::time::interval`: without a runtime, or one without timers.
    #[track_caller]
    pub(super) fn interval() -> Interval {
        // tokio's `sleep` reports the caller's line where its `interval` does not.
        drop(tokio::time::sleep(Duration::ZERO));
        let mut interval = time::interval(Duration::from_millis(1));
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        interval
    }

    /// One of the two has rung. Nobody asks which: neither is relied on any more.
    fn rang(&mut self, now: Tick) {
        self.armed = Tick::NEVER;
        if let Some(precise) = &mut self.precise {
            precise.rang(now);
        }
    }

    /// Has the descriptor ring, if there is one, and the deadline is near.
    fn arm_precisely(&mut self, target: Tick, now: Tick) -> bool {
        let precise = self.precise.as_mut();
        let set = precise.is_some_and(|precise| precise.set(target, now, &self.waker));
        if set {
            self.armed = target;
        }
        set
    }

    /// When tokio is to ring for a deadline: where there is a descriptor, early enough for
    /// that to be set.
    fn before(&self, target: Tick, now: Tick) -> Tick {
        match self.precise {
            Some(_) => target
                .saturating_sub(LEAD)
                .max(now.saturating_add(INSTANTLY)),
            None => target,
        }
    }

    fn now(&self) -> Tick {
        if !self.is_local {
            return Tick::really_now();
        }
        now_in(&self.runtime).map_or(Tick::ZERO, Tick::of)
    }

    fn has_come(&self, deadline: Tick) -> bool {
        let Some(_inside) = enter(&self.runtime) else {
            return true;
        };
        let sleep = coop::unconstrained(tokio::time::sleep_until(deadline.to_instant()));
        let polled = pin!(sleep).poll(&mut Context::from_waker(Waker::noop()));
        polled.is_ready()
    }

    /// tokio alone knows where its milliseconds begin, and tells it by which deadlines have
    /// come.
    fn a_millisecond_of_tokios(&self) -> Tick {
        loop {
            let come = self.last_to_have_come();
            // The clock may have moved on meanwhile: another thread drives the runtime.
            if !self.has_come(Tick(come.0 + 1)) {
                return come;
            }
        }
    }

    /// The last deadline that has come, while the clock stands still.
    fn last_to_have_come(&self) -> Tick {
        let now = self.now();
        let mut back = Duration::from_millis(1);
        while !self.has_come(now.saturating_sub(back)) {
            back *= 2;
        }
        let (mut come, mut to_come) = (now.saturating_sub(back).0, now.0 + MILLISECOND);
        while to_come - come > 1 {
            let between = come + (to_come - come) / 2;
            if self.has_come(Tick(between)) {
                come = between;
            } else {
                to_come = between;
            }
        }
        Tick(come)
    }

    /// tokio's timers per worker are ready at the end of their runtime, where others panic.
    /// Nothing but their `Debug` tells one from the other.
    fn is_per_worker(&self) -> bool {
        let kind = || {
            let _inside = self.runtime.enter();
            let mut sleep = pin!(tokio::time::sleep(PAST));
            let polled = coop::unconstrained(sleep.as_mut());
            let _ = pin!(polled).poll(&mut Context::from_waker(Waker::noop()));
            format!("{sleep:?}")
        };
        // As arming, it may panic in contexts that those timers do not take.
        cfg!(tokio_unstable)
            && catch_unwind(AssertUnwindSafe(kind)).is_ok_and(|kind| kind.contains("Alternative"))
    }

    /// Has tokio ring at `at` for what is due at `target`. `false` when it rang on the
    /// spot, so that nothing is armed; or when this is for the driver task to do.
    fn arm(&mut self, at: Tick, target: Tick) -> bool {
        // Who arms takes rings of tokio's that this makes, and cannot tell them apart.
        if let Some(precise) = &mut self.precise {
            precise.forget();
        }
        if self.is_workers && !self.is_current() {
            self.armed = Tick::NEVER;
            return false;
        }
        let _arming = Arming::begin();
        let polled = catch_unwind(AssertUnwindSafe(|| self.poll_at(at.to_instant())));
        // It is pending for ever, too, when its runtime has ended.
        let pending = polled.map_or(true, |polled| polled.is_pending());
        self.armed = if pending { target } else { Tick::NEVER };
        pending
    }

    /// Whether a timer made here would be that runtime's.
    fn is_current(&self) -> bool {
        Handle::try_current().is_ok_and(|here| here.id() == self.runtime.id())
    }

    /// Leaves nothing registered with tokio, so that a paused clock is not drawn
    /// to a timer that is gone. An interval that has just yielded a tick, and is
    /// not polled for the next, has no timer.
    fn disarm(&mut self, now: Tick) {
        self.arm(now.saturating_sub(PAST), Tick::NEVER);
    }

    fn poll_at(&mut self, at: Instant) -> Poll<Instant> {
        self.interval.reset_at(at);
        let interval = &mut self.interval;
        // An exhausted budget would make it pending without being registered.
        let tick = coop::unconstrained(poll_fn(|cx| interval.poll_tick(cx)));
        Future::poll(pin!(tick), &mut Context::from_waker(&self.waker))
    }
}

thread_local! {
    static ARMING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is arming right now.
fn is_arming() -> bool {
    ARMING.with(Cell::get)
}

/// Marks this thread as arming for as long as it lives.
struct Arming;

impl Arming {
    fn begin() -> Self {
        ARMING.with(|arming| arming.set(true));
        Arming
    }
}

impl Drop for Arming {
    fn drop(&mut self) {
        ARMING.with(|arming| arming.set(false));
    }
}
