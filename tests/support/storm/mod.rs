//! A storm: threads do everything that can be done to timers, at random, while runtimes begin and end.
//!
//! | file | contents |
//! | --- | --- |
//! | `hand.rs` | a *hand*: a thread that arms, polls, resets, passes on and drops timers |
//! | `held.rs` | a timer that a hand holds, and its part of the counts |
//! | `witness.rs` | a *witness*: the timer's waker, which may panic, block, or arm, poll or drop other timers |
//! | `life.rs` | a runtime, from its start to its end |
//! | `counts.rs` | the counts |
//! | `shared.rs` | the state that all threads share, and the gate that makes them pause |
//!
//! # Invariants
//!
//! * armed = fired + cancelled + ended in the end, when nothing is pending.
//! * No timer is ready before its deadline. No waker is woken before the deadline, unless the
//!   runtime ends.
//! * A waker is woken at most once for each deadline, and at least once if its timer fires or the
//!   runtime ends.
//! * While all threads pause, exactly the armed timers are pending in each driver.
//! * In the end, no timer is pending, and no waker is left.

mod counts;
mod hand;
mod held;
mod life;
mod shared;
mod witness;

use crate::prelude::*;

use std::thread::{self, JoinHandle};
use std::time::Instant;

pub use self::counts::Counts;
use self::hand::Hand;
use self::held::Held;
use self::life::Running;
use self::shared::Shared;

/// Number of timers in a volley, and how long before their deadline they are armed.
const VOLLEY: usize = 1200;
const VOLLEY_AFTER: Duration = Duration::from_millis(20);

pub struct Storm {
    shared: Arc<Shared>,
    hands: Vec<JoinHandle<Vec<Held>>>,
    conductor: JoinHandle<Vec<Running>>,
}

impl Storm {
    /// Begins a storm with this many hands, each of which holds at most `held` timers, and with a
    /// runtime for each number of workers (0 stands for a current-thread runtime). The first
    /// runtime stays; the others end and are replaced.
    pub fn begin(seed: u64, hands: usize, held: usize, workers: &[usize]) -> Self {
        let shared = Arc::<Shared>::default();
        let mut random = Random::new(seed);
        let mut running = Vec::new();
        for &workers in workers {
            running.push(Running::start(&shared, workers, &mut random));
        }
        let drivers = running.iter().map(|running| running.driver.clone());
        shared.drivers.lock().unwrap().extend(drivers);
        let hands = (0..hands).map(|_| {
            let hand = Hand::new(&shared, random.number(), held);
            thread::spawn(|| hand.run())
        });
        let hands = hands.collect();
        let conductor = {
            let shared = shared.clone();
            thread::spawn(move || conduct(&shared, running, &mut random))
        };
        Storm {
            shared,
            hands,
            conductor,
        }
    }

    pub fn counts(&self) -> &Counts {
        &self.shared.counts
    }

    /// Makes all threads pause, and compares the number of pending timers of each driver with the
    /// expected one.
    pub fn muster(&self) {
        // A timer that was reset after it fired, and whose waker has not been seen woken, counts on
        // one side of the comparison only, until it is polled.
        let settles = || {
            for mut held in self.shared.take_all() {
                held.check();
                self.shared.leave(held);
            }
            self.settled().inspect(|()| self.volley())
        };
        for _ in 0..20 {
            if self.shared.alone(settles).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        if let Err((counted, expected)) = self.shared.alone(settles) {
            let what = format!("{counted} timers are pending where {expected} should be");
            self.shared.counts.fail(what);
        }
    }

    /// Arms a volley in each driver: timers that are due together, while no thread arms others that
    /// would start other passes.
    fn volley(&self) {
        let volley = self.shared.drivers().into_iter().flat_map(|driver| {
            let arm = move |_| {
                let mut held = Held::new(&self.shared, driver.clone(), VOLLEY_AFTER, false);
                held.poll(None);
                held
            };
            (0..VOLLEY).map(arm)
        });
        wait_for_all(&self.shared.counts, "a volley fires", volley.collect());
    }

    /// Waits until each driver has the expected number of pending timers. Returns both numbers if
    /// one does not.
    fn settled(&self) -> Result<(), (usize, i64)> {
        let all = || {
            let drivers = self.shared.drivers();
            let mut live = drivers.iter().filter(|driver| !driver.is_ending());
            live.try_for_each(|driver| driver.compare())
        };
        for _ in 0..200 {
            if all().is_ok() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(1));
        }
        all()
    }

    /// Ends the storm. Lets half of the timers that are left fire soon and drops the others, and
    /// then checks that nothing is left. Returns the failures.
    pub fn end(self) -> Vec<String> {
        let counts = &self.shared.counts;
        self.shared.stopped.store(true, Ordering::SeqCst);
        let mut left = self.shared.take_all();
        for hand in self.hands {
            left.append(&mut hand.join().unwrap());
        }
        let running = self.conductor.join().unwrap();
        let_half_fire(counts, left);
        drop(self.shared.take_all());
        let drivers = self.shared.drivers();
        wait(counts, "nothing is pending", || {
            drivers.iter().all(|driver| driver.compare() == Ok(()))
        });
        drop(drivers);
        for running in running {
            running.end(&mut Random::new(1));
        }
        wait(counts, "no waker is left", || {
            counts.witnesses.load(Ordering::SeqCst) == 0
        });
        if counts.pending() != 0 {
            counts.fail(format!("{} armed timers have no end", counts.pending()));
        }
        counts.failures()
    }
}

/// Lets half of the timers fire and drops the others. A timer that never wakes its witness is lost.
fn let_half_fire(counts: &Counts, left: Vec<Held>) {
    let mut random = Random::new(left.len() as u64);
    let mut last = Vec::new();
    for mut held in left {
        if random.below(2) == 0 {
            held.reset(Duration::from_micros(random.below(200_000)), true);
            last.push(held);
        }
    }
    wait_for_all(counts, "the last timers fire", last);
}

fn wait_for_all(counts: &Counts, what: &str, timers: Vec<Held>) {
    let timers = RefCell::new(timers);
    wait(counts, what, || {
        let mut timers = timers.borrow_mut();
        timers.iter_mut().for_each(Held::check);
        timers.retain(|held| !held.is_over());
        timers.is_empty()
    });
}

/// Waits until a condition holds, for very long because the machine may stall, but only briefly
/// after a failure.
fn wait(counts: &Counts, what: &str, is_so: impl Fn() -> bool) {
    for tries in 0..30_000 {
        if is_so() {
            return;
        }
        if tries >= 1000 && !counts.failures().is_empty() {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    counts.fail(format!("this does not hold: {what}"));
}

/// Ends runtimes, except the first, and starts others in their place.
fn conduct(shared: &Arc<Shared>, mut running: Vec<Running>, random: &mut Random) -> Vec<Running> {
    while !shared.is_stopped() {
        let pause = Instant::now() + Duration::from_millis(random.below(300));
        while Instant::now() < pause && !shared.is_stopped() {
            thread::sleep(Duration::from_millis(5));
        }
        if running.len() > 1 {
            shared.work(|| {
                let at = 1 + random.below(running.len() as u64 - 1) as usize;
                let workers = [0, 1, 2, 8][random.below(4) as usize];
                let new = Running::start(shared, workers, random);
                shared.drivers.lock().unwrap()[at] = new.driver.clone();
                std::mem::replace(&mut running[at], new).end(random);
            });
        }
    }
    running
}
