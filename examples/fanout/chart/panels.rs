//! The four panels.

use super::axis::{Decades, Linear};
use super::svg::{Anchor, Area, Svg};
use super::{BARE, Drawn, INK, PALE_INK, RULE, bold, text};
use crate::report::{bytes, duration};

/// A panel with its own coordinates: 0 to 1 from the left and from the bottom.
pub(crate) struct Panel<'a> {
    svg: &'a mut Svg,
    whole: Area,
    plot: Area,
}

impl<'a> Panel<'a> {
    pub(crate) fn begin(svg: &'a mut Svg, whole: Area) -> Self {
        let plot = Area {
            x: whole.x + 58.0,
            y: whole.y + 58.0,
            width: whole.width - 66.0,
            height: whole.height - 100.0,
        };
        Panel { svg, whole, plot }
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let Area { width, height, .. } = self.plot;
        (self.plot.x + x * width, self.plot.y + (1.0 - y) * height)
    }

    fn title(&mut self, title: &str, about: &str) {
        let (x, y) = (self.whole.x, self.whole.y);
        self.svg
            .text((x, y + 14.0), title, bold(16.0, INK, Anchor::Start));
        let about_style = text(13.0, PALE_INK, Anchor::Start);
        self.svg.text((x, y + 34.0), about, about_style);
    }

    /// A horizontal rule with a label at its left.
    fn rule(&mut self, y: f64, label: &str) {
        let (from, to) = (self.at((0.0, y)), self.at((1.0, y)));
        self.svg.line(from, to, RULE);
        let place = (from.0 - 8.0, from.1 + 4.0);
        self.svg
            .text(place, label, text(12.0, PALE_INK, Anchor::End));
    }

    /// A label below the plot.
    fn below(&mut self, x: f64, label: &str) {
        let (x, y) = self.at((x, 0.0));
        let style = text(12.0, PALE_INK, Anchor::Middle);
        self.svg.text((x, y + 20.0), label, style);
    }

    /// What is at the bottom of it all.
    fn caption(&mut self, label: &str) {
        let (x, y) = self.at((0.5, 0.0));
        let style = text(12.0, PALE_INK, Anchor::Middle);
        self.svg.text((x, y + 38.0), label, style);
    }

    /// A bar from the bottom, or from another bar's top, with what it stands for above it.
    fn bar(&mut self, x: (f64, f64), y: (f64, f64), color: &str) {
        let (left, top) = self.at((x.0, y.1));
        let (right, bottom) = self.at((x.1, y.0));
        let area = Area {
            x: left,
            y: top,
            width: right - left,
            height: (bottom - top).max(1.0),
        };
        self.svg.rect(area, 3.0, color);
    }

    fn above(&mut self, place: (f64, f64), label: &str) {
        let (x, y) = self.at(place);
        let style = bold(13.0, INK, Anchor::Middle);
        self.svg.text((x, y - 7.0), label, style);
    }

    fn under(&mut self, place: (f64, f64), label: &str) {
        let (x, y) = self.at(place);
        let style = bold(13.0, INK, Anchor::Middle);
        self.svg.text((x, y + 20.0), label, style);
    }

    fn curve(&mut self, points: &[(f64, f64)], color: &str) {
        let points: Vec<_> = points.iter().map(|&point| self.at(point)).collect();
        self.svg.path(&points, color);
    }
}

/// Bars in groups: the width of one, and the left edge of each side's.
fn bars(groups: usize, group: usize, sides: usize, side: usize) -> (f64, f64) {
    let width = (1.0 / groups as f64).min(0.5);
    let left = (group as f64 + 0.5) / groups as f64 - width / 2.0;
    let inner = width * 0.72;
    let each = inner / sides as f64;
    let from = left + (width - inner) / 2.0 + side as f64 * each;
    (from + 0.06 * each, from + 0.94 * each)
}

pub(crate) fn throughput(panel: &mut Panel<'_>, sides: &[Drawn<'_>]) {
    panel.title(
        "Throughput",
        "million timeouts armed per second, by workers; more is better",
    );
    let millions = |side: &Drawn<'_>, index: usize| {
        side.outcome
            .loads
            .get(index)
            .map_or(0.0, |load| load.timeouts_per_second / 1e6)
    };
    let groups = sides
        .iter()
        .map(|side| side.outcome.loads.len())
        .max()
        .unwrap_or(0);
    let all = sides
        .iter()
        .flat_map(|side| (0..groups).map(move |index| millions(side, index)));
    let scale = Linear::up_to(all.fold(0.0, f64::max) * 1.05);
    for mark in scale.marks() {
        panel.rule(scale.place(mark), &format!("{mark}"));
    }
    for group in 0..groups {
        for (index, side) in sides.iter().enumerate() {
            let value = millions(side, group);
            let x = bars(groups, group, sides.len(), index);
            panel.bar(x, (0.0, scale.place(value)), side.color);
            panel.above(
                ((x.0 + x.1) / 2.0, scale.place(value)),
                &format!("{value:.1}"),
            );
        }
        let workers = sides[0].outcome.loads[group].workers;
        let label = if workers == 1 {
            "1 worker".to_owned()
        } else {
            format!("{workers} workers")
        };
        panel.below((group as f64 + 0.5) / groups as f64, &label);
    }
}

