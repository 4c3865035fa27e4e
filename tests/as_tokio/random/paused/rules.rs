//! Tokio's timers, changed by this crate's documented rules. They are the oracle where Tokio's
//! unchanged timers give another result.

use support::prelude::*;

use std::collections::HashMap;
use std::sync::LazyLock;
use std::task::ready;

use tokio::runtime::Id;
use tokio::time;

use super::coarse::Coarse;
use support::time::{InTime, Interval, Sleep, Time, Timeout, Work};

const MILLI: Duration = Duration::from_millis(1);

/// If a timer's runtime has ended, and the timer is polled in another runtime that is running, it
/// continues there with the same deadline, as a Tokio timer. It does so once. Tokio's timer panics.
pub(crate) const CONTINUES: u8 = 1;

/// A timer is ready if it is first polled or reset at least a millisecond after Tokio's millisecond for its deadline.
/// Tokio's timer depends on the time driver, which notices an `advance` only when it is polled, such as when the run
/// queue is empty. Tokio documents that such a timer may be late.
pub(crate) const LATE_IS_READY: u8 = 2;

/// Tokio's timers, changed by these rules.
pub(crate) struct Ruled<const RULES: u8>;

/// When each runtime was built. Tokio counts milliseconds from there.
static BEGINNINGS: LazyLock<Mutex<HashMap<Id, Instant>>> = LazyLock::new(Mutex::default);

pub(crate) fn began(runtime: &Handle, at: Instant) {
    BEGINNINGS.lock().unwrap().insert(runtime.id(), at);
}

/// Returns `true` if Tokio, which counts whole milliseconds since `began`, takes a deadline as passed.
pub(crate) fn is_due(runtime: &Handle, deadline: Instant, now: Instant) -> bool {
    let began = BEGINNINGS.lock().unwrap()[&runtime.id()];
    let deadline = deadline.saturating_duration_since(began);
    let passed = now.checked_duration_since(began);
    passed.is_some_and(|passed| deadline.as_nanos().div_ceil(1_000_000) <= passed.as_millis())
}

pub(crate) fn has_ended(runtime: &Handle) {
    BEGINNINGS.lock().unwrap().remove(&runtime.id());
}

pub(crate) struct RuledSleep<const RULES: u8> {
    deadline: Instant,
    /// The driver that rounds the deadline up, if not the default driver.
    coarse: Option<Coarse>,
    inner: Pin<Box<time::Sleep>>,
    owner: Handle,
    registered: bool,
    /// Whether it continues in another runtime, as a Tokio timer.
    has_gone_on: bool,
    /// Whether the deadline was found to have passed, although Tokio may not have fired the timer.
    passed: bool,
    /// The waker of the last poll, if that was pending.
    waker: Option<Waker>,
}

impl<const RULES: u8> RuledSleep<RULES> {
    fn new(deadline: Instant) -> Self {
        Self::with(Coarse::current(), deadline)
    }

    fn with(coarse: Option<Coarse>, deadline: Instant) -> Self {
        RuledSleep {
            deadline,
            inner: Box::pin(time::sleep_until(due(&coarse, deadline))),
            coarse,
            owner: Handle::current(),
            registered: false,
            has_gone_on: false,
            passed: false,
            waker: None,
        }
    }

    /// Checks, before the timer is registered, whether its deadline has passed.
    fn prepare(&mut self) {
        let _guard = self.owner.enter();
        let (due, earlier) = (due(&self.coarse, self.deadline), Instant::now() - MILLI);
        self.passed = RULES & LATE_IS_READY != 0 && is_due(&self.owner, due, earlier);
    }

    fn register(&mut self) {
        if !std::mem::replace(&mut self.registered, true) {
            self.prepare();
        }
    }

    fn poll_inner(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let polled = catch_unwind(AssertUnwindSafe(|| self.inner.as_mut().poll(cx)));
        let panic = match polled {
            Ok(polled) => return polled,
            Err(panic) => panic,
        };
        let elsewhere = Handle::try_current().is_ok_and(|here| here.id() != self.owner.id());
        let may_go_on = RULES & CONTINUES != 0 && !self.has_gone_on;
        if !may_go_on || !elsewhere || words(&*panic) != SHUT_DOWN {
            resume_unwind(panic);
        }
        *self = RuledSleep::with(self.coarse.take(), self.deadline);
        self.has_gone_on = true;
        self.register();
        self.inner.as_mut().poll(cx)
    }
}

