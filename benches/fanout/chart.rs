//! Draws the chart as SVG, for light and for dark pages. Each of its panels has bars or a curve per implementation;
//! *Memory* needs Linux.

use std::time::Duration;

use common::thousands;

use crate::rounds::{IMPLEMENTATIONS, Rounds, TAIL};
use crate::{CALLS, LOST, bytes, counts_memory, worker_counts};

const STYLE: &str = "
text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1f2933}
.title{font-size:24px;font-weight:bold}.head{font-size:16px;font-weight:bold}.pale{fill:#5b6876}
.middle{text-anchor:middle}.end{text-anchor:end}
.card{fill:#fff}.rule{stroke:#e4e7eb}polyline{stroke-width:3}
.c0{fill:#94a3b8;stroke:#94a3b8}.c1{fill:#c7440e;stroke:#c7440e}.c2{fill:#1d3557;stroke:#1d3557}polyline{fill:none!important}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.pale{fill:#9aa7b4}.card{fill:#151b23}.rule{stroke:#30363d}
.c0{fill:#6b7889;stroke:#6b7889}.c1{fill:#ff8a4c;stroke:#ff8a4c}.c2{fill:#d3e4ff;stroke:#d3e4ff}}";

const MARGIN: f64 = 40.0;
const PANEL: (f64, f64) = (506.0, 340.0);

/// Returns the chart. `note` describes the machine.
pub(crate) fn draw(tasks: u64, rounds: &[Rounds], note: &str) -> String {
    let mut svg = Svg(String::new());
    let title = format!("{} tasks, each under a timeout", thousands(tasks));
    svg.text("title", (MARGIN, 48.0), &title);
    let about = format!(
        "and fanning out to {CALLS} calls, each under its own timeout. One task in {LOST} has a call that is never answered; \
         all other timeouts are cancelled."
    );
    svg.text("pale", (MARGIN, 74.0), &about);
    for (index, (name, _)) in IMPLEMENTATIONS.iter().enumerate() {
        let x = MARGIN + 20.0 + 150.0 * index as f64;
        svg.bar(index, (x - 20.0, 90.0), (14.0, 14.0));
        svg.text("head", (x, 102.0), name);
    }
    for (line, text) in note.lines().enumerate() {
        svg.text("pale", (MARGIN, 866.0 + 18.0 * line as f64), text);
    }

    let counts: Vec<_> = worker_counts().map(|count| count.to_string()).collect();
    let medians = |at: usize, scale: f64| -> Vec<f64> {
        rounds.iter().map(|one| one.median(at) / scale).collect()
    };
    let groups: Vec<_> = (0..counts.len()).map(|at| medians(at, 1e6)).collect();
    let about = "million timeouts armed per second; more is better";
    let panel = svg.panel(0, "Throughput", about, "workers", &counts);
    svg.bars(&panel, &groups, |millions| format!("{millions:.1}"));

    let names = TAIL.map(|(name, _)| name.to_owned());
    let mut tail = |index: usize, title, about| {
        let first = counts.len() + (index - 1) * TAIL.len();
        let points = (first..first + TAIL.len()).map(|at| medians(at, 1.0));
        let axis = "share of timers that took at most this long";
        let panel = svg.panel(index, title, about, axis, &names);
        svg.curves(&panel, &points.collect::<Vec<_>>());
    };
    let about = "after the deadline, logarithmic; less is better";
    tail(1, "Lateness under load", about);
    let about = "time to arm and cancel a timer, logarithmic; less is better";
    tail(2, "Arming while all others expire", about);
    if counts_memory() {
        let about = "per pending timer: its box, and what the driver keeps for it; less is better";
        let panel = svg.panel(3, "Memory", about, "", &[String::new()]);
        let memory = medians(counts.len() + 2 * TAIL.len(), 1.0);
        svg.bars(&panel, &[memory], bytes);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1120 918\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"card\" width=\"1120\" height=\"918\"/>\n{}</svg>\n",
        svg.0
    )
}

struct Svg(String);

/// The area inside the axes.
struct Panel {
    left: f64,
    right: f64,
    bottom: f64,
    /// The width of a group of bars, or from point to point of a curve.
    group: f64,
    height: f64,
}

impl Svg {
    fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.0 += &format!("<text class=\"{class}\" x=\"{x:.0}\" y=\"{y:.0}\">{text}</text>\n");
    }

    fn bar(&mut self, color: usize, (x, y): (f64, f64), (width, height): (f64, f64)) {
        self.0 += &format!(
            "<rect class=\"c{color}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>\n"
        );
    }

    /// Draws a panel without its bars or curves.
    fn panel(
        &mut self,
        index: usize,
        title: &str,
        about: &str,
        axis: &str,
        names: &[String],
    ) -> Panel {
        let (width, height) = PANEL;
        let x = MARGIN + (width + 28.0) * (index % 2) as f64;
        let y = 140.0 + (height + 20.0) * (index / 2) as f64;
        self.text("head", (x, y + 14.0), title);
        self.text("pale", (x, y + 36.0), about);
        let (left, bottom) = (x + 58.0, y + height - 48.0);
        let group = (width - 58.0) / names.len() as f64;
        for (at, name) in names.iter().enumerate() {
            let middle = left + group * (at as f64 + 0.5);
            self.text("pale middle", (middle, bottom + 18.0), name);
        }
        let middle = left + (width - 58.0) / 2.0;
        self.text("pale middle", (middle, bottom + 38.0), axis);
        Panel {
            left,
            right: x + width,
            bottom,
            group,
            height: bottom - y - 60.0,
        }
    }

    /// Draws a line across the panel at this part of its height.
    fn rule(&mut self, panel: &Panel, part: f64, label: &str) {
        let (x, y) = (panel.left, panel.bottom - part * panel.height);
        let right = panel.right;
        self.0 += &format!("<path class=\"rule\" d=\"M{x:.0} {y:.1}H{right:.0}\"/>\n");
        self.text("pale end", (x - 8.0, y + 4.0), label);
    }

    /// Draws groups of bars. `text` formats a height.
    fn bars(&mut self, panel: &Panel, groups: &[Vec<f64>], text: impl Fn(f64) -> String) {
        let values = groups.iter().flatten().copied();
        let highest = 1.1 * values.fold(f64::MIN_POSITIVE, f64::max);
        for quarter in 0..=4 {
            let part = f64::from(quarter) / 4.0;
            self.rule(panel, part, &text(part * highest));
        }
        for (group, heights) in groups.iter().enumerate() {
            let width = 0.8 * panel.group / heights.len() as f64;
            for (index, &value) in heights.iter().enumerate() {
                let x = panel.left + panel.group * (group as f64 + 0.1) + width * index as f64;
                let height = value / highest * panel.height;
                let y = panel.bottom - height;
                self.bar(index, (x + 0.05 * width, y), (0.9 * width, height));
                // Narrow bars have no room for their labels.
                if width > 30.0 {
                    self.text("middle", (x + width / 2.0, y - 4.0), &text(value));
                }
            }
        }
    }

    /// Draws a curve for each implementation. `points` are nanoseconds.
    fn curves(&mut self, panel: &Panel, points: &[Vec<f64>]) {
        let logarithms = || points.iter().flatten().map(|nanos| nanos.max(1.0).log10());
        let lowest = logarithms().fold(f64::MAX, f64::min).floor();
        let highest = logarithms().fold(lowest + 1.0, f64::max).ceil();
        for power in lowest as i32..=highest as i32 {
            let part = (f64::from(power) - lowest) / (highest - lowest);
            let label = format!("{:?}", Duration::from_nanos(10_u64.pow(power as u32)));
            self.rule(panel, part, &label);
        }
        for index in 0..points[0].len() {
            let point = |(at, nanos): (usize, &Vec<f64>)| {
                let x = panel.left + panel.group * (at as f64 + 0.5);
                let part = (nanos[index].max(1.0).log10() - lowest) / (highest - lowest);
                format!("{x:.0},{:.1} ", panel.bottom - part * panel.height)
            };
            let points: String = points.iter().enumerate().map(point).collect();
            self.0 += &format!("<polyline class=\"c{index}\" points=\"{points}\"/>\n");
        }
    }
}
