//! The histograms side by side: a panel for each side.

use anyhow::Result;
use common::picture::plotters::prelude::*;
use common::picture::plotters::style::text_anchor::HPos;
use common::picture::{self, Area, Frame, Names, label, mesh, panel};

use crate::pace::Outcome;
use crate::{Options, micros};

const SIZE: (u32, u32) = (1120, 460);

/// The picture as SVG.
pub(crate) fn draw(options: &Options, outcomes: &[Outcome], note: &str) -> Result<String> {
    let frame = Frame {
        title: &format!("{} packets a second, by an interval", options.rate),
        about: "Jitter: by how much the time between two packets on the loopback interface \
                differs from the period. Share of packets.",
        legend: &[],
        note,
    };
    picture::draw(SIZE, &frame, |area| {
        let columns = area.split_evenly((1, outcomes.len().max(1)));
        let mut sides = columns.iter().zip(outcomes);
        sides.try_for_each(|(area, outcome)| histogram(area, outcome))
    })
}

fn histogram(area: &Area<'_>, outcome: &Outcome) -> Result<()> {
    let quantile = |at| micros(outcome.jitter.quantile(at));
    let cpu = outcome.cpu.map_or(String::new(), |share| {
        format!(", CPU {:.1} %", share * 100.0)
    });
    let about = format!("p50 {}, p99 {}{cpu}", quantile(0.5), quantile(0.99));
    let area = panel(area, outcome.side.name(), &about)?;
    let shares = outcome.jitter.shares();
    // The first at the top, and room beside the longest bar.
    let y: Names = shares.iter().rev().map(|(name, _)| name.clone()).collect();
    let mut chart = ChartBuilder::on(&area)
        .y_label_area_size(84)
        .build_cartesian_2d(0.0..1.3, y)?;
    mesh(&mut chart).disable_y_mesh().draw()?;
    for (row, (_, share)) in shares.iter().rev().enumerate() {
        let row = row as f64;
        let bar = [(0.0, row - 0.35), (*share, row + 0.35)];
        chart.draw_series([Rectangle::new(bar, outcome.side.color().filled())])?;
        let percent = format!("{:.1} %", share * 100.0);
        label(&chart, &percent, (*share, row), (8, 8), 12, HPos::Left)?;
    }
    Ok(())
}
