//! The histograms of the sides, side by side.

use std::time::Duration;

use anyhow::Result;
use common::picture::{self, Frame, bars, panel};

use crate::pace::Outcome;
use crate::{RATE, micros};

const SIZE: (u32, u32) = (1120, 460);
/// Where one group of bars ends and the next one begins, in microseconds. The last group is all the rest.
const EDGES: [u64; 9] = [0, 10, 25, 50, 100, 250, 500, 1_000, 2_500];

/// The picture as SVG.
pub(crate) fn draw(outcomes: &[Outcome], note: &str) -> Result<String> {
    let legend: Vec<_> = outcomes.iter().map(|side| side.side.legend()).collect();
    let frame = Frame {
        title: &format!("{RATE} packets a second, by an interval"),
        about: "Jitter: by how much the time between two packets on the loopback interface \
                differs from the period.",
        legend: &legend,
        note,
    };
    let about: Vec<_> = outcomes.iter().map(summary).collect();
    picture::draw(SIZE, &frame, |area| {
        let area = panel(area, "Share of packets, in percent", &about.join("; "))?;
        bars(&area, &legend, "jitter", &groups(outcomes), |share| {
            format!("{share:.0}")
        })
    })
}

fn summary(outcome: &Outcome) -> String {
    let quantile = |at| micros(outcome.jitter.quantile(at));
    let (p50, p99, cpu) = (quantile(0.5), quantile(0.99), outcome.cpu());
    format!("{}: p50 {p50}, p99 {p99}, CPU {cpu}", outcome.side.name())
}

/// What each group of bars is for, and how high they are.
fn groups(outcomes: &[Outcome]) -> Vec<(String, Vec<f64>)> {
    let group = |name, from, to| {
        let [from, to] = [from, to].map(Duration::from_micros);
        let shares = outcomes
            .iter()
            .map(|side| side.jitter.share_between(from, to));
        (name, shares.collect())
    };
    let below = EDGES
        .windows(2)
        .map(|edge| group(format!("< {} µs", edge[1]), edge[0], edge[1]));
    let more = group("more".to_owned(), EDGES[EDGES.len() - 1], u64::MAX);
    below.chain([more]).collect()
}
