//! What a run is to do: what becomes of a call or a connection follows from its number alone.

use std::ops::Range;
use std::time::Duration;

/// Each gets one call of every request.
pub(crate) const BACKENDS: u64 = 4;
/// When a slow answer comes.
pub(crate) const SLOW: Duration = Duration::from_millis(20);
/// One call in so many is answered late, but in time; one is never answered.
const CALLS_PER_SLOW: u64 = 10;
const CALLS_PER_NEVER: u64 = 1_000;
/// One client in so many falls silent in the middle of a head.
const CLIENTS_PER_SILENT: u64 = 20;

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

/// Sizes and limits of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) connections: u64,
    /// Of each connection.
    pub(crate) requests: u64,
    /// Whether all calls are fast, and no client falls silent.
    pub(crate) is_calm: bool,
    /// Of a call to a backend.
    pub(crate) call_timeout: Duration,
}

impl Plan {
    pub(crate) fn with_every_fate(connections: u64, requests: u64) -> Self {
        Plan {
            connections,
            requests,
            is_calm: false,
            call_timeout: Duration::from_millis(250),
        }
    }

    /// Of a request with all its calls.
    pub(crate) fn request_timeout(&self) -> Duration {
        4 * self.call_timeout
    }

    /// How long a connection may take for the head of its next request.
    pub(crate) fn head_timeout(&self) -> Duration {
        8 * self.call_timeout
    }

    pub(crate) fn fate(&self, call: u64) -> Fate {
        match call {
            _ if self.is_calm => Fate::Fast,
            call if (call + 1) % CALLS_PER_NEVER == 0 => Fate::Never,
            call if call % CALLS_PER_SLOW == 0 => Fate::Slow,
            _ => Fate::Fast,
        }
    }

    pub(crate) fn is_silent(&self, connection: u64) -> bool {
        !self.is_calm && (connection + 1) % CLIENTS_PER_SILENT == 0
    }

    /// The numbers of the requests a client sends; no two clients share one.
    pub(crate) fn requests_of(&self, connection: u64) -> Range<u64> {
        connection * self.requests..(connection + 1) * self.requests
    }

    /// The numbers of a request's calls, one for each backend.
    pub(crate) fn calls_of(request: u64) -> Range<u64> {
        request * BACKENDS..(request + 1) * BACKENDS
    }

    pub(crate) fn all_requests(&self) -> u64 {
        self.connections * self.requests
    }

    /// Calls that get no answer; as many requests have one of these.
    pub(crate) fn all_never(&self) -> u64 {
        self.all_requests() * BACKENDS / CALLS_PER_NEVER
    }

    pub(crate) fn all_silent(&self) -> u64 {
        self.connections / CLIENTS_PER_SILENT
    }
}
