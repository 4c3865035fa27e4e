//! `use wheel::time;` can replace `use tokio::time;`: names, signatures and the messages of panics are the same.
//!
//! `auto_traits.rs` tests auto traits. `tests/migration/` has a service that is converted.

use std::future::{Future, Ready, pending, ready};
use std::io;
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll};

use wheel::ext::FutureExt as _;

use support::{NO_RUNTIME, NO_TIMERS, at_the_end_of_a_thread, message_of, ms, panic_of};
use tokio::runtime::Builder;
use tokio_test::{assert_pending, assert_ready_eq, task};
use wheel::time;

/// Compiles the same text against Tokio's module and against this crate.
macro_rules! compiled_against {
    ($name:ident, $($time:tt)+) => {
        mod $name {
            use super::{Context, Future, Pin, Poll, Ready, io, ms, pending};
            use $($time)+ as time;
            use time::error::{Elapsed, Error};
            use time::{Duration, Instant, Interval, MissedTickBehavior, Sleep, Timeout};

            const _: fn() = || {
                let _: fn(Duration) -> Sleep = time::sleep;
                let _: fn(Instant) -> Sleep = time::sleep_until;
                let _: fn(Duration, Ready<u8>) -> Timeout<Ready<u8>> = time::timeout::<Ready<u8>>;
                let _: fn(Instant, Ready<u8>) -> Timeout<Ready<u8>> = time::timeout_at::<Ready<u8>>;
                let _: fn(Duration) -> Interval = time::interval;
                let _: fn(Instant, Duration) -> Interval = time::interval_at;

                let _: fn(&Sleep) -> Instant = Sleep::deadline;
                let _: fn(&Sleep) -> bool = Sleep::is_elapsed;
                let _: fn(Pin<&mut Sleep>, Instant) = Sleep::reset;

                let _: fn(&Timeout<u8>) -> &u8 = Timeout::get_ref;
                let _: fn(&mut Timeout<u8>) -> &mut u8 = Timeout::get_mut;
                let _: fn(Timeout<u8>) -> u8 = Timeout::into_inner;

                let _: fn(&mut Interval, &mut Context<'_>) -> Poll<Instant> = Interval::poll_tick;
                let _: [fn(&mut Interval); 2] = [Interval::reset, Interval::reset_immediately];
                let _: fn(&mut Interval, Duration) = Interval::reset_after;
                let _: fn(&mut Interval, Instant) = Interval::reset_at;
                let _: fn(&Interval) -> MissedTickBehavior = Interval::missed_tick_behavior;
                let _: fn(&mut Interval, MissedTickBehavior) = Interval::set_missed_tick_behavior;
                let _: fn(&Interval) -> Duration = Interval::period;

                let _: [fn() -> Error; 3] = [Error::shutdown, Error::at_capacity, Error::invalid];
                let _: [fn(&Error) -> bool; 3] = [Error::is_shutdown, Error::is_at_capacity, Error::is_invalid];
                let _: fn(Elapsed) -> io::Error = io::Error::from;

                #[cfg(feature = "test-util")]
                let _: (fn(), fn()) = (time::pause, time::resume);
                #[cfg(feature = "test-util")]
                drop(time::advance(Duration::ZERO));

                fn errors<T: std::error::Error + Send + Sync + 'static>() {}
                fn sleeps<T: Future<Output = ()> + std::fmt::Debug + 'static>() {}
                fn times_out<T: Future<Output = Result<u8, Elapsed>>>() {}
                fn copies<T: Copy>() {}
                fn compares<T: Eq>() {}
                errors::<Elapsed>();
                errors::<Error>();
                sleeps::<Sleep>();
                times_out::<Timeout<Ready<u8>>>();
                copies::<Error>();
                compares::<Elapsed>();
                let _ = |late: Elapsed| matches!(late, Elapsed { .. });
            };

            /// Returns the errors' texts and predicates.
            pub(super) async fn errors() -> Vec<String> {
                let late = time::timeout(ms(1), pending::<()>()).await.unwrap_err();
                let mut said = vec![format!("{late}, {late:?}")];
                said.push(format!("{:?}", io::Error::from(late).kind()));
                for error in [Error::shutdown(), Error::at_capacity(), Error::invalid()] {
                    let (full, invalid) = (error.is_at_capacity(), error.is_invalid());
                    said.push(format!("{error}, {}, {full}, {invalid}", error.is_shutdown()));
                }
                said
            }
        }
    };
}

compiled_against!(with_tokio, tokio::time);
compiled_against!(with_wheel, wheel::time);

#[tokio::test]
async fn errors_read_as_tokios() {
    assert_eq!(with_wheel::errors().await, with_tokio::errors().await);
}

/// Asserts that an expression panics with a message, on the line of this macro.
macro_rules! assert_panics_here {
    ($call:expr, $message:expr) => {{
        let (panic, line) = (panic_of(|| $call), line!());
        let panic = panic.expect(concat!("no panic: ", stringify!($call)));
        assert_eq!(panic.message, $message, "{}", stringify!($call));
        let place = (panic.file.as_str(), panic.line);
        assert_eq!(place, (file!(), line), "{}", stringify!($call));
    }};
}

const SECOND: time::Duration = time::Duration::from_secs(1);

/// Asserts this of everything that makes timers, including Tokio's `sleep`.
macro_rules! assert_timers_panic_here {
    ($message:expr) => {{
        let now = time::Instant::now();
        assert_panics_here!(time::sleep(SECOND), $message);
        assert_panics_here!(time::sleep_until(now), $message);
        assert_panics_here!(time::timeout(SECOND, ready(1)), $message);
        assert_panics_here!(time::timeout_at(now, ready(1)), $message);
        assert_panics_here!(ready(1).timeout_if_pending(SECOND), $message);
        assert_panics_here!(time::interval(SECOND), $message);
        assert_panics_here!(time::interval_at(now, SECOND), $message);
        assert_panics_here!(wheel::Handle::current(), $message);
        assert_panics_here!(wheel::Builder::new().build(), $message);
        assert_panics_here!(wheel::Builder::new().install(), $message);
        assert_panics_here!(tokio::time::sleep(SECOND), $message);
    }};
}

#[test]
fn outside_a_runtime_timers_panic_at_the_callers_line() {
    assert_timers_panic_here!(NO_RUNTIME);
    assert_panics_here!(wheel::metrics(), NO_RUNTIME);
    // The same is true after a thread has left a runtime.
    for (_, runtime) in support::runtimes() {
        runtime.block_on(async { drop(time::sleep(SECOND)) });
        drop(runtime.enter());
        assert_timers_panic_here!(NO_RUNTIME);
    }
}

#[test]
fn in_a_runtime_without_timers_they_panic_at_the_callers_line() {
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let runtime = builder.build().unwrap();
        // Try twice, because the first attempt must not change the second.
        for _ in 0..2 {
            let _guard = runtime.enter();
            assert_timers_panic_here!(NO_TIMERS);
        }
        runtime.block_on(async { assert_timers_panic_here!(NO_TIMERS) });
        let task = runtime.spawn(async { assert_timers_panic_here!(NO_TIMERS) });
        runtime.block_on(task).unwrap();
    }
}

