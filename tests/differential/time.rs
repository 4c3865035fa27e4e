//! The functions under comparison, by one name each.
#![cfg_attr(
    not(feature = "test-util"),
    allow(dead_code, reason = "`paused/` uses more of it")
)]

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

pub(crate) trait Time: Send + Sync + 'static {
    /// Whether these are this crate's.
    const OURS: bool = false;

    type Sleep: Sleep;
    type Interval: Interval;

    fn sleep(duration: Duration) -> Self::Sleep;
    fn sleep_until(deadline: Instant) -> Self::Sleep;
    fn interval(period: Duration) -> Self::Interval;
    fn interval_at(start: Instant, period: Duration) -> Self::Interval;
    /// Without its output: whether it was in time is what can differ.
    fn timeout<F>(duration: Duration, future: F) -> impl Future<Output = InTime> + Send
    where
        F: Future + Send;
    fn timeout_at<F>(deadline: Instant, future: F) -> impl Future<Output = InTime> + Send
    where
        F: Future + Send;
}

/// `false`: the deadline has elapsed.
pub(crate) type InTime = bool;

pub(crate) trait Sleep: Future<Output = ()> + Send + 'static {
    fn deadline(&self) -> Instant;
    fn is_elapsed(&self) -> bool;
    fn reset(self: Pin<&mut Self>, deadline: Instant);
}

pub(crate) trait Interval: Send + 'static {
    fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior);
    fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant>;
    fn reset(&mut self);
    fn reset_immediately(&mut self);
    fn reset_after(&mut self, after: Duration);
    fn reset_at(&mut self, deadline: Instant);
}

/// The tick of a driver that is not the default one.
pub(crate) const COARSE: Duration = Duration::from_millis(7);

/// A driver with that tick. On tokio's side its rule only: deadlines are rounded up.
#[derive(Clone)]
pub(crate) struct Coarse {
    pub(crate) since: Instant,
    pub(crate) wheel: Option<wheel::Wheel>,
}

thread_local! {
    static MADE_BY: RefCell<Option<Coarse>> = const { RefCell::new(None) };
}

impl Coarse {
    pub(crate) fn new<T: Time>() -> Self {
        let build = || wheel::Builder::new().tick(COARSE).build().unwrap();
        Coarse {
            since: Instant::now(),
            wheel: T::OURS.then(build),
        }
    }

    /// What is made by the function is a timer of this driver.
    pub(crate) fn make<R>(&self, make: impl FnOnce() -> R) -> R {
        MADE_BY.set(Some(self.clone()));
        let made = make();
        MADE_BY.set(None);
        made
    }

    /// The driver whose timers are being made, if not the default one.
    pub(crate) fn current() -> Option<Coarse> {
        MADE_BY.with_borrow(Option::clone)
    }

    pub(crate) fn rounded_up(&self, deadline: Instant) -> Instant {
        let Some(since) = deadline.checked_duration_since(self.since) else {
            return deadline;
        };
        let rounded = since.as_nanos().div_ceil(COARSE.as_nanos()) * COARSE.as_nanos();
        self.since + Duration::from_nanos(rounded as u64)
    }
}

/// The functions of this crate, or of the driver whose timers are being made.
mod ours {
    use std::future::Future;
    use std::time::Duration;

    use wheel::{Instant, Timeout};
    pub(crate) use wheel::{Interval, Sleep};

    fn current() -> Option<wheel::Wheel> {
        super::Coarse::current()?.wheel
    }

    macro_rules! made_by_either {
        ($make:ident($($argument:expr),+)) => {
            match current() {
                Some(wheel) => wheel.$make($($argument),+),
                None => wheel::$make($($argument),+),
            }
        };
    }

    pub(crate) fn sleep(duration: Duration) -> Sleep {
        made_by_either!(sleep(duration))
    }

    pub(crate) fn sleep_until(deadline: Instant) -> Sleep {
        made_by_either!(sleep_until(deadline))
    }

    pub(crate) fn interval(period: Duration) -> Interval {
        made_by_either!(interval(period))
    }

    pub(crate) fn interval_at(start: Instant, period: Duration) -> Interval {
        made_by_either!(interval_at(start, period))
    }

    pub(crate) fn timeout<F: Future>(duration: Duration, future: F) -> Timeout<F> {
        made_by_either!(timeout(duration, future))
    }

    pub(crate) fn timeout_at<F: Future>(deadline: Instant, future: F) -> Timeout<F> {
        made_by_either!(timeout_at(deadline, future))
    }
}

macro_rules! implement {
    ($name:ident: $($time:ident)::+, $ours:literal) => {
        pub(crate) enum $name {}

        impl Time for $name {
            const OURS: bool = $ours;

            type Sleep = $($time)::+::Sleep;
            type Interval = $($time)::+::Interval;

            fn sleep(duration: Duration) -> Self::Sleep {
                $($time)::+::sleep(duration)
            }

            fn sleep_until(deadline: Instant) -> Self::Sleep {
                $($time)::+::sleep_until(deadline)
            }

            fn interval(period: Duration) -> Self::Interval {
                $($time)::+::interval(period)
            }

            fn interval_at(start: Instant, period: Duration) -> Self::Interval {
                $($time)::+::interval_at(start, period)
            }

            fn timeout<F>(duration: Duration, future: F) -> impl Future<Output = InTime> + Send
            where
                F: Future + Send,
            {
                let timeout = $($time)::+::timeout(duration, future);
                async { timeout.await.is_ok() }
            }

            fn timeout_at<F>(deadline: Instant, future: F) -> impl Future<Output = InTime> + Send
            where
                F: Future + Send,
            {
                let timeout = $($time)::+::timeout_at(deadline, future);
                async { timeout.await.is_ok() }
            }
        }

        impl Sleep for $($time)::+::Sleep {
            fn deadline(&self) -> Instant {
                self.deadline()
            }

            fn is_elapsed(&self) -> bool {
                self.is_elapsed()
            }

            fn reset(self: Pin<&mut Self>, deadline: Instant) {
                self.reset(deadline);
            }
        }

        impl Interval for $($time)::+::Interval {
            fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
                self.set_missed_tick_behavior(behavior);
            }

            fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
                self.poll_tick(cx)
            }

            fn reset(&mut self) {
                self.reset();
            }

            fn reset_immediately(&mut self) {
                self.reset_immediately();
            }

            fn reset_after(&mut self, after: Duration) {
                self.reset_after(after);
            }

            fn reset_at(&mut self, deadline: Instant) {
                self.reset_at(deadline);
            }
        }
    };
}

implement!(Tokio: tokio::time, false);
implement!(Wheel: ours, true);
