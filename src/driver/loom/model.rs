//! The driver, the runtime and the timers of a model, and what models do with them.

use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use futures::task::{ArcWake, waker};
use loom::thread;

use crate::clock::Tick;
use crate::driver::alarm;
use crate::driver::lifecycle::{Driver, Home};
use crate::driver::timer::Timer;
use crate::platform::Descriptor;
use crate::platform::fake::{self, IoDriver, TimeDriver};
use crate::platform::runtime::{Handle, RuntimeFlavor};
use crate::settings::Settings;

/// The time at which every model begins.
const START: Tick = Tick(1);
/// A model fails if the driver still has something to do after this many rounds.
const ROUNDS: usize = 20;
/// How late the alarm may fire: by Tokio's millisecond or by the spacing. In a model, both are one
/// tick.
const LATENESS: u64 = 1;
/// The spacing of a driver with high resolution, which is as short as possible.
const SPACING: u64 = LATENESS;

/// Returns the settings of a driver with this number of shards, on a multi-thread runtime.
pub(super) fn shards(shards: usize) -> Settings {
    Settings {
        shards,
        ..Settings::default()
    }
}

/// Returns the settings of a driver on a current-thread runtime.
pub(super) fn current_thread(number: usize) -> Settings {
    Settings {
        current_thread: true,
        ..shards(number)
    }
}

/// Returns the settings of a driver with high resolution.
pub(super) fn precise(number: usize) -> Settings {
    Settings {
        is_precise: true,
        spacing: SPACING,
        ..shards(number)
    }
}

/// Runs a model in every order of threads with up to four preemptions, or with up to
/// `LOOM_MAX_PREEMPTIONS`.
pub(super) fn check(settings: Settings, model: impl Fn(Model) + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(4);
    builder.check(move || {
        fake::start(START);
        model(Model::new(settings));
    });
}

/// Asserts that no clone of these wakers is left, and that each was woken at most `wakes` times.
pub(super) fn assert_dropped(wakers: impl IntoIterator<Item = Arc<Wakes>>, wakes: usize) {
    for waker in wakers {
        assert!(waker.count() <= wakes, "woken {} times", waker.count());
        assert!(waker.is_freed(), "a waker is leaked");
    }
}

/// A driver and its runtime.
#[derive(Clone)]
pub(super) struct Model {
    pub(super) driver: Arc<Driver>,
    pub(super) time: TimeDriver,
    /// The runtime's side of the descriptor, if the driver has high resolution.
    io: Option<IoDriver>,
    /// The wakes of the driver task that `poll_task_if_woken` has not consumed.
    pub(super) task: Arc<Wakes>,
}

/// Setting up, and running threads.
impl Model {
    fn new(settings: Settings) -> Self {
        let runtime = Handle::new(RuntimeFlavor::MultiThread, 1, 0);
        let driver = runtime.enter(|| {
            let open = || Descriptor::open().unwrap();
            Driver::new(&runtime, settings, settings.is_precise.then(open))
        });
        let model = Model {
            driver,
            time: runtime.time().clone(),
            io: runtime.io(),
            task: Arc::default(),
        };
        model.poll_task();
        model
    }

    /// Notes that the clock may be paused, as a driver does when it finds a paused clock.
    pub(super) fn set_may_pause(&self) {
        self.know_the_grid();
        self.driver.alarm.set_may_pause();
        self.driver.rearm();
    }

    /// Tells the driver when Tokio's milliseconds begin, so that it rounds near deadlines to them.
    pub(super) fn know_the_grid(&self) {
        let grid = &self.driver.alarm.grid;
        grid.find(Tick(0), |deadline| deadline == Tick(0));
    }

    pub(super) fn home(&self, shard: usize) -> &Arc<Home> {
        &self.driver.homes[shard]
    }

    /// Creates a timer in a shard, without polling it.
    pub(super) fn unpolled(&self, shard: usize, deadline: u64) -> Armed {
        Armed {
            timer: Timer::at(Arc::clone(self.home(shard))),
            deadline: Tick(deadline),
            wakes: Arc::default(),
            ready: false,
        }
    }

