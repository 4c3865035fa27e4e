//! An axum server under load from reqwest clients, with the timers that services have: a limit
//! per request on the server (tower-http) and on the client (tower), limits for a connection, for a
//! request, for a read and for idle connections (reqwest).
//!
//! There is nothing in here of tokio-wheel but [`timers`], which asks whether it is underneath.
//! Prints one `name value` a line; `.ci/whole-tree demo` lays two runs side by side.

mod client;
mod load;
mod machine;
mod server;
mod timers;

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::load::Outcome;
use crate::timers::Timers;

/// How long, unless the first argument says otherwise.
const SECONDS: u64 = 5;
/// Requests under way at a time, unless the second argument says otherwise.
const CONNECTIONS: u64 = 64;

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |usual| {
        let number = arguments.next().map(|text| text.parse());
        number.unwrap_or(Ok(usual)).context("not a number")
    };
    let (seconds, connections) = (number(SECONDS)?, number(CONNECTIONS)? as usize);

    let server = server::start().await?;
    let client = client::new(server, connections)?;
    // Connections are made, and code is paged in.
    load::run(&client, connections, Duration::from_millis(200)).await?;

    let (timers, cpu) = (Timers::now(), machine::cpu_time());
    let outcome = load::run(&client, connections, Duration::from_secs(seconds)).await?;
    let cpu = machine::cpu_time()
        .zip(cpu)
        .map(|(after, before)| after - before);

    ensure!(outcome.requests > 0, "no request was answered");
    print(&outcome, cpu);
    Timers::now().print_since(timers, outcome.requests);
    Ok(())
}

fn print(outcome: &Outcome, cpu: Option<Duration>) {
    let requests = outcome.requests as f64;
    println!(
        "requests-per-second {:.0}",
        requests / outcome.took.as_secs_f64()
    );
    for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
        println!(
            "latency-{name}-us {}",
            outcome.latency.value_at_quantile(quantile)
        );
    }
    if let Some(cpu) = cpu {
        println!(
            "cpu-us-per-request {:.2}",
            cpu.as_secs_f64() * 1e6 / requests
        );
    }
}
