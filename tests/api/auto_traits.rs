//! The auto traits of every type and future are the same as in Tokio's own test `async_send_sync`, and sizes are as
//! promised. The compiler checks both, so no test has to run.
//!
//! `#![forbid(unsafe_code)]` in `src/lib.rs` checks that there is no `unsafe`.

use std::cell::Cell;
use std::future::Ready;
use std::hash::Hash;
use std::marker::PhantomPinned;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use wheel::ext::io::TimeoutStream;
use wheel::{Builder, DelayQueue, Handle as Timers, Interval, Sleep, Timeout, TimingWheel};
use wheel::{delay_queue, error, timing_wheel};

/// Takes lines such as `Send & !Unpin: Type, Type;`. Compiles only if every bound holds for each type of its line.
macro_rules! assert_are {
    ($($(! $lacks:ident)? $($has:ident)?)&+: $($type:ty),+; $($more:tt)*) => {
        assert_are!(@ ($($type),+) $(($(! $lacks)? $($has)?))+);
        assert_are!($($more)*);
    };
    () => {};
    (@ ($($type:ty),+)) => {};
    (@ ($($type:ty),+) (! $trait:ident) $($more:tt)*) => {
        $(const _: fn() = || {
            // If the type has the trait, the compiler cannot tell which of the two is meant.
            trait Ambiguous<A> {
                fn here() {}
            }
            impl<T: ?Sized> Ambiguous<()> for T {}
            impl<T: ?Sized + $trait> Ambiguous<u8> for T {}
            let _ = <$type as Ambiguous<_>>::here;
        };)+
        assert_are!(@ ($($type),+) $($more)*);
    };
    (@ ($($type:ty),+) ($trait:ident) $($more:tt)*) => {
        $(const _: fn() = || {
            fn has<T: ?Sized + $trait>() {}
            has::<$type>();
        };)+
        assert_are!(@ ($($type),+) $($more)*);
    };
}

/// Checks the traits of a value, such as a future whose type has no name.
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

assert_are! {
    Send & Sync & Unpin: Sleep, Interval, Timers, wheel::BuildError, Timeout<Ready<YY>>, DelayQueue<YY>, TimeoutStream<YY>;
    Copy & Eq & Hash: error::Elapsed;
    ! PartialEq: wheel::MetricsSnapshot;
    Clone & Send & Sync & Unpin: wheel::Metrics, wheel::MetricsSnapshot;
    Send & Sync & Unpin & UnwindSafe & RefUnwindSafe: Builder, error::Elapsed, error::Error,
        TimingWheel<YY>, timing_wheel::Key, timing_wheel::Expired<YY>, timing_wheel::Progress,
        timing_wheel::Rescheduled<YY>, delay_queue::Key, delay_queue::Expired<YY>;
    Send & !Sync & Unpin: Timeout<YN>, TimingWheel<YN>, DelayQueue<YN>, TimeoutStream<YN>;
    !Send & !Sync & Unpin: Timeout<NN>, TimingWheel<NN>, DelayQueue<NN>, TimeoutStream<NN>;
    Send & Sync & !Unpin: Timeout<PhantomPinned>, TimeoutStream<PhantomPinned>;
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

    assert_are! {
        Send & Sync & Unpin: IntervalStream, Throttle<Empty<YY>>, Timeout<Empty<YY>>,
            TimeoutRepeating<Empty<YY>>, ChunksTimeout<Empty<YY>>;
        !Send & !Sync & Unpin: Throttle<NN>;
        Send & !Sync & Unpin: Timeout<YN>;
        !Unpin: Throttle<PhantomPinned>, Timeout<PhantomPinned>, TimeoutRepeating<PhantomPinned>;
    }
}

// README's promises for 64-bit machines.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<Sleep>() == if cfg!(feature = "tracing") { 56 } else { 48 });
    assert!(size_of::<Sleep>() < size_of::<tokio::time::Sleep>());
    assert!(size_of::<Timeout<[u64; 4]>>() <= 32 + 56);
    assert!(size_of::<Option<timing_wheel::Key>>() == 16);
    assert!(size_of::<Option<delay_queue::Key>>() == 16);
    assert!(size_of::<error::Elapsed>() == 0);
};
