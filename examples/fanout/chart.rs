//! The picture: four panels, each a figure by sides.

use anyhow::Result;
use common::Side;
use common::picture::plotters::prelude::*;
use common::picture::plotters::style::text_anchor::HPos;
use common::picture::{self, Area, Chart, Frame, Names, label, mesh, panel};
use indicatif::HumanCount;

use crate::outcome::{Outcome, Quantiles, Rounds};
use crate::report::bytes;
use crate::{CALLS, LOST, Options};

const SIZE: (u32, u32) = (1120, 860);
/// Pixels between two panels, and for labels beside and below each.
const GAP: i32 = 28;
const BESIDE: u32 = 58;
const BELOW: u32 = 24;

/// The picture as SVG.
pub(crate) fn draw(options: &Options, sides: &[Rounds], note: &str) -> Result<String> {
    let frame = Frame {
        title: &format!("{} tasks, each under a timeout", HumanCount(options.tasks)),
        about: &format!(
            "and fanning out to {CALLS} calls, each under its own. One task in {LOST} has a call that is never answered; \
             all other timeouts are cancelled.",
        ),
        legend: &sides
            .iter()
            .map(|Rounds { side, .. }| (side.name(), side.color()))
            .collect::<Vec<_>>(),
        note,
    };
    picture::draw(SIZE, &frame, |area| {
        let quarters = area.split_evenly((2, 2));
        let quarter = |index: usize| {
            let right = index as i32 % 2;
            quarters[index].margin(0, GAP, right * GAP, (1 - right) * GAP)
        };
        throughput(&quarter(0), sides)?;
        lateness(&quarter(1), sides)?;
        waits(&quarter(2), sides)?;
        memory(&quarter(3), sides)
    })
}

fn throughput(area: &Area<'_>, sides: &[Rounds]) -> Result<()> {
    let about = "million timeouts armed per second, by workers; more is better";
    let area = panel(area, "Throughput", about)?;
    let counts = sides[0].outcomes[0].loads.iter().enumerate();
    let groups = counts.map(|(at, load)| {
        let millions = |round: &Outcome| round.loads[at].timeouts_per_second / 1e6;
        let heights = sides.iter().map(|side| side.median(millions));
        (load.workers.to_string(), heights.collect())
    });
    bars(&area, sides, "workers", groups.collect(), |millions| {
        format!("{millions:.1}")
    })
}

fn memory(area: &Area<'_>, sides: &[Rounds]) -> Result<()> {
    let about = "of a pending timer: its box, and what the driver has for it; less is better";
    let area = panel(area, "Memory", about)?;
    let heights = sides.iter();
    let heights = heights.map(|side| side.bytes_per_timer().unwrap_or(0.0));
    bars(
        &area,
        sides,
        "",
        vec![(String::new(), heights.collect())],
        bytes,
    )
}

/// Groups of bars, one for each side, with their heights as `text` above them. `axis` is what
/// the groups differ in.
fn bars(
    area: &Area<'_>,
    sides: &[Rounds],
    axis: &str,
    groups: Vec<(String, Vec<f64>)>,
    text: impl Fn(f64) -> String,
) -> Result<()> {
    let x: Names = groups.iter().map(|(name, _)| name.clone()).collect();
    let highest = groups
        .iter()
        .flat_map(|(_, heights)| heights)
        .fold(f64::MIN_POSITIVE, |high: f64, &height| high.max(height));
    let mut chart = ChartBuilder::on(area)
        .x_label_area_size(2 * BELOW)
        .y_label_area_size(BESIDE)
        .build_cartesian_2d(x, 0.0..highest * 1.1)?;
    mesh(&mut chart).y_labels(6).x_desc(axis).draw()?;
    let width = 0.8 / sides.len() as f64;
    let pixels = f64::from(area.dim_in_pixel().0) / groups.len() as f64 * width;
    // A label is not wider than its bar.
    let size = (pixels / 2.5).min(13.0) as u32;
    for (group, (_, heights)) in groups.iter().enumerate() {
        for (index, (&height, side)) in heights.iter().zip(sides).enumerate() {
            let left = group as f64 - 0.4 + width * index as f64;
            let corners = [(left + 0.05 * width, 0.0), (left + 0.95 * width, height)];
            chart.draw_series([Rectangle::new(corners, side.side.color().filled())])?;
            let top = (left + width / 2.0, height);
            // And not too small to be read.
            if size > 6 {
                label(&chart, &text(height), top, (0, -3), size, HPos::Center)?;
            }
        }
    }
    Ok(())
}

