//! `Debug` of a wheel: the clock, and for each level its occupied slots and how many entries they hold.

use std::collections::BTreeMap;
use std::fmt;

use super::TimingWheel;

/// Shows the clock, the number of entries, and per level a map from occupied slots to counts.
#[allow(
    clippy::missing_fields_in_debug,
    reason = "the stamps mean nothing to a reader"
)]
impl<T, const SLOTS: usize> fmt::Debug for TimingWheel<T, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slots = &self.core.slots;
        let counts = |level| {
            slots
                .counts(level)
                .enumerate()
                .filter(|&(_, count)| count > 0)
        };
        let levels = (0..slots.levels()).map(|level| counts(level).collect::<BTreeMap<_, _>>());
        f.debug_struct("TimingWheel")
            .field("now", &self.now())
            .field("len", &self.len())
            .field("levels", &levels.collect::<Vec<_>>())
            .finish()
    }
}
