//! The kinds of runtimes, the threads that drive them, how they end, and lists of cases.

use support::prelude::*;

use std::ops::Deref;

use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Current,
    /// A `LocalRuntime`, which stays on its thread.
    Local,
    /// With a single worker.
    One,
    /// With two workers.
    Two,
}

pub(crate) use Kind::{Current, Local, One, Two};

/// The kinds that have workers.
pub(crate) const MULTI: [Kind; 2] = [One, Two];

/// The kinds that can be moved to another thread.
pub(crate) const MOVABLE: [Kind; 3] = [Current, One, Two];

pub(crate) const KINDS: [Kind; 4] = [Current, Local, One, Two];

/// Returns all pairs of the two lists, as cases of a body.
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
        with_workers(match self {
            Current | Local => 0,
            One => 1,
            Two => 2,
        })
    }

    pub(crate) fn build(self) -> Built {
        self.built(&mut self.builder())
    }

    pub(crate) fn built(self, builder: &mut Builder) -> Built {
        match self {
            Local => Built::Local(builder.build_local(LocalOptions::default()).unwrap()),
            _ => Built::Movable(builder.build().unwrap()),
        }
    }

    /// Builds the runtime on a thread of its own, which drives it until [`Driven::end`].
    pub(crate) fn driven(self) -> Driven {
        let (send, handle) = mpsc::channel();
        let (end, ended) = oneshot::channel::<()>();
        let thread = thread::spawn(move || {
            let runtime = self.build();
            send.send(runtime.handle().clone()).unwrap();
            drop(runtime.block_on(ended));
        });
        Driven {
            handle: handle.recv().unwrap(),
            end,
            thread,
        }
    }
}

/// A runtime of any kind, which this thread drives. Everything else is done through its handle.
pub(crate) enum Built {
    Movable(Runtime),
    Local(LocalRuntime),
}

impl Built {
    pub(crate) fn handle(&self) -> &Handle {
        self
    }

    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        match self {
            Built::Movable(runtime) => runtime.block_on(future),
            Built::Local(runtime) => runtime.block_on(future),
        }
    }

    pub(crate) fn end(self, end: End) {
        match (self, end) {
            (Built::Movable(runtime), end) => end.of(runtime),
            (Built::Local(runtime), End::Drop) => drop(runtime),
            (Built::Local(runtime), End::Background) => runtime.shutdown_background(),
            (Built::Local(runtime), End::Timeout(limit)) => runtime.shutdown_timeout(limit),
        }
    }
}

impl Deref for Built {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        match self {
            Built::Movable(runtime) => runtime.handle(),
            Built::Local(runtime) => runtime.handle(),
        }
    }
}

/// A runtime that another thread drives.
pub(crate) struct Driven {
    pub(crate) handle: Handle,
    end: oneshot::Sender<()>,
    thread: thread::JoinHandle<()>,
}

impl Driven {
    /// Drops the runtime and waits until that is done. Blocks in any context.
    pub(crate) fn end(self) {
        drop(self.end);
        self.thread.join().unwrap();
    }
}

/// Drops a runtime in a context in which Tokio forbids that, and waits until it is done.
pub(crate) fn end(runtime: Runtime) {
    thread::spawn(move || drop(runtime)).join().unwrap();
}

/// Returns the value of a task, or the message of its panic.
pub(crate) async fn joined<R>(task: JoinHandle<R>) -> Result<R, String> {
    task.await.map_err(|error| match error.try_into_panic() {
        Ok(payload) => words(&*payload),
        Err(_) => "cancelled".to_owned(),
    })
}

/// Runs a future as a task of a runtime, and drives the runtime meanwhile. A `LocalRuntime` runs it as a local task.
pub(crate) fn in_task<F>(runtime: &Built, future: F) -> Result<F::Output, String>
where
    F: Future<Output: Send> + Send + 'static,
{
    let task = match runtime {
        Built::Movable(runtime) => runtime.spawn(future),
        Built::Local(runtime) => runtime.spawn_local(future),
    };
    runtime.block_on(joined(task))
}

/// Waits for a sleep and a timeout of a millisecond, which shows that timers fire here.
pub(crate) async fn ticks<T: Time>() {
    T::sleep(ms(1)).await;
    T::timeout(ms(1), std::future::pending::<()>())
        .await
        .unwrap_err();
}
