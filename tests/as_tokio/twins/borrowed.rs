//! Timers that foreign code uses while tokio spawns a task, and so holds its current handle borrowed.
//!
//! A runtime that is ending drops a new task inside `spawn`, and the destructor of that task's future
//! is foreign code. No runtime can be entered there. Whatever that code does to a timer, the timers
//! of all other runtimes fire.

use super::prelude::*;

use std::future::pending;

/// What the destructor of a task's clean-up does.
#[derive(Clone, Copy, Debug)]
enum Last {
    /// Drops a timer that is registered.
    Drop,
    /// Resets the timer first, to a later or an earlier deadline.
    PutOff,
    PutForward,
    /// Polls the timer first, with another waker.
    Poll,
    /// Makes another timer, and polls that.
    Make,
    /// Inserts into a `DelayQueue` that has been polled, an entry that is due first.
    Insert,
}

use Last::{Insert, Make, Poll, PutForward, PutOff};

const LASTS: [Last; 6] = [Last::Drop, PutOff, PutForward, Poll, Make, Insert];

/// A `DelayQueue` to which these timers belong.
trait Queues: Time {
    type Queue: Send + 'static;

    /// With an entry that is due in an hour; polled once, where a runtime is current.
    fn queue() -> Self::Queue;
    fn insert(queue: &mut Self::Queue);
}

macro_rules! queues {
    ($time:ty: $queue:ty) => {
        impl Queues for $time {
            type Queue = $queue;

            fn queue() -> $queue {
                let mut queue = <$queue>::new();
                queue.insert((), HOUR);
                let mut polls = std::future::poll_fn(|cx| queue.poll_expired(cx));
                assert!(poll_quietly(&mut polls).is_pending());
                queue
            }

            fn insert(queue: &mut $queue) {
                queue.insert((), ms(1));
            }
        }
    };
}

queues!(Tokio: tokio_util::time::DelayQueue<()>);
queues!(Ours: wheel::DelayQueue<()>);

struct CleanUp<T: Queues> {
    last: Last,
    sleep: Pin<Box<T::Sleep>>,
    queue: T::Queue,
}

impl<T: Queues> CleanUp<T> {
    /// Its timer is registered with the current runtime.
    fn new(last: Last) -> Self {
        let (mut sleep, queue) = (T::boxed(HOUR), T::queue());
        assert!(poll_quietly(&mut sleep).is_pending());
        CleanUp { last, sleep, queue }
    }
}

impl<T: Queues> Drop for CleanUp<T> {
    fn drop(&mut self) {
        match self.last {
            Last::Drop => {}
            PutOff => self.sleep.as_mut().reset(Instant::now() + 2 * HOUR),
            PutForward => self.sleep.as_mut().reset(Instant::now() + ms(1)),
            Poll => _ = poll_quietly(&mut self.sleep),
            Make => _ = poll_quietly(&mut T::boxed(ms(1))),
            Insert => T::insert(&mut self.queue),
        }
    }
}

/// Spawns its clean-up when dropped, as a connection does that says goodbye.
struct Connection<T: Queues>(Option<CleanUp<T>>);

impl<T: Queues> Drop for Connection<T> {
    fn drop(&mut self) {
        let clean_up = self.0.take();
        tokio::spawn(async move {
            let _clean_up = clean_up;
            pending::<()>().await;
        });
    }
}

/// A task of the runtime keeps a connection until the runtime ends. The task is older than the
/// runtime's first timer, so that the end drops the task before anything of the timers.
fn connect<T: Queues>(runtime: &Runtime, last: Last) {
    runtime.block_on(async move {
        tokio::spawn(async move {
            let _connection = Connection(Some(CleanUp::<T>::new(last)));
            pending::<()>().await;
        });
        tokio::task::yield_now().await;
        T::sleep(ms(2)).await;
    });
}

/// Timers of further runtimes fire. A driver that was left unusable would be given to one of them.
fn later<T: Time>() -> Vec<Result<(), String>> {
    let sleeps = |n: usize| {
        move || {
            KINDS[n % 3]
                .build()
                .block_on(async { T::sleep(ms(5)).await })
        }
    };
    (0..12)
        .map(|n| {
            let sleeps = move || tried(sleeps(n));
            match n % 2 {
                0 => sleeps(),
                _ => thread::spawn(sleeps).join().unwrap(),
            }
        })
        .collect()
}

/// Runtimes to end: of each kind, and on a paused clock.
const RUNTIMES: &[fn() -> Runtime] = &[
    || Current.build(),
    || One.build(),
    || Two.build(),
    #[cfg(feature = "test-util")]
    support::paused,
];

#[test]
fn a_task_spawns_its_clean_up_while_the_runtime_ends() {
    fn body<T: Queues>((runtime, last): (usize, Last)) -> Vec<Result<(), String>> {
        let runtime = RUNTIMES[runtime]();
        connect::<T>(&runtime, last);
        drop(runtime);
        later::<T>()
    }
    let cases = cross(0..RUNTIMES.len(), LASTS);
    same(cases, body::<Tokio>, body::<Ours>);
}

/// The timers belong to a runtime that lives.
#[test]
fn a_task_is_spawned_under_the_guard_of_a_runtime_that_has_ended() {
    fn body<T: Queues>((kind, last): (Kind, Last)) -> Vec<Result<(), String>> {
        let (here, ended) = (kind.build(), Current.build());
        let handle = ended.handle().clone();
        drop(ended);
        here.block_on(async {
            let clean_up = CleanUp::<T>::new(last);
            inside(&handle, || drop(Connection(Some(clean_up))));
            T::sleep(ms(2)).await;
        });
        drop(here);
        later::<T>()
    }
    same(cross(KINDS, LASTS), body::<Tokio>, body::<Ours>);
}
