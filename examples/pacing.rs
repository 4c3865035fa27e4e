//! High resolution: 4,000 ticks per second with `tokio::time::interval`, with this crate's
//! interval, and with this crate's interval on a driver that has high resolution. Linux only.
//!
//! Jitter is the difference between the time from tick to tick and the period. tokio's timers have
//! milliseconds, so its interval ticks four times in a row once per millisecond.
//!
//! `cargo run --release --example pacing --features high-resolution`

use std::future::poll_fn;
use std::task::{Context, Poll};

use wheel::{BuildError, Builder, Duration, Instant, interval};

const TICKS: usize = 4_000;
const PERIOD: Duration = Duration::from_micros(250);

#[tokio::main]
async fn main() -> Result<(), BuildError> {
    // A second driver, for timers that must be precise. `install`, not `build`, would make it the
    // default.
    let precise = Builder::new().high_resolution(true).build()?;

    let mut ticks = tokio::time::interval(PERIOD);
    run("tokio::time", move |cx| ticks.poll_tick(cx)).await;
    let mut ticks = interval(PERIOD);
    run("wheel", move |cx| ticks.poll_tick(cx)).await;
    let mut ticks = precise.interval(PERIOD);
    run("wheel, high resolution", move |cx| ticks.poll_tick(cx)).await;
    Ok(())
}

/// Sends a packet with each tick, so to say, and prints how even the pace was.
async fn run(
    name: &str,
    mut poll_tick: impl FnMut(&mut Context<'_>) -> Poll<Instant> + Send + 'static,
) {
    let pacing = tokio::spawn(async move {
        let mut sent = Vec::with_capacity(TICKS);
        while sent.len() < TICKS {
            poll_fn(&mut poll_tick).await;
            sent.push(Instant::now());
        }
        sent
    });
    let sent = pacing.await.expect("no panic");
    let pairs = sent.windows(2);
    let mut jitter: Vec<_> = pairs
        .map(|pair| (pair[1] - pair[0]).abs_diff(PERIOD))
        .collect();
    jitter.sort();
    let [half, most] = [0.5, 0.99].map(|part| jitter[(part * jitter.len() as f64) as usize]);
    println!("{name}: jitter of half of the ticks up to {half:.0?}, of 99 % up to {most:.0?}");
}
