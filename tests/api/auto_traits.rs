//! The auto traits of every type and future are the same as in Tokio's own test `async_send_sync`, and sizes are as
//! promised. The compiler checks both, so no test has to run.
//!
//! No test is needed for what a type lacks: `#![forbid(unsafe_code)]` in `src/lib.rs` checks that there is no `unsafe`, so a
//! type whose value is not `Send`, `Sync` or `Unpin` is not either.

use std::cell::Cell;
use std::future::Ready;
use std::hash::Hash;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use wheel::ext::io::TimeoutStream;
use wheel::{Builder, DelayQueue, Handle as Timers, Interval, Sleep, Timeout, TimingWheel};
use wheel::{delay_queue, error, timing_wheel};

/// Takes lines such as `Send & Unpin: Type, Type;`. Compiles only if every bound holds for each type of its line.
macro_rules! assert_are {
    ($($($trait:ident)&+: $($type:ty),+;)+) => {
        $(const _: fn() = || {
            fn are<T: ?Sized $(+ $trait)+>() {}
            $(are::<$type>();)+
        };)+
    };
}

/// Checks the traits of what a function that is never called returns, such as a future whose type has no name.
macro_rules! assert_future_is {
    ($($trait:ident)&+: |$argument:ident: $type:ty| $value:expr) => {
        const _: fn($type) = |$argument| {
            fn is<T: $($trait +)+>(_: &T) {}
            is(&$value);
        };
    };
}

/// A value that is not `Sync`.
type Unshared = Cell<u8>;

assert_are! {
    Send & Sync & Unpin: Sleep, Interval, Timers, wheel::BuildError, Timeout<Ready<u8>>, DelayQueue<u8>, TimeoutStream<u8>;
    Send & Unpin: Timeout<Unshared>, TimingWheel<Unshared>, DelayQueue<Unshared>, TimeoutStream<Unshared>;
    Copy & Eq & Hash: error::Elapsed;
    Clone & Send & Sync & Unpin: wheel::Metrics, wheel::MetricsSnapshot;
    Send & Sync & Unpin & UnwindSafe & RefUnwindSafe: Builder, error::Elapsed, error::Error,
        TimingWheel<u8>, timing_wheel::Key, timing_wheel::Expired<u8>, timing_wheel::Progress,
        timing_wheel::Rescheduled<u8>, delay_queue::Key, delay_queue::Expired<u8>;
}

assert_future_is!(Send & Sync & Unpin: |queue: &mut DelayQueue<u8>| queue.next());
assert_future_is!(Send & Sync: |interval: &mut Interval| interval.tick());
assert_future_is!(Send & Sync: |long: Duration| async { wheel::sleep(long).await });
assert_future_is!(Send & Sync: |long: Duration| async { wheel::timeout(long, wheel::sleep(long)).await });

#[cfg(feature = "stream")]
mod stream {
    use super::Unshared;
    use futures::stream::Empty;
    use wheel::ext::stream::{ChunksTimeout, IntervalStream, Throttle, Timeout, TimeoutRepeating};

    assert_are! {
        Send & Sync & Unpin: IntervalStream, Throttle<Empty<u8>>, Timeout<Empty<u8>>,
            TimeoutRepeating<Empty<u8>>, ChunksTimeout<Empty<u8>>;
        Send & Unpin: Timeout<Unshared>, Throttle<Unshared>;
    }
}

// Promises for 64-bit machines. `src/sleep.rs` and `src/timeout.rs` check the sizes of `Sleep` and `Timeout`.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<Sleep>() < size_of::<tokio::time::Sleep>());
    assert!(size_of::<Option<timing_wheel::Key>>() == 16);
    assert!(size_of::<Option<delay_queue::Key>>() == 16);
    assert!(size_of::<error::Elapsed>() == 0);
};
