//! All benchmarks: what each runs, on which implementations, and how often.

use timers::shapes::Shape::{Calls, Conns};
use timers::{Alt, Bare, Precise, Timers, Tokio, Wheel};

use crate::benchmark::{Benchmark, Measured};
use crate::blocked::blocked;
use crate::busy::busy;
use crate::bytes::bytes;
use crate::cancel::{cancel_in_random_order, earliest, moving, ready_timeout, register_cancel};
use crate::fire::{fire_counting, fire_tasks};
use crate::lateness::lateness;
use crate::loops::loops;
use crate::peak::peak;
use crate::pending::{repoll, reset_later};
use crate::pingora::Pingora;
use crate::quiet::quiet;
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
        "register-cancel-1", 11, [Wheel, Tokio, Alt, Bare, Pingora], register_cancel::<T>(1, 0), "arm and cancel, one worker";
        "register-cancel-2", 11, [Wheel, Tokio, Alt, Bare, Pingora], register_cancel::<T>(2, 0), "arm and cancel, two workers";
        "register-cancel-2-million", 5, [Wheel, Tokio, Alt, Bare], register_cancel::<T>(2, 1_000_000), "the same while a million timers are pending";
        "cancel-million-random", 5, [Wheel, Tokio, Alt, Bare], cancel_in_random_order::<T>(), "cancel a million pending timers in random order";
        "conns-0", 9, [Wheel, Tokio, Bare], moving::<T>(Conns(1000), 0), "a thousand tasks in turn, each with a timer, current-thread runtime";
        "conns-2", 9, [Wheel, Tokio, Alt, Bare], moving::<T>(Conns(1000), 2), "the same on two workers";
        "calls-2", 9, [Wheel, Tokio, Alt, Bare], moving::<T>(Calls(64), 2), "64 pairs of tasks call each other under timeouts, two workers";
        "earliest", 7, [Wheel, Tokio, Alt, Bare], earliest::<T>(), "every timer is due before all earlier ones";
        "ready-timeout", 11, [Wheel, Tokio, Alt, Bare], ready_timeout::<T, _, _>(T::timeout), "a timeout around a ready future";
        "ready-pending", 11, [Wheel, Tokio, Alt, Bare], ready_timeout::<T, _, _>(T::timeout_if_pending), "the same with timeout_if_pending, which Tokio lacks";
        "repoll", 11, [Wheel, Tokio, Alt, Bare], repoll::<T>(), "poll a pending timer again";
        "reset-later", 11, [Wheel, Tokio, Alt, Bare], reset_later::<T>(), "reset a timer to a later deadline and poll it";
        "fire-million-counting", 5, [Wheel, Tokio, Alt], fire_counting::<T>(), "CPU to fire a million counting wakers";
        "fire-million-tasks", 3, [Wheel, Tokio, Alt], fire_tasks::<T>(), "CPU to wake a million sleeping tasks";
        "waits-2", 3, [Wheel, Tokio, Alt], waits::<T>(2), "time of an operation while a million timers of two workers fire, with the slowest of three kinds of wakers";
        "waits-16", 3, [Wheel, Tokio, Alt], waits::<T>(16), "the same on sixteen workers";
        "blocked-4", 5, [Wheel, Tokio, Alt], blocked::<T>(4, 50_000), "lateness while one of four workers blocks: the last of 50,000 tasks due together, and an unrelated sleep";
        "blocked-2", 5, [Wheel, Tokio, Alt], blocked::<T>(2, 100_000), "the same with 100,000 tasks and one of two workers";
        "busy-100000", 3, [Wheel, Tokio], busy::<T>(), "lateness of the last of 100,000 timers due together, on a worker with tasks that are always ready";
        "lateness-quiet", 5, [Wheel, Tokio, Alt], lateness::<T>(false, 100, Some(0.999)), "how late sleepers wake in a quiet runtime";
        "lateness-busy", 5, [Wheel, Tokio, Alt], lateness::<T>(true, 40, Some(0.99)), "the same with every worker busy, in tasks that arm timers";
        "precise-10000", 5, [Precise<50>, Wheel, Tokio, Precise<1>, Precise<100>, Precise<200>, Precise<500>],
            lateness::<T>(false, 100, None), "high resolution: lateness and CPU of 10,000 timers per second, with ticks of 1 to 500 µs";
        "quiet-1", 9, [Wheel, Tokio, Alt], quiet::<T>(), "CPU per timeout that is cancelled soon (timeout / cancelled every), one worker that is idle in between";
        "loops-zero", 3, [Wheel, Tokio], loops::<T>(0..1), "iterations and CPU per second of tasks that call sleep(ZERO)";
        "loops-short", 3, [Wheel, Tokio], loops::<T>(0..1_000_000), "the same with random sleeps below a millisecond";
        "loops-reset", 3, [Wheel, Tokio], loops::<T>(0..0), "the same with one sleep that is reset to now";
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
