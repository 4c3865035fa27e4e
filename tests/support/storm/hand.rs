//! A thread outside all runtimes that arms, polls, moves, passes on and drops timers at random.

use crate::prelude::*;

use super::held::Held;
use super::shared::Shared;
use super::witness::Deed;

/// Operations between two looks at the gate.
const AT_ONCE: usize = 64;
/// From a nanosecond to two minutes, each length in bits as likely as any other.
const BITS: u64 = 37;
/// The least time by which an idle timer is reset to a later deadline.
const LONG: Duration = Duration::from_secs(5);

pub(crate) struct Hand {
    shared: Arc<Shared>,
    random: Random,
    /// Timers to hold at most.
    most: usize,
    timers: Vec<Held>,
    /// The timer to be looked at next.
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
                shared.work(|| self.look(self.timers.len()));
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
            // Most timers are cancelled soon.
            13..=14 => drop(self.timers.pop()),
            15 => drop(self.take()),
            16 => self.pass_on(),
            _ => self.look(16),
        }
        self.look(4);
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
        // A few are moved before they are polled, and a few polled by others only.
        match self.random.below(16) {
            0 => held.reset(self.duration(), true),
            1 => return self.shared.leave(held),
            _ => held.poll(self.deed()),
        }
        if !held.is_over() {
            self.timers.push(held);
        }
    }

    /// A waker in thirty does more than to count its wake.
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

    /// Puts a timer off, or less often, moves its deadline anywhere.
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

    /// Gives a timer away and takes another in its place.
    fn pass_on(&mut self) {
        if let Some(held) = self.take() {
            self.shared.leave(held);
        }
        if let Some(mut held) = self.shared.take_any(&mut self.random) {
            held.poll(None);
            self.timers.push(held);
        }
    }

    /// Polls those of the next few timers that have woken their witness.
    fn look(&mut self, count: usize) {
        for _ in 0..count {
            if self.cursor >= self.timers.len() {
                self.cursor = 0;
                return;
            }
            self.timers[self.cursor].look();
            self.sort_out(self.cursor);
            self.cursor += 1;
        }
    }

    /// A timer that is over is reset, for a second life, or dropped.
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
