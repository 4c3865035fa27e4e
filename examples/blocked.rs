//! What an alert on blocked workers shows. It needs no timer of the service: `report` measures with
//! a timer of its own.
//!
//! `cargo run --example blocked --features metrics`

use std::error::Error;
use std::thread;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use wheel::ext::metrics::{PROBE_LAG, lag_buckets, report};
use wheel::{Duration, sleep};

const WORKERS: usize = 2;

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let lags = Matcher::Full(PROBE_LAG.to_owned());
    let exporter = PrometheusBuilder::new()
        .set_buckets_for_metric(lags, &lag_buckets())?
        .install_recorder()?;
    tokio::spawn(report(Duration::from_secs(1)));
    for blocked in [0, 1, WORKERS] {
        let before = counted(&exporter);
        let blocking: Vec<_> = (0..blocked).map(|_| tokio::spawn(block())).collect();
        sleep(Duration::from_secs(5)).await;
        blocking.iter().for_each(|task| task.abort());
        let [in_time, all] = counted(&exporter);
        let late = 1.0 - (in_time - before[0]) / (all - before[1]);
        println!(
            "{blocked} of {WORKERS} workers block: {:.1} % are late",
            100.0 * late
        );
    }
    Ok(())
}

/// Blocks its worker for 100 ms about once per second. A request does so if it computes, or waits
/// for a file or a lock.
async fn block() {
    loop {
        thread::sleep(Duration::from_millis(100));
        sleep(Duration::from_millis(937)).await;
    }
}

/// How many measurements were at most 16 ms late, and how many there were.
fn counted(exporter: &PrometheusHandle) -> [f64; 2] {
    let page = exporter.render();
    [r#"_bucket{le="0.016"} "#, "_count "].map(|series| {
        let series = format!("{PROBE_LAG}{series}");
        let value = page.lines().find_map(|line| line.strip_prefix(&series));
        value.and_then(|value| value.parse().ok()).unwrap_or(0.0)
    })
}
