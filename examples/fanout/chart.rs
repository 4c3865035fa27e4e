//! The picture: four panels, each a figure by sides.

use std::time::Duration;

use anyhow::Result;
use common::Side;
use common::picture::plotters::prelude::*;
use common::picture::{self, Area, Frame, Names, bars, mesh, panel};
use indicatif::HumanCount;

use crate::outcome::{Outcome, Quantiles, Rounds};
use crate::report::bytes;
use crate::{CALLS, LOST, worker_counts};

const SIZE: (u32, u32) = (1120, 860);
/// Pixels between two panels, and for labels beside and below each.
const GAP: i32 = 28;
const BESIDE: u32 = 58;
const BELOW: u32 = 48;

/// The picture as SVG.
pub(crate) fn draw(tasks: u64, sides: &[Rounds], note: &str) -> Result<String> {
    let frame = Frame {
        title: &format!("{} tasks, each under a timeout", HumanCount(tasks)),
        about: &format!(
            "and fanning out to {CALLS} calls, each under its own. One task in {LOST} has a call that is never answered; \
             all other timeouts are cancelled.",
        ),
        legend: &legend(sides),
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

fn legend(sides: &[Rounds]) -> Vec<(&str, RGBColor)> {
    sides.iter().map(|side| side.side.legend()).collect()
}

/// Each side's figure.
fn medians(sides: &[Rounds], get: impl Fn(&Outcome) -> f64) -> Vec<f64> {
    sides.iter().map(|side| side.median(&get)).collect()
}

fn throughput(area: &Area<'_>, sides: &[Rounds]) -> Result<()> {
    let about = "million timeouts armed per second, by workers; more is better";
    let area = panel(area, "Throughput", about)?;
    let groups = worker_counts().enumerate().map(|(at, workers)| {
        let heights = medians(sides, |round| round.timeouts_per_second[at] / 1e6);
        (workers.to_string(), heights)
    });
    let text = |millions| format!("{millions:.1}");
    bars(
        &area,
        &legend(sides),
        "workers",
        &groups.collect::<Vec<_>>(),
        text,
    )
}

fn memory(area: &Area<'_>, sides: &[Rounds]) -> Result<()> {
    let about = "of a pending timer: its box, and what the driver has for it; less is better";
    let area = panel(area, "Memory", about)?;
    let heights = medians(sides, |round| round.bytes_per_timer);
    bars(
        &area,
        &legend(sides),
        "",
        &[(String::new(), heights)],
        bytes,
    )
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
        .x_label_area_size(BELOW)
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
        chart.draw_series(LineSeries::new(points, pen(side.side)))?;
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
        .x_label_area_size(BELOW)
        .y_label_area_size(BESIDE)
        .build_cartesian_2d(x, y)?;
    mesh(&mut chart)
        .y_labels(10)
        .y_max_light_lines(10)
        .x_desc("share of the operations that took at most so long")
        .y_label_formatter(&|&nanos| format!("{:?}", Duration::from_nanos(nanos as u64)))
        .draw()?;
    for side in sides {
        let points = tail(side).into_iter().enumerate();
        let points = points.map(|(index, wait)| (index as f64, wait));
        chart.draw_series(LineSeries::new(points, pen(side.side)))?;
    }
    Ok(())
}

/// Where curves are one, that of the third is the thin one.
fn pen(side: Side) -> ShapeStyle {
    let width = if side == Side::Precise { 2 } else { 4 };
    side.color().stroke_width(width)
}
