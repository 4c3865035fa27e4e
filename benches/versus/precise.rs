//! High resolution: against tokio, and against the default driver.

use crate::figure::{Did, Figure, Measured, Scale, nanos};
use crate::lateness::{Lateness, Load, WORKERS, merge, sleep_often};
use crate::peer::{Peer, Precise, Tokio, Wheel};
use crate::process::worker_cpu;
use crate::race::{Workload, duel};
use crate::stage::Stage;

pub(crate) fn figures() -> Vec<Figure> {
    let lateness = |load, quantile| Lateness { load, quantile };
    let firing = |name, about, sleepers| {
        duel::<Precise, Wheel, _>(name, about, Firing { sleepers })
            .line(nanos("p50"))
            .line(nanos("CPU").ratio(1.0 / 1.5))
            .rounds(5)
    };
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
        firing(
            "precise-1000",
            "high resolution: lateness and CPU of 1,000 timers a second, against the default driver",
            10,
        )
        .done(),
        firing(
            "precise-10000",
            "the same with 10,000 a second, and with ticks of 1 to 500 µs",
            100,
        )
        .beside::<Tokio>()
        .beside::<Precise<1>>()
        .beside::<Precise<100>>()
        .beside::<Precise<200>>()
        .beside::<Precise<500>>()
        .done(),
    ]
}

/// How late tasks wake that sleep for 1 to 20 ms again and again, and the workers' CPU for each time.
#[derive(Clone, Copy)]
struct Firing {
    sleepers: u64,
}

impl Workload for Firing {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let (sleepers, rounds) = (self.sleepers, scale.of(200));
        let stage = Stage::new::<P>(WORKERS);
        let before = worker_cpu();
        let late = stage.run(async move {
            let tasks =
                (0..sleepers).map(|seed| tokio::spawn(sleep_often::<P>(seed, Load::Quiet, rounds)));
            merge(tasks.collect()).await
        });
        let each = (worker_cpu() - before).as_nanos() as f64 / late.len() as f64;
        let p50 = late.value_at_quantile(0.5) as f64;
        Measured::new([p50, each], Did::fired(late.len()))
    }
}
