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
use std::future::poll_fn;
use std::panic::{self, AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, TryLockError, Weak};
use std::task::{Context, Poll, Wake, Waker, ready};
use std::time::Duration;

use shuttle::thread;

use crate::builder::Builder;
use crate::clock::{MILLISECOND, Tick};
use crate::driver::lifecycle::Driver;
use crate::driver::{alarm, registry};
use crate::platform::fake::{self, Fault, dice};
use crate::platform::runtime::{Handle, RuntimeFlavor, block_in_place, lock, owner};
use crate::sleep::{Sleep, sleep, sleep_until};

/// The time at which every schedule begins.
const START: Tick = Tick(1_000 * MILLISECOND);
/// How late a timer may be, in milliseconds, once the runtimes do nothing else: Tokio's millisecond, the one after that if
/// the alarm was set too late, and the spacing of high resolution.
const LATE: u64 = 3;
/// The same if a waker has panicked in tokio: the watchdog's distance.
const LATE_IF_LOST: u64 = 2_010;
/// The same if the driver task waits behind a task that blocks.
const LATE_IF_BLOCKED: u64 = 114;
const SLOTS: usize = 6;
/// Number of things that a thread does.
const ROUNDS: u64 = 8;

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
            FAILURE.with_borrow_mut(|it| it.get_or_insert_with(|| format!($($what)*)).len());
        }
    };
}

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

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        let Some(world) = self.world.upgrade() else {
            return;
        };
        let count = self.count.fetch_add(1, SeqCst) + 1;
        if !world.has_ended(self.owner) {
            let load = |value: &AtomicU64| Tick(value.load(SeqCst));
            let is_cancelled = self.is_cancelled.load(SeqCst);
            let latest = load(&self.deadline).max(load(&world.settled[self.owner]));
            let late = Duration::from_millis(world.late.load(SeqCst));
            let now = world.now(self.owner);
            expect!(count <= self.most.load(SeqCst), "woken twice");
            expect!(!is_cancelled, "woken after the cancel");
            expect!(now <= latest.saturating_add(late), "woken late");
            expect!(now >= load(&self.earliest), "woken early");
        }
        match self.mood {
            0 => world.operate(),
            // A timer that was handed over to tokio takes others along.
            1 if world.loses || !(world.has_ended(0) || world.has_ended(1)) => {
                resume_unwind(Box::new("a waker"));
            }
            _ => {}
        }
    }
}

impl Drop for Wakes {
    fn drop(&mut self) {
        WAKERS.set(WAKERS.get() - 1);
    }
}

/// The waker of another library, which panics.
struct Foreign;

impl Wake for Foreign {
    fn wake(self: Arc<Self>) {
        resume_unwind(Box::new("another library's waker"));
    }
}

fn span() -> Duration {
    const SPANS: [u64; 6] = [0, 300_000, 2_000_000, 5_000_000, 20_000_000, 50_000_000];
    Duration::from_nanos(SPANS[dice(6) as usize] + dice(1_000))
}

/// What threads do.
impl World {
    fn run(&self) {
        for _ in 0..ROUNDS {
            let runtime = &self.runtimes[self.which()];
            match dice(5) {
                0 => runtime.enter(|| self.operate()),
                1 => self.operate(),
                _ => {
                    runtime.work(|| self.work(runtime));
                }
            }
        }
    }

    /// Returns a runtime for this thread: no thread of a multi-thread runtime is another's worker.
    fn which(&self) -> usize {
        let is_single = self.runtimes[1].runtime_flavor() == RuntimeFlavor::CurrentThread;
        if is_single {
            dice(2) as usize
        } else {
            fake::thread_number() % 2
        }
    }

    fn work(&self, runtime: &Handle) {
        for _ in 0..dice(10) {
            match dice(10) {
                0 => block_in_place(|| self.block()),
                // Whose this timer is depends on what the thread knows. The next one is the worker's.
                3 => self.runtimes[1].enter(|| drop(catch(|| sleep(span())))),
                1 => self.pass_time(runtime),
                2 if self.loses => self.lose(runtime),
                2 | 4 => {
                    runtime.turn();
                }
                _ => self.operate(),
            }
        }
    }

