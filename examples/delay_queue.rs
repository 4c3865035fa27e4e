//! A `DelayQueue` that yields each value once its deadline has passed. Here: jobs that are due at some time, one of
//! which is moved and one removed.
//!
//! `cargo run --example delay_queue`

use wheel::{DelayQueue, Duration, Instant};

#[tokio::main]
async fn main() {
    let start = Instant::now();
    let mut jobs = DelayQueue::new();
    jobs.insert("send the report", Duration::from_millis(30));
    let backup = jobs.insert("back up", Duration::from_millis(10));
    let cleanup = jobs.insert("clean up", Duration::from_millis(20));

    jobs.reset(&backup, Duration::from_millis(60));
    let removed = jobs.remove(&cleanup).into_inner();
    println!("removed: {removed}");

    // One task polls the queue. With the feature `stream` the queue is a `Stream` as well.
    while let Some(job) = jobs.next().await {
        println!("{:?}: {}", start.elapsed(), job.into_inner());
    }
}
