//! One timer, and what its documentation promises.
//!
//! | state | whose waker is woken at the deadline |
//! | --- | --- |
//! | made | nobody's |
//! | polled and pending | the last poll's |
//! | the same, reset | still the last poll's, at the new deadline |
//! | woken, and reset before it is polled | nobody's: the task knows |
//! | ready, and reset | the last poll's; of an interval nobody's |
//!
//! tokio counts whole milliseconds since the runtime began. Within the one in which a deadline
//! lies a timer may have fired or not; before that it has not, and after that it has.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use wheel::{Instant, Interval, MissedTickBehavior, Sleep, Timeout};

use super::witness::{Retired, Witness};
use super::world::Clock;
use support::{ms, poll};

pub(super) enum Inner {
    Sleep(Sleep),
    Interval(Interval),
    Timeout(Timeout<Switch>, Switch),
}

/// A future that is ready when somebody says so.
#[derive(Clone, Default)]
pub(super) struct Switch(Arc<AtomicBool>);

impl Future for Switch {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        match self.0.load(Ordering::SeqCst) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

/// What a poll has come to, of whatever kind the timer is.
enum Polled {
    Pending,
    Elapsed,
    /// The future inside a timeout was quicker.
    Completed,
}

/// The waker that the timer is thought to have.
enum Waiting {
    Nobody,
    /// To be woken at the deadline.
    For(Arc<Witness>),
    /// Of a sleep that is done: to be woken after a reset.
    Kept(Arc<Witness>),
}

pub(super) struct Timer {
    inner: Inner,
    pub(super) coarse: bool,
    pub(super) deadline: Instant,
    /// When it was polled or reset last.
    armed_at: Instant,
    registered: bool,
    /// It has woken its waker, or was seen ready, and has not been reset since.
    over: bool,
    waiting: Waiting,
}

impl Timer {
    pub(super) fn new(inner: Inner, coarse: bool, deadline: Instant, now: Instant) -> Self {
        Timer {
            inner,
            coarse,
            deadline,
            armed_at: now,
            registered: false,
            over: false,
            waiting: Waiting::Nobody,
        }
    }

    /// Polls it with the waker of the last poll or another one. `false` when it is used up.
    pub(super) fn poll(&mut self, same: bool, clock: &Clock, retired: &mut Retired) -> bool {
        let now = Instant::now();
        let witness = match &self.waiting {
            Waiting::For(witness) | Waiting::Kept(witness) if same => witness.clone(),
            _ => Arc::default(),
        };
        let polled = self.poll_inner(&Waker::from(witness.clone()));
        match polled {
            Polled::Pending => {
                assert!(!self.over, "pending after it was over");
                assert!(!clock.has_passed(self.due(clock), now), "pending too long");
                self.registered = true;
                self.armed_at = now;
                self.wait(Waiting::For(witness), retired);
                return true;
            }
            Polled::Completed => {}
            Polled::Elapsed => assert!(self.due(clock) <= now, "ready too early"),
        }
        self.registered = false;
        self.over = true;
        match &mut self.inner {
            Inner::Sleep(_) => self.wait(Waiting::Kept(witness), retired),
            Inner::Timeout(..) => self.wait(Waiting::Nobody, retired),
            Inner::Interval(interval) => {
                self.deadline = next_tick(interval, self.deadline, now);
                self.over = false;
                self.wait(Waiting::Nobody, retired);
            }
        }
        !matches!(self.inner, Inner::Timeout(..))
    }

    fn poll_inner(&mut self, waker: &Waker) -> Polled {
        match &mut self.inner {
            Inner::Sleep(sleep) => match poll(sleep, waker) {
                Poll::Ready(()) => Polled::Elapsed,
                Poll::Pending => Polled::Pending,
            },
            Inner::Interval(interval) => {
                match poll(&mut poll_fn(|cx| interval.poll_tick(cx)), waker) {
                    Poll::Ready(tick) => {
                        assert_eq!(tick, self.deadline, "another tick");
                        Polled::Elapsed
                    }
                    Poll::Pending => Polled::Pending,
                }
            }
            Inner::Timeout(timeout, switch) => match poll(timeout, waker) {
                Poll::Ready(Ok(())) => Polled::Completed,
                polled => {
                    assert!(!switch.0.load(Ordering::SeqCst), "the output always wins");
                    match polled {
                        Poll::Pending => Polled::Pending,
                        _ => Polled::Elapsed,
                    }
                }
            },
        }
    }

