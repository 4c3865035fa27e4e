//! The interpreter of programs that poll timers by hand, with wakers that it watches.
//!
//! It records the result of each poll, when each waker is woken, the deadlines, and whether they have elapsed. For this
//! crate's timers it also checks that a waker is freed as soon as nothing can wake it any more, and that `pending` counts
//! the timers that are armed and not due yet.

use support::prelude::*;

use tokio::sync::Notify;
use tokio::time::advance;

use super::coarse::Coarse;
use super::hand::{Act, Hand, Kind};
use super::rules::{is_due, next_tick};
use crate::random::task::Place;
use support::time::{InTime, Interval, Sleep, Time};

const YEAR: Duration = Duration::from_secs(365 * 86_400);
/// The longest time that a program lets the clock advance by itself.
const PATIENCE: Duration = Duration::from_secs(30 * 86_400);

pub(crate) async fn run<T: Time>(place: &Place<T>, all: &[Hand]) {
    let mut hands = Hands::<T> {
        coarse: Coarse::new::<T>(),
        timers: Vec::new(),
        made: 0,
        gone: Vec::new(),
    };
    for (index, &hand) in all.iter().enumerate() {
        hands.apply(&place.at(index), hand).await;
        hands.check(&place.at(index)).await;
    }
    hands.finish(&place.at(all.len())).await;
}

/// A waker that notes the runtime's time at each wake-up.
#[derive(Default)]
struct Witness {
    wakes: Mutex<Vec<Instant>>,
    /// Notified at each wake-up. `wait_for` waits for the first.
    woken: Notify,
}

impl Wake for Witness {
    fn wake(self: Arc<Self>) {
        self.wakes.lock().unwrap().push(Instant::now());
        self.woken.notify_one();
    }
}

enum Inner<T: Time> {
    Sleep(Pin<Box<T::Sleep>>),
    Interval(T::Interval, Duration, MissedTickBehavior),
    /// A timeout, and the switch that makes its future ready.
    Timeout(
        Pin<Box<dyn Future<Output = InTime<()>> + Send>>,
        Arc<AtomicBool>,
    ),
}

fn from_now(span: Duration) -> Instant {
    Instant::now() + span.min(40 * YEAR)
}

/// Makes a timer of one of `T`'s types with the functions of `By`.
fn make<T, By>(kind: Kind, span: Duration) -> Inner<T>
where
    T: Time,
    By: Time<Sleep = T::Sleep, Interval = T::Interval>,
{
    match kind {
        Kind::Sleep => Inner::Sleep(By::boxed(span)),
        Kind::Interval(period, behavior) => {
            let mut interval = By::interval_at(from_now(span), period);
            interval.set_missed_tick_behavior(behavior);
            Inner::Interval(interval, period, behavior)
        }
        Kind::Timeout => {
            let switch = Arc::new(AtomicBool::new(false));
            let on = switch.clone();
            let future = poll_fn(move |_| match on.load(Ordering::SeqCst) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            });
            let timeout = By::timeout(span.min(40 * YEAR), future);
            Inner::Timeout(Box::pin(timeout), switch)
        }
    }
}

struct Timer<T: Time> {
    name: usize,
    inner: Inner<T>,
    coarse: bool,
    deadline: Instant,
    /// The witness of the last poll, until it is woken or nothing can wake it any more.
    witness: Option<Arc<Witness>>,
    /// Whether the witness is still to be woken.
    waits: bool,
    registered: bool,
    /// What was recorded last.
    shown: String,
}

struct Hands<T: Time> {
    coarse: Coarse,
    timers: Vec<Timer<T>>,
    made: usize,
    /// Wakers that must not be woken or kept any more, and how often each was woken before.
    gone: Vec<(Arc<Witness>, usize)>,
}

impl<T: Time> Hands<T> {
    async fn apply(&mut self, place: &Place<T>, hand: Hand) {
        match hand {
            Hand::Make(kind, span) => self.keep(make::<T, T>(kind, span), span, false),
            Hand::MakeCoarse(kind, span) => {
                let inner = self.coarse.make(|| make::<T, T::ByHandle>(kind, span));
                self.keep(inner, span, true);
            }
            Hand::Advance(by) => advance(by).await,
            Hand::Pass(by) => tokio::time::sleep(by.min(PATIENCE)).await,
            Hand::To(pick, act) => {
                if let Some(at) = pick.checked_rem(self.timers.len()) {
                    self.act(place, at, act).await;
                }
            }
        }
    }

