//! The shapes by name, and the timers that are pending when they begin.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Poll, Waker};
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::task::coop::unconstrained;

use crate::shared::{Boxed, MANY, settle};
use crate::window::{COUNTED, WARM_UP};
use crate::{crowds, fire, single};
use timers::{Timers, arm, on_task};

/// Runs the shape twice, and counts only the second run. Returns the number of its operations.
pub(crate) fn play<T: Timers>(shape: &str, runtime: &Runtime) -> usize {
    let dropper = (shape == "elsewhere").then(|| crowds::Dropper::<T>::new(runtime));
    let shape = shape.to_owned();
    let task = runtime.spawn(unconstrained(async move {
        let wakers = wakers().await;
        let mut pending = pending::<T>();
        arm_all(&mut pending).await;
        settle::<T>().await;
        let mut operations = 0;
        for (round, window) in [&WARM_UP, &COUNTED].into_iter().enumerate() {
            operations = match shape.as_str() {
                "same" => single::same::<T>(window).await,
                "fresh" => single::fresh::<T>(window, &wakers),
                "ready" => single::ready(window, T::timeout).await,
                "ready-pending" => single::ready(window, T::timeout_if_pending).await,
                "repoll-own" => single::repoll_own::<T>(window, &mut pending).await,
                "repoll" => single::repoll::<T>(window, &mut pending).await,
                "reset" => single::reset::<T>(window, &mut pending, round).await,
                "crowd" => crowds::crowd::<T>(window, &wakers),
                "set" => crowds::set::<T>(window).await,
                "elsewhere" => crowds::elsewhere(window, dropper.as_ref()).await,
                "fire" => fire::fire::<T>(window).await,
                "alone" => fire::alone::<T>(window).await,
                _ => panic!("unknown shape: {shape}"),
            };
        }
        operations
    }));
    runtime.block_on(task).expect("the shape panicked")
}

/// Returns wakers of different tasks.
async fn wakers() -> Vec<Waker> {
    let mut wakers = Vec::with_capacity(MANY);
    for _ in 0..MANY {
        let task = tokio::spawn(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
        wakers.push(task.await.expect("the task panicked"));
    }
    wakers
}

/// Timers that stay pending, as in a service. The first is due before every counted timer, except in `fire` and
/// `alone`; otherwise each of those would be the earliest and re-arm the runtime's alarm.
fn pending<T: Timers>() -> Vec<Boxed<T>> {
    let early = Duration::from_secs(20);
    let late = |index| Duration::from_secs(3000 + 7 * index);
    let delays = std::iter::once(early).chain((0..MANY as u64).map(late));
    delays.map(|after| Box::pin(T::sleep(after))).collect()
}

async fn arm_all<T: Future<Output = ()>>(sleeps: &mut [Pin<Box<T>>]) {
    on_task(|cx| sleeps.iter_mut().for_each(|sleep| arm(sleep.as_mut(), cx))).await;
}
