//! Own transfers against workers: a panel for each service.

use anyhow::Result;
use common::picture::plotters::prelude::*;
use common::picture::{self, Area, Frame, Names, mesh, panel};

use common::{about, word};

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
    let colors = sides.iter().map(|&peer| color(peer));
    let names: Vec<_> = sides.iter().map(word).collect();
    let legend: Vec<_> = names.iter().map(String::as_str).zip(colors).collect();
    let frame = Frame {
        title: "Cache lines that go from one worker to another",
        about: "per operation, by workers; without those of the same work without a timer; less is better",
        legend: &legend,
        note,
    };
    picture::draw(SIZE, &frame, |area| {
        let columns = area.split_evenly((1, Service::SMALL.len()));
        for (area, service) in columns.iter().zip(Service::SMALL) {
            let rows = rows.iter().filter(|row| row.case.service == service);
            let rows: Vec<_> = rows.collect();
            curves(&area.margin(0, 0, 0, 20), service, &rows, &sides)?;
        }
        Ok(())
    })
}

fn curves(area: &Area<'_>, service: Service, rows: &[&Row], sides: &[Peer]) -> Result<()> {
    let area = panel(area, &word(&service), &about(&service))?;
    let own = |row: &Row, peer| row.own(peer).map_or(0.0, |own| own.max(0.0));
    let of = |&peer: &Peer| rows.iter().map(move |row| own(row, peer));
    let most = sides.iter().flat_map(of).fold(1.0, f64::max);
    let workers = rows.iter().map(|row| row.case.workers.to_string());
    let x: Names = workers.collect();
    let mut chart = ChartBuilder::on(&area)
        .x_label_area_size(44)
        .y_label_area_size(36)
        .build_cartesian_2d(x, 0.0..most * 1.05)?;
    mesh(&mut chart).y_labels(6).x_desc("workers").draw()?;
    for peer in sides {
        let points = (0..).map(f64::from).zip(of(peer));
        chart.draw_series(LineSeries::new(points, color(*peer).stroke_width(3)).point_size(4))?;
    }
    Ok(())
}