/// The part of the timeouts that is drawn; the last of them would make the others narrow.
const MOST: f64 = 0.995;

pub(crate) fn lateness(panel: &mut Panel<'_>, sides: &[Drawn<'_>]) {
    panel.title(
        "Lateness under load",
        "share of the timeouts that fired so late at most; further left is better",
    );
    let most = sides
        .iter()
        .map(|side| side.outcome.late.at(MOST))
        .fold(0.0, f64::max);
    let scale = Linear::up_to(most / 1e6);
    for percent in [0, 25, 50, 75, 100] {
        panel.rule(f64::from(percent) / 100.0, &format!("{percent} %"));
    }
    for mark in scale.marks() {
        panel.below(
            scale.place(mark),
            &format!("{}", (mark * 1e6).round() / 1e6),
        );
    }
    panel.caption("milliseconds after the deadline");
    for side in sides {
        let drawn = side
            .outcome
            .late
            .0
            .iter()
            .filter(|(quantile, _)| *quantile <= MOST);
        let points: Vec<_> = drawn
            .map(|&(quantile, nanos)| (scale.place(nanos / 1e6), quantile))
            .collect();
        panel.curve(&points, side.color);
    }
}

const TAIL: [(&str, f64); 7] = [
    ("50 %", 0.5),
    ("90 %", 0.9),
    ("99 %", 0.99),
    ("99.9 %", 0.999),
    ("99.99 %", 0.9999),
    ("99.999 %", 0.99999),
    ("longest", 1.0),
];

pub(crate) fn waits(panel: &mut Panel<'_>, sides: &[Drawn<'_>]) {
    panel.title(
        "Arming while all others expire",
        "time to arm and cancel a timer while a crowd fires; lower is better",
    );
    let all = sides
        .iter()
        .flat_map(|side| TAIL.map(|(_, at)| side.outcome.waits.at(at)));
    let scale = Decades::around(all);
    for mark in scale.marks() {
        panel.rule(scale.place(mark), &short(mark));
    }
    let x = |index: usize| (index as f64 + 0.5) / TAIL.len() as f64;
    let longest = sides.iter().map(|side| side.outcome.waits.at(1.0));
    let least = longest.fold(f64::INFINITY, f64::min);
    for (index, (label, _)) in TAIL.iter().enumerate() {
        panel.below(x(index), label);
    }
    for side in sides {
        let y = |at| scale.place(side.outcome.waits.at(at));
        let points: Vec<_> = TAIL
            .iter()
            .enumerate()
            .map(|(index, &(_, at))| (x(index), y(at)))
            .collect();
        panel.curve(&points, side.color);
        for &point in &points {
            let place = panel.at(point);
            panel.svg.dot(place, side.color);
        }
        // The least is labelled below, so that labels do not meet.
        let (last, longest) = (points[points.len() - 1], side.outcome.waits.at(1.0));
        if longest <= least {
            panel.under(last, &duration(longest));
        } else {
            panel.above(last, &duration(longest));
        }
    }
}

/// A power of ten nanoseconds.
fn short(nanos: f64) -> String {
    match nanos {
        nanos if nanos < 1e3 => format!("{nanos:.0} ns"),
        nanos if nanos < 1e6 => format!("{:.0} µs", nanos / 1e3),
        nanos if nanos < 1e9 => format!("{:.0} ms", nanos / 1e6),
        nanos => format!("{:.0} s", nanos / 1e9),
    }
}

pub(crate) fn memory(panel: &mut Panel<'_>, sides: &[Drawn<'_>], bare: Option<f64>) {
    panel.title(
        "Memory",
        "bytes of a waiting task and, in colour, of its timeout; less is better",
    );
    let Some(bare) = bare else {
        return panel.caption("this system does not tell");
    };
    let all = |side: &Drawn<'_>| side.outcome.bytes_per_task.unwrap_or(0.0).max(bare);
    let scale = Linear::up_to(sides.iter().map(all).fold(0.0, f64::max) * 1.05);
    for mark in scale.marks() {
        panel.rule(scale.place(mark), &format!("{mark}"));
    }
    for (index, side) in sides.iter().enumerate() {
        let x = bars(2, index, 1, 0);
        panel.bar(x, (0.0, scale.place(bare)), BARE);
        panel.bar(x, (scale.place(bare), scale.place(all(side))), side.color);
        let middle = (x.0 + x.1) / 2.0;
        panel.above(
            (middle, scale.place(all(side))),
            &format!("+ {}", bytes(all(side) - bare)),
        );
        panel.below(middle, &side.outcome.name);
    }
}
