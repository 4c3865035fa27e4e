//! New counts against those in the table.

use crate::plan::{Operation, Row, Rows};
use crate::table::Table;

/// By so much a count may rise.
const MOST: f64 = 1.03;

/// Or by so much, where the share above is less: another alignment alone moves a line.
const SLACK: f64 = 1.0;

const WHAT: [&str; 3] = ["instructions", "code lines", "data lines"];

/// How the counts are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum By {
    /// As they are.
    Count,
    /// As shares of tokio's: another compiler or another tokio moves both sides.
    Share,
}

/// A count that differs from the table by more than it may.
#[derive(Debug)]
pub(crate) struct Change {
    operation: Operation,
    what: &'static str,
    then: f64,
    now: f64,
}

impl Change {
    pub(crate) fn is_worse(&self) -> bool {
        self.now > self.then
    }

    pub(crate) fn print(&self) -> String {
        let Self {
            operation,
            what,
            then,
            now,
        } = self;
        let (runtime, shape) = (operation.runtime(), operation.shape());
        let percent = (now / then - 1.0) * 100.0;
        format!("{shape}, {runtime}: {what} {then:.1} → {now:.1} ({percent:+.1} %)")
    }
}

/// All that differ, of operations that are in both.
pub(crate) fn changes(table: &Table, rows: &Rows, by: By) -> Vec<Change> {
    let both = rows.iter().filter_map(|(operation, now)| {
        let then = table.rows.get(operation)?;
        Some((*operation, then, now))
    });
    both.flat_map(|(operation, then, now)| row(operation, then, now, by))
        .collect()
}

fn row(operation: Operation, then: &Row, now: &Row, by: By) -> Vec<Change> {
    let expected = expected(then, now, by);
    let counts = WHAT.into_iter().zip(expected).zip(now.wheel.each());
    let changes = counts.map(|((what, then), now)| Change {
        operation,
        what,
        then,
        now,
    });
    changes
        .filter(|change| differs(change.then, change.now))
        .collect()
}

/// What our counts would be if nothing had changed but versions.
fn expected(then: &Row, now: &Row, by: By) -> [f64; 3] {
    let (mut ours, tokio, tokio_then) = (then.wheel.each(), now.tokio.each(), then.tokio.each());
    if by == By::Share {
        for index in 0..ours.len() {
            ours[index] *= tokio[index] / tokio_then[index];
        }
    }
    ours
}

fn differs(then: f64, now: f64) -> bool {
    let (less, more) = (then.min(now), then.max(now));
    more > (less * MOST).max(less + SLACK)
}
