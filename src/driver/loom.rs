//! The races of a driver, in every order that they can happen in.
//!
//! Shards and the plan are the real ones; tokio's interval is a number behind a
//! lock. Run with `RUSTFLAGS="--cfg loom" cargo test --release --lib loom`.

use std::task::Waker;

use futures::task::{ArcWake, waker};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::clock::Tick;
use super::mail::Letter;
use super::plan::Plan;
use super::shard::{Changed, Refused, Shard};
use super::sync::{Mutex, lock};
use crate::wheel::core::Progress;

/// A driver whose alarm is a number.
struct Model {
    shards: [Shard; 2],
    plan: Plan,
    armed: Mutex<Tick>,
}

impl Model {
    fn new() -> Arc<Self> {
        let shards = [Shard::new(), Shard::new()];
        for shard in &shards {
            shard.open(Tick(1), 0);
        }
        Arc::new(Model {
            shards,
            plan: Plan::new(),
            armed: Mutex::new(Tick::NEVER),
        })
    }

    fn earliest(&self) -> Tick {
        self.shards.iter().map(Shard::next).min().unwrap()
    }

    /// As `Driver::arm_once`.
    fn rearm(&self) {
        self.plan.rearm(|| {
            let mut armed = lock(&self.armed);
            if self.plan.take_ring() {
                *armed = Tick::NEVER;
            }
            *armed = self.plan.settle(Some(*armed), || self.earliest());
        });
    }

    /// As `Timer::register`, on any shard that is free.
    fn register(&self, first: usize, when: Tick, mut waker: Waker) -> Option<(usize, u32)> {
        for index in (first..).map(|index| index % 2) {
            match self.shards[index].register(0, when, waker, None) {
                Ok(key) => {
                    if when < self.plan.planned() {
                        self.rearm();
                    }
                    return Some((index, key));
                }
                Err(Refused::Busy(back)) => waker = back,
                Err(_) => return None,
            }
            thread::yield_now();
        }
        None
    }

    fn turn(&self, now: Tick) {
        let mut batch = Vec::new();
        for shard in &self.shards {
            while let Some(Progress::Unfinished) = shard.expire(0, now, now, 1, &mut batch) {}
        }
        batch.into_iter().for_each(Waker::wake);
    }

    /// As `Driver::rung`, in tokio's turn.
    fn ring(&self, now: Tick) {
        self.plan.ring();
        self.turn(now);
        self.rearm();
    }

    fn pending(&self) -> usize {
        self.shards.iter().map(|shard| shard.pending(0)).sum()
    }
}

/// Counts how often it was woken.
#[derive(Default)]
struct Count(std::sync::atomic::AtomicUsize);

impl Count {
    fn new() -> (std::sync::Arc<Self>, Waker) {
        let count = std::sync::Arc::new(Count::default());
        (count.clone(), waker(count))
    }

