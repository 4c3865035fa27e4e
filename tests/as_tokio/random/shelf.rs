//! The shelf holds timers that tasks and threads share: one makes a timer, and others await, poll, reset or drop it.

use support::prelude::*;

use super::program::{Now, Rt, Slot, Style};
use super::task::{Place, on_time};
use super::world::Shelved;
use support::time::{Sleep, Time};

impl<T: Time> Place<T> {
    pub(crate) async fn wait(&self, slot: Slot) -> String {
        let Some(mut timer) = self.take(slot) else {
            return "nothing there".into();
        };
        timer.sleep.as_mut().await;
        let done = on_time(timer.sleep.deadline(), "it is done");
        self.put_back(slot, timer);
        self.record(done);
        // The timer fired in a millisecond of the task that made it. Go on in a millisecond of this task, because
        // no order is promised within one.
        if self.world.style == Style::Lanes {
            T::sleep(self.span(ms(1))).await;
        }
        String::new()
    }

    fn take(&self, slot: Slot) -> Option<Shelved<T>> {
        self.world.shelf.lock().unwrap().remove(&slot)
    }

    fn put_back(&self, slot: Slot, timer: Shelved<T>) {
        let old = self.world.shelf.lock().unwrap().insert(slot, timer);
        drop(old);
    }

    /// Applies an operation that does not wait.
    pub(crate) fn apply_now(&self, slot: Slot, now: Now) -> String {
        match now {
            Now::Make(within, span) => {
                self.make(slot, within, || T::sleep(self.span(span)));
                return String::new();
            }
            Now::MakeUntil(within, span) => {
                self.make(slot, within, || T::sleep_until(self.deadline(span)));
                return String::new();
            }
            _ => {}
        }
        let Some(mut timer) = self.take(slot) else {
            return "nothing there".into();
        };
        if now == Now::Drop {
            return String::new();
        }
        let what = self.done_to(&mut timer, now);
        self.put_back(slot, timer);
        what
    }

    fn make(&self, slot: Slot, within: Option<Rt>, make: impl FnOnce() -> T::Sleep) {
        let _guard = within.map(|rt| self.world.handles[rt].enter());
        let sleep = Box::pin(make());
        // A runtime that is not one of the program's has the real clock, as all do in a program for workers.
        let owner = self.world.here().unwrap_or(0);
        self.put_back(slot, Shelved { sleep, owner });
    }

    fn done_to(&self, timer: &mut Shelved<T>, now: Now) -> String {
        let Shelved { sleep, owner } = timer;
        let owners_now = self.world.now(*owner);
        match now {
            Now::Poll => {
                let polled = sleep.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                // On workers, no clock that is compared tells whether the timer is due already.
                if self.world.style != Style::Workers {
                    return format!("{polled:?}");
                }
            }
            Now::Look => {
                let deadline = self.world.since_start(*owner, sleep.deadline());
                return format!("due at {deadline}, elapsed: {}", sleep.is_elapsed());
            }
            Now::Reset(span) => {
                let deadline = self.world.in_lane(self.task, *owner, owners_now + span);
                sleep.as_mut().reset(deadline);
            }
            Now::ResetToPast(span) => sleep.as_mut().reset(owners_now - span),
            _ => unreachable!("needs no timer that is there"),
        }
        String::new()
    }
}
