//! `use wheel::time;` where `use tokio::time;` stood: names, signatures, and
//! the panics that users have in their logs. For auto traits see `auto_traits.rs`.

use std::future::{Future, Ready, pending, ready};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use support::{NO_RUNTIME, NO_TIMERS, ms, panic_of, secs};
use tokio::runtime::Builder;
use wheel::time;

/// The same text compiled against tokio's module and against this crate.
macro_rules! compiled_against {
    ($name:ident, $($time:tt)+) => {
        mod $name {
            use super::{Context, Future, Pin, Poll, Ready, io, ms, pending, ready};
            use $($time)+ as time;
            use time::error::{Elapsed, Error};
            use time::{Duration, Instant, Interval, MissedTickBehavior, Sleep, Timeout};

            pub(super) fn signatures() {
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
                let _: fn(&mut Interval) = Interval::reset;
                let _: fn(&mut Interval) = Interval::reset_immediately;
                let _: fn(&mut Interval, Duration) = Interval::reset_after;
                let _: fn(&mut Interval, Instant) = Interval::reset_at;
                let _: fn(&Interval) -> MissedTickBehavior = Interval::missed_tick_behavior;
                let _: fn(&mut Interval, MissedTickBehavior) = Interval::set_missed_tick_behavior;
                let _: fn(&Interval) -> Duration = Interval::period;

                let _: fn() -> Error = Error::shutdown;
                let _: fn() -> Error = Error::at_capacity;
                let _: fn() -> Error = Error::invalid;
                let _: fn(&Error) -> bool = Error::is_shutdown;
                let _: fn(&Error) -> bool = Error::is_at_capacity;
                let _: fn(&Error) -> bool = Error::is_invalid;
                let _: fn(Elapsed) -> io::Error = io::Error::from;

                #[cfg(feature = "test-util")]
                let _: (fn(), fn()) = (time::pause, time::resume);
                #[cfg(feature = "test-util")]
                drop(time::advance(Duration::ZERO));
            }

            pub(super) fn traits() {
                fn error<T: std::error::Error + Send + Sync + 'static>() {}
                fn sleeps<T: Future<Output = ()> + Send + Sync + std::fmt::Debug + 'static>() {}
                fn copies<T: Copy + Eq + Default + std::fmt::Debug>() {}
                error::<Elapsed>();
                error::<Error>();
                sleeps::<Sleep>();
                copies::<MissedTickBehavior>();
                fn copy<T: Copy>() {}
                copy::<Error>();
                fn send_sync_unpin<T: Send + Sync + Unpin>() {}
                send_sync_unpin::<Interval>();
                fn send_sync<T: Send + Sync>() {}
                send_sync::<Timeout<Ready<u8>>>();
                fn eq<T: Eq>() {}
                eq::<Elapsed>();
                fn output<T: Future<Output = Result<u8, Elapsed>>>() {}
                output::<Timeout<Ready<u8>>>();
            }

            pin_project_lite::pin_project! {
                /// An idle timer as libraries write it.
                pub(super) struct Idle<F> {
                    #[pin]
                    work: F,
                    #[pin]
                    deadline: time::Sleep,
                    patience: u32,
                }
            }

            impl<F: Future> Future for Idle<F> {
                type Output = Option<F::Output>;

                fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                    let mut me = self.project();
                    if let Poll::Ready(output) = me.work.poll(cx) {
                        return Poll::Ready(Some(output));
                    }
                    while *me.patience > 0 {
                        ready!(me.deadline.as_mut().poll(cx));
                        *me.patience -= 1;
                        let again = me.deadline.deadline() + ms(5);
                        me.deadline.as_mut().reset(again);
                    }
                    ready!(me.deadline.as_mut().poll(cx));
                    // The last use may consume the pin.
                    me.deadline.reset(Instant::now());
                    Poll::Ready(None)
                }
            }

            /// What a service does with timers; in milliseconds where it can be told.
            pub(super) async fn service() -> Vec<u128> {
                let start = Instant::now();
                let mut log = Vec::new();
                let mut at = |what: u128| log.push(what * 1_000_000 + start.elapsed().as_millis());

                time::sleep(ms(3)).await;
                at(1);
                time::sleep_until(start + ms(5)).await;
                at(2);
                match time::timeout(ms(2), pending::<()>()).await {
                    Ok(()) => unreachable!(),
                    Err(Elapsed { .. }) => at(3),
                }
                let answer = time::timeout_at(start + ms(100), async { time::sleep(ms(1)).await });
                assert_eq!(answer.await, Ok(()));
                at(4);

                let mut interval = time::interval(ms(10));
                interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
                for _ in 0..3 {
                    interval.tick().await;
                    at(5);
                }
                interval.reset_after(ms(7));
                interval.tick().await;
                at(6);

                let sleep = time::sleep(ms(50));
                tokio::pin!(sleep);
                let mut ticks = 0;
                loop {
                    tokio::select! {
                        () = &mut sleep => break,
                        _ = interval.tick() => {
                            ticks += 1;
                            if ticks == 2 {
                                sleep.as_mut().reset(Instant::now() + ms(5));
                            }
                        }
                    }
                }
                at(7);

                let mut boxed: Pin<Box<Sleep>> = Box::pin(time::sleep(ms(1)));
                boxed.as_mut().await;
                assert!(boxed.is_elapsed());
                at(8);

                let deadline = time::sleep(ms(5));
                let idle = Idle { work: pending::<()>(), deadline, patience: 2 };
                assert_eq!(idle.await, None);
                at(9);

                let (a, b) = tokio::join!(time::sleep(ms(4)), time::timeout(ms(9), ready(1)));
                assert_eq!((a, b), ((), Ok(1)));
                at(10);
                assert_eq!(fallible().await.unwrap_err().kind(), io::ErrorKind::TimedOut);
                at(11);
                assert!(any_error().await.unwrap_err().is::<Elapsed>());
                at(12);
                log
            }

            async fn fallible() -> io::Result<u8> {
                let answer = time::timeout(ms(1), pending::<io::Result<u8>>()).await??;
                Ok(answer)
            }

            async fn any_error() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
                Ok(time::timeout(ms(1), pending()).await?)
            }
        }
    };
}

