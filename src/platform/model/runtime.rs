//! The fake tokio's runtimes: workers, tasks, and which runtime a thread is in.
//!
//! A runtime has no threads of its own. A thread of the test becomes a worker as long as it likes, with
//! any index that is free, and then polls a task or the drivers at each [`turn`](Handle::turn). As in
//! tokio, a thread that is inside [`block_in_place`] is no worker, and another may have its index
//! when it comes back; and only one worker at a time polls the drivers.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Wake, Waker};

use tokio::time::Instant;

use super::fake::{self, Fault, IoDriver, TimeDriver, dice, fault};
use super::{thread_local, yield_now};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuntimeFlavor {
    CurrentThread,
    MultiThread,
}

#[derive(Debug)]
pub struct TryCurrentError;

/// A runtime.
#[derive(Clone)]
pub struct Handle(Arc<Runtime>);

struct Runtime {
    id: Id,
    flavor: RuntimeFlavor,
    workers: usize,
    time: TimeDriver,
    /// Locked for moments in which no thread can be preempted.
    state: Mutex<State>,
    /// Whether a worker is polling the drivers.
    is_polled: AtomicBool,
}

#[derive(Default)]
struct State {
    /// The indexes that no thread has.
    free: Vec<usize>,
    queue: VecDeque<Arc<Task>>,
    tasks: Vec<Arc<Task>>,
    io: Option<IoDriver>,
    is_closed: bool,
}

type BoxFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Task {
    runtime: Handle,
    future: Mutex<Stage>,
    is_queued: AtomicBool,
}

enum Stage {
    Waits(BoxFuture),
    Runs,
    Ended,
}

/// Where a thread is.
#[derive(Clone, Default)]
struct Context {
    handle: Option<Handle>,
    /// The runtime whose worker this thread is, and its index.
    worker: Option<(Handle, usize)>,
    /// Whether the thread still has that index for itself.
    has_core: bool,
    /// Whether the thread is inside [`block_in_place`].
    is_blocking: bool,
    /// Whether tokio has borrowed the current handle.
    is_lent: bool,
}

thread_local! {
    static CONTEXT: RefCell<Context> = const { RefCell::new(Context {
        handle: None,
        worker: None,
        has_core: false,
        is_blocking: false,
        is_lent: false,
    }) };
}

fn context<R>(f: impl FnOnce(&mut Context) -> R) -> Option<R> {
    CONTEXT
        .try_with(|context| f(&mut context.borrow_mut()))
        .ok()
}

/// Runs `f` in a changed context, which ends even if `f` panics.
fn within<R>(change: impl FnOnce(&mut Context), f: impl FnOnce() -> R) -> R {
    struct Restores(Option<Context>);
    impl Drop for Restores {
        fn drop(&mut self) {
            let before = self.0.take().unwrap_or_default();
            let inner = context(|context| std::mem::replace(context, before));
            drop(inner);
        }
    }
    let before = context(|context| context.clone());
    let _restores = Restores(before);
    context(change);
    f()
}

pub(crate) fn worker_index() -> Option<usize> {
    let index = context(|it| {
        it.worker
            .as_ref()
            .filter(|_| !it.is_blocking)
            .map(|it| it.1)
    });
    index.flatten()
}

/// Returns the runtime that a timer made here belongs to: the current one. Returns `None` on a worker that
/// has entered another runtime, because the worker's index and what the thread knows decide there.
pub(crate) fn owner() -> Option<Handle> {
    let here = Handle::try_current().ok()?;
    let is_clear = context(|it| {
        let worker = it.worker.as_ref().filter(|_| !it.is_blocking);
        worker.is_none_or(|it| it.0.id() == here.id())
    });
    is_clear?.then_some(here)
}

pub(crate) fn now_if_current(runtime: Id) -> Option<Instant> {
    let here = Handle::try_current().ok()?;
    (here.id() == runtime).then(fake::now)
}