    fn block(&self) {
        let other = &self.runtimes[1];
        match dice(3) {
            0 => {}
            1 => self.operate(),
            _ if other.runtime_flavor() == RuntimeFlavor::MultiThread => {}
            _ => {
                other.work(|| self.work(other));
            }
        }
    }

    fn pass_time(&self, runtime: &Handle) {
        let passed = [0, 50_000, 500_000, 1_000_000, 3_000_000][dice(5) as usize];
        let time = runtime.time();
        if runtime.runtime_flavor() == RuntimeFlavor::CurrentThread {
            match dice(6) {
                0 => return time.pause_at(time.now()),
                1 => return time.resume(),
                _ if time.is_paused() => return time.pause_at(Tick(time.now().0 + passed)),
                _ => {}
            }
        }
        fake::advance_to(Tick(fake::clock().0 + passed));
    }

    /// Arms a timer of tokio's whose waker panics.
    fn lose(&self, runtime: &Handle) {
        if runtime.runtime_flavor() == RuntimeFlavor::CurrentThread {
            return;
        }
        let at = Tick(runtime.time().now().0 + dice(3 * MILLISECOND));
        let mut foreign = fake::sleep_until(at.to_instant());
        let waker = Waker::from(Arc::new(Foreign));
        let polled = catch(|| Pin::new(&mut foreign).poll(&mut Context::from_waker(&waker)));
        if polled.is_some_and(|it| it.is_pending()) {
            lock(&self.foreign).push(foreign);
        }
    }

    fn end_one(&self) {
        for _ in 0..dice(100) {
            thread::yield_now();
        }
        catch(|| self.runtimes[dice(2) as usize].end());
    }