    fn get(&self) -> usize {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

impl ArcWake for Count {
    fn wake_by_ref(this: &std::sync::Arc<Self>) {
        this.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

fn model(test: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(3);
    builder.check(test);
}

#[test]
fn loom_of_two_deadlines_the_earlier_is_armed() {
    model(|| {
        let driver = Model::new();
        let other = driver.clone();
        let thread = thread::spawn(move || other.register(0, Tick(20), Waker::noop().clone()));
        driver.register(1, Tick(10), Waker::noop().clone());
        thread.join().unwrap();
        assert_eq!(*lock(&driver.armed), Tick(10));
        assert!(driver.plan.planned() <= Tick(10));
    });
}

#[test]
fn loom_a_deadline_registered_while_the_alarm_rings_is_not_lost() {
    model(|| {
        let driver = Model::new();
        driver.register(0, Tick(10), Waker::noop().clone());
        let other = driver.clone();
        let thread = thread::spawn(move || other.ring(Tick(10)));
        driver.register(0, Tick(15), Waker::noop().clone());
        thread.join().unwrap();
        assert_eq!(driver.pending(), 1);
        assert_eq!(*lock(&driver.armed), Tick(15));
    });
}

#[test]
fn loom_a_ring_while_somebody_else_arms_is_not_lost() {
    model(|| {
        let driver = Model::new();
        driver.register(0, Tick(10), Waker::noop().clone());
        driver.register(1, Tick(30), Waker::noop().clone());
        let other = driver.clone();
        let thread = thread::spawn(move || other.ring(Tick(10)));
        // Earlier than planned, so this thread arms; due by the time it rings.
        driver.register(1, Tick(5), Waker::noop().clone());
        thread.join().unwrap();
        let armed = *lock(&driver.armed);
        assert!(armed <= driver.earliest(), "armed {armed:?}");
        assert_ne!(armed, Tick::NEVER);
    });
}

#[test]
fn loom_a_timer_is_cancelled_or_fired_and_its_entry_gone() {
    model(|| {
        let driver = Model::new();
        let (woken, waker) = Count::new();
        let (shard, key) = driver.register(0, Tick(10), waker).unwrap();
        let other = driver.clone();
        let thread = thread::spawn(move || other.turn(Tick(10)));
        let seen = driver.shards[shard].cancel(0, key, Tick(10));
        thread.join().unwrap();
        if !seen {
            driver.turn(Tick(10));
        }
        assert_eq!(driver.pending(), 0);
        assert!(woken.get() <= 1);
        assert_eq!(
            std::sync::Arc::strong_count(&woken),
            1,
            "the waker is freed"
        );
    });
}

#[test]
fn loom_a_cancel_on_a_busy_shard_is_seen_to() {
    model(|| {
        let driver = Model::new();
        let (woken, waker) = Count::new();
        let (shard, key) = driver.register(0, Tick(100), waker).unwrap();
        let other = driver.clone();
        let thread = thread::spawn(move || other.turn(Tick(10)));
        let seen = driver.shards[shard].cancel(0, key, Tick(100));
        thread.join().unwrap();
        if !seen {
            // The turn that was asked for.
            driver.turn(Tick(11));
        }
        assert_eq!((driver.pending(), woken.get()), (0, 0));
        assert!(!driver.shards[shard].has_mail());
        assert_eq!(std::sync::Arc::strong_count(&woken), 1);
    });
}

#[test]
fn loom_a_cancel_does_not_hit_the_next_tenant_of_its_place() {
    model(|| {
        let driver = Model::new();
        let (_, key) = driver.register(0, Tick(10), Waker::noop().clone()).unwrap();
        let other = driver.clone();
        let (woken, waker) = Count::new();
        let thread = thread::spawn(move || {
            other.turn(Tick(10));
            other.register(0, Tick(50), waker)
        });
        let _ = driver.shards[0].cancel(0, key, Tick(10));
        thread.join().unwrap();
        driver.turn(Tick(50));
        assert_eq!(woken.get(), 1);
    });
}

#[test]
fn loom_a_timer_is_put_off_or_fired() {
    model(|| {
        let driver = Model::new();
        let (woken, waker) = Count::new();
        let (shard, key) = driver.register(0, Tick(10), waker).unwrap();
        let other = driver.clone();
        let thread = thread::spawn(move || other.turn(Tick(10)));
        let changed = driver.shards[shard].reschedule(0, key, Tick(10), Tick(90));
        thread.join().unwrap();
        match changed {
            Changed::Made(None) => assert_eq!((driver.pending(), woken.get()), (1, 0)),
            Changed::Fired => assert_eq!((driver.pending(), woken.get()), (0, 1)),
            _ => unreachable!(),
        }
    });
}

#[test]
fn loom_a_timer_registered_while_its_driver_ends_is_woken_or_refused() {
    model(|| {
        let driver = Model::new();
        let (woken, waker) = Count::new();
        let other = driver.clone();
        let thread = thread::spawn(move || {
            other.shards[0].close(|_| ()).for_each(Waker::wake);
        });
        let registered = loop {
            match driver.shards[0].register(0, Tick(10), waker.clone(), None) {
                Err(Refused::Busy(_)) => thread::yield_now(),
                done => break done.is_ok(),
            }
        };
        thread.join().unwrap();
        assert_eq!(woken.get(), usize::from(registered));
    });
}

#[test]
fn loom_the_clock_of_a_later_generation_is_not_taken_for_ones_own() {
    model(|| {
        let driver = Model::new();
        let mistaken = Arc::new(AtomicUsize::new(0));
        let (other, seen) = (driver.clone(), mistaken.clone());
        let thread = thread::spawn(move || {
            let elapsed = other.shards[0].clock() >= Tick(10);
            if elapsed && other.shards[0].serves(0) {
                seen.fetch_add(1, Ordering::SeqCst);
            }
        });
        driver.shards[0].close(|_| ()).for_each(Waker::wake);
        driver.shards[0].open(Tick(1_000), 0);
        thread.join().unwrap();
        assert_eq!(mistaken.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn loom_a_timer_left_in_a_spare_is_used_again_or_gone() {
    model(|| {
        let driver = Model::new();
        let (woken, waker) = Count::new();
        let (_, key) = driver.register(0, Tick(10), waker).unwrap();
        let other = driver.clone();
        let thread = thread::spawn(move || other.turn(Tick(10)));
        let shard = &driver.shards[0];
        let spare = &shard.spares()[0];
        assert!(spare.leave(letter(key, Tick(10)), 0));
        let reused = shard.reuse(0, Tick(50), spare);
        thread.join().unwrap();
        assert_eq!(driver.pending(), usize::from(reused.is_some()));
        driver.turn(Tick(50));
        // Woken at most for what it waited for, or in vain while it was let go.
        assert!(woken.get() <= 1);
        assert!(reused.is_none() || woken.get() == 1);
        assert_eq!(driver.pending(), 0);
        assert_eq!(std::sync::Arc::strong_count(&woken), 1);
    });
}

#[test]
fn loom_what_is_left_while_a_turn_looks_is_found_by_the_next() {
    model(|| {
        let driver = Model::new();
        let (woken, waker) = Count::new();
        let (_, key) = driver.register(0, Tick(100), waker).unwrap();
        let other = driver.clone();
        let thread = thread::spawn(move || other.turn(Tick(10)));
        let spare = &driver.shards[0].spares()[0];
        assert!(spare.leave(letter(key, Tick(100)), 0));
        assert_eq!(driver.pending(), 0, "what was left counts as gone");
        thread.join().unwrap();
        driver.turn(Tick(11));
        assert_eq!((driver.pending(), woken.get()), (0, 0));
        assert_eq!(std::sync::Arc::strong_count(&woken), 1);
    });
}

#[test]
fn loom_what_was_left_to_a_driver_that_ended_does_not_hit_the_next_tenant() {
    model(|| {
        let driver = Model::new();
        let (_, key) = driver
            .register(0, Tick(100), Waker::noop().clone())
            .unwrap();
        let other = driver.clone();
        let (woken, waker) = Count::new();
        let thread = thread::spawn(move || {
            let shard = &other.shards[0];
            shard.close().for_each(drop);
            shard.open(Tick(1), 0);
            shard.register(1, Tick(100), waker, None).is_ok()
        });
        let spare = &driver.shards[0].spares()[0];
        assert!(spare.leave(letter(key, Tick(100)), 0));
        assert!(thread.join().unwrap());
        let shard = &driver.shards[0];
        assert_eq!(shard.pending(1), 1);
        let mut batch = Vec::new();
        assert!(shard.expire(1, Tick(100), 1, &mut batch).is_some());
        batch.into_iter().for_each(Waker::wake);
        assert_eq!(woken.get(), 1);
    });
}

fn letter(key: u32, when: Tick) -> Letter {
    Letter {
        key,
        when,
        generation: 0,
    }
}
