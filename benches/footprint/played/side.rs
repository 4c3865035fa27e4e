//! Whose timers the shapes use, or none.

use std::future::{Future, Pending, pending};
use std::hint::black_box;
use std::pin::Pin;
use std::time::Duration;

use tokio::time::Instant;

pub(crate) trait Side: 'static {
    /// Whether the timers ever fire.
    const FIRES: bool = true;

    type Sleep: Future<Output = ()> + Send + 'static;

    fn sleep(after: Duration) -> Self::Sleep;

    fn reset(sleep: Pin<&mut Self::Sleep>, at: Instant);

    fn timeout<F>(after: Duration, future: F) -> impl Future<Output = Option<F::Output>> + Send
    where
        F: Future<Output: Send> + Send;
}

/// What is the same for all modules with the API of `tokio::time`.
macro_rules! as_in_tokio {
    ($side:ident, $($time:ident)::+) => {
        pub(crate) enum $side {}

        impl Side for $side {
            type Sleep = $($time)::+::Sleep;

            #[inline]
            fn sleep(after: Duration) -> Self::Sleep {
                $($time)::+::sleep(after)
            }

            #[inline]
            fn reset(sleep: Pin<&mut Self::Sleep>, at: Instant) {
                sleep.reset(at);
            }

            #[inline]
            fn timeout<F>(after: Duration, future: F) -> impl Future<Output = Option<F::Output>> + Send
            where
                F: Future<Output: Send> + Send,
            {
                futures::FutureExt::map($($time)::+::timeout(after, future), Result::ok)
            }
        }
    };
}

as_in_tokio!(Tokio, tokio::time);
as_in_tokio!(Wheel, wheel);

/// No timer: the bench takes the counts of this side off those of the others. Reads the clock where a timer is made, since
/// every timer with a relative deadline has to.
pub(crate) enum Bare {}

impl Side for Bare {
    const FIRES: bool = false;

    type Sleep = Pending<()>;

    #[inline]
    fn sleep(_: Duration) -> Self::Sleep {
        read_clock();
        pending()
    }

    #[inline]
    fn reset(_: Pin<&mut Self::Sleep>, _: Instant) {}

    #[inline]
    fn timeout<F>(_: Duration, future: F) -> impl Future<Output = Option<F::Output>> + Send
    where
        F: Future<Output: Send> + Send,
    {
        read_clock();
        futures::FutureExt::map(future, Some)
    }
}

/// Out of line: what the bench takes off all sides must not depend on what the compiler inlines elsewhere.
#[inline(never)]
fn read_clock() {
    black_box(Instant::now());
}
