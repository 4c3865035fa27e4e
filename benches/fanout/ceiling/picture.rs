//! The picture: the time of a line, and timers per second by workers, measured and predicted.

use anyhow::Result;
use common::picture::plotters::prelude::*;
use common::picture::{self, Area, Frame, Names, bars, mesh, panel};

use super::line::Pair;
use super::{Peer, Place, Row, middle};

const SIZE: (u32, u32) = (1120, 480);

fn color(peer: &str) -> RGBColor {
    match peer {
        "tokio" => picture::TOKIO,
        "wheel" => picture::WHEEL,
        "bare" => picture::PRECISE,
        _ => picture::ALT,
    }
}

/// The picture as SVG.
pub(super) fn draw(rows: &[Row], peers: &[Peer], pairs: &[Pair], note: &str) -> Result<String> {
    // Two workers on one of several processors are in the table alone.
    let processors = rows.last().map_or(1, |row| row.place.processors);
    let is_apart = |row: &&Row| {
        let Place {
            workers,
            processors: on,
        } = row.place;
        on == workers.min(processors)
    };
    let rows: Vec<_> = rows.iter().filter(is_apart).collect();
    let legend: Vec<_> = peers
        .iter()
        .map(|peer| (peer.name, color(peer.name)))
        .collect();
    let frame = Frame {
        title: "Timers per second, by workers",
        about: "armed and cancelled. Thick: measured. Thin: predicted, from counted cache lines and their time. \
                bare is the same work without a timer.",
        legend: &legend,
        note,
    };
    picture::draw(SIZE, &frame, |area| {
        let (left, right) = area.split_horizontally(320);
        let about = "nanoseconds from processor to processor";
        times(
            &panel(&left.margin(0, 0, 0, 20), "A cache line", about)?,
            pairs,
        )?;
        let about = "millions, on a logarithmic scale; more is better";
        rates(&panel(&right, "Throughput", about)?, &rows, peers)
    })
}

fn times(area: &Area<'_>, pairs: &[Pair]) -> Result<()> {
    let (Some(first), Some(last), Some(middle)) = (pairs.first(), pairs.last(), middle(pairs))
    else {
        return Ok(());
    };
    let named = [
        ("fastest", first.nanos),
        ("median", middle),
        ("slowest", last.nanos),
    ];
    let groups = named.map(|(name, nanos)| (name.to_owned(), vec![nanos]));
    let text = |nanos| format!("{nanos:.0}");
    bars(
        area,
        &[("", picture::PRECISE)],
        "of the pairs",
        &groups,
        text,
    )
}

fn rates(area: &Area<'_>, rows: &[&Row], peers: &[Peer]) -> Result<()> {
    let measured = |peer: usize| rows.iter().map(move |row| Some(row.median(peer)));
    let predicted = |peer: usize| rows.iter().map(move |row| row.predicted[peer]);
    let all = (0..peers.len()).flat_map(|peer| measured(peer).chain(predicted(peer)).flatten());
    let all: Vec<_> = all.map(|rate| rate / 1e6).collect();
    let (least, most) = common::range(&all);
    let x: Names = rows
        .iter()
        .map(|row| row.place.workers.to_string())
        .collect();
    let y = 10_f64.powf(least.log10().floor())..10_f64.powf(most.log10().ceil());
    let mut chart = ChartBuilder::on(area)
        .x_label_area_size(48)
        .y_label_area_size(58)
        .build_cartesian_2d(x, y.log_scale())?;
    mesh(&mut chart)
        .y_labels(10)
        .y_max_light_lines(10)
        .x_desc("workers")
        .draw()?;
    for (peer, Peer { name, .. }) in peers.iter().enumerate() {
        let points = |rates: Vec<Option<f64>>| {
            let points = rates.into_iter().enumerate();
            points.filter_map(|(at, rate)| Some((at as f64, rate? / 1e6)))
        };
        let (thick, thin) = (color(name).stroke_width(4), color(name).stroke_width(2));
        let line = points(measured(peer).collect());
        chart.draw_series(LineSeries::new(line, thick).point_size(4))?;
        let line = points(predicted(peer).collect());
        chart.draw_series(LineSeries::new(line, thin).point_size(2))?;
    }
    Ok(())
}
