//! Kinds of runtimes; threads that drive them; how they end; and the cases that they make.

use support::prelude::*;

use tokio::runtime::Builder;
use tokio::task::JoinHandle;

use support::time::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Current,
    /// With a single worker.
    One,
    /// With two.
    Two,
}

pub(crate) use Kind::{Current, One, Two};

/// Those that have workers.
pub(crate) const MULTI: [Kind; 2] = [One, Two];

pub(crate) const KINDS: [Kind; 3] = [Current, One, Two];

/// All pairs of the two lists, as cases of a body.
pub(crate) fn cross<A: Copy, B: Copy>(
    some: impl IntoIterator<Item = A>,
    others: impl IntoIterator<Item = B> + Clone,
) -> Vec<(A, B)> {
    let with = |one| others.clone().into_iter().map(move |other| (one, other));
    some.into_iter().flat_map(with).collect()
}

pub(crate) fn cross3<A: Copy, B: Copy, C: Copy>(
    some: impl IntoIterator<Item = A>,
    others: impl IntoIterator<Item = B> + Clone,
    more: impl IntoIterator<Item = C> + Clone,
) -> Vec<(A, B, C)> {
    let all = cross(cross(some, others), more).into_iter();
    all.map(|((a, b), c)| (a, b, c)).collect()
}

impl Kind {
    pub(crate) fn builder(self) -> Builder {
        let mut builder = match self {
            Current => Builder::new_current_thread(),
            One => with_workers(1),
            Two => with_workers(2),
        };
        builder.enable_all();
        builder
    }

    pub(crate) fn build(self) -> Runtime {
        self.builder().build().unwrap()
    }

    /// Built and driven on a thread of its own, until [`Driven::end`].
    pub(crate) fn driven(self) -> Driven {
        let runtime = self.build();
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel::<()>();
        let thread = thread::spawn(move || drop(runtime.block_on(ended)));
        Driven {
            handle,
            end,
            thread,
        }
    }
}

/// A runtime that a thread drives.
pub(crate) struct Driven {
    pub(crate) handle: Handle,
    end: oneshot::Sender<()>,
    thread: thread::JoinHandle<()>,
}

impl Driven {
    /// Drops the runtime, and waits for that. Blocks, in any context.
    pub(crate) fn end(self) {
        drop(self.end);
        self.thread.join().unwrap();
    }
}

/// Drops a runtime where tokio forbids the drop, and waits for that.
pub(crate) fn end(runtime: Runtime) {
    thread::spawn(move || drop(runtime)).join().unwrap();
}

/// The value that a task returns, or the words of its panic.
pub(crate) async fn joined<R>(task: JoinHandle<R>) -> Result<R, String> {
    task.await.map_err(|error| match error.try_into_panic() {
        Ok(payload) => words(&*payload),
        Err(_) => "cancelled".to_owned(),
    })
}

/// Runs a future as a task of a runtime, which this thread drives meanwhile.
pub(crate) fn in_task<F>(runtime: &Runtime, future: F) -> Result<F::Output, String>
where
    F: Future<Output: Send> + Send + 'static,
{
    let task = runtime.spawn(future);
    runtime.block_on(joined(task))
}

/// Whether a clock that ticks in milliseconds goes on here.
pub(crate) async fn ticks<T: Time>() {
    T::sleep(ms(1)).await;
    T::timeout(ms(1), std::future::pending::<()>())
        .await
        .unwrap_err();
}
