//! What to copy first. Every call is the one `tokio::time` has: in a program
//! that says `tokio::time`, `wheel::time` is the whole migration.
//!
//! `cargo run -p hello`

use tokio::sync::mpsc;
use wheel::time::{self, Duration, Instant};

#[tokio::main]
async fn main() {
    let started = Instant::now();
    time::sleep(ms(20)).await;
    println!("slept for {:?}", started.elapsed());

    // Nothing ever answers here, so the limit is what ends the wait.
    let answer = time::timeout(ms(30), std::future::pending::<u32>()).await;
    println!("no answer: {}", answer.unwrap_err());

    let mut beat = time::interval(ms(10));
    for n in 1..=3 {
        beat.tick().await; // the first tick is immediate
        println!("beat {n}");
    }

    let (sender, messages) = mpsc::channel(1);
    tokio::join!(chatter(sender), listen(messages));
    println!("done after {:?}", started.elapsed());
}

/// Sends three messages, then keeps the channel open and says nothing more.
async fn chatter(sender: mpsc::Sender<u32>) {
    for n in 1..=3 {
        time::sleep(ms(25)).await;
        let _ = sender.send(n).await; // fails only if nobody listens any more
    }
    sender.closed().await;
}

/// Takes messages until none has come for 50 ms.
async fn listen(mut messages: mpsc::Receiver<u32>) {
    // One timer serves the whole loop. It is `Unpin`: no `pin!`, and it may live in a struct.
    let mut idle = time::sleep(ms(50));
    loop {
        tokio::select! {
            Some(n) = messages.recv() => {
                println!("message {n}");
                std::pin::Pin::new(&mut idle).reset(Instant::now() + ms(50));
            }
            () = &mut idle => break println!("nobody spoke for 50 ms"),
        }
    }
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
