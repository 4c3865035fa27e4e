//! `/metrics`: the gateway's counts, and what its timers tell of themselves, for Prometheus.
//!
//! Nothing is emitted where requests are served. The counts are handed to the recorder when
//! a request asks for them.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use metrics::{Unit, counter, describe_counter};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use wheel::ext::metrics::{LAG, Reporter, lag_buckets};

use crate::stack::Stack;
use crate::tally::{Count, Tally};

/// A counter's name, what it counts, and where that is found.
type Row = (&'static str, &'static str, fn(&Tally) -> &Count);

pub(crate) const REQUESTS: &str = "gateway_requests";
pub(crate) const CALL_TIMEOUTS: &str = "gateway_call_timeouts";

const ROWS: [Row; 4] = [
    (REQUESTS, "Requests that came", |tally| &tally.requests),
    ("gateway_calls", "Calls to backends", |tally| &tally.calls),
    (
        "gateway_answers",
        "Answers of backends that were passed on",
        |tally| &tally.answered,
    ),
    (CALL_TIMEOUTS, "Calls that were given up", |tally| {
        &tally.call_fired
    }),
];

/// The process's recorder, seen from the side that renders it.
#[derive(Clone)]
pub(crate) struct Exporter(PrometheusHandle);

/// What one gateway has to tell.
pub(crate) struct Page {
    exporter: Exporter,
    timers: &'static str,
    tally: Arc<Tally>,
    /// It remembers which lags it has published.
    reporter: Mutex<Option<Reporter>>,
}

impl Exporter {
    /// For the whole process, and so once.
    pub(crate) fn install() -> Result<Self> {
        let handle = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Full(LAG.to_owned()), &lag_buckets())?
            .install_recorder()?;
        for (name, what, _) in ROWS {
            describe_counter!(name, Unit::Count, what);
        }
        wheel::ext::metrics::describe();
        Ok(Exporter(handle))
    }

    /// In the runtime that serves: the reporter is of that one's timers.
    pub(crate) fn page<T: Stack>(&self, tally: Arc<Tally>) -> Page {
        Page {
            exporter: self.clone(),
            timers: T::SIDE.name(),
            tally,
            reporter: Mutex::new(T::reporter()),
        }
    }
}

impl Page {
    pub(crate) fn render(&self) -> String {
        for (name, _, count) in ROWS {
            counter!(name, "timers" => self.timers).absolute(count(&self.tally).get());
        }
        let mut reporter = self.reporter.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reporter) = &mut *reporter {
            reporter.publish();
        }
        let Exporter(handle) = &self.exporter;
        handle.run_upkeep();
        handle.render()
    }
}

/// The value of a count in a rendered page.
pub(crate) fn value(page: &str, name: &str, timers: &str) -> Option<u64> {
    let labelled = format!("{name}{{timers=\"{timers}\"}} ");
    let line = page.lines().find_map(|line| line.strip_prefix(&labelled))?;
    line.parse().ok()
}
