//! What was counted, as a table.

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
        };
        match self.own(Peer::Wheel) {
            Some(own) if [16, 64].contains(&self.case.workers) => {
                let word = if own <= goal { "reached" } else { "MISSED" };
                format!("≤ {goal} {word}")
            }
            _ => String::new(),
        }
    }
}

pub(crate) fn table(rows: &[Row], goals: bool) -> String {
    let counts = rows.first().map_or(&[][..], |row| &row.counts);
    let peers: Vec<Peer> = counts.iter().map(|&(peer, _)| peer).collect();
    let timers = || peers.iter().filter(|&&peer| peer != Peer::Bare);
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
