//! A hand: a thread outside all runtimes that arms, polls, resets, passes on and drops timers at random.

use crate::prelude::*;

use super::held::Held;
use super::shared::Shared;
use super::witness::Deed;

/// Number of operations between two checks of the gate.
const AT_ONCE: usize = 64;
/// Number of bits of the longest duration, two minutes. Each number of bits is equally likely.
const BITS: u64 = 37;
/// The least duration to which a timer is extended.
const LONG: Duration = Duration::from_secs(5);

pub(crate) struct Hand {
    shared: Arc<Shared>,
    random: Random,
    /// Maximum number of timers to hold.
    most: usize,
    timers: Vec<Held>,
    /// The index of the timer to check next.
    cursor: usize,
}

impl Hand {
    pub(crate) fn new(shared: &Arc<Shared>, seed: u64, most: usize) -> Self {
        Hand {
            shared: shared.clone(),
            random: Random::new(seed),
            most,
            timers: Vec::with_capacity(most),
            cursor: 0,
        }
    }

    /// Works until the storm is stopped. Returns the timers that are left.
    pub(crate) fn run(mut self) -> Vec<Held> {
        let shared = self.shared.clone();
        while !shared.is_stopped() {
            let open = shared.work(|| (0..AT_ONCE).for_each(|_| self.step()));
            if !open {
                self.cursor = 0;
                shared.work(|| self.check(self.timers.len()));
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        self.timers
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..=8 => self.arm(),
            9 => self.poll(false),
            10 => self.poll(true),
            11..=12 => self.reset(),
            // This cancels most timers soon after they are armed.
            13..=14 => drop(self.timers.pop()),
            15 => drop(self.take()),
            16 => self.pass_on(),
            _ => self.check(16),
        }
        self.check(4);
    }

    fn duration(&mut self) -> Duration {
        let bits = self.random.below(BITS);
        Duration::from_nanos(self.random.below(1 << bits))
    }

    fn arm(&mut self) {
        if self.timers.len() >= self.most {
            return drop(self.take());
        }
        let (driver, duration) = (self.shared.driver(&mut self.random), self.duration());
        let free = self.random.one_in(4);
        let mut held = Held::new(&self.shared, driver, duration, free);
        // A few timers are reset before they are polled, and a few are polled only by other threads.
        match self.random.below(16) {
            0 => held.reset(self.duration(), true),
            1 => return self.shared.leave(held),
            _ => held.poll(self.deed()),
        }
        if !held.is_over() {
            self.timers.push(held);
        }
    }

    /// Returns what a waker does when it is woken. One in thirty does more than count.
    fn deed(&mut self) -> Option<Deed> {
        match self.random.below(150) {
            0 => Some(Deed::Panic),
            1 => Some(Deed::Meddle),
            2 => Some(Deed::Arm(
                self.shared.driver(&mut self.random),
                self.duration(),
            )),
            3 => Some(Deed::Drop((0..3).filter_map(|_| self.take()).collect())),
            4 if self.random.one_in(50) => {
                Some(Deed::Block(Duration::from_micros(self.random.below(3000))))
            }
            _ => None,
        }
    }

    fn take(&mut self) -> Option<Held> {
        let at = self.random.place(self.timers.len())?;
        Some(self.timers.swap_remove(at))
    }

    fn poll(&mut self, with_another: bool) {
        let deed = self.deed();
        let Some(at) = self.random.place(self.timers.len()) else {
            return;
        };
        if with_another {
            self.timers[at].poll_with_another(deed);
        } else {
            self.timers[at].poll(deed);
        }
        self.sort_out(at);
    }

    /// Extends a timer or, less often, moves its deadline anywhere.
    fn reset(&mut self) {
        let duration = match self.random.below(4) {
            0 => self.duration(),
            _ => LONG + Duration::from_micros(self.random.below(100_000_000)),
        };
        let poll = self.random.one_in(2);
        if let Some(at) = self.random.place(self.timers.len()) {
            self.timers[at].reset(duration, poll);
            self.sort_out(at);
        }
    }

    /// Leaves a timer to other threads, and takes one that another thread left.
    fn pass_on(&mut self) {
        if let Some(held) = self.take() {
            self.shared.leave(held);
        }
        if let Some(mut held) = self.shared.take_any(&mut self.random) {
            held.poll(None);
            self.timers.push(held);
        }
    }

    /// Checks the next few timers, and polls those whose witness was woken.
    fn check(&mut self, count: usize) {
        for _ in 0..count {
            if self.cursor >= self.timers.len() {
                self.cursor = 0;
                return;
            }
            self.timers[self.cursor].check();
            self.sort_out(self.cursor);
            self.cursor += 1;
        }
    }

    /// If a timer is over, resets it so that it is used again, or drops it.
    fn sort_out(&mut self, at: usize) {
        if self.timers[at].is_over() {
            if self.random.one_in(4) {
                let duration = self.duration();
                self.timers[at].reset(duration, true);
            } else {
                self.timers.swap_remove(at);
            }
        }
    }
}
