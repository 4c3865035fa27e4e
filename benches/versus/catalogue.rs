//! All benchmarks: what each runs, on which implementations, and how often.

use timers::shapes::Shape::{Calls, Conns};
use timers::{Alt, Precise, Timers, Tokio, Wheel};

use crate::benchmark::{Benchmark, Measured};
use crate::bytes::bytes;
use crate::cancel::{cancel_in_random_order, earliest, moving, ready_pending, register_cancel};
use crate::fire::{fire_counting, fire_tasks};
use crate::lateness::lateness;
use crate::peak::peak;
use crate::pending::{repoll, reset_later};
use crate::rivals::{Pingora, Timerfd};
use crate::waits::waits;

/// An entry: name, rounds, implementations with Tokio first, what runs for each implementation `T`, description.
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
        "register-cancel-1", 11, [Tokio, Alt, Wheel, Pingora], register_cancel::<T>(1), "arm and cancel, one worker";
        "register-cancel-2", 11, [Tokio, Alt, Wheel, Pingora], register_cancel::<T>(2), "arm and cancel, two workers";
        "cancel-million-random", 5, [Tokio, Alt, Wheel], cancel_in_random_order::<T>(), "cancel a million pending timers in random order";
        "conns-1", 9, [Tokio, Alt, Wheel], moving::<T>(1, Conns(1000)), "a thousand tasks in turn, each with a timer, one worker";
        "conns-2", 9, [Tokio, Alt, Wheel], moving::<T>(2, Conns(1000)), "the same, two workers";
        "conns-16", 9, [Tokio, Alt, Wheel], moving::<T>(16, Conns(1000)), "the same, sixteen workers";
        "calls-2", 9, [Tokio, Alt, Wheel], moving::<T>(2, Calls(64)), "64 pairs of tasks call each other under timeouts, two workers";
        "calls-16", 9, [Tokio, Alt, Wheel], moving::<T>(16, Calls(64)), "the same, sixteen workers";
        "earliest", 7, [Tokio, Alt, Wheel], earliest::<T>(), "each timer is due before all those so far";
        "ready-pending", 11, [Tokio, Alt, Wheel], ready_pending::<T>(), "a timeout around a ready future, with timeout_if_pending, which Tokio lacks";
        "repoll", 11, [Tokio, Alt, Wheel], repoll::<T>(), "poll a pending timer again";
        "reset-later", 11, [Tokio, Alt, Wheel], reset_later::<T>(), "reset a timer to a later deadline and poll it";
        "fire-million-counting", 5, [Tokio, Alt, Wheel], fire_counting::<T>(), "CPU to fire a million counting wakers";
        "fire-million-tasks", 3, [Tokio, Alt, Wheel], fire_tasks::<T>(), "CPU to wake a million sleeping tasks";
        "waits-2", 3, [Tokio, Alt, Wheel], waits::<T>(), "longest time of an operation while a million timers of two workers fire, with any of three kinds of wakers";
        "lateness", 5, [Tokio, Alt, Wheel], lateness::<T>(0, 100, 1..20), "how late 100 sleepers wake, and the CPU time of a sleep";
        "lateness-busy", 5, [Tokio, Alt, Wheel], lateness::<T>(8, 40, 1..20), "how late sleepers wake while every worker is busy, in tasks that arm timers";
        "precise-1", 3, [Tokio, Alt, Wheel, Precise<50>, Timerfd], lateness::<T>(0, 1, 1..5), "high resolution: lateness and CPU of one task that sleeps for 1 to 5 ms again and again";
        "precise-100", 3, [Tokio, Alt, Wheel, Precise<50>, Timerfd], lateness::<T>(0, 100, 1..5), "the same, 100 tasks";
        "precise-2000", 3, [Tokio, Alt, Wheel, Precise<50>, Timerfd], lateness::<T>(0, 2000, 1..5), "the same, 2,000 tasks";
        "precise-10000", 5, [Tokio, Wheel, Precise<1>, Precise<50>, Precise<100>, Precise<200>, Precise<500>],
            lateness::<T>(0, 100, 1..20), "nearly 10,000 timers per second, with spacings of 1 to 500 µs";
        "bytes", 1, [Tokio, Alt, Wheel], bytes::<T>(), "size of a sleep, and memory of a pending one in its box";
        "peak", 1, [Tokio, Alt, Wheel], peak::<T>(), "resident memory after ten million timers were armed and all but a few dropped";
    };
    all.retain(|one| cfg!(target_os = "linux") || !one.name.starts_with("precise"));
    for one in &mut all {
        one.implementations
            .retain(|(name, _)| *name != Alt::NAME || cfg!(tokio_unstable));
    }
    all
}
