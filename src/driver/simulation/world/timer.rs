//! A timer of a schedule: how it is made, polled, reset and dropped, and what its waker checks.

use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use super::{Case, WAKERS, Wakes, World, catch};
use crate::clock::Tick;
use crate::platform::fake::dice;
use crate::platform::runtime::owner;
use crate::sleep::{sleep, sleep_until};

pub(super) fn span() -> Duration {
    const SPANS: [u64; 6] = [0, 300_000, 2_000_000, 5_000_000, 20_000_000, 50_000_000];
    Duration::from_nanos(SPANS[dice(6) as usize] + dice(1_000))
}

impl World {
    pub(super) fn make(&self) -> Option<Case> {
        let owner = owner()?;
        let owner = self.runtimes.iter().position(|it| it.id() == owner.id())?;
        let sleep = catch(|| match dice(4) {
            0 => crate::Handle::current().sleep(span()),
            1 => sleep(span()),
            _ => sleep_until((Tick::now().saturating_add(span())).to_instant()),
        })?;
        let deadline = Tick::of(sleep.deadline());
        let wakes = self.waker(owner, deadline);
        let mut case = Case {
            sleep,
            owner,
            deadline,
            wakes,
            waits: None,
            was_ready: false,
        };
        (dice(4) == 0 || case.poll(self)).then_some(case)
    }

    pub(super) fn waker(&self, owner: usize, deadline: Tick) -> Arc<Wakes> {
        WAKERS.set(WAKERS.get() + 1);
        Arc::new(Wakes {
            world: self.me.clone(),
            owner,
            count: AtomicUsize::new(0),
            most: AtomicUsize::new(1),
            earliest: AtomicU64::new(deadline.0),
            deadline: AtomicU64::new(deadline.0),
            is_cancelled: AtomicBool::new(false),
            mood: dice(5),
        })
    }
}

impl Case {
    /// Returns `false` if the timer cannot be polled any more.
    pub(super) fn poll(&mut self, world: &World) -> bool {
        let waker = Waker::from(self.wakes.clone());
        let before = self.wakes.count.load(SeqCst);
        let now = world.now(self.owner);
        self.wakes.deadline.fetch_max(now.0, SeqCst);
        let polled = catch(|| Pin::new(&mut self.sleep).poll(&mut Context::from_waker(&waker)));
        match polled {
            Some(Poll::Pending) => self.waits = Some(before),
            Some(Poll::Ready(())) => {
                let now = world.now(self.owner);
                expect!(now >= self.deadline, "ready early");
                self.waits = None;
                self.was_ready = true;
            }
            None => expect!(world.has_ended(0) || world.has_ended(1), "a poll panics"),
        }
        polled.is_some()
    }

    pub(super) fn reset(&mut self, world: &World) -> bool {
        self.deadline = world.now(self.owner).saturating_add(span());
        self.wakes.earliest.fetch_min(self.deadline.0, SeqCst);
        self.wakes.deadline.store(self.deadline.0, SeqCst);
        self.wakes.most.fetch_add(1, SeqCst);
        if self.was_ready && self.waits.is_none() && !world.has_ended(self.owner) {
            self.waits = Some(self.wakes.count.load(SeqCst));
        }
        catch(|| self.sleep.reset_unpin(self.deadline.to_instant())).is_some()
    }

    pub(super) fn drop(self, world: &World) {
        let Case {
            sleep,
            owner,
            wakes,
            ..
        } = self;
        catch(|| drop(sleep));
        if world.now(owner).0 < wakes.earliest.load(SeqCst) {
            wakes.is_cancelled.store(true, SeqCst);
        }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.waits == Some(self.wakes.count.load(SeqCst))
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        let Some(world) = self.world.upgrade() else {
            return;
        };
        let count = self.count.fetch_add(1, SeqCst) + 1;
        if !world.has_ended(self.owner) {
            let load = |value: &AtomicU64| Tick(value.load(SeqCst));
            let is_cancelled = self.is_cancelled.load(SeqCst);
            let latest = load(&self.deadline).max(load(&world.settled[self.owner]));
            let late = Duration::from_millis(world.late.load(SeqCst));
            let now = world.now(self.owner);
            expect!(count <= self.most.load(SeqCst), "woken twice");
            expect!(!is_cancelled, "woken after the cancel");
            expect!(now <= latest.saturating_add(late), "woken late");
            expect!(now >= load(&self.earliest), "woken early");
        }
        match self.mood {
            0 => world.operate(),
            // A timer that was handed over to tokio takes others along.
            1 if world.loses || !(world.has_ended(0) || world.has_ended(1)) => {
                resume_unwind(Box::new("a waker"));
            }
            _ => {}
        }
    }
}

impl Drop for Wakes {
    fn drop(&mut self) {
        WAKERS.set(WAKERS.get() - 1);
    }
}
