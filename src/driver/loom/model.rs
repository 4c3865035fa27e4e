//! A model's driver, runtime and timers.

use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use futures::task::{ArcWake, waker};
use loom::thread::{self, JoinHandle};

use crate::clock::Tick;
use crate::driver::HighResolution;
use crate::driver::alarm;
use crate::driver::alarm::interval::AlarmTimer;
use crate::driver::lifecycle::{Driver, Home};
use crate::driver::timer::Timer;
use crate::platform::fake::{self, Descriptor, IoDriver, TimeDriver};
use crate::platform::lock;
use crate::settings::Settings;

/// When every model begins.
pub(super) const START: Tick = Tick(1);
/// More than the driver ever has to do at one time.
const ROUNDS: usize = 20;
/// The alarm is set at least this far ahead; see `alarm/mod.rs`.
const AHEAD: u64 = 1;
/// The spacing of a driver of high resolution: no more than that.
const SPACING: Duration = Duration::from_nanos(AHEAD);

fn clock() -> Tick {
    Tick::of(fake::clock())
}

/// Runs a model in every order that can happen with up to four preemptions, unless
/// `LOOM_MAX_PREEMPTIONS` says otherwise.
pub(super) fn check(model: impl Fn() + Send + Sync + 'static) {
    fake::make_runtime();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(4);
    builder.check(move || {
        fake::start(START.to_instant());
        model();
    });
}

/// A single shard.
const ONE: Settings = Settings {
    shards: 1,
    tick: None,
    capacity: 0,
    is_precise: false,
    is_default: false,
    current_thread: false,
};

/// A driver and its runtime.
#[derive(Clone)]
pub(super) struct Model {
    pub(super) driver: Arc<Driver>,
    pub(super) time: TimeDriver,
    /// Of a driver of high resolution.
    io: Option<IoDriver>,
    /// Of the driver task, since its last poll.
    pub(super) task: Arc<Wakes>,
}

impl Model {
    /// A driver with this number of shards that fires a single timer per critical section.
    pub(super) fn new(shards: usize) -> Self {
        Model::with(Settings { shards, ..ONE }, None)
    }

    /// The same on a current-thread runtime.
    pub(super) fn current_thread() -> Self {
        Model::of_current_thread(1)
    }

    pub(super) fn of_current_thread(shards: usize) -> Self {
        let current_thread = true;
        let settings = Settings {
            shards,
            current_thread,
            ..ONE
        };
        Model::with(settings, None)
    }

    /// A driver of high resolution.
    pub(super) fn precise(shards: usize) -> Self {
        let descriptor = Descriptor::open().unwrap();
        let is_precise = true;
        let settings = Settings {
            shards,
            is_precise,
            ..ONE
        };
        Model::with(settings, Some(descriptor))
    }

    fn with(settings: Settings, descriptor: Option<Descriptor>) -> Self {
        let io = descriptor.as_ref().map(Descriptor::io);
        let precise = descriptor.map(|it| HighResolution::new(it, SPACING));
        let timer = AlarmTimer::new(&fake::runtime(), precise);
        let time = timer.interval.time();
        let model = Model {
            driver: Driver::new(timer, settings),
            time,
            io,
            task: Arc::default(),
        };
        model.poll_task();
        model
    }

    pub(super) fn home(&self, shard: usize) -> &Arc<Home> {
        &self.driver.homes()[shard]
    }

    fn timer(&self, shard: usize) -> Timer {
        Timer::at(Arc::clone(self.home(shard)))
    }

    /// A timer on a shard, not polled.
    pub(super) fn unpolled(&self, shard: usize, deadline: u64) -> Armed {
        Armed {
            timer: self.timer(shard),
            deadline: Tick(deadline),
            wakes: Wakes::new(),
            ready: false,
        }
    }

    /// A timer on a shard, polled once.
    pub(super) fn arm(&self, shard: usize, deadline: u64) -> Armed {
        let mut armed = self.unpolled(shard, deadline);
        let _ = armed.poll();
        armed
    }

