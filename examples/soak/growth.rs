//! Whether memory grows.

use std::time::Duration;

use support::resident_kib;

/// What may be added to what was once needed: runs are random, and allocators keep some.
const ALLOWANCE_KIB: u64 = 64 * 1024;

/// The first half of a run shows how much memory it needs; the second may need a quarter more.
pub(crate) struct Growth {
    half: Duration,
    most_in_first_half: u64,
    latest: u64,
}

impl Growth {
    pub(crate) fn new(length: Duration) -> Self {
        Growth {
            half: length / 2,
            most_in_first_half: 0,
            latest: 0,
        }
    }

    /// Where the system does not tell, nothing is found.
    pub(crate) fn look(&mut self, elapsed: Duration) {
        self.latest = resident_kib().unwrap_or(0);
        if elapsed < self.half {
            self.most_in_first_half = self.most_in_first_half.max(self.latest);
        }
    }

    pub(crate) fn mebibytes(&self) -> u64 {
        self.latest / 1024
    }

    /// Of a run that has had a first half.
    pub(crate) fn verdict(&self) -> Option<String> {
        let (then, now) = (self.most_in_first_half, self.latest);
        let has_grown = then > 0 && now > then * 5 / 4 + ALLOWANCE_KIB;
        has_grown.then(|| format!("{now} KiB in the end, {then} KiB at most in the first half"))
    }
}
