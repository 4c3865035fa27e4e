//! The histograms side by side: a panel for each side, readable on any background.

#[allow(dead_code)]
#[path = "../fanout/chart/svg.rs"]
mod svg;

use self::svg::{Anchor, Area, Style, Svg};
use crate::pace::{Outcome, Side};
use crate::{Options, micros};

const WIDTH: f64 = 1120.0;
const MARGIN: f64 = 40.0;
const TOP: f64 = 96.0;
const ROW: f64 = 26.0;
/// For what stands left of the bars.
const NAMES: f64 = 84.0;

const INK: &str = "#1f2933";
const PALE_INK: &str = "#616e7c";
const RULE: &str = "#e4e7eb";
const CARD: &str = "#ffffff";

fn color(side: Side) -> &'static str {
    match side {
        Side::Tokio => "#8895a7",
        Side::Wheel => "#f0a37e",
        Side::Precise => "#d9480f",
    }
}

fn text(size: f64, color: &'static str, anchor: Anchor) -> Style {
    Style {
        size,
        color,
        bold: false,
        anchor,
    }
}

fn bold(size: f64, color: &'static str) -> Style {
    Style {
        bold: true,
        ..text(size, color, Anchor::Start)
    }
}

/// The picture as SVG.
pub(crate) fn draw(options: &Options, outcomes: &[Outcome]) -> String {
    let rows = outcomes
        .first()
        .map_or(0, |outcome| outcome.jitter.shares().len());
    let height = TOP + 64.0 + rows as f64 * ROW + MARGIN;
    let mut svg = Svg::default();
    let card = |inset: f64| Area {
        x: inset,
        y: inset,
        width: WIDTH - 2.0 * inset,
        height: height - 2.0 * inset,
    };
    svg.rect(card(0.5), 14.0, RULE);
    svg.rect(card(1.5), 13.0, CARD);
    let title = format!("{} packets a second, by an interval", options.rate);
    svg.text((MARGIN, 48.0), &title, bold(24.0, INK));
    let about = "Jitter: by how much the time between two packets on the loopback interface \
                 differs from the period. Share of packets.";
    svg.text((MARGIN, 74.0), about, text(14.0, PALE_INK, Anchor::Start));

    let width = (WIDTH - 2.0 * MARGIN) / outcomes.len().max(1) as f64;
    for (index, outcome) in outcomes.iter().enumerate() {
        panel(&mut svg, MARGIN + index as f64 * width, width, outcome);
    }
    svg.finish(WIDTH, height, &title)
}

fn panel(svg: &mut Svg, x: f64, width: f64, outcome: &Outcome) {
    svg.text((x, TOP + 16.0), outcome.side.name(), bold(16.0, INK));
    let cpu = outcome.cpu.map_or(String::new(), |share| {
        format!(", CPU {:.1} %", share * 100.0)
    });
    let about = format!(
        "p50 {}, p99 {}{cpu}",
        micros(outcome.jitter.quantile(0.5)),
        micros(outcome.jitter.quantile(0.99)),
    );
    let pale = |anchor| text(13.0, PALE_INK, anchor);
    svg.text((x, TOP + 38.0), &about, pale(Anchor::Start));
    // Room for the number beside the longest bar, and before the next panel.
    let longest = width - NAMES - 84.0;
    for (row, (name, share)) in outcome.jitter.shares().into_iter().enumerate() {
        let y = TOP + 56.0 + row as f64 * ROW;
        svg.text((x + NAMES - 10.0, y + 14.0), &name, pale(Anchor::End));
        let bar = Area {
            x: x + NAMES,
            y,
            width: (share * longest).max(1.0),
            height: ROW - 8.0,
        };
        svg.rect(bar, 2.0, color(outcome.side));
        let percent = format!("{:.1} %", share * 100.0);
        let beside = (bar.x + bar.width + 8.0, y + 14.0);
        svg.text(beside, &percent, pale(Anchor::Start));
    }
}