/// The part of the timeouts that is drawn; the last of them would make the others narrow.
const MOST: f64 = 0.995;

fn lateness(area: &Area<'_>, sides: &[Rounds]) -> Result<()> {
    let about = "share of the timeouts that fired so late at most; further left is better";
    let area = panel(area, "Lateness under load", about)?;
    let late = |side: &Rounds, at| side.median(|round| round.late.at(at));
    let latest = sides.iter().map(|side| late(side, MOST));
    let latest = latest.fold(1e3, f64::max);
    let mut chart = ChartBuilder::on(&area)
        .x_label_area_size(2 * BELOW)
        .y_label_area_size(BESIDE)
        .build_cartesian_2d(0.0..latest / 1e6, 0.0..1.0)?;
    mesh(&mut chart)
        .y_labels(6)
        .x_labels(8)
        .x_desc("milliseconds after the deadline")
        .y_label_formatter(&|share| format!("{:.0} %", share * 100.0))
        .draw()?;
    for side in sides {
        let Quantiles(quantiles) = &side.outcomes[0].late;
        let drawn = quantiles.iter().map(|(at, _)| *at).filter(|&at| at <= MOST);
        let points = drawn.map(|at| (late(side, at) / 1e6, at));
        curve(&mut chart, side.side, points.collect())?;
    }
    Ok(())
}

const TAIL: [(&str, f64); 6] = [
    ("50 %", 0.5),
    ("90 %", 0.9),
    ("99 %", 0.99),
    ("99.9 %", 0.999),
    ("99.99 %", 0.9999),
    ("longest", 1.0),
];

fn waits(area: &Area<'_>, sides: &[Rounds]) -> Result<()> {
    let about = "time to arm and cancel a timer, on a logarithmic scale; lower is better";
    let area = panel(area, "Arming while all others expire", about)?;
    let tail = |side: &Rounds| TAIL.map(|(_, at)| side.median(|round| round.waits.at(at)).max(1.0));
    let all = sides.iter().flat_map(tail);
    let lowest = all.clone().fold(f64::MAX, f64::min).log10().floor();
    let highest = all.fold(0.0, f64::max).log10().ceil().max(lowest + 1.0);
    let y = (10_f64.powf(lowest)..10_f64.powf(highest)).log_scale();
    let x: Names = TAIL.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut chart = ChartBuilder::on(&area)
        .x_label_area_size(2 * BELOW)
        .y_label_area_size(BESIDE)
        .build_cartesian_2d(x, y)?;
    mesh(&mut chart)
        .y_labels(10)
        .y_max_light_lines(10)
        .x_desc("share of the operations that took at most so long")
        .y_label_formatter(&|&nanos| power(nanos))
        .draw()?;
    for side in sides {
        let points = tail(side).into_iter().enumerate();
        let points = points.map(|(index, wait)| (index as f64, wait));
        curve(&mut chart, side.side, points.collect())?;
    }
    Ok(())
}

/// A power of ten nanoseconds.
fn power(nanos: f64) -> String {
    let (unit, name) = match nanos {
        nanos if nanos < 1e3 => (1.0, "ns"),
        nanos if nanos < 1e6 => (1e3, "µs"),
        nanos if nanos < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{:.0} {name}", nanos / unit)
}

/// Where curves are one, that of the third is the thin one.
fn curve<X, Y>(chart: &mut Chart<'_, '_, X, Y>, side: Side, points: Vec<(f64, f64)>) -> Result<()>
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let width = if side == Side::Precise { 2 } else { 4 };
    chart.draw_series(LineSeries::new(points, side.color().stroke_width(width)))?;
    Ok(())
}
