//! Shapes with one timer at a time.

use std::future::{self, Future};
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Waker};
use std::time::Duration;

use futures::FutureExt as _;
use tokio::time::Instant;

use crate::shared::{Boxed, MANY, half_a_minute};
use crate::window::Window;
use timers::{Timers, arm, on_task};

const OPERATIONS: usize = 2 * MANY;

/// One task arms and cancels timers.
pub(crate) async fn same<T: Timers>(window: &Window) -> usize {
    on_task(|cx| (0..OPERATIONS).for_each(|index| arm_and_cancel::<T>(window, index, cx))).await;
    OPERATIONS
}

/// The same with another task's waker each time.
pub(crate) fn fresh<T: Timers>(window: &Window, wakers: &[Waker]) -> usize {
    for index in 0..OPERATIONS {
        let cx = &mut Context::from_waker(&wakers[index % wakers.len()]);
        arm_and_cancel::<T>(window, index, cx);
    }
    OPERATIONS
}

#[inline(always)]
fn arm_and_cancel<T: Timers>(window: &Window, index: usize, cx: &mut Context<'_>) {
    let after = half_a_minute(index);
    window.around(|| arm(pin!(T::sleep(after)), cx));
}

/// A timeout around a ready future, made by one of two functions.
pub(crate) async fn ready<F, E>(
    window: &Window,
    timeout: impl Fn(Duration, future::Ready<u64>) -> F,
) -> usize
where
    F: Future<Output = Result<u64, E>>,
{
    const AFTER: Duration = Duration::from_secs(30);
    let operation = |cx: &mut Context<'_>| {
        let mut timeout = pin!(timeout(AFTER, future::ready(black_box(1))).map(Result::ok));
        assert!(black_box(timeout.as_mut().poll(cx)).is_ready());
    };
    on_task(|cx| (0..OPERATIONS).for_each(|_| window.around(|| operation(cx)))).await;
    OPERATIONS
}

/// Polls a pending timer again.
pub(crate) async fn repoll<T: Timers>(window: &Window, pending: &mut [Boxed<T>]) -> usize {
    each(pending, |sleep, _, cx| window.around(|| arm(sleep, cx))).await
}

/// The same with a waker that belongs to no task. It replaces the task's waker in the run before the counted one.
pub(crate) async fn repoll_own<T: Timers>(window: &Window, pending: &mut [Boxed<T>]) -> usize {
    each(pending, |sleep, _, _| {
        window.around(|| arm(sleep, &mut Context::from_waker(Waker::noop())));
    })
    .await
}

/// Resets a pending timer to a later deadline, and polls it.
pub(crate) async fn reset<T: Timers>(
    window: &Window,
    pending: &mut [Boxed<T>],
    round: usize,
) -> usize {
    let later = Instant::now() + Duration::from_secs(4000 + round as u64);
    each(pending, |mut sleep, index, cx| {
        let at = later + Duration::from_micros(index as u64);
        window.around(|| {
            T::reset(sleep.as_mut(), at);
            arm(sleep, cx);
        });
    })
    .await
}

/// Applies `operation` to one pending timer after the other, except the first, which must stay the earliest.
async fn each<T: Future>(
    pending: &mut [Pin<Box<T>>],
    mut operation: impl FnMut(Pin<&mut T>, usize, &mut Context<'_>),
) -> usize {
    on_task(|cx| {
        for index in 0..OPERATIONS {
            operation(pending[1 + index % MANY].as_mut(), index, cx);
        }
    })
    .await;
    OPERATIONS
}
