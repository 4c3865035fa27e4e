//! An axum server under load from reqwest clients, with the timers that services have: a limit
//! per request on the server (tower-http) and on the client (tower), limits for a connection, for a
//! request, for a read and for idle connections (reqwest).
//!
//! There is nothing in here of tokio-wheel but [`timers`], which asks whether it is underneath.
//! Prints one `name value` a line; `.ci/whole-tree demo` lays two runs side by side.

mod load;
mod server;
mod timers;

use std::time::Duration;

use tower::BoxError;

/// How long, unless an argument says otherwise.
const SECONDS: u64 = 5;
/// A tick in `/proc/*/stat`: Linux shows programs 100 a second, whatever the kernel's own clock.
const TICK: Duration = Duration::from_millis(10);

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let seconds = std::env::args().nth(1);
    let seconds = seconds.map_or(Ok(SECONDS), |text| text.parse())?;

    let server = server::start().await?;
    let client = load::client(server)?;
    // Connections are made, and code is paged in.
    load::run(&client, Duration::from_millis(200)).await?;

    let (timers, cpu) = (timers::registered(), cpu_time());
    let seconds = Duration::from_secs(seconds);
    let latency = load::run(&client, seconds).await?;
    let (timers, cpu) = (timers::registered() - timers, cpu_time().zip(cpu));

    let requests = latency.len() as f64;
    println!(
        "requests-per-second {:.0}",
        requests / seconds.as_secs_f64()
    );
    for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
        let micros = latency.value_at_quantile(quantile);
        println!("latency-{name}-us {micros}");
    }
    if let Some((after, before)) = cpu {
        let micros = (after - before).as_secs_f64() * 1e6;
        println!("cpu-us-per-request {:.2}", micros / requests);
    }
    println!("timers-of-tokio-wheel {timers}");
    println!("timers-per-request {:.2}", timers as f64 / requests);
    Ok(())
}

/// The processor time of the whole process so far, user and system; `None` where the system is not Linux.
fn cpu_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may hold spaces, so fields are counted from behind it.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields = fields.split_whitespace().skip(11).take(2);
    let ticks = fields.map(|field| field.parse::<u32>().ok());
    Some(TICK * ticks.sum::<Option<u32>>()?)
}
