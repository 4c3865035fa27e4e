//! Auto traits of every type and future are as in tokio's own `async_send_sync`, and sizes as promised. The compiler
//! checks both; no test has to run.
//!
//! That there is no `unsafe` is checked too: by `#![forbid(unsafe_code)]` in src/lib.rs.

use std::cell::Cell;
use std::future::Ready;
use std::marker::PhantomPinned;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use wheel::{Builder, DelayQueue, Interval, Sleep, Timeout, TimingWheel, Wheel};
use wheel::{delay_queue, error, timing_wheel};

/// `$type: Send & !Unpin;` and so on: compiles only where every bound holds.
macro_rules! assert_is {
    ($($type:ty: $($(! $lacks:ident)? $($has:ident)?)&+;)+) => {
        $($( assert_is!(@ $type, $(! $lacks)? $($has)?); )+)+
    };
    (@ $type:ty, ! $trait:ident) => {
        const _: fn() = || {
            // Which of the two is meant is ambiguous if the type has the trait.
            trait Ambiguous<A> {
                fn here() {}
            }
            impl<T: ?Sized> Ambiguous<()> for T {}
            impl<T: ?Sized + $trait> Ambiguous<u8> for T {}
            let _ = <$type as Ambiguous<_>>::here;
        };
    };
    (@ $type:ty, $trait:ident) => {
        const _: fn() = || {
            fn has<T: ?Sized + $trait>() {}
            has::<$type>();
        };
    };
}

/// The same of the value of an expression, as of a future that has no name.
macro_rules! assert_future_is {
    ($value:expr, $($trait:ident)&+) => {
        const _: fn() = || {
            fn has<T: $($trait +)+>(_: &T) {}
            has(&$value);
        };
    };
}

fn todo<T>() -> T {
    unimplemented!("only its type matters")
}

type YY = u8;
type YN = Cell<u8>;
type NN = Rc<u8>;

assert_is! {
    Sleep: Send & Sync & Unpin;
    Interval: Send & Sync & Unpin;
    Timeout<Ready<YY>>: Send & Sync & Unpin;
    Timeout<YN>: Send & !Sync & Unpin;
    Timeout<NN>: !Send & !Sync & Unpin;
    Timeout<PhantomPinned>: Send & Sync & !Unpin;
    Wheel: Send & Sync & Unpin;
    Builder: Send & Sync & Unpin & UnwindSafe & RefUnwindSafe;
    wheel::WheelMetrics: Clone & Send & Sync & Unpin;
    wheel::MetricsIntervals: Clone & Send & Sync & Unpin;
    wheel::MetricsSnapshot: Clone & Send & Sync & Unpin;
    wheel::BuildError: Send & Sync & Unpin;
    error::Elapsed: Send & Sync & Unpin & UnwindSafe & RefUnwindSafe;
    error::Error: Send & Sync & Unpin & UnwindSafe & RefUnwindSafe;
}

assert_is! {
    TimingWheel<YY>: Send & Sync & Unpin & UnwindSafe & RefUnwindSafe;
    TimingWheel<YN>: Send & !Sync & Unpin;
    TimingWheel<NN>: !Send & !Sync & Unpin;
    timing_wheel::Key: Send & Sync & Unpin & UnwindSafe & RefUnwindSafe;
    timing_wheel::Expired<YY>: Send & Sync & Unpin & UnwindSafe & RefUnwindSafe;
    timing_wheel::Rescheduled<YY>: Send & Sync & Unpin & UnwindSafe & RefUnwindSafe;
    timing_wheel::Progress: Send & Sync & Unpin & UnwindSafe & RefUnwindSafe;
    DelayQueue<YY>: Send & Sync & Unpin;
    DelayQueue<YN>: Send & !Sync & Unpin;
    DelayQueue<NN>: !Send & !Sync & Unpin;
    delay_queue::Key: Send & Sync & Unpin & UnwindSafe & RefUnwindSafe;
    delay_queue::Expired<YY>: Send & Sync & Unpin & UnwindSafe & RefUnwindSafe;
}

assert_is! {
    wheel::ext::io::TimeoutReader<YY>: Send & Sync & Unpin;
    wheel::ext::io::TimeoutReader<NN>: !Send & !Sync & Unpin;
    wheel::ext::io::TimeoutReader<PhantomPinned>: Send & Sync & !Unpin;
    wheel::ext::io::TimeoutWriter<YY>: Send & Sync & Unpin;
    wheel::ext::io::TimeoutWriter<PhantomPinned>: Send & Sync & !Unpin;
    wheel::ext::io::TimeoutStream<YY>: Send & Sync & Unpin;
    wheel::ext::io::TimeoutStream<YN>: Send & !Sync & Unpin;
    wheel::ext::io::TimeoutStream<PhantomPinned>: Send & Sync & !Unpin;
}

assert_future_is!(todo::<DelayQueue<YY>>().next(), Send & Sync & Unpin);
assert_future_is!(todo::<Interval>().tick(), Send & Sync);
assert_future_is!(async { wheel::sleep(todo()).await }, Send & Sync);
assert_future_is!(
    async { wheel::timeout(todo(), wheel::sleep(todo())).await },
    Send & Sync
);

#[cfg(feature = "stream")]
mod stream {
    use super::{NN, PhantomPinned, YN, YY};
    use futures::stream::Empty;
    use wheel::ext::stream::{ChunksTimeout, IntervalStream, Throttle, Timeout, TimeoutRepeating};

    assert_is! {
        IntervalStream: Send & Sync & Unpin;
        Throttle<Empty<YY>>: Send & Sync & Unpin;
        Throttle<NN>: !Send & !Sync & Unpin;
        Throttle<PhantomPinned>: !Unpin;
        Timeout<Empty<YY>>: Send & Sync & Unpin;
        Timeout<YN>: Send & !Sync & Unpin;
        Timeout<PhantomPinned>: !Unpin;
        TimeoutRepeating<Empty<YY>>: Send & Sync & Unpin;
        TimeoutRepeating<PhantomPinned>: !Unpin;
        ChunksTimeout<Empty<YY>>: Send & Sync & Unpin;
    }
}

// README's promises for 64-bit machines.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<Sleep>() == 40);
    assert!(size_of::<Sleep>() < size_of::<tokio::time::Sleep>());
    assert!(size_of::<Timeout<[u64; 4]>>() <= 32 + 56);
    assert!(size_of::<Option<timing_wheel::Key>>() == 16);
    assert!(size_of::<Option<delay_queue::Key>>() == 16);
    assert!(size_of::<error::Elapsed>() == 0);
};

#[test]
fn auto_traits_and_sizes_are_as_promised() {
    // That this file compiles is the test.
}
