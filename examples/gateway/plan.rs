//! What a run is to do, and what must come of it: both follow from the options alone.

use std::ops::Range;
use std::time::Duration;

/// Shares are counted in hundredths of a percent.
const WHOLE: u64 = 10_000;

/// Coprime to `WHOLE`, so any `WHOLE` numbers in a row fall on every slot once, and near the
/// golden ratio, so a short row is spread evenly too.
const STRIDE: u64 = 6_181;

/// A share of something numbered, at least 0 and at most all of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(u64);

impl Share {
    pub(crate) const NONE: Self = Share(0);

    /// From a percentage with at most two decimals.
    pub(crate) fn percent(text: &str) -> Result<Share, String> {
        let percent: f64 = text
            .parse()
            .map_err(|_| "a share is a percentage, such as 5 or 0.25")?;
        let parts = percent * WHOLE as f64 / 100.0;
        match (0.0..=WHOLE as f64).contains(&parts) {
            false => Err("a share is at least 0 and at most 100 percent".into()),
            true if (parts - parts.round()).abs() > 1e-6 => {
                Err("a share has at most two decimals".into())
            }
            true => Ok(Share(parts.round() as u64)),
        }
    }

    pub(crate) fn and(self, other: Share) -> Option<Share> {
        Some(Share(self.0 + other.0)).filter(|both| both.0 <= WHOLE)
    }

    fn takes(self, number: u64) -> bool {
        number % WHOLE * STRIDE % WHOLE < self.0
    }
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    /// Answered at once: its timer is cancelled within the millisecond.
    Fast,
    /// Answered later, but in time: its timer is cancelled all the same.
    Slow,
    /// Not answered: its timer fires.
    Never,
}

/// Sizes, shares and limits of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) connections: u64,
    pub(crate) requests: u64,
    pub(crate) backends: u64,
    pub(crate) never: Share,
    /// The share of calls that are slow or never answered; the two cannot overlap.
    pub(crate) never_or_slow: Share,
    pub(crate) silent: Share,
    pub(crate) slow_delay: Duration,
    pub(crate) call_timeout: Duration,
    pub(crate) request_timeout: Duration,
    pub(crate) head_timeout: Duration,
}

impl Plan {
    pub(crate) fn fate(&self, call: u64) -> Fate {
        if self.never.takes(call) {
            Fate::Never
        } else if self.never_or_slow.takes(call) {
            Fate::Slow
        } else {
            Fate::Fast
        }
    }

    /// Whether the client falls silent: it sends half of its requests, then half a head.
    pub(crate) fn is_silent(&self, connection: u64) -> bool {
        self.silent.takes(connection)
    }

    /// The numbers of the requests a client sends; no two clients share one.
    pub(crate) fn requests_of(&self, connection: u64) -> Range<u64> {
        let first = connection * self.requests;
        let count = if self.is_silent(connection) {
            self.requests.div_ceil(2)
        } else {
            self.requests
        };
        first..first + count
    }

    /// The numbers of a request's calls, one for each backend.
    pub(crate) fn calls_of(&self, request: u64) -> Range<u64> {
        request * self.backends..(request + 1) * self.backends
    }

    pub(crate) fn never_answered(&self, request: u64) -> u64 {
        self.calls_of(request)
            .filter(|&call| self.fate(call) == Fate::Never)
            .count() as u64
    }
}

/// The counts that a plan must lead to.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Expected {
    pub(crate) requests: u64,
    pub(crate) calls: u64,
    /// Calls that get no answer.
    pub(crate) never: u64,
    /// Requests with at least one such call.
    pub(crate) partial: u64,
    /// Connections that the timer for a head closes.
    pub(crate) silent: u64,
}

impl Expected {
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut expected = Expected::default();
        for connection in 0..plan.connections {
            expected.silent += u64::from(plan.is_silent(connection));
            for request in plan.requests_of(connection) {
                let never = plan.never_answered(request);
                expected.requests += 1;
                expected.calls += plan.backends;
                expected.never += never;
                expected.partial += u64::from(never > 0);
            }
        }
        expected
    }
}