    /// Does something with a timer.
    fn operate(&self) {
        let slot = self.slots[dice(SLOTS as u64) as usize].try_lock();
        let mut slot = match slot {
            Ok(slot) => slot,
            Err(TryLockError::Poisoned(slot)) => slot.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let Some(case) = &mut *slot else {
            *slot = self.make();
            return;
        };
        let goes_on = match dice(10) {
            0..4 => case.poll(self),
            4 => {
                case.wakes = self.waker(case.owner, case.deadline);
                case.waits = None;
                case.poll(self)
            }
            5..8 => case.reset(self),
            8 => {
                if let Some(case) = slot.take() {
                    self.spawn(case);
                }
                return;
            }
            _ => false,
        };
        if !goes_on {
            if let Some(case) = slot.take() {
                case.drop(self);
            }
        }
    }

    fn make(&self) -> Option<Case> {
        let owner = owner()?;
        let owner = self.runtimes.iter().position(|it| it.id() == owner.id())?;
        let sleep = catch(|| match dice(4) {
            0 => crate::Handle::current().sleep(span()),
            1 => sleep(span()),
            _ => sleep_until((Tick::now().saturating_add(span())).to_instant()),
        })?;
        let deadline = Tick::of(sleep.deadline());
        let wakes = self.waker(owner, deadline);
        let mut case = Case {
            sleep,
            owner,
            deadline,
            wakes,
            waits: None,
            was_ready: false,
        };
        (dice(4) == 0 || case.poll(self)).then_some(case)
    }

    fn waker(&self, owner: usize, deadline: Tick) -> Arc<Wakes> {
        WAKERS.set(WAKERS.get() + 1);
        Arc::new(Wakes {
            world: self.me.clone(),
            owner,
            count: AtomicUsize::new(0),
            most: AtomicUsize::new(1),
            earliest: AtomicU64::new(deadline.0),
            deadline: AtomicU64::new(deadline.0),
            is_cancelled: AtomicBool::new(false),
            mood: dice(5),
        })
    }

    /// Moves a timer into a task.
    fn spawn(&self, case: Case) {
        let Some(me) = self.me.upgrade() else { return };
        struct Counted(Arc<World>);
        impl Drop for Counted {
            fn drop(&mut self) {
                self.0.tasks.fetch_sub(1, SeqCst);
            }
        }
        me.tasks.fetch_add(1, SeqCst);
        let counted = Counted(me);
        let (mut sleep, owner, deadline) = (case.sleep, case.owner, case.deadline);
        let task = poll_fn(move |cx| {
            ready!(Pin::new(&mut sleep).poll(cx));
            let now = counted.0.now(owner);
            expect!(now >= deadline, "ready early in a task");
            Poll::Ready(())
        });
        let runtime = &self.runtimes[dice(2) as usize];
        catch(|| runtime.spawn(task));
    }

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

impl Case {
    /// Returns `false` if the timer cannot be polled any more.
    fn poll(&mut self, world: &World) -> bool {
        let waker = Waker::from(self.wakes.clone());
        let before = self.wakes.count.load(SeqCst);
        let now = world.now(self.owner);
        self.wakes.deadline.fetch_max(now.0, SeqCst);
        let polled = catch(|| Pin::new(&mut self.sleep).poll(&mut Context::from_waker(&waker)));
        match polled {
            Some(Poll::Pending) => self.waits = Some(before),
            Some(Poll::Ready(())) => {
                let now = world.now(self.owner);
                expect!(now >= self.deadline, "ready early");
                self.waits = None;
                self.was_ready = true;
            }
            None => expect!(world.has_ended(0) || world.has_ended(1), "a poll panics"),
        }
        polled.is_some()
    }

    fn reset(&mut self, world: &World) -> bool {
        self.deadline = world.now(self.owner).saturating_add(span());
        self.wakes.earliest.fetch_min(self.deadline.0, SeqCst);
        self.wakes.deadline.store(self.deadline.0, SeqCst);
        self.wakes.most.fetch_add(1, SeqCst);
        if self.was_ready && self.waits.is_none() && !world.has_ended(self.owner) {
            self.waits = Some(self.wakes.count.load(SeqCst));
        }
        catch(|| self.sleep.reset_unpin(self.deadline.to_instant())).is_some()
    }

    fn drop(self, world: &World) {
        let Case {
            sleep,
            owner,
            wakes,
            ..
        } = self;
        catch(|| drop(sleep));
        if world.now(owner).0 < wakes.earliest.load(SeqCst) {
            wakes.is_cancelled.store(true, SeqCst);
        }
    }

    fn is_lost(&self) -> bool {
        self.waits == Some(self.wakes.count.load(SeqCst))
    }
}

/// The end of a schedule.
impl World {
    /// Lets the runtimes go on until they have nothing to do. First one of them alone, because no timer of
    /// it may depend on the other.
    fn settle(&self) {
        // (If a waker has panicked, neither may be later than the watchdog.)
        let both = &self.runtimes[..];
        let one = dice(2) as usize;
        let first = if self.loses { both } else { &both[one..=one] };
        let late = if self.loses { LATE_IF_LOST } else { LATE };
        for runtimes in [first, both, first] {
            self.run_out(runtimes, late);
        }
        self.count();
        if !self.has_ended(0) && !self.has_ended(1) {
            let tasks = self.tasks.load(SeqCst);
            expect!(tasks == 0, "{tasks} tasks wait");
        }
        if !self.has_ended(0) && !self.loses {
            self.on_a_worker(&both[0], |me, _| {
                me.slots.iter().for_each(|slot| *lock(slot) = me.make());
            });
            self.run_out(&both[..1], LATE_IF_BLOCKED);
        }
    }

    /// Runs `f` on a worker of this runtime, in a thread of its own: no thread is a worker of two.
    fn on_a_worker(&self, runtime: &Handle, f: impl Fn(&World, &Handle) + Send + 'static) {
        let (me, runtime) = (self.me.upgrade().unwrap(), runtime.clone());
        let thread = thread::spawn(move || {
            runtime.work(|| f(&me, &runtime));
        });
        thread.join().unwrap();
    }

    /// Lets these runtimes go on until they have nothing to do, without their tasks if these are blocked.
    fn run_out(&self, runtimes: &[Handle], late: u64) {
        self.late.store(late, SeqCst);
        for (settled, runtime) in self.settled.iter().zip(&self.runtimes) {
            settled.store(runtime.time().now().0, SeqCst);
        }
        // No thread does anything now, so the alarm is early enough for every shard.
        let drivers = self
            .runtimes
            .iter()
            .filter_map(|it| registry::find(it.id()));
        for driver in drivers {
            let is_early = driver.alarm.armed_for() <= alarm::earliest(driver.shards());
            expect!(is_early, "the alarm is armed too late");
        }
        let runs_out = (0..200).any(|_| !self.go_on(runtimes, late == LATE_IF_BLOCKED));
        expect!(runs_out, "the driver spins");
        for slot in &self.slots {
            let slot = lock(slot);
            let Some(case) = &*slot else { continue };
            let owner = &self.runtimes[case.owner];
            if runtimes.iter().any(|it| it.id() == owner.id()) && !self.has_ended(case.owner) {
                expect!(!case.is_lost(), "a timer of runtime {} is lost", case.owner);
            }
        }
    }

    /// Checks what is counted when nothing is left to do.
    fn count(&self) {
        for (at, runtime) in self
            .runtimes
            .iter()
            .enumerate()
            .filter(|it| !self.has_ended(it.0))
        {
            let Some(driver) = registry::find(runtime.id()) else {
                continue;
            };
            let most = 1 + self.tasks.load(SeqCst);
            expect!(runtime.tasks() <= most, "two drivers for one runtime");
            for shard in driver.shards() {
                let counts = shard.snapshot();
                let ended = counts.fired + counts.cancelled;
                expect!(counts.pending == 0, "an entry is left");
                expect!(counts.armed == ended, "counted {counts:?}");
                expect!(shard.late_cancels() == 0, "a late cancel is left");
            }
        }
    }

    /// Runs what these runtimes have to do now, and moves their clocks to what they wait for next. Returns
    /// `false` if they wait for nothing.
    fn go_on(&self, runtimes: &[Handle], is_blocked: bool) -> bool {
        for runtime in runtimes {
            self.on_a_worker(runtime, move |_, runtime| {
                let is_idle = (0..1_000).any(|_| match is_blocked {
                    true => !runtime.poll_drivers(),
                    false => !runtime.turn() && runtime.is_idle(),
                });
                expect!(is_idle, "a task is woken forever");
            });
        }
        let (mut next, mut goes_on) = (None, false);
        for runtime in runtimes.iter().filter(|it| !it.is_closed()) {
            let time = runtime.time();
            let mut at = time.at();
            if let Some(at) = at.take_if(|_| time.is_paused()) {
                time.pause_at(at);
                goes_on = true;
            }
            let at = at.map(|at| Tick(fake::clock().0 + at.0.saturating_sub(time.now().0)));
            let at = at
                .into_iter()
                .chain(runtime.io().and_then(|it| it.at()))
                .min();
            next = at.into_iter().chain(next).min();
        }
        if let Some(next) = next {
            fake::advance_to(next);
        }
        goes_on || next.is_some() || !is_blocked && runtimes.iter().any(|it| !it.is_idle())
    }

    /// Ends the runtimes, which wakes the timers that wait.
    fn end(&self) {
        self.on_a_worker(&self.runtimes[0], |me, _| {
            me.slots.iter().for_each(|slot| *lock(slot) = me.make());
        });
        for runtime in &self.runtimes {
            catch(|| runtime.end());
        }
        for case in self.slots.iter().filter_map(|slot| lock(slot).take()) {
            let is_lost = case.is_lost() && !self.hooks && !self.loses;
            expect!(!is_lost, "not woken by the end");
        }
        lock(&self.foreign).clear();
    }
}