compiled_against!(with_tokio, tokio::time);
compiled_against!(with_wheel, wheel::time);
compiled_against!(with_root, wheel);

#[test]
fn every_name_of_tokio_time_is_there_with_its_signature() {
    with_tokio::signatures();
    with_wheel::signatures();
    with_root::signatures();
    with_tokio::traits();
    with_wheel::traits();
    with_root::traits();
}

#[test]
fn instants_durations_and_behaviours_are_tokios_own() {
    let _: tokio::time::Instant = time::Instant::now();
    let _: std::time::Duration = time::Duration::ZERO;
    let _: tokio::time::MissedTickBehavior = time::MissedTickBehavior::Skip;
}

#[cfg(feature = "test-util")]
#[tokio::test(start_paused = true)]
async fn a_service_runs_as_with_tokio_to_the_millisecond() {
    let theirs = with_tokio::service().await;
    assert_eq!(with_wheel::service().await, theirs);
    assert_eq!(with_root::service().await, theirs);
}

#[test]
fn a_service_runs_in_real_time_on_every_runtime() {
    for (_, runtime) in support::runtimes() {
        let theirs = runtime.block_on(with_tokio::service()).len();
        assert_eq!(runtime.block_on(with_wheel::service()).len(), theirs);
        assert_eq!(runtime.block_on(with_root::service()).len(), theirs);
    }
}

#[test]
fn errors_read_as_tokios() {
    let runtime = support::current_thread();
    let (ours, theirs) = runtime.block_on(async {
        let ours = time::timeout(ms(1), pending::<()>()).await.unwrap_err();
        let theirs = tokio::time::timeout(ms(1), pending::<()>())
            .await
            .unwrap_err();
        (ours, theirs)
    });
    assert_eq!(ours.to_string(), theirs.to_string());
    assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
    assert_eq!(io::Error::from(ours).kind(), io::Error::from(theirs).kind());
    let ours = [
        time::error::Error::shutdown(),
        time::error::Error::at_capacity(),
    ];
    let theirs = [
        tokio::time::error::Error::shutdown(),
        tokio::time::error::Error::at_capacity(),
    ];
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours.to_string(), theirs.to_string());
        assert_eq!(ours.is_shutdown(), theirs.is_shutdown());
        assert_eq!(ours.is_at_capacity(), theirs.is_at_capacity());
        assert_eq!(ours.is_invalid(), theirs.is_invalid());
    }
    let (ours, theirs) = (
        time::error::Error::invalid(),
        tokio::time::error::Error::invalid(),
    );
    assert_eq!(ours.to_string(), theirs.to_string());
    assert!(ours.is_invalid() && !ours.is_shutdown() && !ours.is_at_capacity());
}

