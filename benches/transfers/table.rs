//! What was counted, as a table.

use common::table::{Cell, markdown, number};

use crate::play::{Peer, Service};

/// A service on as many workers: transfers per operation with each peer.
pub(crate) struct Row {
    pub(crate) service: Service,
    pub(crate) workers: usize,
    pub(crate) counts: Vec<(Peer, f64)>,
}

impl Row {
    pub(crate) fn new(service: Service, workers: usize) -> Self {
        Self {
            service,
            workers,
            counts: Vec::new(),
        }
    }

    fn count(&self, peer: Peer) -> Option<f64> {
        let mut counts = self.counts.iter();
        counts.find(|count| count.0 == peer).map(|count| count.1)
    }

    /// Less the bare run.
    pub(crate) fn own(&self, peer: Peer) -> Option<f64> {
        Some(self.count(peer)? - self.count(Peer::Bare)?)
    }

    /// What our own may be at most.
    fn goal(&self) -> Option<f64> {
        let goal = match self.service {
            Service::Conns | Service::Calls => 0.5,
            Service::Fresh => 2.0,
        };
        [16, 64].contains(&self.workers).then_some(goal)
    }

    fn verdict(&self) -> String {
        match self.goal().zip(self.own(Peer::Wheel)) {
            Some((goal, own)) if own <= goal => format!("≤ {goal} reached"),
            Some((goal, _)) => format!("≤ {goal} MISSED"),
            None => String::new(),
        }
    }
}

pub(crate) fn table(rows: &[Row], goals: bool) -> String {
    let Some(peers) = rows
        .first()
        .map(|row| row.counts.iter().map(|count| count.0))
    else {
        return String::new();
    };
    let timers = peers.clone().filter(|&peer| peer != Peer::Bare);
    let mut header = vec!["transfers".to_owned(), "workers".to_owned()];
    header.extend(peers.map(|peer| peer.name().to_owned()));
    header.extend(timers.clone().map(|peer| format!("own: {}", peer.name())));
    if goals {
        header.push("goal".to_owned());
    }
    let mut table = markdown(header);
    for row in rows {
        let mut cells = vec![Cell::new(row.service.name()), number(row.workers)];
        cells.extend(
            row.counts
                .iter()
                .map(|count| number(format!("{:.1}", count.1))),
        );
        let own = timers.clone().map(|peer| row.own(peer));
        cells.extend(own.map(|own| number(own.map_or(String::new(), |own| format!("{own:.1}")))));
        if goals {
            cells.push(Cell::new(row.verdict()));
        }
        table.add_row(cells);
    }
    table.to_string()
}
