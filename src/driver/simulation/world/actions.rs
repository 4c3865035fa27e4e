//! What the threads of a schedule do: act as workers, pass time, end runtimes, and use timers.

use std::future::poll_fn;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, TryLockError};
use std::task::{Context, Poll, Wake, Waker, ready};

use shuttle::thread;

use super::timer::span;
use super::{Case, SLOTS, World, catch};
use crate::clock::{MILLISECOND, Tick};
use crate::platform::fake::{self, dice};
use crate::platform::runtime::{Handle, RuntimeFlavor, block_in_place, lock};
use crate::sleep::sleep;

/// Number of things that a thread does.
const ROUNDS: u64 = 8;

/// The waker of another library, which panics.
struct Foreign;

impl Wake for Foreign {
    fn wake(self: Arc<Self>) {
        resume_unwind(Box::new("another library's waker"));
    }
}

impl World {
    pub(super) fn run(&self) {
        for _ in 0..ROUNDS {
            let runtime = &self.runtimes[self.which()];
            match dice(5) {
                0 => runtime.enter(|| self.operate()),
                1 => self.operate(),
                _ => {
                    runtime.work(|| self.work(runtime));
                }
            }
        }
    }

    /// Returns a runtime for this thread: no thread of a multi-thread runtime is another's worker.
    fn which(&self) -> usize {
        let is_single = self.runtimes[1].runtime_flavor() == RuntimeFlavor::CurrentThread;
        if is_single {
            dice(2) as usize
        } else {
            fake::thread_number() % 2
        }
    }

    fn work(&self, runtime: &Handle) {
        for _ in 0..dice(10) {
            match dice(10) {
                0 => block_in_place(|| self.block()),
                // Whose this timer is depends on what the thread knows. The next one is the worker's.
                3 => self.runtimes[1].enter(|| drop(catch(|| sleep(span())))),
                1 => self.pass_time(runtime),
                2 if self.loses => self.lose(runtime),
                2 | 4 => {
                    runtime.turn();
                }
                _ => self.operate(),
            }
        }
    }

    fn block(&self) {
        let other = &self.runtimes[1];
        match dice(3) {
            0 => {}
            1 => self.operate(),
            _ if other.runtime_flavor() == RuntimeFlavor::MultiThread => {}
            _ => {
                other.work(|| self.work(other));
            }
        }
    }

    fn pass_time(&self, runtime: &Handle) {
        let passed = [0, 50_000, 500_000, 1_000_000, 3_000_000][dice(5) as usize];
        let time = runtime.time();
        if runtime.runtime_flavor() == RuntimeFlavor::CurrentThread {
            match dice(6) {
                0 => return time.pause_at(time.now()),
                1 => return time.resume(),
                _ if time.is_paused() => return time.pause_at(Tick(time.now().0 + passed)),
                _ => {}
            }
        }
        fake::advance_to(Tick(fake::clock().0 + passed));
    }

    /// Arms a timer of tokio's whose waker panics.
    fn lose(&self, runtime: &Handle) {
        if runtime.runtime_flavor() == RuntimeFlavor::CurrentThread {
            return;
        }
        let at = Tick(runtime.time().now().0 + dice(3 * MILLISECOND));
        let mut foreign = fake::sleep_until(at.to_instant());
        let waker = Waker::from(Arc::new(Foreign));
        let polled = catch(|| Pin::new(&mut foreign).poll(&mut Context::from_waker(&waker)));
        if polled.is_some_and(|it| it.is_pending()) {
            lock(&self.foreign).push(foreign);
        }
    }

    pub(super) fn end_one(&self) {
        for _ in 0..dice(100) {
            thread::yield_now();
        }
        catch(|| self.runtimes[dice(2) as usize].end());
    }

    /// Does something with a timer.
    pub(super) fn operate(&self) {
        let slot = self.slots[dice(SLOTS as u64) as usize].try_lock();
        let mut slot = match slot {
            Ok(slot) => slot,
            Err(TryLockError::Poisoned(slot)) => slot.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let Some(case) = &mut *slot else {
            *slot = self.make();
            return;
        };
        let goes_on = match dice(10) {
            0..4 => case.poll(self),
            4 => {
                case.wakes = self.waker(case.owner, case.deadline);
                case.waits = None;
                case.poll(self)
            }
            5..8 => case.reset(self),
            8 => {
                if let Some(case) = slot.take() {
                    self.spawn(case);
                }
                return;
            }
            _ => false,
        };
        if !goes_on {
            if let Some(case) = slot.take() {
                case.drop(self);
            }
        }
    }

    /// Moves a timer into a task.
    fn spawn(&self, case: Case) {
        let Some(me) = self.me.upgrade() else { return };
        struct Counted(Arc<World>);
        impl Drop for Counted {
            fn drop(&mut self) {
                self.0.tasks.fetch_sub(1, SeqCst);
            }
        }
        me.tasks.fetch_add(1, SeqCst);
        let counted = Counted(me);
        let (mut sleep, owner, deadline) = (case.sleep, case.owner, case.deadline);
        let task = poll_fn(move |cx| {
            ready!(Pin::new(&mut sleep).poll(cx));
            let now = counted.0.now(owner);
            expect!(now >= deadline, "ready early in a task");
            Poll::Ready(())
        });
        let runtime = &self.runtimes[dice(2) as usize];
        catch(|| runtime.spawn(task));
    }
}