    /// Makes the future inside a timeout ready, which nobody is told.
    pub(super) fn complete(&self) {
        if let Inner::Timeout(_, switch) = &self.inner {
            switch.0.store(true, Ordering::SeqCst);
        }
    }

    pub(super) fn reset(&mut self, deadline: Instant) {
        match &mut self.inner {
            Inner::Sleep(sleep) => sleep.reset_unpin(deadline),
            Inner::Interval(interval) => interval.reset_at(deadline),
            Inner::Timeout(..) => return,
        }
        self.deadline = deadline;
        self.armed_at = Instant::now();
        self.registered = true;
        self.over = false;
        self.waiting = match std::mem::replace(&mut self.waiting, Waiting::Nobody) {
            Waiting::Kept(witness) => Waiting::For(witness),
            other => other,
        };
    }

    pub(super) fn drop(mut self, retired: &mut Retired) {
        self.wait(Waiting::Nobody, retired);
    }

    /// Whoever waits for it now; the one who did before is not to be woken any more.
    fn wait(&mut self, waiting: Waiting, retired: &mut Retired) {
        let old = std::mem::replace(&mut self.waiting, waiting);
        let (Waiting::For(old) | Waiting::Kept(old)) = old else {
            return;
        };
        let still = match &self.waiting {
            Waiting::For(now) | Waiting::Kept(now) => Arc::ptr_eq(&old, now),
            Waiting::Nobody => false,
        };
        if !still {
            retired.push(old);
        }
    }

    /// Who is to be woken.
    pub(super) fn awaited_by(&self) -> Option<&Arc<Witness>> {
        match &self.waiting {
            Waiting::For(witness) => Some(witness),
            _ => None,
        }
    }

    /// The deadline as the driver rounds it.
    pub(super) fn due(&self, clock: &Clock) -> Instant {
        if self.coarse {
            clock.rounded_up(self.deadline)
        } else {
            self.deadline
        }
    }

    /// Whether it counts as pending: certainly not, certainly, or (`None`) it is hard to say.
    pub(super) fn is_pending(&self, clock: &Clock, now: Instant) -> Option<bool> {
        let due = self.due(clock);
        if !self.registered || clock.has_passed(due, now) {
            Some(false)
        } else {
            (due > now).then_some(true)
        }
    }

    pub(super) fn check(&mut self, clock: &Clock, retired: &mut Retired) {
        self.check_wakes(clock, retired);
        let (now, due) = (Instant::now(), self.due(clock));
        if let Inner::Sleep(sleep) = &self.inner {
            assert_eq!(sleep.deadline(), self.deadline);
            if self.over || (self.registered && clock.has_passed(due, now)) {
                assert!(sleep.is_elapsed(), "it has elapsed");
            } else if !self.registered || now < due {
                assert!(!sleep.is_elapsed(), "it has not elapsed");
            }
        }
    }

    fn check_wakes(&mut self, clock: &Clock, retired: &mut Retired) {
        let (witness, waits) = match &self.waiting {
            Waiting::Nobody => return,
            Waiting::For(witness) => (witness, true),
            Waiting::Kept(witness) => (witness, false),
        };
        let due = self.due(clock);
        match witness.wakes()[..] {
            [] if waits => assert!(!clock.has_passed(due, Instant::now()), "lost"),
            [] => {}
            [at] => {
                assert!(waits, "woken though it was ready");
                assert!(at >= due, "woken early, by {:?}", due - at);
                // In the first of tokio's milliseconds at or after the deadline, and as far into
                // it as the clock stands. Set, or come to, within its millisecond, it may have to
                // wait for the next.
                let set = self.armed_at.max(clock.jumped_to);
                let in_time = at < due + ms(2) || at <= set + ms(1);
                assert!(in_time, "woken late, by {:?}", at - due.max(set));
                self.over = true;
                self.wait(Waiting::Nobody, retired);
            }
            ref wakes => panic!("woken {} times", wakes.len()),
        }
    }
}

/// The tick after one that was due at `due` and is seen `now`, as tokio documents it.
fn next_tick(interval: &Interval, due: Instant, now: Instant) -> Instant {
    let (late, period) = (now - due, interval.period());
    if late <= ms(5) {
        return due + period;
    }
    match interval.missed_tick_behavior() {
        MissedTickBehavior::Burst => due + period,
        MissedTickBehavior::Delay => now + period,
        MissedTickBehavior::Skip => {
            let over = late.as_nanos() % period.as_nanos();
            now + period - Duration::from_nanos(u64::try_from(over).unwrap())
        }
    }
}
