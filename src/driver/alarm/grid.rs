//! Where tokio's milliseconds begin.
//!
//! tokio's timers fire at whole milliseconds since the runtime was built, and tokio does not say when
//! that was. A probe, a sleep of tokio's, tells which deadlines have come: between the last of them
//! and the next, a millisecond ends.

use super::interval::AlarmTimer;
use crate::clock::{MILLISECOND, Tick};
use crate::sync::{AtomicU64, Ordering};

/// The grid of a runtime's milliseconds: when the first of them begins, or [`UNKNOWN`].
#[derive(Default)]
pub(in crate::driver) struct Grid(AtomicU64);

const UNKNOWN: u64 = u64::MAX;

impl Grid {
    pub(super) fn forget(&self) {
        self.know(UNKNOWN);
    }

    pub(in crate::driver) fn know(&self, offset: u64) {
        self.0.store(offset, Ordering::Relaxed);
    }

    /// Rounds up to the millisecond that tokio fires in. `None` while the grid is not known.
    pub(in crate::driver) fn round_up(&self, deadline: Tick) -> Option<Tick> {
        let offset = self.0.load(Ordering::Relaxed);
        (offset != UNKNOWN).then(|| deadline.round_up(MILLISECOND, Tick(offset)))
    }

    /// Finds the last deadline that tokio's clock has come to: there a millisecond of tokio's ends.
    /// Tries again where the clock has gone on meanwhile, because another thread drives the runtime.
    pub(super) fn learn(&self, timer: &mut AlarmTimer) {
        let found = (0..8).find_map(|_| {
            let come = last_to_have_come(timer);
            let is_last = !timer.has_come(Tick(come.0 + 1));
            is_last.then_some(come)
        });
        if let Some(come) = found {
            self.know(come.0 % MILLISECOND);
        }
    }
}

/// Searches back from now, in steps that double, and then between the last two of them.
fn last_to_have_come(timer: &mut AlarmTimer) -> Tick {
    let (mut to_come, mut step) = (Tick::really_now().0 + MILLISECOND, MILLISECOND);
    while timer.has_come(Tick(to_come)) {
        // The clock was moved ahead.
        to_come = to_come.saturating_add(step).min(Tick::LAST.0);
        step *= 2;
    }
    let mut come = to_come.saturating_sub(step);
    while !timer.has_come(Tick(come)) {
        step *= 2;
        (to_come, come) = (come, come.saturating_sub(step));
    }
    while to_come - come > 1 {
        let between = come + (to_come - come) / 2;
        match timer.has_come(Tick(between)) {
            true => come = between,
            false => to_come = between,
        }
    }
    Tick(come)
}