    async fn act(&mut self, place: &Place<T>, at: usize, act: Act) {
        let now = Instant::now();
        let deadline = self.timers[at].deadline;
        match (act, &mut self.timers[at].inner) {
            (Act::Poll { same }, _) => self.poll(place, at, same),
            (Act::Reset(span), _) => self.reset(at, now.checked_add(span)),
            (Act::ResetToPast(span), _) => self.reset(at, now.checked_sub(span)),
            (Act::MoveEarlier(by), _) => self.reset(at, deadline.checked_sub(by)),
            (Act::Extend(by), _) => self.reset(at, deadline.checked_add(by)),
            (Act::Behave(behavior), Inner::Interval(interval, _, behaves)) => {
                interval.set_missed_tick_behavior(behavior);
                *behaves = behavior;
            }
            (Act::Complete, Inner::Timeout(_, switch)) => switch.store(true, Ordering::SeqCst),
            (Act::Behave(_) | Act::Complete, _) => {}
            (Act::Drop, _) => self.drop(at),
            (Act::Await, _) => self.wait_for(place, at).await,
        }
    }

    fn keep(&mut self, inner: Inner<T>, span: Duration, coarse: bool) {
        self.made += 1;
        self.timers.push(Timer {
            name: self.made,
            deadline: match &inner {
                Inner::Sleep(sleep) => sleep.deadline(),
                _ => from_now(span),
            },
            inner,
            coarse,
            witness: None,
            waits: false,
            registered: false,
            shown: String::new(),
        });
    }

    fn poll(&mut self, place: &Place<T>, at: usize, same: bool) {
        let timer = &mut self.timers[at];
        let before = timer.witness.take();
        let witness = before.clone().filter(|_| same).unwrap_or_default();
        let (what, ready) = timer.poll(place, &Waker::from(witness.clone()));
        place.record(format!("timer {}: {what}", timer.name));
        timer.registered = !ready;
        timer.waits = !ready;
        // A sleep that is ready wakes the same waker after a reset.
        if !ready || matches!(timer.inner, Inner::Sleep(_)) {
            timer.witness = Some(witness.clone());
        }
        let over = ready && matches!(timer.inner, Inner::Timeout(..));
        let is_kept = timer.witness.is_some();
        if let Some(before) = before.filter(|before| !Arc::ptr_eq(before, &witness)) {
            self.retire(before);
        }
        if !is_kept {
            self.retire(witness);
        }
        if over {
            self.drop(at);
        }
    }

    fn retire(&mut self, witness: Arc<Witness>) {
        let wakes = witness.wakes.lock().unwrap().len();
        self.gone.push((witness, wakes));
    }

    /// Resets a timer. A deadline that is too far away is replaced by one in 40 years.
    fn reset(&mut self, at: usize, deadline: Option<Instant>) {
        let timer = &mut self.timers[at];
        let end = Instant::now() + 40 * YEAR;
        let deadline = deadline.unwrap_or(end).min(end);
        match &mut timer.inner {
            Inner::Sleep(sleep) => sleep.as_mut().reset(deadline),
            Inner::Interval(interval, ..) => interval.reset_at(deadline),
            Inner::Timeout(..) => return,
        }
        timer.deadline = deadline;
        timer.registered = true;
        timer.waits = timer.witness.is_some();
    }

    fn drop(&mut self, at: usize) {
        let timer = self.timers.swap_remove(at);
        timer.witness.into_iter().for_each(|old| self.retire(old));
    }

    /// Waits for a timer. Only the timers themselves advance the clock.
    async fn wait_for(&mut self, place: &Place<T>, at: usize) {
        let name = self.timers[at].name;
        self.poll(place, at, false);
        // The poll may have ended the timer.
        let Some(timer) = self.timers.get(at).filter(|timer| timer.name == name) else {
            return;
        };
        let due = timer.due(&self.coarse);
        let waits = timer.waits && due <= Instant::now() + PATIENCE;
        let Some(witness) = timer.witness.clone().filter(|_| waits) else {
            return;
        };
        // With the limit, a lost timer shows as a difference instead of a program that does not end.
        drop(tokio::time::timeout_at(due + DAY, witness.woken.notified()).await);
    }

