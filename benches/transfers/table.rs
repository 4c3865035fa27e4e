//! Prints the counts as a table.

use common::table::{Cell, Table, markdown, number};
use common::word;

use crate::play::{Case, implementations};

/// Transfers per operation with each implementation, and those of Tokio's under the lock of its timers.
pub(crate) struct Row {
    pub(crate) case: Case,
    /// The first is without a timer.
    pub(crate) counts: Vec<f64>,
    pub(crate) in_lock: f64,
}

pub(crate) fn table(rows: &[Row]) -> Table {
    let names = implementations().map(|(name, _)| name.to_owned());
    let own = implementations().skip(1);
    let own = own.map(|(name, _)| format!("own: {name}"));
    let mut header = vec!["transfers".to_owned(), "workers".to_owned()];
    header.extend(names.chain(own));
    header.push("in lock: tokio".to_owned());
    let mut table = markdown(header);
    for row in rows {
        let (case, counts) = (row.case, &row.counts);
        let own = counts.iter().skip(1).map(|count| count - counts[0]);
        let counts = counts.iter().copied().chain(own).chain([row.in_lock]);
        let place = [Cell::new(word(&case.service)), number(case.workers)];
        table.add_row(place.into_iter().chain(counts.map(cell)));
    }
    table
}

fn cell(count: f64) -> Cell {
    // Adding zero removes the sign of a negative zero.
    let rounded = (10.0 * count).round() / 10.0 + 0.0;
    number(format!("{rounded:.1}"))
}
