//! The models' tokio: a clock, and an interval that fires when a model says so. And their kernel: a
//! descriptor that does.
//!
//! As in tokio, the interval's timer has a lock of its own; its waker is taken under that lock, and
//! woken after the release, so it may be woken long after another thread has set the interval
//! again. And as in tokio, an interval that is set to a time which the runtime has passed fires
//! immediately, on the thread that sets it.
//!
//! A thread may act on the clock long after a move, so loom explores that as well: reading the
//! clock and moving the clock are steps that depend on each other.

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
use crate::sync::lock;

/// loom's, which has no `const` blocks.
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
    /// All threads of a model run on a single thread.
    static CLOCK: Cell<Instant> = Cell::new(Instant::now());
    /// How far tokio has come.
    static ELAPSED: Cell<Instant> = Cell::new(Instant::now());
    /// When the race was over.
    static SETTLED: Cell<Option<Instant>> = const { Cell::new(None) };
    static RUNTIME: OnceCell<Handle> = const { OnceCell::new() };
}

loom::thread_local! {
    /// Whether this is a thread of the runtime.
    static AT_HOME: Cell<bool> = Cell::new(false);
    static ELSEWHERE: Cell<bool> = Cell::new(false);
}

loom::lazy_static! {
    /// For loom, which leaves out orders of steps that do not depend on each other.
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

/// The threads have been joined: from now on every timer is on time.
pub(crate) fn settle() {
    SETTLED.set(SETTLED.get().or(Some(clock())));
}

pub(crate) fn settled() -> Option<Instant> {
    SETTLED.get()
}

/// The beginning of every run of a model; the runtime is made once.
pub(crate) fn start(now: Instant) {
    CLOCK.set(now);
    ELAPSED.set(now - Duration::from_nanos(1));
    SETTLED.set(None);
    enter();
}

/// Makes the models' own runtime, if there is none yet.
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

/// From now on this is a thread of the runtime.
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

/// Every thread of a model is the worker of the shards in use, unless the model says that the
/// thread is [elsewhere](go_elsewhere). A shard that is busy queues its worker's cancels, too.
pub(crate) fn is_here<S>(_shard: S) -> bool {
    !ELSEWHERE.with(Cell::get)
}

/// From now on this thread is no shard's worker.
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
    /// Of the task that waits.
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
    pub(crate) fn bell(&self) -> Bell {
        Bell(self.0.clone())
    }
}

impl Drop for Interval {
    fn drop(&mut self) {
        lock(&self.0).waker = None;
    }
}

/// The driver's probe: ready once tokio has come to its deadline. Wakes nothing.
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
pub(crate) struct Bell(Arc<Mutex<Entry>>);

impl Bell {
    /// When the interval fires; `None` if no waker waits.
    pub(crate) fn at(&self) -> Option<Instant> {
        let entry = lock(&self.0);
        entry.waker.is_some().then_some(entry.at)
    }

    /// tokio polls its time driver: fires if due. `true` if so.
    pub(crate) fn poll(&self) -> bool {
        self.poll_at(clock())
    }

    /// The same at a later time. Other threads may act before: the clock moves under the lock.
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

    /// Rings before its time, if anybody waits.
    pub(crate) fn fire_early(&self) {
        let mut entry = lock(&self.0);
        let waker = entry.waker.take();
        drop(entry);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The waker of the alarm, to be kept and used at any time.
    pub(crate) fn rope(&self) -> Waker {
        let entry = lock(&self.0);
        entry.waker.clone().expect("the alarm is not armed")
    }
}

/// The driver's side of a descriptor: the kernel's part and tokio's part are behind locks of their
/// own, so that it may be woken long after the descriptor was set again.
pub(crate) struct Descriptor {
    /// When the descriptor expires.
    at: Arc<Mutex<Option<Instant>>>,
    /// The waker that tokio wakes then.
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
    pub(crate) fn chime(&self) -> Chime {
        Chime(self.at.clone(), self.waker.clone())
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        *lock(&self.waker) = None;
    }
}

/// The runtime's side of a descriptor.
#[derive(Clone)]
pub(crate) struct Chime(Arc<Mutex<Option<Instant>>>, Arc<Mutex<Option<Waker>>>);

impl Chime {
    /// When the descriptor fires; `None` if no waker waits, or nothing is set.
    pub(crate) fn at(&self) -> Option<Instant> {
        let at = *lock(&self.0);
        let waits = lock(&self.1).is_some();
        at.filter(|_| waits)
    }

    /// tokio polls its I/O driver at this time: reads the kernel's part, then wakes the waker that
    /// waits by then.
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
