//! Shapes with many timers alive at once.

use std::pin::Pin;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Waker};

use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::shapes::{MANY, half_a_minute, settle};
use crate::window::Window;
use timers::{Timers as Side, arm, on_task};

/// So many rounds of [`MANY`].
const ROUNDS: usize = 2;

/// Where a timer is made and dropped; the place stays.
type Place<S> = Pin<Box<Option<<S as Side>::Sleep>>>;

/// Many tasks arm, then all cancel. An operation is a pair of both.
pub(crate) fn crowd<S: Side>(window: &Window, wakers: &[Waker]) -> usize {
    let mut crowd: Vec<Place<S>> = wakers.iter().map(|_| Box::pin(None)).collect();
    for _ in 0..ROUNDS {
        for (index, (place, waker)) in crowd.iter_mut().zip(wakers).enumerate() {
            let cx = &mut Context::from_waker(waker);
            arm_in::<S>(window, place.as_mut(), index, cx);
        }
        for place in &mut crowd {
            window.around(|| place.set(None));
        }
    }
    ROUNDS * wakers.len()
}

#[inline(always)]
fn arm_in<S: Side>(
    window: &Window,
    mut place: Pin<&mut Option<S::Sleep>>,
    index: usize,
    cx: &mut Context<'_>,
) {
    let after = half_a_minute(index);
    window.around(|| {
        place.set(Some(S::sleep(after)));
        arm(place.as_mut().as_pin_mut().expect("a timer"), cx);
    });
}

/// Many calls, each under a timeout, in a `FuturesUnordered`; then all are answered. An operation is a call and its answer.
pub(crate) async fn set<S: Side>(window: &Window) -> usize {
    for _ in 0..ROUNDS {
        on_task(|cx| call_and_answer::<S>(window, cx)).await;
    }
    ROUNDS * MANY
}

fn call_and_answer<S: Side>(window: &Window, cx: &mut Context<'_>) {
    let mut places: Vec<_> = (0..MANY).map(|_| Box::pin(None)).collect();
    let mut calls = FuturesUnordered::new();
    let mut answers = Vec::with_capacity(MANY);
    for (index, place) in places.iter_mut().enumerate() {
        let (answer, answered) = oneshot::channel::<()>();
        answers.push(answer);
        let after = half_a_minute(index);
        window.around(|| {
            place.set(Some(S::timeout(after, answered).map(Result::ok)));
            calls.push(Call(place.as_mut()));
            assert!(calls.poll_next_unpin(cx).is_pending(), "an answer too many");
        });
    }
    for answer in answers {
        answer.send(()).expect("a call");
        window.around(|| {
            let answered = calls.poll_next_unpin(cx);
            assert!(answered.is_ready(), "an answer too few");
        });
    }
}

/// A call in a place outside of the set. The set's own allocations are then of one size, whatever the size of a timer, and
/// cost all sides the same.
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

/// Timers armed here and dropped on another worker.
pub(crate) async fn elsewhere<S: Side>(
    window: &'static Window,
    dropper: Option<&Dropper<S>>,
) -> usize {
    let dropper = dropper.expect("another worker");
    let mut batch: Vec<_> = (0..MANY / 2).map(|_| Box::pin(None)).collect();
    for _ in 0..2 * ROUNDS {
        on_task(|cx| {
            for (index, place) in batch.iter_mut().enumerate() {
                arm_in::<S>(window, place.as_mut(), index, cx);
            }
        })
        .await;
        batch = dropper.drop_all(window, batch);
    }
    2 * ROUNDS * batch.len()
}

/// A task that keeps its worker for itself, and drops there.
pub(crate) struct Dropper<S: Side> {
    batches: Sender<(&'static Window, Vec<Place<S>>)>,
    dropped: Mutex<Receiver<Vec<Place<S>>>>,
}

impl<S: Side> Dropper<S> {
    pub(crate) fn new(runtime: &Runtime) -> Self {
        let (batches, receiver) = channel::<(&'static Window, Vec<Place<S>>)>();
        let (done, dropped) = channel();
        runtime.spawn(async move {
            settle::<S>().await;
            done.send(Vec::new()).expect("a dropper");
            for (window, mut batch) in receiver {
                for place in &mut batch {
                    window.around(|| place.set(None));
                }
                done.send(batch).expect("a dropper");
            }
        });
        // From here on the task keeps its worker.
        dropped.recv().expect("the task panicked");
        let dropped = Mutex::new(dropped);
        Self { batches, dropped }
    }

    /// Returns the places, which are empty then.
    fn drop_all(&self, window: &'static Window, batch: Vec<Place<S>>) -> Vec<Place<S>> {
        self.batches
            .send((window, batch))
            .expect("the task panicked");
        let dropped = self.dropped.lock().expect("one thread waits");
        dropped.recv().expect("the task panicked")
    }
}
