//! The end of a schedule: the runtimes go on until they have nothing to do, and then shut down.

use std::sync::atomic::Ordering::SeqCst;

use shuttle::thread;

use super::{LATE, LATE_IF_BLOCKED, LATE_IF_LOST, START, World, catch};
use crate::clock::Tick;
use crate::driver::{alarm, registry};
use crate::platform::fake::{self, dice};
use crate::platform::runtime::{Handle, lock};

impl World {
    /// Lets the runtimes go on until they have nothing to do. First one of them alone, because no timer of
    /// it may depend on the other.
    pub(super) fn settle(&self) {
        // (If a waker has panicked, neither may be later than the watchdog.)
        let both = &self.runtimes[..];
        let one = dice(2) as usize;
        let first = if self.loses { both } else { &both[one..=one] };
        let late = if self.loses { LATE_IF_LOST } else { LATE };
        for runtimes in [first, both, first] {
            self.run_out(runtimes, late, false);
        }
        self.count();
        if !self.has_ended(0) && !self.has_ended(1) {
            let tasks = self.tasks.load(SeqCst);
            expect!(tasks == 0, "{tasks} tasks wait");
        }
        // The first time, the alarm may wait for the driver task. It does not wait again.
        for _ in 0..2 {
            if !self.has_ended(0) && !self.loses {
                self.on_a_worker(&both[0], |me, _| {
                    me.slots.iter().for_each(|slot| *lock(slot) = me.make());
                });
                let driver = registry::find(both[0].id());
                let has_waited = driver.is_some_and(|it| it.alarm.awaited_until() <= fake::clock());
                let late = if has_waited {
                    LATE + 1
                } else {
                    LATE_IF_BLOCKED
                };
                self.run_out(&both[..1], late, true);
            }
        }
    }

    /// Runs `f` on a worker of this runtime, in a thread of its own: no thread is a worker of two.
    fn on_a_worker(&self, runtime: &Handle, f: impl Fn(&World, &Handle) + Send + 'static) {
        let (me, runtime) = (self.me.upgrade().unwrap(), runtime.clone());
        let thread = thread::spawn(move || {
            runtime.work(|| f(&me, &runtime));
        });
        thread.join().unwrap();
    }

    /// Lets these runtimes go on until they have nothing to do, without their tasks if these are blocked.
    fn run_out(&self, runtimes: &[Handle], late: u64, is_blocked: bool) {
        self.late.store(late, SeqCst);
        for (settled, runtime) in self.settled.iter().zip(&self.runtimes) {
            settled.store(runtime.time().now().0, SeqCst);
        }
        // No thread does anything now, so the alarm is early enough for every shard.
        let drivers = self
            .runtimes
            .iter()
            .filter_map(|it| registry::find(it.id()));
        for driver in drivers {
            let is_early = driver.alarm.armed_for() <= alarm::earliest(&driver.homes);
            expect!(is_early, "the alarm is armed too late");
        }
        let runs_out = (0..200).any(|_| !self.go_on(runtimes, is_blocked));
        expect!(runs_out, "the driver spins");
        for slot in &self.slots {
            let slot = lock(slot);
            let Some(case) = &*slot else { continue };
            let owner = &self.runtimes[case.owner];
            if runtimes.iter().any(|it| it.id() == owner.id()) && !self.has_ended(case.owner) {
                expect!(!case.is_lost(), "a timer of runtime {} is lost", case.owner);
            }
        }
    }

    /// Checks what is counted when nothing is left to do.
    fn count(&self) {
        for (_, runtime) in self
            .runtimes
            .iter()
            .enumerate()
            .filter(|it| !self.has_ended(it.0))
        {
            let Some(driver) = registry::find(runtime.id()) else {
                continue;
            };
            let most = 1 + self.tasks.load(SeqCst);
            expect!(runtime.tasks() <= most, "two drivers for one runtime");
            for shard in driver.shards() {
                let counts = shard.snapshot();
                let ended = counts.fired + counts.cancelled;
                let most = runtime.time().now().saturating_since(START);
                expect!(counts.lag.max() <= most, "a lag of {:?}", counts.lag.max());
                expect!(counts.pending == 0, "an entry is left");
                expect!(counts.armed == ended, "counted {counts:?}");
                expect!(shard.late_cancels() == 0, "a late cancel is left");
            }
        }
    }

    /// Runs what these runtimes have to do now, and moves their clocks to what they wait for next. Returns
    /// `false` if they wait for nothing.
    fn go_on(&self, runtimes: &[Handle], is_blocked: bool) -> bool {
        for runtime in runtimes {
            self.on_a_worker(runtime, move |_, runtime| {
                let is_idle = (0..1_000).any(|_| match is_blocked {
                    true => !runtime.poll_drivers(),
                    false => !runtime.turn() && runtime.is_idle(),
                });
                expect!(is_idle, "a task is woken forever");
            });
        }
        let (mut next, mut goes_on) = (None, false);
        for runtime in runtimes.iter().filter(|it| !it.is_closed()) {
            let time = runtime.time();
            let mut at = time.at();
            if let Some(at) = at.take_if(|_| time.is_paused()) {
                time.pause_at(at);
                goes_on = true;
            }
            let at = at.map(|at| Tick(fake::clock().0 + at.0.saturating_sub(time.now().0)));
            let at = at
                .into_iter()
                .chain(runtime.io().and_then(|it| it.at()))
                .min();
            next = at.into_iter().chain(next).min();
        }
        if let Some(next) = next {
            fake::advance_to(next);
        }
        goes_on || next.is_some() || !is_blocked && runtimes.iter().any(|it| !it.is_idle())
    }

    /// Ends the runtimes, which wakes the timers that wait.
    pub(super) fn end(&self) {
        self.on_a_worker(&self.runtimes[0], |me, _| {
            me.slots.iter().for_each(|slot| *lock(slot) = me.make());
        });
        for runtime in &self.runtimes {
            catch(|| runtime.end());
        }
        for case in self.slots.iter().filter_map(|slot| lock(slot).take()) {
            let is_lost = case.is_lost() && !self.hooks && !self.loses;
            expect!(!is_lost, "not woken by the end");
        }
        lock(&self.foreign).clear();
    }
}
