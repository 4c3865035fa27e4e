//! The first program: sleep, timeout, interval, and one timer that is reset to a later deadline.
//!
//! New code calls `wheel::sleep`. Existing code replaces `tokio::time::sleep` by `wheel::time::sleep`.
//!
//! `cargo run --example hello`

use tokio::sync::mpsc;
use wheel::{Duration, Instant};

#[tokio::main]
async fn main() {
    let started = Instant::now();
    wheel::sleep(ms(20)).await;
    println!("slept for {:?}", started.elapsed());

    // Nothing ever completes this future, so the timeout ends the wait.
    let answer = wheel::timeout(ms(30), std::future::pending::<u32>()).await;
    println!("no answer: {}", answer.unwrap_err());

    let mut beat = wheel::interval(ms(10));
    for n in 1..=3 {
        beat.tick().await; // the first tick is due at once
        println!("beat {n}");
    }

    let (sender, messages) = mpsc::channel(1);
    tokio::join!(talk(sender), listen(messages));
    println!("done after {:?}", started.elapsed());
}

/// Sends three messages, then keeps the channel open without sending anything.
async fn talk(sender: mpsc::Sender<u32>) {
    for n in 1..=3 {
        wheel::sleep(ms(25)).await;
        let _ = sender.send(n).await; // fails only after the receiver was dropped
    }
    sender.closed().await;
}

/// Receives messages until none has arrived for 50 ms.
async fn listen(mut messages: mpsc::Receiver<u32>) {
    // One timer serves the whole loop. `Sleep` is `Unpin`, so it needs no `pin!` and a struct may
    // hold it.
    let mut idle = wheel::sleep(ms(50));
    loop {
        tokio::select! {
            Some(n) = messages.recv() => {
                println!("message {n}");
                idle.reset_unpin(Instant::now() + ms(50));
            }
            () = &mut idle => break println!("no message for 50 ms"),
        }
    }
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
