//! What was counted, as a table.

use std::collections::BTreeMap;

use clap::ValueEnum as _;
use common::table::{Cell, markdown, number};
use common::word;

use crate::play::{Case, Peer, Service};

/// Transfers per operation with each peer, and of tokio's those under the lock of its timers.
pub(crate) struct Row {
    pub(crate) case: Case,
    pub(crate) counts: BTreeMap<Peer, f64>,
    pub(crate) in_lock: Option<f64>,
}

impl Row {
    fn count(&self, peer: Peer) -> Option<f64> {
        self.counts.get(&peer).copied()
    }

    /// Less the bare run.
    pub(crate) fn own(&self, peer: Peer) -> Option<f64> {
        Some(self.count(peer)? - self.count(Peer::Bare)?)
    }

    /// What our own is to be at most, and whether it is. A whole service is to be no worse than with tokio's timers.
    fn verdict(&self) -> String {
        let own = self
            .own(Peer::Wheel)
            .filter(|_| [16, 64].contains(&self.case.workers));
        let (goal, ours) = match self.case.service {
            Service::Conns | Service::Calls => (Some(0.5), own),
            Service::Fresh => (Some(2.0), own),
            Service::Gateway => (self.count(Peer::Tokio), self.count(Peer::Wheel)),
        };
        let Some((goal, ours)) = goal.zip(ours) else {
            return String::new();
        };
        let verdict = if ours <= goal { "reached" } else { "MISSED" };
        format!("≤ {goal:.1} {verdict}")
    }
}

/// All that any row has.
pub(crate) fn peers(rows: &[Row]) -> Vec<Peer> {
    let peers = Peer::value_variants().iter().copied();
    let is_counted = |&peer: &Peer| rows.iter().any(|row| row.count(peer).is_some());
    peers.filter(is_counted).collect()
}

pub(crate) fn table(rows: &[Row], goals: bool) -> String {
    let peers = peers(rows);
    let has_own = peers.contains(&Peer::Bare);
    let timers = || peers.iter().filter(|&&peer| has_own && peer != Peer::Bare);
    let mut header = vec!["transfers".to_owned(), "workers".to_owned()];
    header.extend(peers.iter().map(word));
    header.extend(timers().map(|peer| format!("own: {}", word(peer))));
    header.push("in lock: tokio".to_owned());
    header.extend(goals.then(|| "goal".to_owned()));
    let mut table = markdown(header);
    for row in rows {
        let Case { service, workers } = row.case;
        let mut cells = vec![Cell::new(word(&service)), number(workers)];
        cells.extend(peers.iter().map(|&peer| cell(row.count(peer))));
        cells.extend(timers().map(|&peer| cell(row.own(peer))));
        cells.push(cell(row.in_lock));
        cells.extend(goals.then(|| Cell::new(row.verdict())));
        table.add_row(cells);
    }
    table.to_string()
}

fn cell(count: Option<f64>) -> Cell {
    // What is added takes the sign of a zero away.
    let rounded = |count: f64| (10.0 * count).round() / 10.0 + 0.0;
    number(count.map_or(String::new(), |count| format!("{:.1}", rounded(count))))
}