#[test]
fn debug_shows_the_deadline() {
    let runtime = support::current_thread();
    let _guard = runtime.enter();
    let sleep = time::sleep(secs(1));
    let debug = format!("{sleep:?}");
    assert!(
        debug.contains("deadline") && debug.contains("is_elapsed: false"),
        "{debug}"
    );
    for debug in [
        format!("{:?}", time::timeout(secs(1), ready(()))),
        format!("{:?}", time::interval(secs(1))),
        format!("{:?}", wheel::Wheel::current()),
    ] {
        assert!(!debug.is_empty());
    }
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

#[test]
fn outside_a_runtime_timers_panic_at_the_callers_line() {
    let now = time::Instant::now();
    assert_panics_here!(time::sleep(SECOND), NO_RUNTIME);
    assert_panics_here!(time::sleep_until(now), NO_RUNTIME);
    assert_panics_here!(time::timeout(SECOND, ready(1)), NO_RUNTIME);
    assert_panics_here!(time::timeout_at(now, ready(1)), NO_RUNTIME);
    assert_panics_here!(time::interval(SECOND), NO_RUNTIME);
    assert_panics_here!(time::interval_at(now, SECOND), NO_RUNTIME);
    assert_panics_here!(wheel::Wheel::current(), NO_RUNTIME);
    assert_panics_here!(wheel::Builder::new().build(), NO_RUNTIME);
    assert_panics_here!(wheel::Builder::new().install(), NO_RUNTIME);
    // And tokio says the same.
    assert_panics_here!(tokio::time::sleep(SECOND), NO_RUNTIME);
}

#[test]
fn in_a_runtime_without_timers_they_panic_at_the_callers_line() {
    for runtime in [
        Builder::new_current_thread().build().unwrap(),
        Builder::new_multi_thread()
            .worker_threads(1)
            .build()
            .unwrap(),
    ] {
        let _guard = runtime.enter();
        let now = time::Instant::now();
        // Twice: what is remembered of the first attempt must not change the second.
        for _ in 0..2 {
            assert_panics_here!(time::sleep(SECOND), NO_TIMERS);
            assert_panics_here!(time::sleep_until(now), NO_TIMERS);
            assert_panics_here!(time::timeout(SECOND, ready(1)), NO_TIMERS);
            assert_panics_here!(time::timeout_at(now, ready(1)), NO_TIMERS);
            assert_panics_here!(time::interval(SECOND), NO_TIMERS);
            assert_panics_here!(time::interval_at(now, SECOND), NO_TIMERS);
            assert_panics_here!(wheel::Wheel::current(), NO_TIMERS);
            assert_panics_here!(wheel::Builder::new().build(), NO_TIMERS);
            assert_panics_here!(wheel::Builder::new().install(), NO_TIMERS);
            assert_panics_here!(tokio::time::sleep(SECOND), NO_TIMERS);
        }
    }
}

#[test]
fn inside_a_task_the_panic_is_at_the_callers_line_too() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let task = runtime.spawn(async {
        assert_panics_here!(time::sleep(SECOND), NO_TIMERS);
        assert_panics_here!(time::interval(SECOND), NO_TIMERS);
    });
    runtime.block_on(task).unwrap();
}

#[test]
fn an_interval_of_zero_panics_before_it_looks_for_a_runtime() {
    let zero = time::Duration::ZERO;
    let now = time::Instant::now();
    let message = "`period` must be non-zero.";
    assert_panics_here!(time::interval(zero), message);
    assert_panics_here!(time::interval_at(now, zero), message);
    assert_panics_here!(tokio::time::interval(zero), message);
    let runtime = support::current_thread();
    let _guard = runtime.enter();
    let wheel = wheel::Wheel::current();
    assert_panics_here!(time::interval(zero), message);
    assert_panics_here!(time::interval_at(now, zero), message);
    assert_panics_here!(wheel.interval(zero), message);
    assert_panics_here!(wheel.interval_at(now, zero), message);
}

#[test]
fn a_timeout_beyond_the_end_of_time_needs_no_runtime() {
    let mut timeout = time::timeout(time::Duration::MAX, ready(7));
    assert_eq!(support::poll_quietly(&mut timeout), Poll::Ready(Ok(7)));
    let mut never = time::timeout(time::Duration::MAX, pending::<()>());
    assert!(support::poll_quietly(&mut never).is_pending());
}

#[test]
fn while_a_threads_locals_are_destroyed_the_panic_is_tokios() {
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            let ours = panic_of(|| time::sleep(SECOND)).map(|panic| panic.message);
            let theirs = panic_of(|| tokio::time::sleep(SECOND)).map(|panic| panic.message);
            MESSAGES.lock().unwrap().push((ours, theirs));
        }
    }
    type Messages = Vec<(Option<String>, Option<String>)>;
    static MESSAGES: std::sync::Mutex<Messages> = std::sync::Mutex::new(Vec::new());
    thread_local!(static LAST: Last = const { Last });

    let runtime = support::current_thread();
    let handle = runtime.handle().clone();
    std::thread::spawn(move || {
        // Initialised first, so destroyed last.
        LAST.with(|_| ());
        let _guard = handle.enter();
        drop(time::sleep(SECOND));
    })
    .join()
    .unwrap();
    let messages = MESSAGES.lock().unwrap();
    let (ours, theirs) = messages.first().expect("the local was destroyed");
    assert_eq!(ours, theirs);
    assert!(ours.is_some());
}
