//! Every figure there is: `catalogue.json` says what each is and is to reach, and this file what runs for it.

use crate::bytes::Bytes;
use crate::cancel::{Earliest, ReadyTimeout, RegisterCancel, Scaling};
use crate::cold::Cold;
use crate::figure::{Description, Figure};
use crate::fire::{FireCounting, FireTasks, InsertWait};
use crate::lateness::{Lateness, Load};
use crate::moving::Moving;
use crate::peer::{Bare, Pingora};
use crate::pending::{RandomReplace, Repoll, ResetLater, StartStop};
use crate::process::Idle;
use crate::quiet::Quiet;
use crate::race::{Sides, bare_race, duel, race};
use crate::services::{Connections, Purgatory};
use crate::{gateway, scrape};
use timers::shapes::Shape;
use timers::{Tokio, Wheel};

pub(crate) fn all() -> Vec<Figure> {
    let descriptions: Vec<Description> =
        serde_json::from_str(include_str!("catalogue.json")).expect("the catalogue");
    let mut figures = Vec::new();
    for description in descriptions {
        let sides = sides(description.name);
        figures.extend(sides.map(|sides| Figure { description, sides }));
    }
    figures
}

/// `None` where this build has not what it takes.
fn sides(name: &str) -> Option<Sides> {
    const MILLION: usize = 1_000_000;
    let register = |workers, others| RegisterCancel { workers, others };
    let late = |load, quantile| race(Lateness::quantile(load, quantile));
    let purgatory = |median, upper_quartile| Purgatory {
        median,
        upper_quartile,
    };
    // What a name may end with.
    let (_, end) = name.rsplit_once('-').unwrap_or_default();
    let workers = end.parse().unwrap_or_default();
    Some(match name {
        "register-cancel-1" => bare_race(register(1, 0)).and::<Pingora, _>(register(1, 0)),
        "register-cancel-2" => bare_race(register(2, 0)).and::<Pingora, _>(register(2, 0)),
        "register-cancel-1-million" => bare_race(register(1, MILLION)),
        "register-cancel-2-million" => bare_race(register(2, MILLION)),
        "scaling-1-2" => race(Scaling),
        "cold" => bare_race(Cold),
        "conns-0" | "conns-1" | "conns-2" => moving(Shape::Conns(1000), workers),
        "calls-0" | "calls-1" | "calls-2" => moving(Shape::Calls(64), workers),
        "fresh-0" | "fresh-1" | "fresh-2" => moving(Shape::Fresh(100), workers),
        "earliest" => bare_race(Earliest),
        "ready-timeout" => bare_race(ReadyTimeout),
        "repoll" => bare_race(Repoll),
        "reset-later" => bare_race(ResetLater),
        "fire-million-counting" => race(FireCounting),
        "fire-million-tasks" => race(FireTasks),
        "insert-wait" => race(InsertWait),
        "lateness-quiet" => late(Load::Quiet, 0.999),
        "lateness-busy" => late(Load::Arming, 0.99),
        "lateness-busy-mixed" => late(Load::Mixed, 0.99),
        "lateness-computing" => late(Load::Computing, 0.99),
        "quiet-1" | "quiet-2" | "quiet-4" | "quiet-8" => race(Quiet { workers }),
        "random-replace" => bare_race(RandomReplace),
        "start-stop" => race(StartStop),
        "purgatory-low" => bare_race(purgatory(20.0, 60.0)),
        "purgatory-high" => bare_race(purgatory(200.0, 400.0)),
        "connections" => race(Connections),
        "gateway" => gateway::sides(),
        "bytes" => race(Bytes),
        "idle" => race(Idle),
        "scrape" => scrape::sides(),
        _ => return precise(name),
    })
}

fn moving(shape: Shape, workers: usize) -> Sides {
    let workload = Moving { shape, workers };
    match workers {
        // tokio's timers per worker are for runtimes with workers.
        0 => duel::<Wheel, Tokio, _>(workload).and::<Bare, _>(workload),
        _ => bare_race(workload),
    }
}

#[cfg(all(feature = "high-resolution", target_os = "linux"))]
fn precise(name: &str) -> Option<Sides> {
    use crate::peer::Precise;

    let firing = |sleepers| Lateness {
        load: Load::Quiet,
        sleepers,
        quantile: None,
    };
    let (thousand, ten) = (firing(10), firing(100));
    Some(match name {
        "precise-quiet" => duel::<Precise, Tokio, _>(Lateness::quantile(Load::Quiet, 0.999)),
        "precise-busy" => duel::<Precise, Wheel, _>(Lateness::quantile(Load::Arming, 0.99)),
        "precise-1000" => duel::<Precise, Wheel, _>(thousand),
        "precise-10000" => duel::<Precise, Wheel, _>(ten)
            .and::<Tokio, _>(ten)
            .and::<Precise<1>, _>(ten)
            .and::<Precise<100>, _>(ten)
            .and::<Precise<200>, _>(ten)
            .and::<Precise<500>, _>(ten),
        _ => unreachable!("nothing runs the figure {name}"),
    })
}

#[cfg(not(all(feature = "high-resolution", target_os = "linux")))]
fn precise(name: &str) -> Option<Sides> {
    assert!(name.starts_with("precise"), "nothing runs {name}");
    None
}
