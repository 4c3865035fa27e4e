//! The threads of a schedule, what they do with runtimes and timers, and what must hold.
//!
//! * No timer is ready, and no waker is woken, before the deadline.
//! * Once its runtime has gone on until it has nothing to do, every timer that was polled has fired, at most
//!   a few milliseconds late. One runtime goes on alone first, so a timer of it that is in the wrong
//!   driver is lost. The first also goes on without its tasks, as if they waited behind one that blocks.
//! * No waker is woken twice, or after its timer was dropped before its deadline.
//! * The counts add up, and no entry and no late cancel is left.
//! * The end of a runtime wakes the timers that wait. When all runtimes have ended, and all timers are gone,
//!   no waker, driver or runtime is left.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use shuttle::thread;

use crate::builder::Builder;
use crate::clock::{MILLISECOND, Tick};
use crate::driver::lifecycle::Driver;
use crate::driver::registry;
use crate::platform::fake::{self, Fault, dice};
use crate::platform::runtime::{Handle, RuntimeFlavor};
use crate::sleep::Sleep;

/// The time at which every schedule begins.
const START: Tick = Tick(1_000 * MILLISECOND);
/// How late a timer may be, in milliseconds, once the runtimes do nothing else: Tokio's millisecond, the
/// one after that if the alarm was set too late, and the spacing of high resolution.
const LATE: u64 = 3;
/// The same if a waker has panicked in tokio: the watchdog's distance.
const LATE_IF_LOST: u64 = 2_010;
/// The same if the driver task waits behind a task that blocks.
const LATE_IF_BLOCKED: u64 = 114;
const SLOTS: usize = 6;

std::thread_local! {
    /// What has gone wrong first. Wakers cannot panic, because the driver would contain that.
    static FAILURE: RefCell<Option<String>> = const { RefCell::new(None) };
    /// Number of wakers that are not freed.
    static WAKERS: Cell<usize> = const { Cell::new(0) };
}

/// Notes a failure unless this holds.
macro_rules! expect {
    ($holds:expr, $($what:tt)*) => {
        if !$holds {
            let failure = &$crate::driver::simulation::world::FAILURE;
            failure.with_borrow_mut(|it| it.get_or_insert_with(|| format!($($what)*)).len());
        }
    };
}

// These modules use the macro.
mod actions;
mod end;
mod timer;

/// What Tokio and this crate say if a runtime has ended.
const ENDED: &str = "A Tokio 1.x context was found, but it is being shutdown.";

/// Replaces the panic hook by one that reports panics of the driver, even if they are contained.
pub(super) fn set_hook() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if info.payload().downcast_ref() != Some(&ENDED) {
            expect!(false, "{info}");
            before(info);
        }
    }));
}

/// Runs what may panic because of a fault, or because a runtime has ended.
fn catch<R>(f: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(f)).ok()
}

