//! [`Grid`]: when Tokio's milliseconds begin.
//!
//! Tokio fires at whole milliseconds since the runtime was built, and does not say when that was.
//! So once a driver's task is spawned, the driver asks Tokio, through a probe, which of given
//! deadlines Tokio has reached. The latest of those is the start of one of its milliseconds.

use crate::clock::{MILLISECOND, Tick};
use crate::platform::{AtomicU64, Ordering};

/// The grid of a runtime's milliseconds: the offset at which each of them begins, or [`UNKNOWN`].
pub(super) struct Grid(AtomicU64);

/// The offset of a grid that was not found: not yet, or because Tokio could not be asked.
const UNKNOWN: u64 = u64::MAX;

impl Grid {
    pub(super) fn unknown() -> Self {
        Grid(AtomicU64::new(UNKNOWN))
    }

    /// Rounds up to the millisecond in which Tokio fires. Returns `None` while the grid is not
    /// known.
    pub(super) fn round_up(&self, deadline: Tick) -> Option<Tick> {
        let offset = self.0.load(Ordering::Relaxed);
        (offset != UNKNOWN).then(|| deadline.round_up(MILLISECOND, Tick(offset)))
    }

    /// Finds the last deadline that Tokio has reached, the start of a millisecond, by bisection up
    /// to a little after `now`, the time by the clock. If the clock goes on meanwhile, because
    /// another thread drives the runtime, tries again with a later bound.
    pub(super) fn find(&self, now: Tick, mut is_reached: impl FnMut(Tick) -> bool) {
        for attempt in 0..8 {
            let (mut reached, mut ahead) = (0, now.0 + (MILLISECOND << (4 * attempt)));
            while ahead - reached > 1 {
                let between = reached + (ahead - reached) / 2;
                match is_reached(Tick(between)) {
                    true => reached = between,
                    false => ahead = between,
                }
            }
            if !is_reached(Tick(ahead)) {
                return self.0.store(reached % MILLISECOND, Ordering::Relaxed);
            }
        }
    }
}
