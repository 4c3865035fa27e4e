//! Timers on the shelf: made in one place, awaited in others, and what is done to them between.

use std::future::Future;
use std::task::{Context, Waker};
use std::time::Duration;

use super::program::Now;
use super::task::Place;
use super::world::Shelved;
use crate::time::{Sleep, Time};

impl<T: Time> Place<T> {
    pub(crate) async fn wait(&self, slot: usize) -> String {
        let Some(mut timer) = self.take(slot) else {
            return "nothing there".into();
        };
        timer.sleep.as_mut().await;
        self.put_back(slot, timer);
        "it is done".into()
    }

    fn take(&self, slot: usize) -> Option<Shelved<T>> {
        self.world.shelf.lock().unwrap()[slot].take()
    }

    fn put_back(&self, slot: usize, timer: Shelved<T>) {
        let old = self.world.shelf.lock().unwrap()[slot].replace(timer);
        drop(old);
    }

    /// What does not wait.
    pub(crate) fn apply_now(&self, now: Now) -> String {
        if let Now::Make {
            slot,
            span,
            until,
            within,
        } = now
        {
            let _guard = within.map(|rt| self.world.handles[rt].enter());
            return self.make(slot, span, until);
        }
        let (Now::Poll { slot }
        | Now::Reset { slot, .. }
        | Now::ResetToPast { slot, .. }
        | Now::Look { slot }
        | Now::Drop { slot }
        | Now::Make { slot, .. }) = now;
        let Some(mut timer) = self.take(slot) else {
            return "nothing there".into();
        };
        let Shelved { sleep, owner } = &mut timer;
        let what = match now {
            Now::Drop { .. } => return String::new(),
            Now::Poll { .. } => {
                let polled = sleep.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                format!("{polled:?}")
            }
            Now::Look { .. } => {
                let deadline = self.world.since_start(*owner, sleep.deadline());
                format!("due at {deadline}, elapsed: {}", sleep.is_elapsed())
            }
            Now::Reset { span, .. } => {
                let deadline = self.world.now(*owner) + span;
                let deadline = self.world.in_lane(self.task, *owner, deadline);
                sleep.as_mut().reset(deadline);
                String::new()
            }
            Now::ResetToPast { span, .. } => {
                sleep.as_mut().reset(self.world.now(*owner) - span);
                String::new()
            }
            Now::Make { .. } => unreachable!(),
        };
        self.put_back(slot, timer);
        what
    }

    fn make(&self, slot: usize, span: Duration, until: bool) -> String {
        let sleep = match until {
            true => T::sleep_until(self.deadline(span, false)),
            false => T::sleep(self.span(span)),
        };
        let owner = self.world.here().expect("made in a runtime");
        let sleep = Box::pin(sleep);
        self.put_back(slot, Shelved { sleep, owner });
        String::new()
    }
}
