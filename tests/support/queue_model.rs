//! Compares a `DelayQueue` with a naive list, on a paused clock.
//!
//! These hold after every step: an entry that the queue yields is due, and none is a millisecond earlier; if it yields
//! none, none is due;
//! a task that waits has been woken if an entry became due, or if the queue became empty or stopped being empty; stale
//! keys find no entry, and live keys find their own.

use crate::prelude::*;

use arbitrary::Unstructured;
use wheel::DelayQueue;
use wheel::delay_queue::{Expired, Key};

struct Model<'a> {
    queue: DelayQueue<u64>,
    /// Key, value, and the instant before which the entry must not come out.
    entries: Vec<(Key, u64, Instant)>,
    stale: Vec<Key>,
    next_value: u64,
    choices: Unstructured<'a>,
    waker: Waker,
    count: AwokenCount,
    /// How often the waker had been woken when the queue last yielded no entry.
    waiting_since: Option<usize>,
    was_empty: bool,
}

/// Takes the steps that these bytes choose, at most `steps` of them, in a new runtime.
pub fn run(bytes: &[u8], steps: usize) {
    paused().block_on(async {
        let mut model = Model::new(bytes);
        for _ in 0..steps {
            if model.choices.is_empty() {
                break;
            }
            model.step().await;
            model.check();
        }
        model.finish().await;
    });
}

