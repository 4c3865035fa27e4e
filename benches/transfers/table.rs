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
            Service::Gateway => return None,
        };
        [16, 64].contains(&self.workers).then_some(goal)
    }

    fn verdict(&self) -> String {
        let word = |reached| if reached { "reached" } else { "MISSED" };
        if let Some((goal, own)) = self.goal().zip(self.own(Peer::Wheel)) {
            return format!("≤ {goal} {}", word(own <= goal));
        }
        let both = self.count(Peer::Tokio).zip(self.count(Peer::Wheel));
        match both.filter(|_| self.service == Service::Gateway) {
            Some((tokio, wheel)) => format!("≤ tokio's {}", word(wheel <= tokio)),
            None => String::new(),
        }
    }
}

pub(crate) fn table(rows: &[Row], goals: bool) -> String {
    let counted = |peer: &&Peer| rows.iter().any(|row| row.count(**peer).is_some());
    let peers: Vec<Peer> = Peer::ALL.iter().filter(counted).copied().collect();
    let timers = || peers.iter().filter(|&&peer| peer != Peer::Bare);
    let mut header = vec!["transfers".to_owned(), "workers".to_owned()];
    header.extend(peers.iter().map(|peer| peer.name().to_owned()));
    header.extend(timers().map(|peer| format!("own: {}", peer.name())));
    if goals {
        header.push("goal".to_owned());
    }
    let mut table = markdown(header);
    for row in rows {
        let mut cells = vec![Cell::new(row.service.name()), number(row.workers)];
        cells.extend(peers.iter().map(|&peer| cell(row.count(peer))));
        cells.extend(timers().map(|&peer| cell(row.own(peer))));
        if goals {
            cells.push(Cell::new(row.verdict()));
        }
        table.add_row(cells);
    }
    table.to_string()
}

fn cell(count: Option<f64>) -> Cell {
    number(count.map_or(String::new(), |count| format!("{count:.1}")))
}