/// One schedule.
pub(super) fn schedule() {
    fake::start(START);
    FAILURE.set(None);
    WAKERS.set(0);
    let flavors = [
        RuntimeFlavor::MultiThread,
        [RuntimeFlavor::CurrentThread, RuntimeFlavor::MultiThread][dice(4) as usize / 3],
    ];
    fake::advance_to(Tick(START.0 + dice(MILLISECOND)));
    let runtimes = [0, 1].map(|it| {
        let workers = if it == 0 { 1 + dice(2) as usize } else { 1 };
        Handle::new(flavors[it], workers, it as u64)
    });
    // shuttle's statics cannot be initialized while some thread is panicking.
    let _ = registry::find(runtimes[0].id());
    let faults = if dice(2) == 0 { 0 } else { dice(16) };
    let has = |fault: Fault| faults >> fault as u64 & 1 != 0;
    let world = Arc::new_cyclic(|me| World {
        me: me.clone(),
        runtimes: runtimes.clone(),
        slots: Default::default(),
        tasks: AtomicUsize::new(0),
        foreign: Mutex::default(),
        hooks: has(Fault::Hook),
        loses: dice(4) == 0,
        settled: [u64::MAX, u64::MAX].map(AtomicU64::new),
        late: AtomicU64::new(LATE),
    });
    // A timer that was handed over to tokio may be woken early, too, and the watchdog must not be.
    fake::set_faults(match (world.hooks, world.loses) {
        (true, _) => 1 << Fault::Hook as u64,
        (_, true) => faults & 1 << Fault::Twice as u64,
        _ => faults,
    });
    for runtime in &runtimes {
        // Other drivers than the default one: with high resolution, or with a tick.
        let builder = match dice(6) {
            0 if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => {
                Builder::new().high_resolution(true)
            }
            1 => Builder::new().tick(Duration::from_millis(1 + dice(3))),
            _ => continue,
        };
        let _ = runtime.enter(|| catch(|| builder.install().is_ok()));
    }
    let on_a_thread = |f: fn(&World)| {
        let world = world.clone();
        thread::spawn(move || f(&world))
    };
    let ends = dice(3) == 0;
    let mut threads: Vec<_> = (0..2 + dice(3)).map(|_| on_a_thread(World::run)).collect();
    if ends {
        threads.push(on_a_thread(World::end_one));
    }
    threads.into_iter().for_each(|it| it.join().unwrap());
    fake::set_faults(0);
    on_a_thread(World::settle).join().unwrap();
    let find = |it: &Handle| registry::find(it.id()).as_ref().map(Arc::downgrade);
    let drivers: Vec<Weak<Driver>> = runtimes.iter().filter_map(find).collect();
    on_a_thread(World::end).join().unwrap();
    drop(world);
    expect!(WAKERS.get() == 0, "{} wakers are left", WAKERS.get());
    let left = drivers.iter().filter(|it| it.strong_count() > 0).count();
    expect!(left == 0, "{left} drivers are left");
    let left = runtimes.each_ref().map(Handle::references);
    expect!(left == [1, 1], "the runtimes have {left:?} references");
    if let Some(failure) = FAILURE.take() {
        panic!("{failure}");
    }
}

struct World {
    me: Weak<World>,
    runtimes: [Handle; 2],
    slots: [Mutex<Option<Case>>; SLOTS],
    /// Number of tasks that wait for a timer.
    tasks: AtomicUsize,
    /// Timers of tokio's whose wakers panic.
    foreign: Mutex<Vec<fake::Sleep>>,
    /// Whether hooks panic, which closes drivers.
    hooks: bool,
    /// Whether there are such wakers.
    loses: bool,
    /// Since when the runtimes do nothing else than to go on, by their own clocks.
    settled: [AtomicU64; 2],
    /// How late a timer may be from then on.
    late: AtomicU64,
}

/// A timer, and what is known about it.
struct Case {
    sleep: Sleep,
    owner: usize,
    deadline: Tick,
    wakes: Arc<Wakes>,
    /// The number of wakes when the timer began to wait for one.
    waits: Option<usize>,
    was_ready: bool,
}

/// A waker of a timer.
struct Wakes {
    world: Weak<World>,
    owner: usize,
    count: AtomicUsize,
    most: AtomicUsize,
    /// The earliest deadline for which the waker was registered.
    earliest: AtomicU64,
    /// The present deadline.
    deadline: AtomicU64,
    is_cancelled: AtomicBool,
    mood: u64,
}

impl World {
    /// Returns the time by a runtime's clock or, once it has ended, by the clock that is furthest ahead.
    fn now(&self, owner: usize) -> Tick {
        match self.has_ended(owner) {
            false => self.runtimes[owner].time().now(),
            true => {
                let clocks = self.runtimes.each_ref().map(|it| it.time().now());
                clocks[0].max(clocks[1])
            }
        }
    }

    /// Returns `true` if a runtime has ended, or if its driver may have.
    fn has_ended(&self, owner: usize) -> bool {
        self.hooks || self.runtimes[owner].is_closed()
    }
}