pub(crate) fn now_in(runtime: &Handle) -> Option<Instant> {
    let is_lent = context(|it| it.is_lent)?;
    (!is_lent).then(|| runtime.time().now().to_instant())
}

/// Lets another thread take this worker's index while `f` runs, and takes it back if it is free.
pub(crate) fn block_in_place(f: impl FnOnce()) {
    let worker = context(|it| {
        it.worker
            .clone()
            .filter(|_| std::mem::take(&mut it.has_core))
    });
    let Some((runtime, index)) = worker.flatten() else {
        return f();
    };
    lock(&runtime.0.state).free.push(index);
    within(|it| it.is_blocking = true, f);
    let has_core = runtime.take_index(Some(index)).is_some();
    context(|it| it.has_core = has_core);
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What the driver calls.
impl Handle {
    pub(crate) fn current() -> Self {
        Handle::try_current().expect("there is no current runtime")
    }

    pub(crate) fn try_current() -> Result<Self, TryCurrentError> {
        context(|it| it.handle.clone())
            .flatten()
            .ok_or(TryCurrentError)
    }

    pub(crate) fn id(&self) -> Id {
        self.0.id
    }

    pub(crate) fn runtime_flavor(&self) -> RuntimeFlavor {
        self.0.flavor
    }

    pub(crate) fn metrics(&self) -> &Self {
        self
    }

    pub(crate) fn num_workers(&self) -> usize {
        self.0.workers
    }

    /// Spawns a task. A runtime that has ended drops it here.
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Id {
        let task = Arc::new(Task {
            runtime: self.clone(),
            future: Mutex::new(Stage::Waits(Box::pin(future))),
            is_queued: AtomicBool::new(true),
        });
        within(
            |it| it.is_lent = true,
            || {
                let mut state = lock(&self.0.state);
                if state.is_closed {
                    drop(state);
                    return task.end();
                }
                state.tasks.push(Arc::clone(&task));
                drop(state);
                if fault(Fault::Hook) {
                    resume_unwind(Box::new("a hook"));
                }
                lock(&self.0.state).queue.push_back(task);
            },
        );
        self.id()
    }
}

/// What the test does with a runtime.
impl Handle {
    pub(crate) fn new(flavor: RuntimeFlavor, workers: usize, id: u64) -> Self {
        let free = (0..workers).collect();
        Handle(Arc::new(Runtime {
            id: Id(id),
            flavor,
            workers,
            time: TimeDriver::new(),
            state: Mutex::new(State {
                free,
                ..State::default()
            }),
            is_polled: AtomicBool::new(false),
        }))
    }

    pub(crate) fn time(&self) -> &TimeDriver {
        &self.0.time
    }

    pub(super) fn set_io(&self, io: IoDriver) {
        lock(&self.0.state).io = Some(io);
    }

    pub(crate) fn io(&self) -> Option<IoDriver> {
        lock(&self.0.state).io.clone()
    }

    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.0.state).is_closed
    }

    /// Returns the number of tasks that have not ended.
    pub(crate) fn tasks(&self) -> usize {
        lock(&self.0.state).tasks.len()
    }

    /// Returns the number of references to the runtime, without those of tasks that it has itself.
    pub(crate) fn references(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    /// Runs `f` inside the runtime, on a thread that is no worker of it.
    pub(crate) fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        within(|it| it.handle = Some(self.clone()), f)
    }

    /// Runs `f` on a worker of the runtime. Returns `false` if each worker has a thread, or if the runtime
    /// has ended.
    pub(crate) fn work(&self, f: impl FnOnce()) -> bool {
        let Some(index) = self.take_index(None) else {
            return false;
        };
        let worker = Context {
            handle: Some(self.clone()),
            worker: Some((self.clone(), index)),
            has_core: true,
            ..Context::default()
        };
        within(
            |it| *it = worker,
            || {
                f();
                if context(|it| it.has_core) == Some(true) {
                    lock(&self.0.state).free.push(index);
                }
            },
        );
        true
    }

    /// Takes this index, or any, if it is free.
    fn take_index(&self, index: Option<usize>) -> Option<usize> {
        let mut state = lock(&self.0.state);
        let any = dice(self.0.workers as u64) as usize;
        let is_wanted = |at: &usize| index.is_none_or(|it| state.free[*at] == it);
        let mut places = (0..state.free.len())
            .cycle()
            .skip(any)
            .take(state.free.len());
        let at = places.find(is_wanted).filter(|_| !state.is_closed)?;
        Some(state.free.swap_remove(at))
    }

    /// Polls a task, or the drivers, on a worker. Returns `false` if there is nothing to do, or if this
    /// thread has lost its index.
    pub(crate) fn turn(&self) -> bool {
        if context(|it| it.has_core) != Some(true) || self.is_closed() {
            return false;
        }
        let task = match dice(3) {
            0 => None,
            _ => lock(&self.0.state).queue.pop_front(),
        };
        match task {
            Some(task) => {
                task.run();
                true
            }
            None => self.poll_drivers(),
        }
    }

    /// Polls the drivers, unless another worker does. Returns `true` if a timer has fired.
    pub(crate) fn poll_drivers(&self) -> bool {
        if self.0.is_polled.swap(true, Ordering::SeqCst) {
            return false;
        }
        let fired = catch_unwind(AssertUnwindSafe(|| {
            let now = fake::clock();
            self.io().is_some_and(|io| io.poll_at(now)) | self.time().poll()
        }));
        self.0.is_polled.store(false, Ordering::SeqCst);
        if fired.is_err() && self.0.flavor == RuntimeFlavor::CurrentThread {
            // Nobody has its drivers any more.
            lock(&self.0.state).is_closed = true;
        }
        fired.unwrap_or(true)
    }

    /// Returns `true` if no task is ready.
    pub(crate) fn is_idle(&self) -> bool {
        let state = lock(&self.0.state);
        state.is_closed || state.queue.is_empty()
    }

    /// Ends the runtime: drops its tasks, and then ends its time driver once no thread is a worker.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.0.state);
        state.is_closed = true;
        let tasks = std::mem::take(&mut state.tasks);
        state.queue.clear();
        drop(state);
        self.enter(|| tasks.iter().for_each(|task| task.end()));
        while lock(&self.0.state).free.len() < self.0.workers {
            yield_now();
        }
        self.time().end();
    }
}

