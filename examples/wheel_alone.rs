//! `TimingWheel` by itself, in a loop without a runtime. It has no clock: here a tick is a nanosecond since the start,
//! and the loop sleeps until the next tick that matters.
//!
//! For entries that fire again and again there is `TimingWheel::advance_rearming`.
//!
//! `cargo run --example wheel_alone`

use std::thread;
use std::time::{Duration, Instant};

use wheel::TimingWheel;

fn main() {
    let start = Instant::now();
    let tick = |at: Instant| (at - start).as_nanos() as u64;

    let mut wheel = TimingWheel::new();
    for (millis, name) in [(20, "pong"), (10, "ping"), (30, "end")] {
        let deadline = start + Duration::from_millis(millis);
        wheel.insert(tick(deadline), name).unwrap();
    }
    while let Some(next) = wheel.next_expiration() {
        let next = start + Duration::from_nanos(next);
        thread::sleep(next.saturating_duration_since(Instant::now()));
        wheel.advance(tick(Instant::now()), |expired| {
            println!("{:?}: {}", start.elapsed(), expired.value);
        });
    }
}
