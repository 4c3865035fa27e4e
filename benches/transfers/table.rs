//! What was counted, as a table.

use clap::ValueEnum as _;
use common::table::{Cell, markdown, number};
use common::word;

use crate::Case;
use crate::play::{Peer, Service};

/// Transfers per operation with each peer.
pub(crate) struct Row {
    pub(crate) case: Case,
    pub(crate) counts: Vec<(Peer, f64)>,
}

impl Row {
    fn count(&self, peer: Peer) -> Option<f64> {
        let mut counts = self.counts.iter();
        counts.find(|count| count.0 == peer).map(|count| count.1)
    }

    /// Less the bare run.
    pub(crate) fn own(&self, peer: Peer) -> Option<f64> {
        Some(self.count(peer)? - self.count(Peer::Bare)?)
    }

    /// What our own is to be at most, and whether it is.
    fn verdict(&self) -> String {
        let goal = match self.case.service {
            Service::Conns | Service::Calls => 0.5,
            Service::Fresh => 2.0,
            Service::Gateway => return self.against_tokio(),
        };
        match self.own(Peer::Wheel) {
            Some(own) if [16, 64].contains(&self.case.workers) => {
                format!("≤ {goal} {}", reached(own <= goal))
            }
            _ => String::new(),
        }
    }

    /// A whole service is to be no worse than with tokio's timers.
    fn against_tokio(&self) -> String {
        match (self.count(Peer::Tokio), self.count(Peer::Wheel)) {
            (Some(tokio), Some(wheel)) => format!("≤ tokio's {}", reached(wheel <= tokio)),
            _ => String::new(),
        }
    }
}

fn reached(is_reached: bool) -> &'static str {
    if is_reached { "reached" } else { "MISSED" }
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
    header.extend(goals.then(|| "goal".to_owned()));
    let mut table = markdown(header);
    for row in rows {
        let Case { service, workers } = row.case;
        let mut cells = vec![Cell::new(word(&service)), number(workers)];
        cells.extend(peers.iter().map(|&peer| cell(row.count(peer))));
        cells.extend(timers().map(|&peer| cell(row.own(peer))));
        cells.extend(goals.then(|| Cell::new(row.verdict())));
        table.add_row(cells);
    }
    table.to_string()
}

fn cell(count: Option<f64>) -> Cell {
    number(count.map_or(String::new(), |count| format!("{count:.1}")))
}