    /// Another thread of the runtime.
    pub(super) fn spawn<T: 'static>(
        &self,
        run: impl FnOnce(Model) -> T + 'static,
    ) -> JoinHandle<T> {
        let model = self.clone();
        thread::spawn(move || {
            fake::enter();
            run(model)
        })
    }

    /// Another thread of the runtime, which is no shard's worker.
    pub(super) fn spawn_elsewhere<T: 'static>(
        &self,
        run: impl FnOnce(Model) -> T + 'static,
    ) -> JoinHandle<T> {
        self.spawn(|model| {
            fake::go_elsewhere();
            run(model)
        })
    }

    /// A thread that is not in the runtime.
    pub(super) fn spawn_outside<T: 'static>(
        &self,
        run: impl FnOnce(Model) -> T + 'static,
    ) -> JoinHandle<T> {
        let model = self.clone();
        thread::spawn(move || run(model))
    }

    /// tokio polls its time driver at this time.
    pub(super) fn poll_at(&self, now: u64) -> bool {
        self.time.poll_at(Tick(now).to_instant())
    }

    /// tokio polls its I/O driver at this time, for the descriptor.
    pub(super) fn descriptor_polled_at(&self, now: u64) -> bool {
        let io = self.io.as_ref();
        io.is_some_and(|io| io.poll_at(Tick(now).to_instant()))
    }

    /// When the interval fires.
    pub(super) fn interval_fires_at(&self) -> Option<Tick> {
        self.time.at().map(Tick::of)
    }

    /// When the interval or the descriptor fires.
    fn fires_at(&self) -> Option<Tick> {
        let io = self.io.as_ref().and_then(IoDriver::at);
        self.interval_fires_at()
            .into_iter()
            .chain(io.map(Tick::of))
            .min()
    }

    pub(super) fn poll_task(&self) {
        let waker = self.task.waker();
        self.driver.poll_task(&waker);
    }

    /// What a check of an idle runtime does.
    pub(super) fn leave_cancelled_out(&self, shard: usize) {
        self.home(shard).leave_cancelled_out();
    }

    /// Polls the driver task if woken.
    pub(super) fn poll_task_if_woken(&self) -> bool {
        let woken = self.task.take();
        if woken {
            self.poll_task();
        }
        woken
    }

    /// Lets the alarm fire next, though the driver task is not polled.
    pub(super) fn fire_without_the_task(&self) {
        if let Some(at) = self.fires_at() {
            self.descriptor_polled_at(at.0);
            self.poll_at(at.0);
        }
    }

    /// Runs the runtime at this time, until there is nothing to do.
    pub(super) fn settle(&self) {
        fake::settle();
        let now = || clock().0;
        let idle = (0..ROUNDS).any(|_| {
            !self.poll_task_if_woken() && !self.time.poll() && !self.descriptor_polled_at(now())
        });
        assert!(idle, "the driver spins");
        self.assert_armed();
    }

    /// Nothing waits for an alarm that does not come, or comes too late.
    fn assert_armed(&self) {
        let earliest = alarm::earliest(self.driver.shards());
        if earliest == Tick::NEVER {
            return;
        }
        let at = self.fires_at().expect("a lost wake-up: nothing is armed");
        let latest = earliest.0.max(clock().0 + AHEAD);
        assert!(at.0 <= latest, "armed for {at:?}, due at {earliest:?}");
        assert!(
            self.driver.alarm.armed_for() <= earliest,
            "planned too late"
        );
    }

    /// Lets time pass, from one time at which the alarm fires to the next, until nothing is armed.
    pub(super) fn run_out(&self) {
        for _ in 0..ROUNDS {
            self.settle();
            let Some(at) = self.fires_at() else { return };
            fake::advance_to(at.to_instant());
        }
        panic!("the alarm fires forever");
    }

    /// Timers registered; late cancels are applied first.
    pub(super) fn pending(&self) -> usize {
        self.driver.shards().map(|shard| shard.pending()).sum()
    }

    pub(super) fn has_late_cancels(&self) -> bool {
        let mut shards = self.driver.shards();
        shards.any(|shard| shard.has_late_cancels())
    }

    /// Time runs out, and these timers fire, the last that there are.
    pub(super) fn assert_all_fire(&self, timers: impl IntoIterator<Item = Armed>) {
        self.run_out();
        timers.into_iter().for_each(Armed::assert_fired);
        self.assert_empty();
    }

    /// Every timer is gone, with its entry and its cancel.
    pub(super) fn assert_empty(&self) {
        self.settle();
        assert_eq!(self.pending(), 0, "an entry is left");
        assert!(
            !self.has_late_cancels(),
            "a cancel waits, and was not counted"
        );
    }

    /// The runtime ends, and drops the driver task.
    pub(super) fn close(&self) {
        self.driver.close();
    }

    /// Notes that the clock may be paused, as a driver does that finds such a clock.
    pub(super) fn may_be_paused(&self) {
        let alarm = &self.driver.alarm;
        alarm.grid.find(|deadline| deadline == Tick(0));
        if let Some(timer) = lock(&alarm.timer).as_mut() {
            timer.has_task = true;
            alarm.set_may_pause(timer);
        }
        self.driver.rearm();
    }
}

