//! Timers on WebAssembly, wasm32-wasip1: a current-thread runtime, as Tokio has no other there.
//! `wasi.mjs` runs the program under node, which the weekly workflow does.

use std::future::pending;

use wheel::{Duration, Instant, sleep, timeout};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let start = Instant::now();
    sleep(ms(5)).await;
    assert!(start.elapsed() >= ms(5), "early");

    // Every other one of a thousand tasks is never done.
    let calls = (0..1_000).map(|n| async move {
        match n % 2 {
            0 => timeout(ms(60_000), sleep(ms(n % 20))).await.is_err(),
            _ => timeout(ms(n % 20), pending::<()>()).await.is_err(),
        }
    });
    let tasks: Vec<_> = calls.map(tokio::spawn).collect();
    let mut late = 0;
    for task in tasks {
        late += u32::from(task.await.unwrap());
    }
    assert_eq!(late, 500);
    println!("slept and timed out in {:?}", start.elapsed());
}