    /// Creates a timer in a shard, and polls it once.
    pub(super) fn arm(&self, shard: usize, deadline: u64) -> Armed {
        let mut armed = self.unpolled(shard, deadline);
        let _ = armed.poll();
        armed
    }

    /// Runs `own` on this thread while another thread of the runtime runs `other`. Returns both
    /// results.
    pub(super) fn race<T: 'static, U>(
        &self,
        other: impl FnOnce(Model) -> T + 'static,
        own: impl FnOnce() -> U,
    ) -> (T, U) {
        let model = self.clone();
        let other = thread::spawn(move || other(model));
        let own = own();
        (other.join().unwrap(), own)
    }

    /// Runs `own` while another thread polls Tokio's time driver at the time `now`, which fires the
    /// alarm.
    pub(super) fn while_firing<T>(&self, now: u64, own: impl FnOnce() -> T) -> T {
        self.race(move |model| model.poll_at(now), own).1
    }

    /// Runs `own` while the runtime ends on another thread.
    pub(super) fn while_closing<T>(&self, own: impl FnOnce() -> T) -> T {
        self.race(|model| model.close(), own).1
    }
}

/// What the runtime does.
impl Model {
    /// Polls Tokio's time driver at this time.
    pub(super) fn poll_at(&self, now: u64) -> bool {
        self.time.poll_at(Tick(now))
    }

    /// Polls Tokio's I/O driver, which has the descriptor, at this time.
    pub(super) fn descriptor_polled_at(&self, now: u64) -> bool {
        let io = self.io.as_ref();
        io.is_some_and(|io| io.poll_at(Tick(now)))
    }

    /// Returns when the interval fires.
    pub(super) fn interval_fires_at(&self) -> Option<Tick> {
        self.time.at()
    }

    /// Returns when the interval or the descriptor fires.
    fn fires_at(&self) -> Option<Tick> {
        let io = self.io.as_ref().and_then(IoDriver::at);
        self.interval_fires_at().into_iter().chain(io).min()
    }

    pub(super) fn poll_task(&self) {
        let waker = self.task.waker();
        self.driver.poll_task(&waker);
    }

    /// Polls the driver task if it was woken.
    pub(super) fn poll_task_if_woken(&self) -> bool {
        let woken = self.task.take();
        if woken {
            self.poll_task();
        }
        woken
    }

    /// Closes the driver, as the end of the runtime does when it drops the driver task.
    pub(super) fn close(&self) {
        self.driver.close();
    }

    /// Runs the runtime at the present time until it has nothing to do, and then checks the alarm.
    /// Before the first call, no wake-up counts as late.
    pub(super) fn settle(&self) {
        fake::settle();
        let now = || fake::clock().0;
        let idle = (0..ROUNDS).any(|_| {
            !self.poll_task_if_woken() && !self.time.poll() && !self.descriptor_polled_at(now())
        });
        assert!(idle, "the driver spins");
        self.assert_armed();
    }

    /// Asserts that the alarm is armed early enough for every pending timer.
    fn assert_armed(&self) {
        let earliest = alarm::earliest(&self.driver.homes);
        if earliest == Tick::NEVER {
            return;
        }
        let at = self.fires_at().expect("a lost wake-up: nothing is armed");
        let latest = earliest.0.max(fake::clock().0 + LATENESS);
        assert!(at.0 <= latest, "armed for {at:?}, due at {earliest:?}");
        let armed_for = self.driver.alarm.armed_for();
        assert!(armed_for <= earliest, "published too late");
    }

    /// Moves the clock from one time at which the alarm fires to the next, until nothing is armed.
    pub(super) fn run_out(&self) {
        for _ in 0..ROUNDS {
            self.settle();
            let Some(at) = self.fires_at() else { return };
            fake::advance_to(at);
        }
        panic!("the alarm fires forever");
    }

    /// Returns the number of pending timers. The count applies late cancels first.
    pub(super) fn pending(&self) -> usize {
        self.driver
            .shards()
            .map(|shard| shard.snapshot().pending)
            .sum()
    }

    /// Asserts that no late cancel is queued.
    pub(super) fn assert_no_late_cancels(&self) {
        let mut shards = self.driver.shards();
        assert!(
            shards.all(|shard| shard.late_cancels() == 0),
            "a cancel is queued"
        );
    }

