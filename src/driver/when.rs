//! Near deadlines: when a timer fires if its deadline is before its shard's `fast_path_from`.
//!
//! A timer on the fast path keeps its deadline, to the nanosecond, and never comes here: nothing
//! has to be rounded for it, and the alarm need not be moved. `fast_path_from` is a millisecond
//! after the alarm fires (exceptions are in `Alarm::fast_path_from`). For an earlier deadline,
//! [`Driver::when_near`] decides. It never rounds down.
//!
//! A driver with a configured tick first rounds the deadline up to the next multiple of the tick
//! since the driver was opened. Then the first row that matches applies:
//!
//! | driver | deadline | the timer fires |
//! | --- | --- | --- |
//! | one whose clock may be paused | any | in tokio's millisecond; immediately if that has come |
//! | any except high resolution | in the millisecond for which the alarm is armed | in that millisecond; no clock is read |
//! | any | at least a millisecond ahead | at its deadline |
//! | high resolution | nearer | at its deadline; when the alarm next fires if the deadline has just passed; immediately if it passed at least a millisecond ago |
//! | any other | nearer | in tokio's millisecond; immediately if that has come |
//!
//! **Why tokio's millisecond?** So that a loop of `sleep(Duration::ZERO)` runs as often as with
//! tokio, however often a check for late timers requests a pass. Otherwise a loop of sleeps shorter
//! than a millisecond would run a quarter more often than with tokio and use more CPU. High
//! resolution fires at the deadline instead. There, a timer that is already due waits until the
//! alarm next fires, so that such a loop does not spin.
//!
//! tokio fires at whole milliseconds since the runtime was built, and does not say when that was.
//! So the first timer of a generation that is less than a millisecond ahead asks tokio, through the
//! probe, whether it has reached given deadlines. (On a current-thread runtime the first pass may
//! ask instead.) The latest deadline that it has reached is the end of one of its milliseconds, and
//! the others follow at intervals of one millisecond. This is the [`Grid`].
//!
//! **Has a millisecond come?** On a multi-thread runtime, the real clock answers. A current-thread
//! runtime has a clock that may be paused or may have been moved, and that can be read only inside
//! the runtime. There, that clock answers, except in the millisecond after the one in question, in
//! which tokio may not have read its clock yet. Then, and on threads outside the runtime, the probe
//! asks tokio.
//!
//! **A driver with a configured tick has no fast path**, because its deadlines have to be rounded.
//! Rounded deadlines are compared with the alarm here, which saves most of them from reading a
//! clock: arming and cancelling takes 52 ns instead of 77 ns. (Rounding in every poll and reset
//! instead, before the fast path, would take 44 ns, but cost all other drivers three to five
//! instructions for each.)
//!
//! A race remains. If the alarm is late by more than a millisecond, a timer that is due now or
//! shortly takes the fast path until the late pass has re-armed the alarm. It fires in that pass or
//! the next, instead of in tokio's millisecond.

use std::time::Duration;

use super::alarm::interval::AlarmTimer;
use super::driver::Driver;
use crate::clock::{MILLISECOND, Tick};
use crate::sync::{AtomicU64, Ordering};

impl Driver {
    /// Returns when a timer with a deadline before `fast_path_from` fires, or `None` if it is due
    /// already. `clock` is the clock of the timer's shard.
    #[cold]
    pub(super) fn when_near(&self, deadline: Tick, clock: Tick) -> Option<Tick> {
        let when = match self.settings.tick {
            1 => deadline,
            tick => deadline.round_up(tick, Tick(self.opened.load(Ordering::Relaxed))),
        };
        if !self.alarm.may_pause() {
            let fires_at = self.alarm.armed_for().max(Tick(clock.0 + 1));
            if self.settings.tick != 1 && when.0 >= fires_at.0.saturating_add(MILLISECOND) {
                return Some(when);
            }
            if let Some(tokios) = self.fires_with_the_alarm(when, fires_at) {
                return Some(tokios);
            }
            if when.0 >= Tick::really_now().0.saturating_add(MILLISECOND) {
                return Some(when);
            }
            if self.settings.is_precise {
                return self.unless_long_due(when);
            }
        }
        match self.tokios_millisecond(when) {
            None => self.unless_long_due(when),
            Some(tokios) => (!self.has_come(tokios)).then_some(tokios),
        }
    }