impl<'a> Model<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let (waker, count) = new_count_waker();
        Model {
            queue: DelayQueue::new(),
            entries: Vec::new(),
            stale: Vec::new(),
            next_value: 0,
            choices: Unstructured::new(bytes),
            waker,
            count,
            waiting_since: None,
            was_empty: false,
        }
    }

    /// Chooses a number less than `end`. When no bytes are left, the number is 0.
    fn below(&mut self, end: u64) -> u64 {
        let chosen = self.choices.int_in_range(0..=end - 1);
        chosen.expect("a range is never out of bytes")
    }

    async fn step(&mut self) {
        match self.below(22) {
            0..=5 => self.insert(),
            6..=8 => self.remove(),
            9..=11 => self.reset(),
            12 => self.try_stale(),
            13 => self.tend_memory(),
            14..=16 => self.pass().await,
            17 => self.poll_one(),
            18 => self.change_waker(),
            _ => self.poll_all(),
        }
    }

    /// Chooses a deadline in the past or the future, near or far.
    fn deadline(&mut self) -> Instant {
        let now = Instant::now();
        match self.below(8) {
            0 => now - ms(self.below(3)),
            1 => now,
            2 => now + Duration::from_micros(self.below(5000)),
            3 => now + Duration::from_secs(self.below(1 << 36)),
            4 => now + ms(64 * self.below(70)),
            _ => now + ms(self.below(300)),
        }
    }

    fn insert(&mut self) {
        let when = self.deadline();
        let value = self.next_value;
        self.next_value += 1;
        let key = self.queue.insert_at(value, when);
        self.entries.push((key, value, when));
    }

    fn remove(&mut self) {
        if let Ok(at) = self.choices.choose_index(self.entries.len()) {
            self.remove_at(at);
        }
    }

    fn remove_at(&mut self, at: usize) {
        let (key, value, _) = self.entries.swap_remove(at);
        let removed = self.queue.remove(&key);
        assert_eq!((removed.key(), removed.into_inner()), (key, value));
        self.stale.push(key);
    }

    fn reset(&mut self) {
        if let Ok(at) = self.choices.choose_index(self.entries.len()) {
            let when = self.deadline();
            self.entries[at].2 = when;
            self.queue.reset_at(&self.entries[at].0, when);
        }
    }

    fn tend_memory(&mut self) {
        let before = self.queue.capacity();
        match self.below(64) {
            0..16 => self.queue.compact(),
            16..24 => self.queue.shrink_to_fit(),
            24..32 => {
                let additional = self.below(3000) as usize;
                self.queue.reserve(additional);
            }
            32 => {
                self.queue.clear();
                let gone = self.entries.drain(..);
                self.stale.extend(gone.map(|entry| entry.0));
            }
            _ => assert!(before >= self.queue.len()),
        }
    }

    /// Polls with another task's waker, which the queue has to wake from then on.
    fn change_waker(&mut self) {
        (self.waker, self.count) = new_count_waker();
        self.poll_all();
    }

    fn try_stale(&mut self) {
        for key in &self.stale {
            assert!(self.queue.try_remove(key).is_none());
        }
    }

    async fn pass(&mut self) {
        let millis = match self.below(3) {
            0 => 1,
            1 => self.below(100),
            _ => self.below(10_000),
        };
        sleep(ms(millis)).await;
    }

    fn poll_once(&mut self) -> Poll<bool> {
        let queue = &mut self.queue;
        let polled = poll(&mut poll_fn(|cx| queue.poll_expired(cx)), &self.waker);
        self.was_empty = matches!(polled, Poll::Ready(None));
        if let Poll::Ready(Some(expired)) = &polled {
            self.expire(expired);
        }
        assert!(!self.was_empty || self.entries.is_empty());
        polled.map(|expired| expired.is_some())
    }

    /// Leaves the other due entries in the queue.
    fn poll_one(&mut self) {
        if self.poll_once().is_ready() {
            self.waiting_since = None;
        }
    }

    fn poll_all(&mut self) {
        loop {
            let before = self.count.get();
            match self.poll_once() {
                Poll::Ready(true) => {}
                Poll::Ready(false) => break,
                // The queue had too much to do for a single poll, and has woken the task to poll again.
                Poll::Pending if self.count.get() > before => {}
                Poll::Pending => break self.assert_nothing_due(),
            }
        }
        self.waiting_since = Some(self.count.get());
    }

    fn expire(&mut self, expired: &Expired<u64>) {
        let now = Instant::now();
        let mut entries = self.entries.iter();
        let at = entries.position(|entry| entry.0 == expired.key());
        let (key, value, when) = self.entries.swap_remove(at.expect("a live entry"));
        assert_eq!(*expired.get_ref(), value);
        assert!(when <= now && expired.deadline() <= now, "early");
        for (key, ..) in &self.entries {
            assert!(
                expired.deadline() < self.queue.deadline(key) + ms(1),
                "order"
            );
        }
        self.stale.push(key);
    }

    fn assert_nothing_due(&self) {
        let now = Instant::now();
        assert!(self.entries.iter().all(|entry| entry.2 > now), "late");
    }

    fn check(&mut self) {
        assert_eq!(self.queue.len(), self.entries.len());
        let deadlines = self
            .entries
            .iter()
            .map(|entry| self.queue.deadline(&entry.0));
        let earliest = deadlines.min();
        let peeked = self.queue.peek().map(|key| self.queue.deadline(&key));
        assert_eq!(peeked, earliest);
        for (key, _, when) in &self.entries {
            assert!(self.queue.deadline(key) < (*when).max(Instant::now()) + ms(1));
        }
        if let Some(key) = self.stale.last() {
            assert!(self.queue.try_remove(key).is_none());
        }
        // A task to which the queue was empty is woken when an entry is inserted. A task that waits for an entry is woken
        // when the queue becomes empty.
        let changed = self.entries.is_empty() != self.was_empty;
        let due = earliest.is_some_and(|earliest| earliest <= Instant::now());
        if let Some(since) = self.waiting_since.take_if(|_| due || changed) {
            assert!(self.count.get() > since, "not woken");
        }
    }

    /// Removes the entries that are very far away, and waits for the others.
    async fn finish(mut self) {
        self.poll_all();
        let horizon = Instant::now() + DAY;
        for at in (0..self.entries.len()).rev() {
            if self.entries[at].2 > horizon {
                self.remove_at(at);
            }
        }
        while let Some(expired) = poll_fn(|cx| self.queue.poll_expired(cx)).await {
            let late = Instant::now() - expired.deadline();
            assert!(late < ms(1), "late by {late:?}");
            self.expire(&expired);
        }
        assert!(self.entries.is_empty(), "an entry was lost");
        self.try_stale();
    }
}
