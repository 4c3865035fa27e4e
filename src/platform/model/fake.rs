//! The loom models' fake tokio, which consists of a clock and of an interval that fires when the model
//! decides, and their fake kernel, which consists of a descriptor that does the same.
//!
//! As in tokio, the interval's timer has its own lock. Its waker is taken out under that lock and woken
//! after the release, so it may be woken long after another thread has reset the interval. Also as in
//! tokio, resetting an interval to a time that the runtime has reached fires it immediately, on the
//! thread that resets it.
//!
//! A thread may act on a clock reading long after the clock has moved. Loom explores that, too, because
//! reading the clock and moving it are steps that depend on each other.

use std::cell::{Cell, OnceCell};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use loom::sync::Mutex;
use loom::sync::atomic::{AtomicUsize, Ordering};
use tokio::runtime::{self, Handle};
use tokio::time::{Instant, MissedTickBehavior};

use crate::build_error::BuildError;
use crate::platform::lock;

/// loom's `thread_local!`, with the syntax of the standard library's `const` blocks.
macro_rules! per_thread {
    ($(#[$doc:meta])* $vis:vis static $name:ident: $type:ty = const { $init:expr };) => {
        loom::thread_local! {
            $(#[$doc])*
            $vis static $name: $type = $init;
        }
    };
}
pub(crate) use per_thread as thread_local;

std::thread_local! {
    /// Shared by all threads of a model, because loom runs them on a single thread.
    static CLOCK: Cell<Instant> = Cell::new(Instant::now());
    /// The latest time that tokio has processed.
    static ELAPSED: Cell<Instant> = Cell::new(Instant::now());
    /// The time at which the threads of the model had been joined.
    static SETTLED: Cell<Option<Instant>> = const { Cell::new(None) };
    static RUNTIME: OnceCell<Handle> = const { OnceCell::new() };
}

loom::thread_local! {
    /// `true` on a thread of the runtime.
    static AT_HOME: Cell<bool> = Cell::new(false);
    static ELSEWHERE: Cell<bool> = Cell::new(false);
}

loom::lazy_static! {
    /// Makes uses of the clock depend on each other, because loom explores no other order of steps that
    /// do not.
    static ref MOVED: AtomicUsize = AtomicUsize::new(0);
}

pub(crate) fn is_traced(_: &Waker) -> bool {
    false
}

pub(crate) fn now() -> Instant {
    MOVED.load(Ordering::Relaxed);
    clock()
}

pub(crate) fn clock() -> Instant {
    CLOCK.get()
}

/// Moves the clock forward.
pub(crate) fn advance_to(now: Instant) {
    MOVED.store(0, Ordering::Relaxed);
    CLOCK.set(now.max(clock()));
}

/// Notes that the model's threads have been joined. From now on, every timer must be on time.
pub(crate) fn settle() {
    SETTLED.set(SETTLED.get().or(Some(clock())));
}

pub(crate) fn settled() -> Option<Instant> {
    SETTLED.get()
}

/// Resets the clock. Every run of a model begins with this, while the runtime is made only once.
pub(crate) fn start(now: Instant) {
    CLOCK.set(now);
    ELAPSED.set(now - Duration::from_nanos(1));
    SETTLED.set(None);
    enter();
}

/// Makes the models' runtime, if there is none yet.
pub(crate) fn make_runtime() {
    RUNTIME.with(|runtime| runtime.get_or_init(new_runtime).clone());
}

fn new_runtime() -> Handle {
    let runtime = runtime::Builder::new_current_thread().build().unwrap();
    runtime.handle().clone()
}

pub(crate) fn runtime() -> Handle {
    RUNTIME.with(|runtime| runtime.get().cloned().expect("`make_runtime` comes first"))
}

/// Makes this thread a thread of the runtime.
pub(crate) fn enter() {
    AT_HOME.with(|at_home| at_home.set(true));
}

pub(crate) fn is_at_home() -> bool {
    AT_HOME.with(Cell::get)
}

pub(crate) fn now_if_current(_: &Handle) -> Option<Instant> {
    Some(now())
}

pub(crate) fn now_in(_: &Handle) -> Option<Instant> {
    Some(now())
}

pub(crate) fn worker_index() -> Option<usize> {
    None
}

/// Returns `true` if this thread is the worker of the shard. In a model, every thread is the worker of
/// all shards in use, unless the model has sent it [elsewhere](go_elsewhere). (A busy shard queues even
/// its own worker's cancels.)
pub(crate) fn is_own_home<S>(_shard: &S) -> bool {
    !ELSEWHERE.with(Cell::get)
}

/// Makes this thread a thread that is no shard's worker.
pub(crate) fn go_elsewhere() {
    ELSEWHERE.with(|elsewhere| elsewhere.set(true));
}

pub(crate) fn interval(_: Duration) -> Interval {
    Interval(Arc::new(Mutex::new(Entry {
        at: ELAPSED.get(),
        waker: None,
    })))
}

/// The driver's side of the interval.
pub(crate) struct Interval(Arc<Mutex<Entry>>);

struct Entry {
    at: Instant,
    /// The waker of the task that waits for the interval.
    waker: Option<Waker>,
}

impl Entry {
    fn is_due(&self) -> bool {
        self.at <= ELAPSED.get()
    }

    fn take_due(&mut self) -> Option<Waker> {
        if self.is_due() {
            self.waker.take()
        } else {
            None
        }
    }
}

impl Interval {
    pub(crate) fn set_missed_tick_behavior(&mut self, _: MissedTickBehavior) {}

    pub(crate) fn reset_at(&mut self, at: Instant) {
        let mut entry = lock(&self.0);
        entry.at = at;
        let due = entry.take_due();
        drop(entry);
        if let Some(waker) = due {
            waker.wake();
        }
    }

    pub(crate) fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        let mut entry = lock(&self.0);
        if entry.is_due() {
            entry.waker = None;
            return Poll::Ready(entry.at);
        }
        entry.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// The runtime's side of the interval.
    pub(crate) fn time(&self) -> TimeDriver {
        TimeDriver(self.0.clone())
    }
}

impl Drop for Interval {
    fn drop(&mut self) {
        lock(&self.0).waker = None;
    }
}

/// The driver's probe, which is ready once tokio has processed its deadline. It wakes nothing.
pub(crate) struct Sleep(Instant);

pub(crate) fn sleep(_: Duration) -> Sleep {
    Sleep(ELAPSED.get())
}

impl Sleep {
    pub(crate) fn reset(mut self: Pin<&mut Self>, at: Instant) {
        self.0 = at;
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        match self.0 <= ELAPSED.get() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

/// The runtime's side of the interval.
#[derive(Clone)]
pub(crate) struct TimeDriver(Arc<Mutex<Entry>>);

impl TimeDriver {
    /// Returns when the interval fires, or `None` if no waker is registered.
    pub(crate) fn at(&self) -> Option<Instant> {
        let entry = lock(&self.0);
        entry.waker.is_some().then_some(entry.at)
    }

    /// Does what tokio does when it polls its time driver: fires the interval if it is due. Returns `true`
    /// if it fired.
    pub(crate) fn poll(&self) -> bool {
        self.poll_at(clock())
    }

    /// Moves the clock to `now`, under the interval's lock, and then fires the interval if it is due.
    /// Other threads may act before that.
    pub(crate) fn poll_at(&self, now: Instant) -> bool {
        let mut entry = lock(&self.0);
        advance_to(now);
        ELAPSED.set(clock());
        let due = entry.take_due();
        drop(entry);
        let fires = due.is_some();
        if let Some(waker) = due {
            waker.wake();
        }
        fires
    }

    /// Fires the interval before its time, if a waker is registered.
    pub(crate) fn fire_early(&self) {
        let mut entry = lock(&self.0);
        let waker = entry.waker.take();
        drop(entry);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Returns the waker of the alarm, which a model may wake at any time.
    pub(crate) fn waker(&self) -> Waker {
        let entry = lock(&self.0);
        entry.waker.clone().expect("the alarm is not armed")
    }
}

/// The driver's side of a descriptor. The kernel's part and tokio's part have separate locks, so the
/// waker may be woken long after the descriptor has been set again.
pub(crate) struct Descriptor {
    /// When the descriptor expires.
    at: Arc<Mutex<Option<Instant>>>,
    /// The waker that tokio wakes when the descriptor expires.
    waker: Arc<Mutex<Option<Waker>>>,
}

impl Descriptor {
    pub(crate) fn open() -> Result<Self, BuildError> {
        Ok(Descriptor {
            at: Arc::new(Mutex::new(None)),
            waker: Arc::new(Mutex::new(None)),
        })
    }

    pub(crate) fn set(&mut self, at: Instant, waker: &Waker) -> bool {
        *lock(&self.waker) = Some(waker.clone());
        let mut set = lock(&self.at);
        *set = Some(at.max(now() + Duration::from_nanos(1)));
        true
    }

    /// The runtime's side of the descriptor.
    pub(crate) fn io(&self) -> IoDriver {
        IoDriver(self.at.clone(), self.waker.clone())
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        *lock(&self.waker) = None;
    }
}

/// The runtime's side of a descriptor.
#[derive(Clone)]
pub(crate) struct IoDriver(Arc<Mutex<Option<Instant>>>, Arc<Mutex<Option<Waker>>>);

impl IoDriver {
    /// Returns when the descriptor fires, or `None` if no waker is registered or no time is set.
    pub(crate) fn at(&self) -> Option<Instant> {
        let at = *lock(&self.0);
        let waits = lock(&self.1).is_some();
        at.filter(|_| waits)
    }

    /// Does what tokio does when it polls its I/O driver at this time: reads the kernel's part, and then
    /// wakes the waker that is registered by then. Returns `true` if the descriptor had expired.
    pub(crate) fn poll_at(&self, now: Instant) -> bool {
        let mut at = lock(&self.0);
        advance_to(now);
        let expired = at.is_some_and(|at| at <= clock());
        if expired {
            *at = None;
        }
        drop(at);
        if expired {
            let waker = lock(&self.1).take();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
        expired
    }
}
