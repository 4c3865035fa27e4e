//! `Debug` for the public wheel.

use std::collections::BTreeMap;
use std::fmt;

use super::TimingWheel;

/// Shows the clock, the number of entries and, for each level, how many entries each occupied slot
/// holds.
impl<T, const SLOTS: usize> fmt::Debug for TimingWheel<T, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slots = &self.raw.slots;
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