    /// Lets time run out, and asserts that these timers fire and that no others are left. This also
    /// fails if a late cancel is still queued.
    pub(super) fn assert_all_fire(&self, timers: impl IntoIterator<Item = Armed>) {
        self.run_out();
        self.assert_no_late_cancels();
        timers.into_iter().for_each(Armed::assert_fired);
        self.assert_empty();
    }

    /// Asserts that no timer is left, and that counting the timers has applied every late cancel.
    pub(super) fn assert_empty(&self) {
        self.settle();
        assert_eq!(self.pending(), 0, "an entry is left");
        self.assert_no_late_cancels();
    }
}

/// The wakes of a waker: when each came.
///
/// Nearly all wakers of the models are of this kind, even the driver task's.
#[derive(Default)]
pub(super) struct Wakes(Mutex<Vec<Tick>>);

impl ArcWake for Wakes {
    fn wake_by_ref(this: &Arc<Self>) {
        this.0.lock().unwrap().push(fake::clock());
    }
}

impl Wakes {
    /// Creates a waker. This is not inlined, so that all wakers have the same vtable, which
    /// `WakerId` compares.
    #[inline(never)]
    fn waker(self: &Arc<Self>) -> Waker {
        waker(self.clone())
    }

    /// Returns `true` if the waker was woken since the last call.
    fn take(&self) -> bool {
        !std::mem::take(&mut *self.0.lock().unwrap()).is_empty()
    }

    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// Returns `true` if no clone of the waker is left.
    pub(super) fn is_freed(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1
    }
}

/// A timer, and the results of its polls.
pub(super) struct Armed {
    pub(super) timer: Timer,
    pub(super) deadline: Tick,
    /// The wakes of the waker of the last poll.
    pub(super) wakes: Arc<Wakes>,
    pub(super) ready: bool,
}

impl Armed {
    /// Polls the timer with the same waker as before, and asserts that it is not ready too early.
    pub(super) fn poll(&mut self) -> Poll<()> {
        let (waker, deadline) = (self.wakes.waker(), self.deadline);
        let polled = self.timer.poll(deadline, &waker);
        if polled.is_ready() {
            assert!(fake::clock() >= self.deadline, "ready too early");
            self.ready = true;
        }
        polled
    }

    /// Polls with another waker, and returns the wakes of the old waker.
    pub(super) fn poll_with_another(&mut self) -> Arc<Wakes> {
        let old = std::mem::take(&mut self.wakes);
        let _ = self.poll();
        old
    }

    pub(super) fn reset(&mut self, deadline: u64) {
        self.ready = false;
        self.deadline = Tick(deadline);
        self.timer.reset(self.deadline);
    }

    /// Asserts that the timer has fired: either its waker was woken once, or a poll was ready and
    /// the waker was woken at most once. Each wake is not early, and at
    /// most [`LATENESS`] past the later of the deadline and the first `settle`.
    pub(super) fn assert_fired(self) {
        let wakes = self.wakes.0.lock().unwrap().clone();
        if self.ready {
            assert!(wakes.len() <= 1, "woken twice: {wakes:?}");
        } else {
            assert_eq!(wakes.len(), 1, "woken at {wakes:?}");
        }
        let settled = fake::settled().unwrap_or(Tick::ZERO);
        let latest = self.deadline.max(settled).0 + LATENESS;
        for &at in &wakes {
            assert!(at.0 <= latest, "woken late, at {at:?}");
            assert!(at >= self.deadline, "woken early, at {at:?}");
        }
        self.assert_ready_after(wakes.len());
    }

    /// Asserts that the timer is ready, and that its waker was woken this many times, and drops the
    /// timer with its waker.
    pub(super) fn assert_ready_after(mut self, wakes: usize) {
        assert_eq!(self.wakes.count(), wakes, "woken too often or too rarely");
        assert!(self.poll().is_ready(), "fired, and not ready");
        assert_dropped([self.drop()], wakes);
    }

    /// Drops the timer and returns its wakes.
    pub(super) fn drop(self) -> Arc<Wakes> {
        self.wakes
    }
}
