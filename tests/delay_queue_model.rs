//! The queue beside a naive list, under random operations and a clock that is moved by hand.
//!
//! After every step: what comes out is due and the earliest; when nothing comes out nothing is
//! due; whoever waits has been woken by the time there is something to tell; stale keys find
//! nothing, and live ones their own entry.
#![cfg(feature = "test-util")]

mod support;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use support::{Count, Random, counting, ms, paused, poll};
use wheel::delay_queue::{Expired, Key};
use wheel::{DelayQueue, Instant, sleep};

struct Model {
    queue: DelayQueue<u64>,
    /// Key, value, and the instant before which the entry must not come out.
    entries: Vec<(Key, u64, Instant)>,
    stale: Vec<Key>,
    next_value: u64,
    random: Random,
    waker: Waker,
    count: Arc<Count>,
    /// How often the waker had been woken when the queue last said that it had nothing.
    waiting_since: Option<usize>,
}

#[test]
fn the_queue_does_what_a_list_does() {
    for seed in 1..=60 {
        paused().block_on(async {
            let mut model = Model::new(seed);
            for _ in 0..400 {
                model.step().await;
                model.check();
            }
        });
    }
}

impl Model {
    fn new(seed: u64) -> Self {
        let (waker, count) = counting();
        Model {
            queue: DelayQueue::new(),
            entries: Vec::new(),
            stale: Vec::new(),
            next_value: 0,
            random: Random::new(seed),
            waker,
            count,
            waiting_since: None,
        }
    }

    async fn step(&mut self) {
        match self.random.below(20) {
            0..=5 => self.insert(),
            6..=8 => self.remove(),
            9..=11 => self.reset(),
            12 => self.try_stale(),
            13 if self.random.below(4) == 0 => self.queue.compact(),
            13 if self.random.below(20) == 0 => self.clear(),
            14..=16 => self.pass().await,
            _ => self.poll_all(),
        }
    }

    /// A deadline, past or to come, near or far.
    fn deadline(&mut self) -> Instant {
        let now = Instant::now();
        match self.random.below(8) {
            0 => now - ms(self.random.below(3)),
            1 => now,
            2 => now + Duration::from_micros(self.random.below(5000)),
            3 => now + Duration::from_secs(self.random.below(1 << 36)),
            4 => now + ms(64 * self.random.below(70)),
            _ => now + ms(self.random.below(300)),
        }
    }

    fn insert(&mut self) {
        let when = self.deadline();
        let value = self.next_value;
        self.next_value += 1;
        let key = self.queue.insert_at(value, when);
        self.entries.push((key, value, when));
    }

    fn pick(&mut self) -> Option<usize> {
        let len = self.entries.len() as u64;
        (len > 0).then(|| self.random.below(len) as usize)
    }

    fn remove(&mut self) {
        if let Some(at) = self.pick() {
            let (key, value, _) = self.entries.swap_remove(at);
            let removed = self.queue.remove(&key);
            assert_eq!((removed.key(), removed.into_inner()), (key, value));
            self.stale.push(key);
        }
    }

    fn reset(&mut self) {
        if let Some(at) = self.pick() {
            let when = self.deadline();
            self.entries[at].2 = when;
            self.queue.reset_at(&self.entries[at].0, when);
        }
    }

    fn clear(&mut self) {
        self.queue.clear();
        self.stale
            .extend(self.entries.drain(..).map(|entry| entry.0));
    }

    fn try_stale(&mut self) {
        for key in &self.stale {
            assert!(self.queue.try_remove(key).is_none());
        }
    }

    async fn pass(&mut self) {
        let millis = match self.random.below(3) {
            0 => 1,
            1 => self.random.below(100),
            _ => self.random.below(10_000),
        };
        sleep(ms(millis)).await;
    }

    fn poll_all(&mut self) {
        loop {
            let queue = &mut self.queue;
            match poll(&mut poll_fn(|cx| queue.poll_expired(cx)), &self.waker) {
                Poll::Ready(Some(expired)) => self.expire(&expired),
                Poll::Ready(None) => break assert!(self.entries.is_empty()),
                Poll::Pending => break self.assert_nothing_due(),
            }
        }
        self.waiting_since = Some(self.count.wakes());
    }

    fn expire(&mut self, expired: &Expired<u64>) {
        let now = Instant::now();
        let at = self
            .entries
            .iter()
            .position(|entry| entry.0 == expired.key());
        let (key, value, when) = self.entries.swap_remove(at.expect("a live entry"));
        assert_eq!(*expired.get_ref(), value);
        assert!(when <= now && expired.deadline() <= now, "early");
        for (key, ..) in &self.entries {
            assert!(expired.deadline() <= self.queue.deadline(key), "order");
        }
        self.stale.push(key);
    }

    fn assert_nothing_due(&self) {
        let now = Instant::now();
        for &(_, _, when) in &self.entries {
            assert!(when > now, "late");
        }
    }

    fn check(&mut self) {
        assert_eq!(self.queue.len(), self.entries.len());
        let earliest = self
            .entries
            .iter()
            .map(|(key, ..)| self.queue.deadline(key))
            .min();
        let peeked = self.queue.peek().map(|key| self.queue.deadline(&key));
        assert_eq!(peeked, earliest);
        for (key, _, when) in &self.entries {
            assert!(self.queue.deadline(key) < (*when).max(Instant::now()) + ms(1));
        }
        let due = earliest.is_none_or(|earliest| earliest <= Instant::now());
        if let Some(since) = self.waiting_since.take_if(|_| due) {
            let woken = self.count.wakes() > since;
            // An empty queue has nothing to tell whoever knows that already.
            assert!(woken || self.entries.is_empty(), "not woken");
        }
    }
}
