//! The callers: tasks that each make one operation after another, as fast as they can or at the rate of a *pacer*.
//!
//! The pacer is a thread outside the runtime, so it sleeps as long whichever timers the program has. Whenever it wakes up, it
//! sends the operations that have become due, whether or not earlier ones have ended. The callers take them in turn.

use std::env;
use std::sync::Arc;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::{Counter, Load};

/// The environment variable with the operations per second of all callers. Without it, there is no pacer.
pub const RATE: &str = "PROGRAMS_RATE";

/// The name of the pacer's thread, whose processor time is not counted as the program's.
pub(crate) const PACER: &str = "pacer";

/// How long the pacer sleeps. Linux adds about 60 µs.
const EVERY: Duration = Duration::from_micros(100);

/// When the pacer sent each operation that no caller has begun.
type Sent = Arc<Mutex<UnboundedReceiver<Instant>>>;

/// Makes operations, and counts them.
pub struct Caller {
    pub counter: Counter,
    number: u64,
    /// Whether there is a present operation, and when it began, if it is timed.
    began: Option<Option<Instant>>,
    sent: Option<Sent>,
}

impl Caller {
    /// Counts the operation before. Then begins another, once there is one, and returns a number for it.
    pub async fn next(&mut self) -> Option<u64> {
        let began = self.began.take();
        if began.is_some_and(|began| !self.counter.end(began)) {
            return None;
        }
        let sent = match &self.sent {
            Some(sent) => Some(sent.lock().await.recv().await?),
            None => None,
        };
        self.began = Some(self.counter.begin().map(|now| sent.unwrap_or(now)));
        self.number += 1;
        Some(self.number)
    }
}

/// Returns a caller for each counter, and starts the pacer if there is a rate.
pub(crate) fn callers(load: &Load) -> impl Iterator<Item = Caller> {
    let rate = env::var(RATE).ok();
    let sent = rate.map(|rate| start(load.clone(), rate.parse().expect("a rate")));
    load.counters().map(move |counter| Caller {
        number: counter.task() as u64,
        counter,
        began: None,
        sent: sent.clone(),
    })
}

fn start(load: Load, rate: f64) -> Sent {
    let (sender, receiver) = unbounded_channel();
    let pace = move || {
        let (start, mut sent) = (Instant::now(), 0);
        while load.goes_on() {
            sleep(EVERY);
            let now = Instant::now();
            let due = ((now - start).as_secs_f64() * rate) as u64;
            while sent < due {
                // If all callers have failed, nobody receives this.
                let _ = sender.send(now);
                sent += 1;
            }
        }
    };
    let thread = thread::Builder::new().name(PACER.into());
    thread.spawn(pace).expect("a thread");
    Arc::new(Mutex::new(receiver))
}