#[test]
fn an_interval_of_zero_panics_even_outside_a_runtime() {
    const ZERO: time::Duration = time::Duration::ZERO;
    let now = time::Instant::now();
    let message = "`period` must be non-zero.";
    let assert_all_panic = || {
        assert_panics_here!(time::interval(ZERO), message);
        assert_panics_here!(time::interval_at(now, ZERO), message);
        assert_panics_here!(tokio::time::interval(ZERO), message);
    };
    assert_all_panic();
    let runtime = support::current_thread();
    let _guard = runtime.enter();
    assert_all_panic();
    let wheel = wheel::Handle::current();
    assert_panics_here!(wheel.interval(ZERO), message);
    assert_panics_here!(wheel.interval_at(now, ZERO), message);
}

#[test]
fn a_timeout_beyond_the_end_of_time_needs_no_runtime() {
    let never = time::Duration::MAX;
    assert_ready_eq!(task::spawn(time::timeout(never, ready(7))).poll(), Ok(7));
    assert_pending!(task::spawn(time::timeout(never, pending::<()>())).poll());
}

#[test]
fn while_a_threads_locals_are_destroyed_the_panic_is_tokios() {
    let runtime = support::current_thread();
    let handle = runtime.handle().clone();
    let (log, messages) = mpsc::channel();
    at_the_end_of_a_thread(move || {
        let _guard = handle.enter();
        drop(time::sleep(SECOND));
        Box::new(move || {
            let ours = message_of(|| time::sleep(SECOND));
            let theirs = message_of(|| tokio::time::sleep(SECOND));
            log.send((ours, theirs)).unwrap();
        })
    });
    let (ours, theirs) = messages.recv().unwrap();
    assert_eq!(ours, theirs);
}

/// A module with a glob import of the root, beside crates that have the names of features.
#[cfg(feature = "full")]
mod beside_a_glob {
    use wheel::*;

    use futures::FutureExt as _;
    use hyper::body::Bytes;
    use tokio_util::future::FutureExt as _;
    use tower::ServiceExt as _;

    #[tokio::test]
    async fn the_root_hides_no_crate_and_no_method() {
        let echo = tower::service_fn(async |body: Bytes| Ok::<_, tower::BoxError>(body));
        metrics::counter!("requests").increment(1);
        let body = echo.oneshot(Bytes::from_static(b"hello")).boxed();
        let limited = body.timeout(Duration::from_secs(60));
        assert_eq!(limited.await.unwrap().unwrap(), "hello");
    }
}