/// When a waker was woken, and whether that was in the runtime.
///
/// All wakers of a model are of this kind, also the driver task's: all count as wakers of tasks.
#[derive(Default)]
pub(super) struct Wakes(Mutex<Vec<(Tick, bool)>>);

impl ArcWake for Wakes {
    fn wake_by_ref(this: &Arc<Self>) {
        let at_home = fake::is_at_home();
        this.0.lock().unwrap().push((clock(), at_home));
    }
}

impl Wakes {
    pub(super) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// In a single place, so that there is a single vtable.
    #[inline(never)]
    fn waker(self: &Arc<Self>) -> Waker {
        waker(self.clone())
    }

    /// Whether the waker was woken since the last call.
    fn take(&self) -> bool {
        !std::mem::take(&mut *self.0.lock().unwrap()).is_empty()
    }

    pub(super) fn at(&self, index: usize) -> Tick {
        self.0.lock().unwrap()[index].0
    }

    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// Whether only the caller holds the waker.
    pub(super) fn is_freed(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1
    }
}

/// A timer, and the results of its polls.
pub(super) struct Armed {
    pub(super) timer: Timer,
    pub(super) deadline: Tick,
    /// Of the waker of the last poll.
    pub(super) wakes: Arc<Wakes>,
    pub(super) ready: bool,
}

impl Armed {
    fn waker(&self) -> Waker {
        self.wakes.waker()
    }

    /// Polls once more, with the same waker.
    pub(super) fn poll(&mut self) -> Poll<()> {
        let (waker, deadline) = (self.waker(), self.deadline);
        let polled = self.timer.poll(deadline, &waker);
        if polled.is_ready() {
            assert!(clock() >= self.deadline, "ready too early");
            self.ready = true;
        }
        polled
    }

    /// Keeps the waker, as a `Sleep` does that was ready.
    pub(super) fn keep(&mut self) {
        self.timer.keep(&self.waker());
    }

    /// Polls with another waker, and hands out the wakes of the old waker.
    pub(super) fn poll_with_another(&mut self) -> Arc<Wakes> {
        let old = std::mem::replace(&mut self.wakes, Wakes::new());
        let _ = self.poll();
        old
    }

    pub(super) fn reset(&mut self, deadline: u64) {
        self.ready = false;
        self.deadline = Tick(deadline);
        self.timer.reset(self.deadline);
    }

    /// The timer was not dropped, and its time is over: its waker was woken, once and not early, or
    /// a poll was ready.
    pub(super) fn assert_fired(mut self) {
        let wakes = self.wakes.0.lock().unwrap().clone();
        if self.ready {
            assert!(wakes.len() <= 1, "woken twice: {wakes:?}");
        } else {
            assert_eq!(wakes.len(), 1, "woken at {wakes:?}");
        }
        let settled = fake::settled().map_or(Tick::ZERO, Tick::of);
        let latest = self.deadline.max(settled).0 + AHEAD;
        for (at, at_home) in wakes {
            assert!(at.0 <= latest, "woken late, at {at:?}");
            assert!(at >= self.deadline, "woken early, at {at:?}");
            assert!(at_home, "fired by a thread that has armed another timer");
        }
        assert!(self.poll().is_ready(), "fired, and not ready");
        let wakes = self.wakes.clone();
        drop(self);
        assert!(wakes.is_freed(), "a waker is leaked");
    }

    /// Drops the timer, and arms another with the same waker.
    pub(super) fn replace_by(self, model: &Model, deadline: u64) -> Armed {
        let mut next = model.unpolled(0, deadline);
        next.wakes = self.drop();
        let _ = next.poll();
        next
    }

    /// Drops the timer and hands out its wakes.
    pub(super) fn drop(self) -> Arc<Wakes> {
        self.wakes
    }
}