impl Task {
    fn run(self: Arc<Self>) {
        self.is_queued.store(false, Ordering::SeqCst);
        let stage = std::mem::replace(&mut *lock(&self.future), Stage::Runs);
        let mut future = match stage {
            Stage::Waits(future) => future,
            Stage::Runs => {
                // Another worker polls it, and it was woken meanwhile.
                self.wake();
                return yield_now();
            }
            Stage::Ended => {
                *lock(&self.future) = Stage::Ended;
                return;
            }
        };
        let waker = Waker::from(Arc::clone(&self));
        let mut context = TaskContext::from_waker(&waker);
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut context)));
        let ended = !polled.is_ok_and(|it| it.is_pending());
        if !ended && !self.runtime.is_closed() {
            *lock(&self.future) = Stage::Waits(future);
            return;
        }
        *lock(&self.future) = Stage::Ended;
        drop(future);
        lock(&self.runtime.0.state)
            .tasks
            .retain(|it| !Arc::ptr_eq(it, &self));
    }

    /// Drops the future, unless a worker is polling it, which then does that.
    fn end(&self) {
        let mut stage = lock(&self.future);
        let future = match std::mem::replace(&mut *stage, Stage::Ended) {
            Stage::Runs => std::mem::replace(&mut *stage, Stage::Runs),
            other => other,
        };
        drop(stage);
        drop(future);
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        if !self.is_queued.swap(true, Ordering::SeqCst) {
            let mut state = lock(&self.runtime.0.state);
            if !state.is_closed {
                let task = Arc::clone(&self);
                state.queue.push_back(task);
            }
        }
    }
}
