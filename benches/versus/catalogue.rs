//! Every figure there is: `catalogue.json` says what each is, whose timers take part and what is to be reached; this file
//! what runs for it.

use timers::shapes::Shape;
use timers::{Alt, Bare, Timers, Tokio, Wheel};

use crate::blocked::blocked;
use crate::busy::busy;
use crate::bytes::bytes;
use crate::cancel::{earliest, moving, ready_timeout, register_cancel, scaling, scrape};
use crate::cold::cold;
use crate::figure::{Figure, Measured};
use crate::fire::{fire_counting, fire_tasks, insert_wait};
use crate::lateness::{Load, lateness};
use crate::loops::loops;
use crate::peak::peak;
use crate::peer::{Pingora, Precise};
use crate::pending::{boxed, random_replace, repoll, reset_later, start_stop};
use crate::quiet::{idle, quiet};
use crate::services::{connections, gateway, purgatory};
use crate::stall::stall;
use crate::waits::waits;

/// Those for which this build has what they take.
pub(crate) fn all() -> Vec<Figure> {
    let catalogue = include_str!("catalogue.json");
    let mut figures: Vec<Figure> = serde_json::from_str(catalogue).expect("the catalogue");
    figures.retain(|figure| has(figure.sides[0]));
    for figure in &mut figures {
        figure.sides.retain(|side| has(side));
    }
    figures
}

fn has(side: &str) -> bool {
    let is_precise = cfg!(all(feature = "high-resolution", target_os = "linux"));
    (side != "tokio-alt" || cfg!(tokio_unstable)) && (side != "precise" || is_precise)
}

/// What one side measures in one round.
pub(crate) fn measure(figure: &'static str, side: &str) -> Measured {
    match (figure, side) {
        ("gateway", "tokio") => gateway::<Tokio>(),
        ("gateway", _) => gateway::<Wheel>(),
        ("scrape", _) => scrape(side == "watched"),
        (_, "wheel") => play::<Wheel>(figure),
        (_, "tokio") => play::<Tokio>(figure),
        (_, "tokio-alt") => play::<Alt>(figure),
        (_, "bare") => play::<Bare>(figure),
        (_, "pingora") => play::<Pingora>(figure),
        (_, "precise") => late::<Precise<50>>(figure),
        (_, "1 µs") => late::<Precise<1>>(figure),
        (_, "100 µs") => late::<Precise<100>>(figure),
        (_, "200 µs") => late::<Precise<200>>(figure),
        (_, "500 µs") => late::<Precise<500>>(figure),
        _ => panic!("{figure}: no side is called {side}"),
    }
}

fn play<T: Timers>(figure: &'static str) -> Measured {
    const MILLION: usize = 1_000_000;
    // What a name may end with.
    let (_, end) = figure.rsplit_once('-').unwrap_or_default();
    let workers = end.parse().unwrap_or_default();
    match figure {
        "register-cancel-1" | "register-cancel-2" => register_cancel::<T>(workers, 0),
        "register-cancel-1-million" => register_cancel::<T>(1, MILLION),
        "register-cancel-2-million" => register_cancel::<T>(2, MILLION),
        "scaling-1-2" => scaling::<T>(),
        "cold" => cold::<T>(),
        "conns-0" | "conns-1" | "conns-2" => moving::<T>(Shape::Conns(1000), workers),
        "calls-0" | "calls-1" | "calls-2" => moving::<T>(Shape::Calls(64), workers),
        "fresh-0" | "fresh-1" | "fresh-2" => moving::<T>(Shape::Fresh(100), workers),
        "earliest" => earliest::<T>(),
        "ready-timeout" => ready_timeout::<T>(1),
        "ready-timeout-0" => ready_timeout::<T>(0),
        "repoll" => repoll::<T>(),
        "reset-later" => reset_later::<T>(),
        "fire-million-counting" => fire_counting::<T>(),
        "fire-million-tasks" => fire_tasks::<T>(),
        "insert-wait" => insert_wait::<T>(),
        "blocked-4" => blocked::<T>(workers, 50_000),
        "blocked-2" => blocked::<T>(workers, 100_000),
        "busy-100000" => busy::<T>(),
        "waits-2" | "waits-16" => waits::<T>(workers),
        "quiet-1" | "quiet-2" | "quiet-4" | "quiet-8" => quiet::<T>(workers),
        "boxed" => boxed::<T>(),
        "random-replace" => random_replace::<T>(),
        "start-stop" => start_stop::<T>(),
        "purgatory-low" => purgatory::<T>(20.0, 60.0),
        "purgatory-high" => purgatory::<T>(200.0, 400.0),
        "connections" => connections::<T>(),
        "bytes" => bytes::<T>(),
        "peak" => peak::<T>(),
        "idle" => idle::<T>(),
        "stall" => stall::<T>(),
        _ if figure.starts_with("loops") => loops::<T>(figure),
        _ => late::<T>(figure),
    }
}

fn late<T: Timers>(figure: &'static str) -> Measured {
    // A hundred sleepers in a quiet runtime have 10,000 deadlines a second.
    match figure {
        "lateness-quiet" | "precise-quiet" => lateness::<T>(Load::Quiet, 100, Some(0.999)),
        "lateness-busy" | "precise-busy" => lateness::<T>(Load::Arming, 40, Some(0.99)),
        "lateness-busy-mixed" => lateness::<T>(Load::Mixed, 40, Some(0.99)),
        "lateness-computing" => lateness::<T>(Load::Computing, 40, Some(0.99)),
        "precise-1000" => lateness::<T>(Load::Quiet, 10, None),
        "precise-10000" => lateness::<T>(Load::Quiet, 100, None),
        _ => panic!("nothing runs the figure {figure}"),
    }
}
