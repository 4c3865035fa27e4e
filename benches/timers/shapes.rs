//! Small services whose tasks move: between arming and cancelling, workers steal them and other tasks wake them.
//!
//! The same tasks run with any implementation, including [`Bare`](crate::Bare), which has no timer.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::{Timers, arm, on_task};

/// What the tasks do, and how many there are.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Long-lived tasks, each with one timer after the other.
    Conns(usize),
    /// Pairs of tasks that call each other, with every wait under a timeout.
    Calls(usize),
}

impl Shape {
    /// Runs about `count` operations and returns how many.
    pub async fn play<T: Timers>(self, count: usize) -> u64 {
        match self {
            Self::Conns(tasks) => {
                let each = (count / tasks) as u64;
                all((0..tasks as u64).map(|seed| connection::<T>(seed, each))).await
            }
            Self::Calls(pairs) => {
                let each = (count / pairs) as u64;
                all((0..pairs as u64).map(|seed| pair::<T>(seed, each))).await
            }
        }
    }
}

/// Runs all futures as tasks, and adds up their results.
async fn all<F>(futures: impl Iterator<Item = F>) -> u64
where
    F: Future<Output = u64> + Send + 'static,
{
    let tasks: Vec<_> = futures.map(tokio::spawn).collect();
    let mut sum = 0;
    for task in tasks {
        sum += task.await.expect("a task panicked");
    }
    sum
}

async fn connection<T: Timers>(seed: u64, count: u64) -> u64 {
    for index in 0..count {
        arm_and_cancel::<T>(7 * seed + index).await;
    }
    count
}

/// Arms the timer, lets other tasks run while it is pending, and cancels it.
async fn arm_and_cancel<T: Timers>(seed: u64) {
    let mut sleep = pin!(T::sleep(half_a_minute(seed)));
    let mut armed = false;
    poll_fn(|cx| {
        if armed {
            return Poll::Ready(());
        }
        armed = true;
        arm(sleep.as_mut(), cx);
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// A client that makes `count` calls one after the other, and the server that answers them.
async fn pair<T: Timers>(seed: u64, count: u64) -> u64 {
    let (request, mut requests) = mpsc::channel::<u64>(4);
    let (answer, mut answers) = mpsc::channel::<u64>(4);
    let server = tokio::spawn(async move {
        let idle = Duration::from_millis(60_000 + seed);
        while let Some(number) = limited::<T, _>(idle, requests.recv()).await {
            answer.send(number + 1).await.expect("a client");
        }
    });
    for number in 0..count {
        request.send(number).await.expect("a server");
        let answer = limited::<T, _>(half_a_minute(seed + number), answers.recv()).await;
        assert_eq!(answer, Some(number + 1));
    }
    drop(request);
    server.await.expect("a server panicked");
    count
}

/// Returns what `future` returns. Its timeout is armed if `future` is pending at the second poll, too, and is never due.
async fn limited<T: Timers, F: Future>(after: Duration, future: F) -> F::Output {
    let mut future: Pin<&mut F> = pin!(future);
    if let Poll::Ready(output) = on_task(|cx| future.as_mut().poll(cx)).await {
        return output;
    }
    let mut limit = pin!(T::sleep(after));
    poll_fn(|cx| {
        let output = future.as_mut().poll(cx);
        if output.is_pending() {
            arm(limit.as_mut(), cx);
        }
        output
    })
    .await
}

/// Returns a duration of 30 to 31 seconds.
fn half_a_minute(seed: u64) -> Duration {
    Duration::from_millis(30_000 + seed % 1000)
}
