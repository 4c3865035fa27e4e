//! Builds runtimes whose paused clocks agree.

use support::prelude::*;

use tokio::time::advance;

use super::rules;
use crate::random::world::START;

/// Returns runtimes whose clocks differ by less than half a millisecond. Each clock is a whole number of milliseconds plus
/// the offset after its runtime's start.
pub(crate) fn runtimes(count: usize, offset: Duration) -> Vec<(Runtime, Instant)> {
    let first = paused();
    let base = begin(&first);
    let mut all = vec![(first, START)];
    while all.len() < count {
        let next = paused();
        let nanos = (begin(&next) - base).as_nanos() as u64;
        let (millis, rest) = (nanos / 1_000_000, nanos % 1_000_000);
        // Real time passes while runtimes are built, so one that does not fit is built again.
        if (1_000..400_000).contains(&rest) {
            let ahead = START.saturating_sub(Duration::from_millis(millis));
            assert!(!ahead.is_zero(), "this machine is too slow");
            all.push((next, ahead));
        }
    }
    let set = |(rt, ahead): (Runtime, Duration)| {
        rules::began(rt.handle(), begin(&rt));
        rt.block_on(advance(ahead + offset));
        let epoch = begin(&rt) - offset;
        (rt, epoch)
    };
    all.into_iter().map(set).collect()
}

fn begin(rt: &Runtime) -> Instant {
    inside(rt.handle(), Instant::now)
}
