//! What a run is to do: what becomes of a call follows from its number alone. And what all parties count of it.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::{Load, Stack};

/// Each gets one call of every request.
pub(crate) const BACKENDS: u64 = 4;
/// When a slow answer comes.
const SLOW: Duration = Duration::from_millis(20);
/// One call in so many is answered late, but in time; one is never answered.
const CALLS_PER_SLOW: u64 = 10;
pub(crate) const CALLS_PER_NEVER: u64 = 1_000;
/// For so many clients there is one that falls silent in the middle of a head.
pub(crate) const CLIENTS_PER_SILENT: u64 = 20;

/// Sizes and limits of a run, and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) load: Load,
    /// Whether all calls are fast, and no client falls silent.
    pub(crate) is_calm: bool,
    pub(crate) tally: Arc<Tally>,
}

impl Plan {
    /// With calls of each kind, and clients that fall silent.
    pub(crate) fn of(load: Load) -> Self {
        Plan {
            load,
            is_calm: false,
            tally: Arc::default(),
        }
    }

    /// Of a request with all its calls.
    pub(crate) fn request_timeout(&self) -> Duration {
        4 * self.load.limit
    }

    /// How long a connection may take for the head of its next request.
    pub(crate) fn head_timeout(&self) -> Duration {
        8 * self.load.limit
    }

    pub(crate) fn all_requests(&self) -> u64 {
        self.load.connections * self.load.requests
    }

    /// Calls that get no answer; as many requests have one of these.
    pub(crate) fn all_never(&self) -> u64 {
        self.all_requests() * BACKENDS / CALLS_PER_NEVER
    }

    pub(crate) fn all_silent(&self) -> u64 {
        let silent = self.load.connections / CLIENTS_PER_SILENT;
        if self.is_calm { 0 } else { silent }
    }
}

/// What a backend does before it answers the call. Most are answered at once: their timers are cancelled within the
/// millisecond.
pub(crate) async fn before_answer<T: Stack>(call: u64) {
    if (call + 1) % CALLS_PER_NEVER == 0 {
        pending::<()>().await;
    }
    if call % CALLS_PER_SLOW == 0 {
        T::sleep(SLOW).await;
    }
}

/// One count, written by all workers: the end of a request may be that its future is dropped.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Says how many there were before.
    pub(crate) fn add(&self, number: u64) -> u64 {
        self.0.fetch_add(number, Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Connections to the gateway.
    pub(crate) opened: Count,
    /// Of these, closed by the timer: a head did not come in time.
    pub(crate) timed_out: Count,
    pub(crate) requests: Count,
    pub(crate) calls: Count,
    /// Calls whose answer is part of the answer to a request.
    pub(crate) answered: Count,
    /// Of these, those of which a client has heard.
    pub(crate) heard: Count,
    pub(crate) call_fired: Count,
    /// Requests that the gateway's limit ended, and answers without one or more of the backends.
    pub(crate) partial: Count,
    /// Timers that fired before their time; there must be none.
    pub(crate) early: Count,
}