    async fn check(&mut self, place: &Place<T>) {
        // After a wake-up that comes too early, the driver task re-arms the alarm.
        for _ in 0..3 {
            yield_now().await;
        }
        for at in 0..self.timers.len() {
            let (timer, coarse) = (&mut self.timers[at], &self.coarse);
            let woken = timer.check(place, coarse);
            woken.into_iter().for_each(|old| self.retire(old));
        }
        for (witness, wakes) in self.gone.drain(..) {
            if T::OURS {
                let woken = witness.wakes.lock().unwrap().len();
                assert_eq!(woken, wakes, "woken though it was replaced");
                assert_eq!(Arc::strong_count(&witness), 1, "its waker is kept");
            }
        }
        if let Some(coarse) = &self.coarse.wheel {
            self.check_pending(
                place,
                false,
                wheel::Handle::current().metrics().snapshot().pending,
            );
            self.check_pending(place, true, coarse.metrics().snapshot().pending);
        }
    }

    fn check_pending(&self, place: &Place<T>, coarse: bool, counted: usize) {
        let of_it = self.timers.iter().filter(|timer| timer.coarse == coarse);
        let mut expected = 0..=0;
        for pending in of_it.map(|timer| timer.is_pending(place, &self.coarse)) {
            let least = expected.start() + usize::from(pending == Some(true));
            let most = expected.end() + usize::from(pending != Some(false));
            expected = least..=most;
        }
        assert!(
            expected.contains(&counted),
            "{counted} are pending, not {expected:?}"
        );
    }

    /// Lets the near timers fire and drops the rest. After that, nothing may be left.
    async fn finish(&mut self, place: &Place<T>) {
        for pick in 0..self.timers.len() {
            if let Some(at) = pick.checked_rem(self.timers.len()) {
                self.wait_for(&place.at(pick), at).await;
            }
            self.check(&place.at(pick)).await;
        }
        while !self.timers.is_empty() {
            self.drop(0);
        }
        self.check(place).await;
    }
}

impl<T: Time> Timer<T> {
    /// Returns the result of a poll, and whether the timer is ready.
    fn poll(&mut self, place: &Place<T>, waker: &Waker) -> (String, bool) {
        let mut cx = Context::from_waker(waker);
        let ready = match &mut self.inner {
            Inner::Sleep(sleep) => sleep.as_mut().poll(&mut cx).map(|()| "elapsed".into()),
            Inner::Timeout(timeout, _) => {
                let polled = timeout.as_mut().poll(&mut cx);
                polled.map(|in_time| in_time.map_or("out of time", |()| "in time").into())
            }
            Inner::Interval(interval, period, behavior) => interval.poll_tick(&mut cx).map(|due| {
                self.deadline = next_tick(due, Instant::now(), *period, *behavior);
                format!("tick of {}", place.world.since_start(0, due))
            }),
        };
        match ready {
            Poll::Ready(what) => (what, true),
            Poll::Pending => ("pending".into(), false),
        }
    }

    /// Returns the deadline, rounded if the timer is the coarse driver's.
    fn due(&self, coarse: &Coarse) -> Instant {
        match self.coarse {
            true => coarse.rounded_up(self.deadline),
            false => self.deadline,
        }
    }

    /// Returns whether the timer is pending, or `None` within Tokio's millisecond of the deadline, when it may be either.
    fn is_pending(&self, place: &Place<T>, coarse: &Coarse) -> Option<bool> {
        let (now, due) = (Instant::now(), self.due(coarse));
        if !self.registered || is_due(&place.world.handles[0], due, now) {
            return Some(false);
        }
        (due > now).then_some(true)
    }

    /// Records changes, and returns a waker that was woken.
    fn check(&mut self, place: &Place<T>, coarse: &Coarse) -> Option<Arc<Witness>> {
        if let Inner::Sleep(sleep) = &self.inner {
            let due = place.world.since_start(0, sleep.deadline());
            let shown = format!("due at {due}, elapsed: {}", sleep.is_elapsed());
            if shown != self.shown {
                place.record(format!("timer {}: {shown}", self.name));
                self.shown = shown;
            }
        }
        let wakes = self.witness.as_ref()?.wakes.lock().unwrap().clone();
        let (&first, more) = wakes.split_first()?;
        if self.waits {
            assert!(first >= self.due(coarse), "woken early");
            let at = place.world.since_start(0, first);
            place.record(format!("timer {}: woken at {at}", self.name));
            assert!(more.is_empty() || !T::OURS, "woken {} times", wakes.len());
        } else {
            assert!(!T::OURS, "woken though it was ready");
        }
        self.waits = false;
        self.registered = false;
        self.witness.take()
    }
}
