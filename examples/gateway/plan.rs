//! What a run is to do, and what must come of it: both follow from the options alone.

use std::ops::Range;
use std::time::Duration;

use clap::Args;

use crate::options::count_to;

/// Shares are counted in hundredths of a percent.
const WHOLE: u64 = 10_000;

/// Coprime to `WHOLE`, so any `WHOLE` numbers in a row fall on every slot once, and near the
/// golden ratio, so a short row is spread evenly too.
const STRIDE: u64 = 6_181;

/// A share of something numbered, at least 0 and at most all of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(u64);

impl Share {
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

    pub(crate) fn and(self, other: Share) -> Share {
        Share(self.0 + other.0)
    }

    pub(crate) fn is_possible(self) -> bool {
        self.0 <= WHOLE
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
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Client connections, all open at once
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = count_to(100_000))]
    pub(crate) connections: u64,

    /// Requests that each connection sends
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = count_to(1_000_000))]
    pub(crate) requests: u64,

    /// Backends, each of which gets one call of every request
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = count_to(100))]
    pub(crate) backends: u64,

    /// Share of the calls that are answered late, but in time
    #[arg(long, value_name = "%", default_value = "10", value_parser = Share::percent)]
    pub(crate) slow: Share,

    /// Share of the calls that are never answered
    #[arg(long, value_name = "%", default_value = "0.1", value_parser = Share::percent)]
    pub(crate) never: Share,

    /// Share of the clients that fall silent half-way
    #[arg(long, value_name = "%", default_value = "5", value_parser = Share::percent)]
    pub(crate) silent: Share,

    /// When a slow answer comes
    #[arg(long, value_name = "MS", default_value = "20", value_parser = milliseconds)]
    pub(crate) slow_delay: Duration,

    /// Limit of one call to one backend
    #[arg(long, value_name = "MS", default_value = "250", value_parser = milliseconds)]
    pub(crate) call_timeout: Duration,

    /// Limit of a request with all its calls
    #[arg(long, value_name = "MS", default_value = "1000", value_parser = milliseconds)]
    pub(crate) request_timeout: Duration,

    /// How long a connection may take for the head of its next request
    #[arg(long, value_name = "MS", default_value = "2000", value_parser = milliseconds)]
    pub(crate) head_timeout: Duration,
}

/// An hour.
const MOST_MILLISECONDS: u64 = 3_600_000;

fn milliseconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(number @ 1..=MOST_MILLISECONDS) => Ok(Duration::from_millis(number)),
        _ => Err(format!(
            "a time is a whole number of milliseconds from 1 to {MOST_MILLISECONDS}"
        )),
    }
}

impl Plan {
    pub(crate) fn fate(&self, call: u64) -> Fate {
        if self.never.takes(call) {
            Fate::Never
        } else if self.never.and(self.slow).takes(call) {
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
