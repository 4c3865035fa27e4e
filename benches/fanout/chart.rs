//! The picture: four panels, each a figure by sides.

use std::time::Duration;

use anyhow::Result;
use common::Side;
use common::picture::plotters::prelude::*;
use common::picture::{self, Area, Frame, Names, bars, mesh, panel};
use indicatif::HumanCount;

use crate::sides::{Outcome, Rounds, TAIL, Tail};
use crate::{CALLS, LOST, bytes, counts_memory, worker_counts, workers};

const SIZE: (u32, u32) = (1120, 860);
/// Pixels between two panels.
const GAP: i32 = 28;

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
        let quarter = |index: usize, title, about| {
            let right = index as i32 % 2;
            let area = quarters[index].margin(0, GAP, right * GAP, (1 - right) * GAP);
            panel(&area, title, about)
        };
        let about = "million timeouts armed per second, by workers; more is better";
        throughput(&quarter(0, "Throughput", about)?, sides)?;
        let about = "after the deadline, on a logarithmic scale; lower is better";
        tail(&quarter(1, "Lateness under load", about)?, sides, |round| {
            &round.late
        })?;
        let about = "time to arm and cancel a timer, on a logarithmic scale; lower is better";
        let area = quarter(2, "Arming while all others expire", about)?;
        tail(&area, sides, |round| &round.waits)?;
        if counts_memory() {
            let about =
                "of a pending timer: its box, and what the driver has for it; less is better";
            memory(&quarter(3, "Memory", about)?, sides)?;
        }
        Ok(())
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
    let groups = worker_counts(workers()).enumerate().map(|(at, workers)| {
        let heights = medians(sides, |round| round.timeouts_per_second[at] / 1e6);
        (workers.to_string(), heights)
    });
    let groups: Vec<_> = groups.collect();
    let text = |millions| format!("{millions:.1}");
    bars(area, &legend(sides), "workers", &groups, text)
}

fn memory(area: &Area<'_>, sides: &[Rounds]) -> Result<()> {
    let heights = medians(sides, |round| round.bytes_per_timer);
    bars(area, &legend(sides), "", &[(String::new(), heights)], bytes)
}

/// A curve for each side.
fn tail(area: &Area<'_>, sides: &[Rounds], get: impl Fn(&Outcome) -> &Tail) -> Result<()> {
    let nanos = |at: usize| medians(sides, |round| get(round)[at].max(1.0));
    let nanos: Vec<_> = (0..TAIL.len()).map(nanos).collect();
    let all = nanos.iter().flatten();
    let lowest = all.clone().fold(f64::MAX, |low, &wait| low.min(wait));
    let highest = all.fold(10.0 * lowest, |high, &wait| high.max(wait));
    let y = 10_f64.powf(lowest.log10().floor())..10_f64.powf(highest.log10().ceil());
    let x: Names = TAIL.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut chart = ChartBuilder::on(area)
        .x_label_area_size(48)
        .y_label_area_size(58)
        .build_cartesian_2d(x, y.log_scale())?;
    mesh(&mut chart)
        .y_labels(10)
        .y_max_light_lines(10)
        .x_desc("share of the timers that took at most so long")
        .y_label_formatter(&|&nanos| format!("{:?}", Duration::from_nanos(nanos as u64)))
        .draw()?;
    for (index, side) in sides.iter().enumerate() {
        let points = nanos.iter().enumerate();
        let points = points.map(|(at, nanos)| (at as f64, nanos[index]));
        // Where curves are one, that of the third is the thin one.
        let width = if side.side == Side::Precise { 2 } else { 4 };
        let pen = side.side.color().stroke_width(width);
        chart.draw_series(LineSeries::new(points, pen))?;
    }
    Ok(())
}
