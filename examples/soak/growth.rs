//! Whether memory grows.

use std::time::Duration;

use support::resident_kib;

/// What may be added to what was once needed: runs are random, and allocators keep some.
const ALLOWANCE_KIB: u64 = 64 * 1024;

/// The first half of a run shows how much memory it needs; the second may need a quarter more.
pub(crate) struct Growth {
    half: Duration,
    latest: u64,
    most_in_first_half: u64,
    has_second_half: bool,
}

impl Growth {
    pub(crate) fn new(length: Duration) -> Self {
        Growth {
            half: length / 2,
            latest: 0,
            most_in_first_half: 0,
            has_second_half: false,
        }
    }

    /// Where the system does not tell, nothing is found.
    pub(crate) fn look(&mut self, elapsed: Duration) {
        let Some(now) = resident_kib() else { return };
        self.latest = now;
        if elapsed < self.half {
            self.most_in_first_half = self.most_in_first_half.max(now);
        } else {
            self.has_second_half = true;
        }
    }

    pub(crate) fn mebibytes(&self) -> u64 {
        self.latest / 1024
    }

    pub(crate) fn verdict(&self) -> Option<String> {
        let limit = self.most_in_first_half * 5 / 4 + ALLOWANCE_KIB;
        let judged = self.most_in_first_half > 0 && self.has_second_half;
        (judged && self.latest > limit).then(|| {
            format!(
                "{} KiB in the end, {} KiB at most in the first half",
                self.latest, self.most_in_first_half
            )
        })
    }
}
