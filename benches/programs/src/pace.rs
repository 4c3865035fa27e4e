//! The callers: tasks that each make one operation after another, as fast as they can or at the rate of a *pacer*.
//!
//! The pacer is a thread outside the runtime, so it sleeps as long whichever timers the program has. Whenever it wakes up, it
//! sends the number of operations that have become due, whether or not earlier ones have ended. A task passes them on to
//! the callers in turn.

use std::env;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::{Counter, Load};

/// The environment variable with the operations per second of all callers. Without it, there is no pacer.
pub const RATE: &str = "PROGRAMS_RATE";

/// The name of the pacer's thread, whose processor time is not counted as the program's.
pub(crate) const PACER: &str = "pacer";

/// How long the pacer sleeps. Linux adds about 60 µs.
const EVERY: Duration = Duration::from_micros(100);

/// Makes operations, and counts them.
pub struct Caller {
    pub counter: Counter,
    number: u64,
    /// Whether there is a present operation, and when it began, if it is timed.
    began: Option<Option<Instant>>,
    /// When the pacer sent each operation.
    sent: Option<UnboundedReceiver<Instant>>,
}

impl Caller {
    /// Counts the operation before. Then begins another, once there is one, and returns a number for it.
    pub async fn next(&mut self) -> Option<u64> {
        let began = self.began.take();
        if began.is_some_and(|began| !self.counter.end(began)) {
            return None;
        }
        let sent = match &mut self.sent {
            Some(sent) => Some(sent.recv().await?),
            None => None,
        };
        self.began = Some(self.counter.begin().map(|now| sent.unwrap_or(now)));
        self.number += 1;
        Some(self.number)
    }
}

/// Returns a caller for each counter, and starts the pacer if there is a rate.
pub(crate) fn callers(load: &Load) -> Vec<Caller> {
    let rate = env::var(RATE).ok();
    let caller = |counter: Counter| {
        let (sender, sent) = unbounded_channel();
        let caller = Caller {
            number: counter.task() as u64,
            counter,
            began: None,
            sent: rate.as_ref().map(|_| sent),
        };
        (sender, caller)
    };
    let (senders, callers) = load.counters().map(caller).unzip();
    if let Some(rate) = &rate {
        start(load.clone(), rate.parse().expect("a rate"), senders);
    }
    callers
}

fn start(load: Load, rate: f64, callers: Vec<UnboundedSender<Instant>>) {
    let (batch, mut batches) = unbounded_channel();
    let pace = move || {
        let (start, mut sent) = (Instant::now(), 0);
        while load.goes_on() {
            sleep(EVERY);
            let now = Instant::now();
            let due = ((now - start).as_secs_f64() * rate) as usize;
            let _ = batch.send((now, due - sent));
            sent = due;
        }
    };
    let thread = thread::Builder::new().name(PACER.into());
    thread.spawn(pace).expect("a thread");
    tokio::spawn(async move {
        let mut callers = callers.iter().cycle();
        while let Some((now, count)) = batches.recv().await {
            // A caller that has failed receives nothing, and `join` reports it.
            let next = callers.by_ref().take(count);
            next.for_each(|caller| _ = caller.send(now));
        }
    });
}
