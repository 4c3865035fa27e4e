//! The timers of `tokio::time` and of this crate behind the same traits, for programs that run on both.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

/// The output of a timeout. It is an error if the deadline has elapsed.
pub type InTime<T> = Result<T, ()>;

/// A future that a timeout is put around.
pub trait Work: Future<Output: Send> + Send {}

impl<F: Future<Output: Send> + Send> Work for F {}

/// A future with a timeout around it.
pub trait Timeout<T>: Future<Output = InTime<T>> + Send {}

impl<F: Future<Output = InTime<T>> + Send, T> Timeout<T> for F {}

pub trait Time: Send + Sync + 'static {
    /// Whether these are this crate's timers.
    const OURS: bool = false;

    type Sleep: Sleep;
    type Interval: Interval;
    /// The same timers, made with a [handle](by_handle).
    type ByHandle: Time<Sleep = Self::Sleep, Interval = Self::Interval>;

    fn sleep(duration: Duration) -> Self::Sleep;
    fn sleep_until(deadline: Instant) -> Self::Sleep;
    fn interval(period: Duration) -> Self::Interval;
    fn interval_at(start: Instant, period: Duration) -> Self::Interval;
    fn timeout<F: Work>(duration: Duration, future: F) -> impl Timeout<F::Output>;
    fn timeout_at<F: Work>(deadline: Instant, future: F) -> impl Timeout<F::Output>;

    #[track_caller]
    fn boxed(duration: Duration) -> Pin<Box<Self::Sleep>> {
        Box::pin(Self::sleep(duration))
    }
}

pub trait Sleep: Future<Output = ()> + Send + 'static {
    fn deadline(&self) -> Instant;
    fn is_elapsed(&self) -> bool;
    fn reset(self: Pin<&mut Self>, deadline: Instant);
}

pub trait Interval: Send + 'static {
    fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior);
    fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant>;
    fn reset(&mut self);
    fn reset_immediately(&mut self);
    fn reset_after(&mut self, after: Duration);
    fn reset_at(&mut self, deadline: Instant);

    fn tick(&mut self) -> impl Future<Output = Instant> + Send {
        poll_fn(|cx| self.poll_tick(cx))
    }
}

/// Methods that call the type's own methods of the same name.
macro_rules! own {
    ($($name:ident($me:ident: $Me:ty $(, $argument:ident: $type:ty)*) -> $output:ty;)+) => {$(
        #[track_caller]
        fn $name($me: $Me $(, $argument: $type)*) -> $output {
            $me.$name($($argument),*)
        }
    )+};
}

macro_rules! implement_for_types_of {
    ($module:ident) => {
        impl Sleep for $module::Sleep {
            own! {
                deadline(self: &Self) -> Instant;
                is_elapsed(self: &Self) -> bool;
                reset(self: Pin<&mut Self>, deadline: Instant) -> ();
            }
        }

        impl Interval for $module::Interval {
            own! {
                set_missed_tick_behavior(self: &mut Self, behavior: MissedTickBehavior) -> ();
                poll_tick(self: &mut Self, cx: &mut Context<'_>) -> Poll<Instant>;
                reset(self: &mut Self) -> ();
                reset_immediately(self: &mut Self) -> ();
                reset_after(self: &mut Self, after: Duration) -> ();
                reset_at(self: &mut Self, deadline: Instant) -> ();
            }
        }
    };
}

use tokio::time as tokios;
implement_for_types_of!(tokios);
implement_for_types_of!(wheel);

/// This crate's timers, made with a handle: that of the current runtime's driver, even on a worker of another runtime, or
/// that of the driver that [`with`](by_handle::with) selected on this thread.
pub mod by_handle {
    use super::*;
    use wheel::{Handle as Timers, Timeout};
    pub use wheel::{Interval, Sleep};

    thread_local! {
        static WHEEL: RefCell<Option<Timers>> = const { RefCell::new(None) };
    }

    /// Calls a function whose timers belong to this driver.
    pub fn with<R>(wheel: &Option<Timers>, make: impl FnOnce() -> R) -> R {
        WHEEL.set(wheel.clone());
        let made = make();
        WHEEL.set(None);
        made
    }

    #[track_caller]
    fn wheel() -> Timers {
        let set = WHEEL.with_borrow(Option::clone);
        set.unwrap_or_else(Timers::current)
    }

    /// Functions that call the handle's methods of the same name.
    macro_rules! of_the_handle {
        ($($name:ident$(<$F:ident>)?($($argument:ident: $type:ty),+) -> $output:ty;)+) => {$(
            #[track_caller]
            pub fn $name$(<$F: Future>)?($($argument: $type),+) -> $output {
                wheel().$name($($argument),+)
            }
        )+};
    }

    of_the_handle! {
        sleep(duration: Duration) -> Sleep;
        sleep_until(deadline: Instant) -> Sleep;
        interval(period: Duration) -> Interval;
        interval_at(start: Instant, period: Duration) -> Interval;
        timeout<F>(duration: Duration, future: F) -> Timeout<F>;
        timeout_at<F>(deadline: Instant, future: F) -> Timeout<F>;
    }
}

/// Methods that call a module's functions of the same name.
macro_rules! functions {
    ($module:ident; $($name:ident($($argument:ident: $type:ty),+) -> $output:ty;)+) => {$(
        #[track_caller]
        fn $name($($argument: $type),+) -> $output {
            $module::$name($($argument),+)
        }
    )+};
}

macro_rules! timeouts {
    ($module:ident; $($name:ident($limit:ident: $type:ty);)+) => {$(
        #[track_caller]
        fn $name<F: Work>($limit: $type, future: F) -> impl Timeout<F::Output> {
            let timeout = $module::$name($limit, future);
            async { timeout.await.map_err(drop) }
        }
    )+};
}

macro_rules! implement {
    ($name:ident: $module:ident, $is_ours:literal, $by_handle:ident) => {
        pub enum $name {}

        impl Time for $name {
            const OURS: bool = $is_ours;

            type Sleep = $module::Sleep;
            type Interval = $module::Interval;
            type ByHandle = $by_handle;

            functions! { $module;
                sleep(duration: Duration) -> Self::Sleep;
                sleep_until(deadline: Instant) -> Self::Sleep;
                interval(period: Duration) -> Self::Interval;
                interval_at(start: Instant, period: Duration) -> Self::Interval;
            }
            timeouts! { $module;
                timeout(duration: Duration);
                timeout_at(deadline: Instant);
            }
        }
    };
}

implement!(Tokio: tokios, false, Tokio);
implement!(Ours: wheel, true, Exact);
implement!(Exact: by_handle, true, Exact);
