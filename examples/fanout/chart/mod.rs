//! The picture: four panels on a white card, readable on any background.

mod axis;
mod panels;
mod svg;

use indicatif::HumanCount;

use self::panels::Panel;
use self::svg::{Anchor, Area, Style, Svg};
use crate::options::{Options, Side};
use crate::outcome::Outcome;

const WIDTH: f64 = 1120.0;
const HEIGHT: f64 = 800.0;
const MARGIN: f64 = 40.0;
const GAP: f64 = 56.0;
/// Under the title and the legend.
const TOP: f64 = 116.0;

const INK: &str = "#1f2933";
const PALE_INK: &str = "#616e7c";
const RULE: &str = "#e4e7eb";
const CARD: &str = "#ffffff";
/// Of a task without its timeout.
const BARE: &str = "#e4e7eb";
const THEIRS: &str = "#8895a7";
const OURS: &str = "#d9480f";

fn text(size: f64, color: &'static str, anchor: Anchor) -> Style {
    Style {
        size,
        color,
        bold: false,
        anchor,
    }
}

fn bold(size: f64, color: &'static str, anchor: Anchor) -> Style {
    Style {
        bold: true,
        ..text(size, color, anchor)
    }
}

/// A side that is drawn, in its colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn<'a> {
    outcome: &'a Outcome,
    color: &'static str,
}

/// The picture as SVG.
pub(crate) fn draw(options: &Options, outcomes: &[Outcome]) -> String {
    let sides: Vec<_> = outcomes
        .iter()
        .filter(|outcome| !outcome.is_of(Side::Without))
        .map(|outcome| Drawn {
            outcome,
            color: if outcome.is_of(Side::Wheel) {
                OURS
            } else {
                THEIRS
            },
        })
        .collect();
    let mut svg = Svg::default();
    let card = Area {
        x: 0.5,
        y: 0.5,
        width: WIDTH - 1.0,
        height: HEIGHT - 1.0,
    };
    svg.rect(card, 14.0, RULE);
    svg.rect(card.shrunk(1.0), 13.0, CARD);
    let title = format!("{} tasks, each under a timeout", HumanCount(options.tasks));
    heading(&mut svg, options, &title, &sides);

    let [one, two, three, four] = quarters();
    panels::throughput(&mut Panel::begin(&mut svg, one), &sides);
    panels::lateness(&mut Panel::begin(&mut svg, two), &sides);
    panels::waits(&mut Panel::begin(&mut svg, three), &sides);
    let bare = crate::report::bare_task(outcomes);
    panels::memory(&mut Panel::begin(&mut svg, four), &sides, bare);
    svg.finish(WIDTH, HEIGHT, &title)
}

fn heading(svg: &mut Svg, options: &Options, title: &str, sides: &[Drawn<'_>]) {
    svg.text((MARGIN, 48.0), title, bold(24.0, INK, Anchor::Start));
    let about = format!(
        "and fanning out to {} calls, each under its own. One task in {} has a call that is never answered; \
         all other timeouts are cancelled.",
        options.calls,
        HumanCount(options.lost)
    );
    svg.text((MARGIN, 74.0), &about, text(14.0, PALE_INK, Anchor::Start));
    legend(svg, sides);
}

/// In the upper right corner. Text has no width here: a letter is taken to be so wide.
fn legend(svg: &mut Svg, sides: &[Drawn<'_>]) {
    const LETTER: f64 = 9.0;
    const SWATCH: f64 = 14.0;
    let mut x = WIDTH - MARGIN;
    for side in sides.iter().rev() {
        x -= LETTER * side.outcome.name.len() as f64;
        let name = bold(15.0, INK, Anchor::Start);
        svg.text((x, 46.0), &side.outcome.name, name);
        x -= SWATCH + 8.0;
        let swatch = Area {
            x,
            y: 33.5,
            width: SWATCH,
            height: SWATCH,
        };
        svg.rect(swatch, 3.0, side.color);
        x -= 20.0;
    }
}

fn quarters() -> [Area; 4] {
    let width = (WIDTH - 2.0 * MARGIN - GAP) / 2.0;
    let height = (HEIGHT - TOP - MARGIN + 12.0 - GAP / 2.0) / 2.0;
    let (right, below) = (MARGIN + width + GAP, TOP + height + GAP / 2.0);
    let corners = [(MARGIN, TOP), (right, TOP), (MARGIN, below), (right, below)];
    corners.map(|(x, y)| Area {
        x,
        y,
        width,
        height,
    })
}

impl Area {
    fn shrunk(self, by: f64) -> Self {
        Area {
            x: self.x + by,
            y: self.y + by,
            width: self.width - 2.0 * by,
            height: self.height - 2.0 * by,
        }
    }
}
