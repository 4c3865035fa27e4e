//! Shapes in which many timers exist at the same time.

use std::pin::Pin;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Waker};

use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::shared::{MANY, half_a_minute, settle};
use crate::window::Window;
use timers::{Timers, arm, on_task};

/// The number of rounds of [`MANY`] timers.
const ROUNDS: usize = 2;

/// A place in which a timer is created and dropped.
type Place<T> = Pin<Box<Option<<T as Timers>::Sleep>>>;

/// Many tasks arm, then all cancel. An operation is one of each.
pub(crate) fn crowd<T: Timers>(window: &Window, wakers: &[Waker]) -> usize {
    let mut crowd: Vec<Place<T>> = wakers.iter().map(|_| Box::pin(None)).collect();
    for _ in 0..ROUNDS {
        for (index, (place, waker)) in crowd.iter_mut().zip(wakers).enumerate() {
            let cx = &mut Context::from_waker(waker);
            arm_in::<T>(window, place.as_mut(), index, cx);
        }
        for place in &mut crowd {
            window.around(|| place.set(None));
        }
    }
    ROUNDS * wakers.len()
}

#[inline(always)]
fn arm_in<T: Timers>(
    window: &Window,
    mut place: Pin<&mut Option<T::Sleep>>,
    index: usize,
    cx: &mut Context<'_>,
) {
    let after = half_a_minute(index);
    window.around(|| {
        place.set(Some(T::sleep(after)));
        arm(place.as_mut().as_pin_mut().expect("a timer"), cx);
    });
}

/// Many calls, each under a timeout, in a `FuturesUnordered`; then all are answered. An operation is a call and its answer.
pub(crate) async fn set<T: Timers>(window: &Window) -> usize {
    for _ in 0..ROUNDS {
        on_task(|cx| call_and_answer::<T>(window, cx)).await;
    }
    ROUNDS * MANY
}

fn call_and_answer<T: Timers>(window: &Window, cx: &mut Context<'_>) {
    let mut places: Vec<_> = (0..MANY).map(|_| Box::pin(None)).collect();
    let mut calls = FuturesUnordered::new();
    let mut answers = Vec::with_capacity(MANY);
    for (index, place) in places.iter_mut().enumerate() {
        let (answer, answered) = oneshot::channel::<()>();
        answers.push(answer);
        let after = half_a_minute(index);
        window.around(|| {
            place.set(Some(T::timeout(after, answered).map(Result::ok)));
            calls.push(Call(place.as_mut()));
            assert!(
                calls.poll_next_unpin(cx).is_pending(),
                "a call was answered too early"
            );
        });
    }
    for answer in answers {
        answer.send(()).expect("a call");
        window.around(|| {
            let answered = calls.poll_next_unpin(cx);
            assert!(answered.is_ready(), "a call was not answered");
        });
    }
}

/// A call that is stored outside the set, so that the set allocates the same memory whatever the size of a timer.
struct Call<'a, F>(Pin<&'a mut Option<F>>);

impl<F: Future> Future for Call<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let call = self.0.as_mut().as_pin_mut().expect("a call");
        let answer = call.poll(cx);
        if answer.is_ready() {
            self.0.set(None);
        }
        answer
    }
}

/// Timers that are armed on one worker and dropped on another.
pub(crate) async fn elsewhere<T: Timers>(
    window: &'static Window,
    dropper: Option<&Dropper<T>>,
) -> usize {
    let dropper = dropper.expect("another worker");
    let mut batch: Vec<_> = (0..MANY / 2).map(|_| Box::pin(None)).collect();
    for _ in 0..2 * ROUNDS {
        on_task(|cx| {
            for (index, place) in batch.iter_mut().enumerate() {
                arm_in::<T>(window, place.as_mut(), index, cx);
            }
        })
        .await;
        batch = dropper.drop_all(window, batch);
    }
    2 * ROUNDS * batch.len()
}

/// A task that blocks its worker, and drops timers there.
pub(crate) struct Dropper<T: Timers> {
    batches: Sender<(&'static Window, Vec<Place<T>>)>,
    dropped: Mutex<Receiver<Vec<Place<T>>>>,
}

impl<T: Timers> Dropper<T> {
    pub(crate) fn new(runtime: &Runtime) -> Self {
        let (batches, receiver) = channel::<(&'static Window, Vec<Place<T>>)>();
        let (done, dropped) = channel();
        runtime.spawn(async move {
            settle::<T>().await;
            done.send(Vec::new()).expect("a dropper");
            for (window, mut batch) in receiver {
                for place in &mut batch {
                    window.around(|| place.set(None));
                }
                done.send(batch).expect("a dropper");
            }
        });
        // From now on the task keeps its worker.
        dropped.recv().expect("the task panicked");
        let dropped = Mutex::new(dropped);
        Self { batches, dropped }
    }

    /// Drops the timers and returns their empty places.
    fn drop_all(&self, window: &'static Window, batch: Vec<Place<T>>) -> Vec<Place<T>> {
        self.batches
            .send((window, batch))
            .expect("the task panicked");
        let dropped = self.dropped.lock().expect("one thread waits");
        dropped.recv().expect("the task panicked")
    }
}
