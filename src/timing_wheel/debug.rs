use std::collections::BTreeMap;
use std::fmt;

use super::TimingWheel;

/// Shows the clock, the number of entries and, for each level, how many each occupied slot holds.
impl<T, const SLOTS: usize> fmt::Debug for TimingWheel<T, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slots = &self.raw.slots;
        let levels = (0..slots.levels()).map(|level| {
            let counts = slots.counts(level).enumerate();
            counts.filter(|&(_, count)| count > 0).collect()
        });
        f.debug_struct("TimingWheel")
            .field("now", &self.now())
            .field("len", &self.len())
            .field("levels", &levels.collect::<Vec<BTreeMap<_, _>>>())
            .finish()
    }
}
