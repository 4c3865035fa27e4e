//! Figures: from the child to its parent, and from there to a table.

use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::HumanCount;
use serde_json::{Value, json};

use crate::plan::Outcome;
use common::table::Columns;

pub(crate) struct Figures {
    pub(crate) outcome: Outcome,
    pub(crate) most: u64,
    pub(crate) time: Duration,
    /// KiB of the whole process.
    pub(crate) peak: Option<u64>,
    /// KiB more than before the run.
    pub(crate) queue: Option<u64>,
}

impl Figures {
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "confirmed": self.outcome.confirmed,
            "undone": self.outcome.undone,
            "checksum": self.outcome.checksum,
            "most": self.most,
            "micros": self.time.as_micros() as u64,
            "peak": self.peak,
            "queue": self.queue,
        })
    }

    pub(crate) fn from_json(text: &str) -> Result<Self> {
        let json: Value = serde_json::from_str(text)?;
        let number = |name: &str| json[name].as_u64().context("a figure is missing");
        Ok(Figures {
            outcome: Outcome {
                confirmed: number("confirmed")?,
                undone: number("undone")?,
                checksum: number("checksum")?,
            },
            most: number("most")?,
            time: Duration::from_micros(number("micros")?),
            peak: json["peak"].as_u64(),
            queue: json["queue"].as_u64(),
        })
    }
}

/// A row's label, and its cell for a run.
type Row = (&'static str, fn(&Figures) -> String);

const ROWS: [Row; 7] = [
    ("orders", |run| {
        count(run.outcome.confirmed + run.outcome.undone)
    }),
    ("  confirmed: removed", |run| count(run.outcome.confirmed)),
    ("  undone: expired", |run| count(run.outcome.undone)),
    ("most of them waiting at once", |run| count(run.most)),
    ("time, s", |run| format!("{:.2}", run.time.as_secs_f64())),
    ("peak memory, MiB", |run| mebibytes(run.peak)),
    ("  of that for queue and keys", |run| mebibytes(run.queue)),
];

/// One row per figure, one column per run.
pub(crate) fn table<'a>(runs: [(&'a str, &'a Figures); 2]) -> Columns<'a, Figures> {
    let mut columns = Columns::new(runs);
    for (label, cell) in ROWS {
        columns.row(label, cell);
    }
    columns
}

fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

fn mebibytes(kibibytes: Option<u64>) -> String {
    kibibytes.map_or("n/a".into(), |kibibytes| {
        format!("{:.1}", kibibytes as f64 / 1024.0)
    })
}
