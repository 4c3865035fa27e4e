//! High resolution: against tokio, and against the default driver.

use crate::catalogue::nanos;
use crate::figure::{Did, Figure, Measured, Scale, Workload, duel};
use crate::lateness::{Lateness, Load, WORKERS, merge, sleep_often};
use crate::peer::{Peer, Precise, Tokio, Wheel};
use crate::process::worker_cpu;
use crate::stage::Stage;

pub(crate) fn figures() -> Vec<Figure> {
    let lateness = |load, quantile| Lateness { load, quantile };
    vec![
        duel::<Precise, Tokio, _>(
            "precise-quiet",
            "high resolution: how late sleepers wake in a quiet runtime",
            lateness(Load::Quiet, 0.999),
        )
        .line(nanos("p50").ratio(20.0))
        .line(nanos("p99.9").ratio(5.0))
        .rounds(5)
        .done(),
        duel::<Precise, Wheel, _>(
            "precise-busy",
            "high resolution: with every worker busy, against the default driver",
            lateness(Load::Arming, 0.99),
        )
        .line(nanos("p50").ratio(1.0))
        .line(nanos("p99").ratio(1.0))
        .rounds(5)
        .done(),
        duel::<Precise, Wheel, _>(
            "precise-cpu",
            "high resolution: CPU per timer that fires, against the default driver",
            FiringCpu,
        )
        .line(nanos("1,000 a second").ratio(1.0 / 1.5))
        .line(nanos("10,000 a second").ratio(1.0 / 1.5))
        .rounds(5)
        .done(),
    ]
}

/// The CPU of the workers for each timer that fires, at about 1,000 and 10,000 a second.
#[derive(Clone, Copy)]
struct FiringCpu;

impl Workload for FiringCpu {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let rounds = scale.of(200);
        let costs = [10, 100].map(|sleepers| {
            let stage = Stage::new::<P>(WORKERS);
            let before = worker_cpu();
            let fired = stage.run(async move {
                let sleepers = (0..sleepers)
                    .map(|seed| tokio::spawn(sleep_often::<P>(seed, Load::Quiet, rounds)));
                merge(sleepers.collect()).await.len()
            });
            (
                (worker_cpu() - before).as_nanos() as f64 / fired as f64,
                fired,
            )
        });
        Measured::new(
            costs.map(|(cost, _)| cost),
            Did::fired(costs.iter().map(|(_, fired)| fired).sum()),
        )
    }
}
