//! The fake tokio's time: clocks, time drivers with intervals and sleeps that fire when the test decides,
//! and a fake kernel, which consists of descriptors that do the same.
//!
//! As in tokio, a time driver has its own lock. Wakers are taken out under that lock and woken after
//! the release, so one may be woken long after another thread has reset its timer. Also as in tokio,
//! resetting a timer to a time that the runtime has reached fires it immediately, on the thread that
//! resets it. If a waker panics, the rest of the wakers that were taken out with it is dropped.
//!
//! A thread may act on a clock reading long after the clock has moved. Loom explores that, too, because
//! reading the clock and moving it are steps that depend on each other.
//!
//! In the simulation, what may go wrong in tokio does so now and then: see [`Fault`].

use std::cell::Cell;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::Instant;

use super::checker::lazy_static;
use super::runtime::Handle;
use super::{AtomicUsize, MILLISECOND, Mutex, MutexGuard, Ordering};
use crate::build_error::BuildError;
use crate::clock::Tick;
use crate::platform::lock;

/// loom's `thread_local!`, with the syntax of the standard library's `const` blocks.
#[cfg(loom)]
macro_rules! per_thread {
    ($(#[$doc:meta])* $vis:vis static $name:ident: $type:ty = const { $init:expr };) => {
        loom::thread_local! {
            $(#[$doc])*
            $vis static $name: $type = $init;
        }
    };
}
#[cfg(loom)]
pub(crate) use per_thread as thread_local;

/// What goes wrong in tokio, or around it.
#[derive(Clone, Copy)]
pub(crate) enum Fault {
    /// A timer fires before its time.
    Early,
    /// A timer fires twice.
    Twice,
    /// A subscriber panics while a timer of tokio's is reset.
    Subscriber,
    /// A hook panics while a task is spawned.
    Hook,
}

std::thread_local! {
    /// Shared by all threads of a model, because the checkers run them on a single thread.
    static CLOCK: Cell<Tick> = const { Cell::new(Tick::ZERO) };
    /// The time at which the threads of the model had been joined.
    static SETTLED: Cell<Option<Tick>> = const { Cell::new(None) };
    /// The faults that occur, one bit each.
    static FAULTS: Cell<u64> = const { Cell::new(0) };
}

lazy_static! {
    /// Makes uses of the clock depend on each other, because loom explores no other order of steps that
    /// do not.
    static ref MOVED: AtomicUsize = AtomicUsize::new(0);
}

pub(crate) fn is_traced(_: &Waker) -> bool {
    false
}

/// Returns a random number below `sides`.
pub(crate) fn dice(sides: u64) -> u64 {
    #[cfg(shuttle)]
    return shuttle::rand::Rng::gen_range(&mut shuttle::rand::thread_rng(), 0..sides);
    #[cfg(loom)]
    return sides - sides;
}

/// Returns `true` if something goes wrong now.
pub(crate) fn fault(fault: Fault) -> bool {
    FAULTS.get() & 1 << fault as u64 != 0 && dice(4) == 0
}

/// Decides what may go wrong from now on.
pub(crate) fn set_faults(faults: u64) {
    FAULTS.set(faults);
}

pub(crate) fn thread_number() -> usize {
    #[cfg(shuttle)]
    return shuttle::current::me().into();
    #[cfg(loom)]
    return 0;
}

/// Returns the time by the clock of the current runtime.
pub(crate) fn now() -> Instant {
    match Handle::try_current() {
        Ok(here) => here.time().now().to_instant(),
        Err(_) => really_now(),
    }
}

pub(crate) fn really_now() -> Instant {
    MOVED.load(Ordering::Relaxed);
    clock().to_instant()
}

pub(crate) fn clock() -> Tick {
    CLOCK.get()
}

/// Moves the clock forward.
pub(crate) fn advance_to(now: Tick) {
    MOVED.store(0, Ordering::Relaxed);
    CLOCK.set(now.max(clock()));
}

/// Notes that the model's threads have been joined. From now on, every timer must be on time.
pub(crate) fn settle() {
    SETTLED.set(SETTLED.get().or(Some(clock())));
}

pub(crate) fn settled() -> Option<Tick> {
    SETTLED.get()
}

/// Resets the clock. Every run of a model begins with this.
pub(crate) fn start(now: Tick) {
    CLOCK.set(now);
    SETTLED.set(None);
    FAULTS.set(0);
}

#[cfg(loom)]
loom::thread_local! {
    static ELSEWHERE: Cell<bool> = Cell::new(false);
}

/// Returns `true` if this thread is the worker of the shard. In a loom model, every thread is the worker
/// of all shards, unless the model has sent it [elsewhere](go_elsewhere).
#[cfg(loom)]
pub(crate) fn is_own_home<S>(_shard: &S) -> bool {
    !ELSEWHERE.with(Cell::get)
}

/// Makes this thread a thread that is no shard's worker.
#[cfg(loom)]
pub(crate) fn go_elsewhere() {
    ELSEWHERE.with(|elsewhere| elsewhere.set(true));
}

/// A runtime's time driver, and its clock.
#[derive(Clone)]
pub(crate) struct TimeDriver(Arc<Time>);

struct Time {
    /// When the first of tokio's milliseconds began.
    start: Tick,
    /// How far the clock is behind the real one.
    behind: AtomicU64,
    /// What the clock shows while it is paused, or zero.
    paused: AtomicU64,
    /// The latest time that tokio has processed, the start of a millisecond.
    elapsed: AtomicU64,
    has_ended: AtomicBool,
    entries: Mutex<Vec<Option<Entry>>>,
}

/// A timer of tokio's.
struct Entry {
    at: Tick,
    /// The waker of the task that waits for it.
    waker: Option<Waker>,
}

type Entries<'a> = MutexGuard<'a, Vec<Option<Entry>>>;

impl TimeDriver {
    /// Creates the time driver of a runtime that is built now.
    pub(crate) fn new() -> Self {
        TimeDriver(Arc::new(Time {
            start: clock(),
            behind: AtomicU64::new(0),
            paused: AtomicU64::new(0),
            elapsed: AtomicU64::new(clock().0),
            has_ended: AtomicBool::new(false),
            entries: Mutex::new(Vec::new()),
        }))
    }

    pub(crate) fn now(&self) -> Tick {
        MOVED.load(Ordering::Relaxed);
        let real = clock();
        match self.0.paused.load(Ordering::SeqCst) {
            0 => Tick(real.0 - self.0.behind.load(Ordering::SeqCst)),
            paused => Tick(paused),
        }
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.0.paused.load(Ordering::SeqCst) != 0
    }

    /// Pauses the clock, or moves it on if it is paused.
    pub(crate) fn pause_at(&self, now: Tick) {
        let now = now.max(self.now());
        self.0.paused.store(now.0, Ordering::SeqCst);
    }

    pub(crate) fn resume(&self) {
        let now = self.0.paused.load(Ordering::SeqCst);
        if now != 0 {
            // If the paused clock went ahead, the real one jumps.
            advance_to(Tick(now));
            self.0.behind.store(clock().0 - now, Ordering::SeqCst);
            self.0.paused.store(0, Ordering::SeqCst);
        }
    }

    fn is_due(&self, at: Tick) -> bool {
        at.round_up(MILLISECOND, self.0.start).0 <= self.0.elapsed.load(Ordering::SeqCst)
    }

    /// Returns when the first timer fires, or `None` if no waker is registered.
    pub(crate) fn at(&self) -> Option<Tick> {
        let entries = lock(&self.0.entries);
        let waiting = entries.iter().flatten().filter(|it| it.waker.is_some());
        let fires = waiting.map(|it| it.at.round_up(MILLISECOND, self.0.start));
        fires.min()
    }

    /// Does what tokio does when it polls its time driver: fires the timers that are due. Returns `true`
    /// if one fired.
    pub(crate) fn poll(&self) -> bool {
        let entries = lock(&self.0.entries);
        self.process(entries)
    }

    /// Moves the clock to `now`, under the lock, and then fires the timers that are due. Other threads
    /// may act before that.
    pub(crate) fn poll_at(&self, now: Tick) -> bool {
        let entries = lock(&self.0.entries);
        advance_to(now);
        self.process(entries)
    }

    fn process(&self, entries: Entries<'_>) -> bool {
        let since = self.now().0 - self.0.start.0;
        let elapsed = self.0.start.0 + since / MILLISECOND * MILLISECOND;
        self.0.elapsed.fetch_max(elapsed, Ordering::SeqCst);
        let early = match fault(Fault::Early) {
            true => dice(entries.len().max(1) as u64) as usize,
            false => usize::MAX,
        };
        self.fire(entries, |key, at| key == early || self.is_due(at))
    }

    /// Fires every timer, whether or not it is due.
    pub(crate) fn fire_early(&self) {
        self.fire(lock(&self.0.entries), |_, _| true);
    }

    /// Ends the time driver, which fires all timers. Those that are polled after that panic.
    pub(crate) fn end(&self) {
        let entries = lock(&self.0.entries);
        self.0.has_ended.store(true, Ordering::SeqCst);
        self.fire(entries, |_, _| true);
    }

    fn fire(&self, mut entries: Entries<'_>, is_due: impl Fn(usize, Tick) -> bool) -> bool {
        let take = |(key, entry): (usize, &mut Option<Entry>)| {
            let entry = entry.as_mut().filter(|it| is_due(key, it.at))?;
            entry.waker.take()
        };
        let mut due: Vec<_> = entries.iter_mut().enumerate().filter_map(take).collect();
        drop(entries);
        let fires = !due.is_empty();
        if fires {
            let middle = dice(due.len() as u64);
            due.rotate_left(middle as usize);
        }
        if fires && fault(Fault::Twice) {
            due.extend(due.clone());
        }
        due.into_iter().for_each(Waker::wake);
        fires
    }

    /// Returns a waker that is registered, which a model may wake at any time.
    pub(crate) fn waker(&self) -> Waker {
        let entries = lock(&self.0.entries);
        let mut wakers = entries.iter().flatten().filter_map(|it| it.waker.clone());
        wakers.next().expect("the alarm is not armed")
    }

    fn add(&self, at: Tick) -> Sleep {
        let mut entries = lock(&self.0.entries);
        entries.push(Some(Entry { at, waker: None }));
        Sleep {
            time: self.clone(),
            key: entries.len() - 1,
        }
    }
}

/// A timer of tokio's.
pub struct Sleep {
    time: TimeDriver,
    key: usize,
}

pub(crate) fn sleep(_: Duration) -> Sleep {
    let time = Handle::current().time().clone();
    time.add(time.0.start)
}

pub(crate) fn sleep_until(at: Instant) -> Sleep {
    Handle::current().time().add(Tick::of(at))
}

impl Sleep {
    pub(crate) fn is_elapsed(&self) -> bool {
        let entries = lock(&self.time.0.entries);
        entries[self.key]
            .as_ref()
            .is_some_and(|it| self.time.is_due(it.at))
    }

    pub(crate) fn reset(self: Pin<&mut Self>, at: Instant) {
        self.reset_to(Tick::of(at));
    }

    fn reset_to(&self, at: Tick) {
        if fault(Fault::Subscriber) {
            resume_unwind(Box::new("a subscriber"));
        }
        let mut entries = lock(&self.time.0.entries);
        let entry = entries[self.key].as_mut().expect("it was not dropped");
        entry.at = at;
        let is_due = self.time.is_due(at);
        let due = entry.waker.take_if(|_| is_due);
        drop(entries);
        if let Some(waker) = due {
            waker.wake();
        }
    }

    fn poll_at(&self, cx: &mut Context<'_>) -> Poll<Tick> {
        if self.time.0.has_ended.load(Ordering::SeqCst) {
            resume_unwind(Box::new("the runtime has ended"));
        }
        let mut entries = lock(&self.time.0.entries);
        let entry = entries[self.key].as_mut().expect("it was not dropped");
        let is_due = self.time.is_due(entry.at);
        entry.waker = (!is_due).then(|| cx.waker().clone());
        if is_due {
            Poll::Ready(entry.at)
        } else {
            Poll::Pending
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_at(cx).map(drop)
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let entry = lock(&self.time.0.entries)[self.key].take();
        drop(entry);
    }
}

pub(crate) fn interval(period: Duration) -> Interval {
    Interval(sleep(period))
}

/// The driver's side of the interval.
pub(crate) struct Interval(Sleep);

impl Interval {
    pub(crate) fn reset_at(&mut self, at: Instant) {
        self.0.reset_to(Tick::of(at));
    }

    pub(crate) fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        self.0.poll_at(cx).map(Tick::to_instant)
    }
}

/// The driver's side of a descriptor.
pub(crate) struct Descriptor(IoDriver);

impl Descriptor {
    pub(crate) fn open() -> Result<Self, BuildError> {
        let io = IoDriver(Arc::new(Mutex::new(None)), Arc::new(Mutex::new(None)));
        Handle::current().set_io(io.clone());
        Ok(Descriptor(io))
    }

    pub(crate) fn set(&mut self, at: Instant, waker: &Waker) -> bool {
        *lock(&self.0.1) = Some(waker.clone());
        let mut set = lock(&self.0.0);
        *set = Some(Tick::of(at).max(Tick(Tick::really_now().0 + 1)));
        true
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        let waker = lock(&self.0.1).take();
        drop(waker);
    }
}

/// The runtime's side of a descriptor: when it expires, and the waker that tokio then wakes. The
/// kernel's part and tokio's part have separate locks, so the waker may be woken long after the
/// descriptor has been set again.
#[derive(Clone)]
pub(crate) struct IoDriver(Arc<Mutex<Option<Tick>>>, Arc<Mutex<Option<Waker>>>);

impl IoDriver {
    /// Returns when the descriptor fires, or `None` if no waker is registered or no time is set.
    pub(crate) fn at(&self) -> Option<Tick> {
        let at = *lock(&self.0);
        let waits = lock(&self.1).is_some();
        at.filter(|_| waits)
    }

    /// Does what tokio does when it polls its I/O driver at this time: reads the kernel's part, and then
    /// wakes the waker that is registered by then. Returns `true` if the descriptor had expired.
    pub(crate) fn poll_at(&self, now: Tick) -> bool {
        let mut at = lock(&self.0);
        advance_to(now);
        let expired = at.take_if(|at| *at <= clock()).is_some();
        drop(at);
        let waker = expired.then(|| lock(&self.1).take()).flatten();
        if let Some(waker) = waker {
            waker.wake();
        }
        expired
    }
}
