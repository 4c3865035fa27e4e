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
        "register-cancel-1", 11, [Tokio, Alt, Wheel, Pingora], register_cancel::<T>(1), "arm and cancel a timer, one worker";
        "register-cancel-2", 11, [Tokio, Alt, Wheel, Pingora], register_cancel::<T>(2), "arm and cancel a timer, on the slower of two workers";
        "cancel-million-random", 5, [Tokio, Alt, Wheel], cancel_in_random_order::<T>(), "cancel a million pending timers in random order";
        "conns-1", 9, [Tokio, Alt, Wheel], moving::<T>(1, Conns(1000)), "a thousand tasks in turn, each with a timer, one worker";
        "conns-2", 9, [Tokio, Alt, Wheel], moving::<T>(2, Conns(1000)), "a thousand tasks in turn, each with a timer, two workers";
        "conns-16", 9, [Tokio, Alt, Wheel], moving::<T>(16, Conns(1000)), "a thousand tasks in turn, each with a timer, sixteen workers";
        "calls-2", 9, [Tokio, Alt, Wheel], moving::<T>(2, Calls(64)), "64 pairs of tasks call each other under timeouts, two workers";
        "calls-16", 9, [Tokio, Alt, Wheel], moving::<T>(16, Calls(64)), "64 pairs of tasks call each other under timeouts, sixteen workers";
        "earliest", 7, [Tokio, Alt, Wheel], earliest::<T>(), "arm and cancel a timer that is due before all so far";
        "ready-pending", 11, [Tokio, Alt, Wheel], ready_pending::<T>(), "a timeout around a ready future; tokio-wheel has `timeout_if_pending` for it";
        "repoll", 11, [Tokio, Alt, Wheel], repoll::<T>(), "poll a pending timer again";
        "reset-later", 11, [Tokio, Alt, Wheel], reset_later::<T>(), "reset a timer to a later deadline and poll it";
        "fire-million-counting", 5, [Tokio, Alt, Wheel], fire_counting::<T>(), "a million timers fire, whose wakers only count";
        "fire-million-tasks", 3, [Tokio, Alt, Wheel], fire_tasks::<T>(), "a million sleeping tasks wake";
        "waits-2", 3, [Tokio, Alt, Wheel], waits::<T>(), "operations on a task's own timer while a million timers of two workers fire";
        "lateness", 5, [Tokio, Alt, Wheel], lateness::<T>(0, 100, 1..20), "100 tasks sleep for 1 to 20 ms again and again";
        "lateness-busy", 5, [Tokio, Alt, Wheel], lateness::<T>(8, 40, 1..20), "40 tasks sleep while every worker runs tasks that arm timers";
        "precise-1", 3, [Tokio, Alt, Wheel, Precise<50>, Timerfd], lateness::<T>(0, 1, 1..5), "one task sleeps for 1 to 5 ms again and again";
        "precise-100", 3, [Tokio, Alt, Wheel, Precise<50>, Timerfd], lateness::<T>(0, 100, 1..5), "100 tasks sleep for 1 to 5 ms again and again";
        "precise-2000", 3, [Tokio, Alt, Wheel, Precise<50>, Timerfd], lateness::<T>(0, 2000, 1..5), "2,000 tasks sleep for 1 to 5 ms again and again";
        "precise-10000", 5, [Tokio, Wheel, Precise<1>, Precise<50>, Precise<100>, Precise<200>, Precise<500>],
            lateness::<T>(0, 100, 1..20), "nearly 10,000 sleeps per second; high resolution has a spacing of 50 µs";
        "bytes", 1, [Tokio, Alt, Wheel], bytes::<T>(), "memory of a timer";
        "peak", 1, [Tokio, Alt, Wheel], peak::<T>(), "memory after ten million timers were armed and nearly all dropped";
    };
    all.retain(|one| cfg!(target_os = "linux") || !one.name.starts_with("precise"));
    for one in &mut all {
        one.implementations
            .retain(|(name, _)| *name != Alt::NAME || cfg!(tokio_unstable));
    }
    all
}
