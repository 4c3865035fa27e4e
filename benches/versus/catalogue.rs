//! All benchmarks: what each runs, on which implementations, and how often.

use timers::shapes::Shape::{Calls, Conns};
use timers::{Alt, Bare, Precise, Timers, Tokio, Wheel};

use crate::benchmark::{Benchmark, Measured};
use crate::bytes::bytes;
use crate::cancel::{cancel_in_random_order, earliest, moving, ready_pending, register_cancel};
use crate::fire::{fire_counting, fire_tasks};
use crate::lateness::lateness;
use crate::peak::peak;
use crate::pending::{repoll, reset_later};
use crate::pingora::Pingora;
use crate::waits::waits;

/// An entry: name, rounds, implementations with tokio-wheel first, what runs for each implementation `T`, description.
macro_rules! benchmarks {
    ($($name:literal, $rounds:literal, [$($timers:ty),*], $run:expr, $about:literal;)*) => {
        vec![$(Benchmark {
            name: $name,
            about: $about,
            rounds: $rounds,
            implementations: vec![$({
                type T = $timers;
                let run: fn() -> Measured = || $run;
                (T::NAME, run)
            }),*],
        }),*]
    };
}

/// Returns the benchmarks, with the implementations that this build and this system have.
pub(crate) fn all() -> Vec<Benchmark> {
    let mut all = benchmarks! {
        "register-cancel-1", 11, [Wheel, Tokio, Alt, Bare, Pingora], register_cancel::<T>(1), "arm and cancel, one worker";
        "register-cancel-2", 11, [Wheel, Tokio, Alt, Bare, Pingora], register_cancel::<T>(2), "arm and cancel, two workers";
        "cancel-million-random", 5, [Wheel, Tokio, Alt, Bare], cancel_in_random_order::<T>(), "cancel a million pending timers in random order";
        "conns-2", 9, [Wheel, Tokio, Alt, Bare], moving::<T>(Conns(1000)), "a thousand tasks in turn, each with a timer, two workers";
        "calls-2", 9, [Wheel, Tokio, Alt, Bare], moving::<T>(Calls(64)), "64 pairs of tasks call each other under timeouts, two workers";
        "earliest", 7, [Wheel, Tokio, Alt, Bare], earliest::<T>(), "each timer is due before all those so far";
        "ready-pending", 11, [Wheel, Tokio, Alt, Bare], ready_pending::<T>(), "a timeout around a ready future, with timeout_if_pending, which Tokio lacks";
        "repoll", 11, [Wheel, Tokio, Alt, Bare], repoll::<T>(), "poll a pending timer again";
        "reset-later", 11, [Wheel, Tokio, Alt, Bare], reset_later::<T>(), "reset a timer to a later deadline and poll it";
        "fire-million-counting", 5, [Wheel, Tokio, Alt], fire_counting::<T>(), "CPU to fire a million counting wakers";
        "fire-million-tasks", 3, [Wheel, Tokio, Alt], fire_tasks::<T>(), "CPU to wake a million sleeping tasks";
        "waits-2", 3, [Wheel, Tokio, Alt], waits::<T>(), "longest time of an operation while a million timers of two workers fire, with any of three kinds of wakers";
        "lateness-busy", 5, [Wheel, Tokio, Alt], lateness::<T>(true), "how late sleepers wake while every worker is busy, in tasks that arm timers";
        "precise-10000", 5, [Precise<50>, Wheel, Tokio, Precise<1>, Precise<100>, Precise<200>, Precise<500>],
            lateness::<T>(false), "high resolution: lateness and CPU of nearly 10,000 timers per second, with spacings of 1 to 500 µs";
        "bytes", 1, [Wheel, Tokio, Alt], bytes::<T>(), "size of a sleep, and memory of a pending one in its box";
        "peak", 1, [Wheel, Tokio], peak::<T>(), "resident memory after ten million timers were armed and all but a few dropped";
    };
    let has_precise = cfg!(target_os = "linux");
    all.retain(|one| has_precise || one.implementations[0].0 == Wheel::NAME);
    for one in &mut all {
        one.implementations
            .retain(|(name, _)| *name != Alt::NAME || cfg!(tokio_unstable));
    }
    all
}
