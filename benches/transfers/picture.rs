//! Own transfers against workers: a panel for each service.

use anyhow::Result;
use common::picture::plotters::prelude::*;
use common::picture::{self, Area, Frame, Names, mesh, panel};

use common::word;

use crate::play::{Peer, Service};
use crate::table::{self, Row};

const SIZE: (u32, u32) = (1120, 440);

fn color(peer: Peer) -> RGBColor {
    match peer {
        Peer::Tokio => picture::TOKIO,
        Peer::Wheel => picture::WHEEL,
        _ => picture::ALT,
    }
}

/// The picture as SVG.
pub(crate) fn draw(rows: &[Row], note: &str) -> Result<String> {
    let mut sides = table::peers(rows);
    sides.retain(|&peer| peer != Peer::Bare);
    let names: Vec<_> = sides.iter().map(word).collect();
    let services = Service::SMALL;
    let frame = Frame {
        title: "Cache lines that go from one worker to another",
        about: "per operation, by workers; without those of the same work without a timer; less is better",
        legend: &names
            .iter()
            .zip(&sides)
            .map(|(name, &peer)| (name.as_str(), color(peer)))
            .collect::<Vec<_>>(),
        note,
    };
    picture::draw(SIZE, &frame, |area| {
        let columns = area.split_evenly((1, services.len()));
        columns
            .iter()
            .zip(services)
            .try_for_each(|(area, service)| {
                let rows: Vec<_> = rows
                    .iter()
                    .filter(|row| row.case.service == service)
                    .collect();
                curves(&area.margin(0, 0, 0, 20), service, &rows, &sides)
            })
    })
}

fn curves(area: &Area<'_>, service: Service, rows: &[&Row], sides: &[Peer]) -> Result<()> {
    let area = panel(area, &word(&service), service.about())?;
    let own = |row: &Row, peer| row.own(peer).unwrap_or(0.0).max(0.0);
    let all = rows
        .iter()
        .flat_map(|row| sides.iter().map(|&peer| own(row, peer)));
    let most = all.fold(1.0, f64::max);
    let x: Names = rows
        .iter()
        .map(|row| row.case.workers.to_string())
        .collect();
    let mut chart = ChartBuilder::on(&area)
        .x_label_area_size(44)
        .y_label_area_size(36)
        .build_cartesian_2d(x, 0.0..most * 1.05)?;
    mesh(&mut chart).y_labels(6).x_desc("workers").draw()?;
    for &peer in sides {
        let points = rows
            .iter()
            .enumerate()
            .map(|(index, row)| (index as f64, own(row, peer)));
        chart.draw_series(LineSeries::new(points, color(peer).stroke_width(3)).point_size(4))?;
    }
    Ok(())
}
