//! Which shapes there are, and what all of them have in common.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Poll, Waker};
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::task::coop::unconstrained;
use tokio::task::yield_now;

use crate::window::{COUNTED, WARM_UP};
use crate::{crowds, fire, single};
use timers::{Timers as Side, arm, on_task};

/// A timer in a place of its own.
pub(crate) type Boxed<S> = Pin<Box<<S as Side>::Sleep>>;

/// How many timers are alive at once where many are, and how many tasks there are where each timer is another task's.
pub(crate) const MANY: usize = 64;

/// Plays the shape twice, and has only the second run counted. Returns how many operations that run consists of.
pub(crate) fn play<S: Side>(shape: &str, runtime: &Runtime) -> usize {
    let dropper = (shape == "elsewhere").then(|| crowds::Dropper::<S>::new(runtime));
    let shape = shape.to_owned();
    let task = runtime.spawn(unconstrained(async move {
        let wakers = wakers().await;
        let mut pending = pending::<S>();
        arm_all(&mut pending).await;
        settle::<S>().await;
        let mut operations = 0;
        for (round, window) in [&WARM_UP, &COUNTED].into_iter().enumerate() {
            operations = match shape.as_str() {
                "same" => single::same::<S>(window).await,
                "fresh" => single::fresh::<S>(window, &wakers),
                "ready" => single::ready::<S>(window).await,
                "repoll-own" => single::repoll_own::<S>(window, &mut pending).await,
                "repoll" => single::repoll::<S>(window, &mut pending).await,
                "reset" => single::reset::<S>(window, &mut pending, round).await,
                "crowd" => crowds::crowd::<S>(window, &wakers),
                "set" => crowds::set::<S>(window).await,
                "elsewhere" => crowds::elsewhere(window, dropper.as_ref()).await,
                "fire" => fire::fire::<S>(window).await,
                "alone" => fire::alone::<S>(window).await,
                _ => panic!("no shape is called {shape}"),
            };
        }
        operations
    }));
    runtime.block_on(task).expect("the shape panicked")
}

/// A waker of a task each.
async fn wakers() -> Vec<Waker> {
    let mut wakers = Vec::with_capacity(MANY);
    for _ in 0..MANY {
        let task = tokio::spawn(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
        wakers.push(task.await.expect("the task panicked"));
    }
    wakers
}

/// Timers that stay, as in a service. The first is due before every counted timer; otherwise each of those is the
/// earliest, and sets the runtime's alarm.
fn pending<S: Side>() -> Vec<Boxed<S>> {
    let early = Duration::from_secs(20);
    let late = |index| Duration::from_secs(3000 + 7 * index);
    let delays = std::iter::once(early).chain((0..MANY as u64).map(late));
    delays.map(|after| Box::pin(S::sleep(after))).collect()
}

async fn arm_all<S: Future<Output = ()>>(sleeps: &mut [Pin<Box<S>>]) {
    on_task(|cx| sleeps.iter_mut().for_each(|sleep| arm(sleep.as_mut(), cx))).await;
}

/// A few timers made in a task that yields, as tasks of a service do: a driver learns there whose worker runs the task.
pub(crate) async fn settle<S: Side>() {
    for _ in 0..20 {
        drop(S::sleep(Duration::from_millis(1)));
        yield_now().await;
    }
}

/// Half a minute and up to five seconds more: not in the order in which the timers are made.
#[inline(always)]
pub(crate) fn half_a_minute(index: usize) -> Duration {
    Duration::from_millis(30_000 + (37 * index as u64) % 5000)
}
