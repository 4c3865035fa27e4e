//! A simulation: the driver on a fake tokio that misbehaves as tokio may, under a scheduler that draws the
//! order of the threads' steps at random.
//!
//! In each schedule, threads act as workers of two runtimes, as threads that block, or as neither. They
//! make, poll, reset, move and drop timers, run passes, and end runtimes. Then the fake tokio goes on until
//! nothing is left to do. See [`world`] for what must hold.
//!
//! A schedule depends on its seed alone, and a failure prints the seed: `SIMULATION_SEED` is the first of
//! `SIMULATION_SCHEDULES` seeds. `.ci/run simulation` runs it, and `.ci/breakages` checks what it finds.

mod order;
mod world;

use std::env;
use std::str::FromStr;

use shuttle::{Config, FailurePersistence, Runner};

fn variable<T: FromStr>(name: &str, default: T) -> T {
    let value = env::var(name).ok();
    value.map_or(default, |it| it.parse().ok().expect("a number"))
}

#[test]
fn nothing_is_lost_in_random_orders() {
    let first = variable("SIMULATION_SEED", 0);
    let schedules = variable("SIMULATION_SCHEDULES", 100_000_u64);
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true;
    config.stack_size = 1 << 17;
    let run = |first, schedules, f: fn()| {
        let order = order::Order::new(first..first + schedules);
        Runner::new(order, config.clone()).run(f)
    };
    // The first run sets shuttle's panic hook, which the world's then replaces.
    run(0, 1, || ());
    world::set_hook();
    let started = std::time::Instant::now();
    let ran = run(first, schedules, world::schedule);
    eprintln!("{ran} schedules in {:?}", started.elapsed());
}
