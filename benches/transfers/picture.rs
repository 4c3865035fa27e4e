//! Own transfers against workers: a panel for each service, on a white card that is readable on any background.

use crate::axis::Linear;
use crate::play::{Peer, Service};
use crate::svg::{Anchor, Area, Style, Svg};
use crate::table::Row;

const WIDTH: f64 = 1120.0;
const HEIGHT: f64 = 420.0;
const MARGIN: f64 = 40.0;
const GAP: f64 = 30.0;
/// Under the title.
const TOP: f64 = 104.0;

const INK: &str = "#1f2933";
const PALE_INK: &str = "#616e7c";
const RULE: &str = "#e4e7eb";
const CARD: &str = "#ffffff";

const TITLE: &str = "Cache lines that go from one worker to another";

pub(crate) fn draw(rows: &[Row]) -> String {
    let mut svg = Svg::default();
    let card = |by: f64| Area {
        x: by,
        y: by,
        width: WIDTH - 2.0 * by,
        height: HEIGHT - 2.0 * by,
    };
    svg.rect(card(0.5), 14.0, RULE);
    svg.rect(card(1.5), 13.0, CARD);
    svg.text((MARGIN, 48.0), TITLE, style(24.0, INK, Anchor::Start, true));
    let about =
        "per operation, by workers; without those of the same work without a timer; less is better";
    svg.text(
        (MARGIN, 74.0),
        about,
        style(14.0, PALE_INK, Anchor::Start, false),
    );
    legend(&mut svg, &peers(rows));
    let services = Service::ALL
        .map(|service| -> Vec<&Row> { rows.iter().filter(|row| row.service == service).collect() });
    let width = (WIDTH - 2.0 * MARGIN + GAP) / services.len() as f64 - GAP;
    for (index, rows) in services.iter().enumerate() {
        let x = MARGIN + index as f64 * (width + GAP);
        panel(&mut svg, x, width, rows);
    }
    svg.finish(WIDTH, HEIGHT, TITLE)
}

fn style(size: f64, color: &'static str, anchor: Anchor, bold: bool) -> Style {
    Style {
        size,
        color,
        bold,
        anchor,
    }
}

/// All with a timer.
fn peers(rows: &[Row]) -> Vec<Peer> {
    let peers = rows.first().map_or(&[][..], |row| &row.counts).iter();
    let peers = peers.map(|&(peer, _)| peer);
    peers.filter(|&peer| peer != Peer::Bare).collect()
}

fn color(peer: Peer) -> &'static str {
    match peer {
        Peer::Wheel => "#d9480f",
        Peer::Tokio => "#8895a7",
        _ => "#3e6fb0",
    }
}

/// In the upper right corner. Text has no width here: a letter is taken to be so wide.
fn legend(svg: &mut Svg, peers: &[Peer]) {
    const LETTER: f64 = 9.0;
    let mut x = WIDTH - MARGIN;
    for &peer in peers.iter().rev() {
        x -= LETTER * peer.name().len() as f64;
        svg.text(
            (x, 46.0),
            peer.name(),
            style(15.0, INK, Anchor::Start, true),
        );
        x -= 14.0;
        svg.dot((x, 41.0), color(peer));
        x -= 24.0;
    }
}

/// The curves of one service.
fn panel(svg: &mut Svg, x: f64, width: f64, rows: &[&Row]) {
    let Some(first) = rows.first() else { return };
    let plot = Area {
        x: x + 32.0,
        y: TOP + 34.0,
        width: width - 40.0,
        height: HEIGHT - TOP - 34.0 - 70.0,
    };
    svg.text(
        (x, TOP + 14.0),
        first.service.about(),
        style(15.0, INK, Anchor::Start, true),
    );
    let peers = first.counts.iter().map(|count| count.0);
    let peers: Vec<Peer> = peers.filter(|&peer| peer != Peer::Bare).collect();
    let own = |row: &Row, peer| row.own(peer).unwrap_or(0.0).max(0.0);
    let all = rows
        .iter()
        .flat_map(|row| peers.iter().map(|&peer| own(row, peer)));
    let scale = Linear::up_to(all.fold(1.0, f64::max));
    let height = |value: f64| plot.y + plot.height * (1.0 - scale.place(value));
    for mark in scale.marks() {
        let y = height(mark);
        svg.line((plot.x, y), (plot.x + plot.width, y), RULE);
        let label = style(12.0, PALE_INK, Anchor::End, false);
        svg.text((plot.x - 8.0, y + 4.0), &mark.to_string(), label);
    }
    let place = |index: usize| plot.x + plot.width * (index as f64 + 0.5) / rows.len() as f64;
    for (index, row) in rows.iter().enumerate() {
        let label = style(12.0, PALE_INK, Anchor::Middle, false);
        let y = plot.y + plot.height;
        svg.text((place(index), y + 20.0), &row.workers.to_string(), label);
    }
    let caption = style(12.0, PALE_INK, Anchor::Middle, false);
    let below = (plot.x + plot.width / 2.0, plot.y + plot.height + 40.0);
    svg.text(below, "workers", caption);
    for peer in peers {
        let rows = rows.iter().enumerate();
        let points: Vec<_> = rows
            .map(|(index, row)| (place(index), height(own(row, peer))))
            .collect();
        svg.path(&points, color(peer));
        points.iter().for_each(|&point| svg.dot(point, color(peer)));
    }
}
