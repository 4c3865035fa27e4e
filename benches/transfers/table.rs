//! Prints the counts as a table.

use std::collections::BTreeMap;

use common::table::{Cell, Table, markdown, number};
use common::word;

use crate::play::{Case, Implementation};

/// Transfers per operation with each implementation, and those of Tokio's under the lock of its timers.
pub(crate) struct Row {
    pub(crate) case: Case,
    pub(crate) counts: BTreeMap<Implementation, f64>,
    pub(crate) in_lock: Option<f64>,
}

pub(crate) fn table(rows: &[Row]) -> Table {
    let all = || Implementation::all();
    let timers = || all().filter(|one| *one != Implementation::Bare);
    let mut header = vec!["transfers".to_owned(), "workers".to_owned()];
    header.extend(all().map(|one| word(&one)));
    header.extend(timers().map(|one| format!("own: {}", word(&one))));
    header.push("in lock: tokio".to_owned());
    let mut table = markdown(header);
    for Row {
        case,
        counts,
        in_lock,
    } in rows
    {
        let own = |one| counts[&one] - counts[&Implementation::Bare];
        let mut cells = vec![Cell::new(word(&case.service)), number(case.workers)];
        cells.extend(all().map(|one| cell(counts[&one])));
        cells.extend(timers().map(|one| cell(own(one))));
        cells.extend(in_lock.map(cell));
        table.add_row(cells);
    }
    table
}

fn cell(count: f64) -> Cell {
    // Adding zero removes the sign of a negative zero.
    let rounded = (10.0 * count).round() / 10.0 + 0.0;
    number(format!("{rounded:.1}"))
}