    /// Returns when a timer fires if tokio's milliseconds do not apply: with high resolution, or
    /// while tokio cannot be asked, for example before the runtime has taken the driver task. A
    /// deadline that passed less than a millisecond ago waits until the alarm next fires.
    fn unless_long_due(&self, when: Tick) -> Option<Tick> {
        let now = self.alarm.now();
        let is_long_due = now.0.saturating_sub(when.0) >= MILLISECOND;
        let soonest = now.saturating_add(Duration::from_nanos(1));
        (!is_long_due).then(|| when.max(soonest))
    }

    /// Returns the tokio millisecond in which this deadline fires, if the alarm is armed for that
    /// millisecond or is firing in it now. Then no clock has to be read, which matters because many
    /// timers that are due together may come here. (If the millisecond has passed by then, the pass
    /// that follows fires the timer.)
    fn fires_with_the_alarm(&self, when: Tick, fires_at: Tick) -> Option<Tick> {
        let tokios = self.alarm.grid.round_up(when)?;
        let is_same = fires_at <= tokios && tokios.0 - fires_at.0 < MILLISECOND;
        is_same.then_some(tokios)
    }

    /// Returns the millisecond of tokio's in which this deadline fires, and finds the grid if
    /// necessary. Returns `None` while tokio cannot be asked, for example before the runtime has
    /// taken the driver task.
    pub(super) fn tokios_millisecond(&self, deadline: Tick) -> Option<Tick> {
        let grid = &self.alarm.grid;
        grid.round_up(deadline).or_else(|| {
            self.alarm.ask(|timer| grid.find(timer))?;
            grid.round_up(deadline)
        })
    }

    /// Returns the end of tokio's last millisecond: tokio has fired its own timers up to there (see
    /// `pass.rs`). Returns `now` on a multi-thread runtime, with high resolution, if the clock may
    /// be paused, and while tokio cannot be asked.
    pub(super) fn last_millisecond(&self, now: Tick) -> Tick {
        if !self.settings.current_thread || self.settings.is_precise || self.alarm.may_pause() {
            return now;
        }
        let next = self.tokios_millisecond(Tick(now.0 + 1));
        next.map_or(now, |next| Tick(next.0 - MILLISECOND))
    }

    /// Returns `true` if this millisecond of tokio's has come. Returns `false` if the driver is
    /// about to shut down, which wakes the timer.
    fn has_come(&self, tokios: Tick) -> bool {
        if !self.settings.current_thread {
            return tokios <= Tick::really_now();
        }
        self.alarm.ask(|timer| timer.has_come_by_now(tokios)) == Some(true)
    }
}

/// The grid of a runtime's milliseconds: the offset at which each of them begins, or [`UNKNOWN`].
#[derive(Default)]
pub(super) struct Grid(AtomicU64);

/// The offset of a grid that was not found yet.
pub(super) const UNKNOWN: u64 = u64::MAX;

impl Grid {
    pub(super) fn set(&self, offset: u64) {
        self.0.store(offset, Ordering::Relaxed);
    }

    /// Rounds up to the millisecond in which tokio fires. Returns `None` while the grid is not
    /// known.
    fn round_up(&self, deadline: Tick) -> Option<Tick> {
        let offset = self.0.load(Ordering::Relaxed);
        (offset != UNKNOWN).then(|| deadline.round_up(MILLISECOND, Tick(offset)))
    }

    /// Finds the last deadline that tokio has reached, because one of its milliseconds ends there.
    /// Tries again if the clock goes on meanwhile, because another thread drives the runtime.
    fn find(&self, timer: &mut AlarmTimer) {
        for _ in 0..8 {
            let come = last_to_have_come(timer);
            if !timer.has_come(Tick(come.0 + 1)) {
                return self.set(come.0 % MILLISECOND);
            }
        }
    }
}

/// Returns the last deadline that tokio has reached. Searches back from now in steps that double,
/// and then between the last two of them.
fn last_to_have_come(timer: &mut AlarmTimer) -> Tick {
    let (mut to_come, mut step) = (Tick::really_now().0 + MILLISECOND, MILLISECOND);
    while timer.has_come(Tick(to_come)) {
        // The clock was moved ahead.
        to_come = to_come.saturating_add(step).min(Tick::LAST.0);
        step *= 2;
    }
    let mut come = to_come.saturating_sub(step);
    // This loop ends no matter what tokio answers.
    while come > 0 && !timer.has_come(Tick(come)) {
        step *= 2;
        (to_come, come) = (come, come.saturating_sub(step));
    }
    while to_come - come > 1 {
        let between = come + (to_come - come) / 2;
        if timer.has_come(Tick(between)) {
            come = between;
        } else {
            to_come = between;
        }
    }
    Tick(come)
}