impl<const RULES: u8> Future for RuledSleep<RULES> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.register();
        let polled = self.poll_inner(cx);
        if self.passed {
            return Poll::Ready(());
        }
        self.waker = polled.is_pending().then(|| cx.waker().clone());
        polled
    }
}

impl<const RULES: u8> Sleep for RuledSleep<RULES> {
    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn is_elapsed(&self) -> bool {
        self.passed || self.inner.is_elapsed()
    }

    fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        self.deadline = deadline;
        self.registered = true;
        self.prepare();
        let due = due(&self.coarse, deadline);
        self.inner.as_mut().reset(due);
        if self.passed {
            self.waker.take().into_iter().for_each(Waker::wake);
        }
    }
}

fn due(coarse: &Option<Coarse>, deadline: Instant) -> Instant {
    coarse
        .as_ref()
        .map_or(deadline, |coarse| coarse.rounded_up(deadline))
}

/// `tokio::time::Interval` as documented, over such a sleep.
pub(crate) struct RuledInterval<const RULES: u8> {
    delay: RuledSleep<RULES>,
    period: Duration,
    behavior: MissedTickBehavior,
}

/// Returns when the next tick is due if one was due at `due` and is seen at `now`, as Tokio documents.
pub(crate) fn next_tick(
    due: Instant,
    now: Instant,
    period: Duration,
    behavior: MissedTickBehavior,
) -> Instant {
    let late = now.saturating_duration_since(due);
    if late <= 5 * MILLI {
        return due + period;
    }
    match behavior {
        MissedTickBehavior::Delay => now + period,
        MissedTickBehavior::Skip => {
            let over = late.as_nanos() % period.as_nanos();
            now + period - Duration::from_nanos(over as u64)
        }
        _ => due + period,
    }
}

impl<const RULES: u8> Interval for RuledInterval<RULES> {
    fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.behavior = behavior;
    }

    fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        ready!(Pin::new(&mut self.delay).poll(cx));
        let due = self.delay.deadline();
        let next = next_tick(due, Instant::now(), self.period, self.behavior);
        let coarse = self.delay.coarse.take();
        let has_gone_on = self.delay.has_gone_on;
        self.delay = inside(&self.delay.owner, || RuledSleep::with(coarse, next));
        self.delay.has_gone_on = has_gone_on;
        Poll::Ready(due)
    }

    fn reset(&mut self) {
        self.reset_at(Instant::now() + self.period);
    }

    fn reset_immediately(&mut self) {
        self.reset_at(Instant::now());
    }

    fn reset_after(&mut self, after: Duration) {
        self.reset_at(Instant::now() + after);
    }

    fn reset_at(&mut self, deadline: Instant) {
        Pin::new(&mut self.delay).reset(deadline);
    }
}

impl<const RULES: u8> Time for Ruled<RULES> {
    type Sleep = RuledSleep<RULES>;
    type Interval = RuledInterval<RULES>;
    type ByHandle = Self;

    fn sleep(duration: Duration) -> Self::Sleep {
        // If the sum overflows, Tokio uses thirty years.
        let far = || Instant::now() + 30 * 365 * DAY;
        RuledSleep::new(Instant::now().checked_add(duration).unwrap_or_else(far))
    }

    fn sleep_until(deadline: Instant) -> Self::Sleep {
        RuledSleep::new(deadline)
    }

    fn interval(period: Duration) -> Self::Interval {
        Self::interval_at(Instant::now(), period)
    }

    fn interval_at(start: Instant, period: Duration) -> Self::Interval {
        RuledInterval {
            delay: Self::sleep_until(start),
            period,
            behavior: MissedTickBehavior::Burst,
        }
    }

    fn timeout<F: Work>(duration: Duration, future: F) -> impl Timeout<F::Output> {
        in_time(Self::sleep(duration), future)
    }

    fn timeout_at<F: Work>(deadline: Instant, future: F) -> impl Timeout<F::Output> {
        in_time(Self::sleep_until(deadline), future)
    }
}

/// Polls the future first, and its timer second.
async fn in_time<F: Future>(delay: impl Sleep + Unpin, future: F) -> InTime<F::Output> {
    tokio::select! {
        biased;
        output = future => Ok(output),
        () = delay => Err(()),
    }
}
