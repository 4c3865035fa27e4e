//! The interpreter of tasks.

use support::prelude::*;

use std::any::Any;
use std::future::pending;

use futures::future::{BoxFuture, FutureExt, select_all};
use futures::stream::StreamExt;
use tokio::runtime::EnterGuard;
use tokio::task::{AbortHandle, JoinError};
use tokio_util::context::TokioContext;

use super::program::{Between, Body, Op, Rt, Style, Task, Ticks};
use super::world::World;
use support::time::{InTime, Interval, Time};

/// How long a root waits for each of its operations, by the clock of the runtime that drives the root.
const PATIENCE: Duration = Duration::from_secs(1);

/// A position in a running program.
pub(crate) struct Place<T: Time> {
    pub(crate) world: Arc<World<T>>,
    /// The number of the task, or 0 for the thread and its roots.
    pub(crate) task: usize,
    pub(crate) path: Vec<usize>,
    /// The runtime that drives this root, whose clock limits each operation to [`PATIENCE`].
    pub(crate) driven_by: Option<usize>,
    /// Whether this runs in the local set.
    pub(crate) local: bool,
}

impl<T: Time> Place<T> {
    pub(crate) fn thread(world: &Arc<World<T>>) -> Self {
        Place {
            world: world.clone(),
            task: 0,
            path: Vec::new(),
            driven_by: None,
            local: false,
        }
    }

    pub(crate) fn at(&self, index: usize) -> Self {
        let mut path = self.path.clone();
        path.push(index);
        Place {
            world: self.world.clone(),
            path,
            ..*self
        }
    }

    /// Returns a position inside an operation that has a limit of its own, or needs none.
    fn within(&self, index: usize) -> Self {
        Place {
            driven_by: None,
            ..self.at(index)
        }
    }

    pub(crate) fn record(&self, what: impl Into<String>) {
        self.world.record(self.task, &self.path, what);
    }

    /// Runs one operation after another. A panic ends only the operation that panics.
    pub(crate) fn run(self, ops: Body) -> BoxFuture<'static, ()> {
        async move {
            for (index, op) in ops.into_iter().enumerate() {
                let place = self.at(index);
                let done = self.at(index).apply(op);
                let done = self.limited(AssertUnwindSafe(done).catch_unwind()).await;
                match done {
                    Some(Ok(what)) if what.is_empty() => {}
                    Some(Ok(what)) => place.record(what),
                    Some(Err(panic)) => place.record(message(&*panic)),
                    None => place.record("gave up"),
                }
            }
        }
        .boxed()
    }

    /// Limits an operation of a root. The limit uses Tokio's timers in every run.
    async fn limited<F: Future + Send>(&self, future: F) -> Option<F::Output> {
        let Some(rt) = self.driven_by else {
            return Some(future.await);
        };
        let deadline = self.world.now(rt) + PATIENCE;
        let deadline = self.world.in_lane(self.task, rt, deadline);
        let limit = || tokio::time::timeout_at(deadline, future);
        inside(&self.world.handles[rt], limit).await.ok()
    }

    async fn apply(self, op: Op) -> String {
        let now = Instant::now();
        match op {
            Op::Sleep(span) => {
                let span = self.span(span);
                T::sleep(span).await;
                on_time(now + span, "slept")
            }
            Op::SleepUntil(span) => {
                let deadline = self.deadline(span);
                T::sleep_until(deadline).await;
                on_time(deadline, "slept until then")
            }
            Op::SleepUntilPast(span) => {
                T::sleep_until(now - span).await;
                "slept until then".into()
            }
            Op::Timeout(span, body) => {
                let (span, body) = (self.span(span), self.within(0).run(body));
                in_time(T::timeout(span, body).await, now + span)
            }
            Op::TimeoutAt(span, body) => {
                let (deadline, body) = (self.deadline(span), self.within(0).run(body));
                in_time(T::timeout_at(deadline, body).await, deadline)
            }
            Op::Interval(ticks) => self.interval(ticks).await,
            Op::Now(slot, now) => self.apply_now(slot, now),
            Op::Await(slot) => self.wait(slot).await,
            Op::Held(rt, body) => {
                let _held = Held::new(&self.world.handles[rt]);
                self.within(0).run(body).await;
                "left".into()
            }
            Op::Wrapped(rt, body) => {
                let body = self.within(0).run(body);
                TokioContext::new(body, self.world.handles[rt].clone()).await;
                String::new()
            }
            Op::Select(bodies) => {
                let (_, winner, losers) = select_all(self.all(bodies)).await;
                drop(losers);
                format!("branch {winner} was first")
            }
            Op::JoinAll(bodies) => {
                join_all(self.all(bodies)).await;
                "all done".into()
            }
            Op::Unordered(bodies) => {
                let mut all: FuturesUnordered<_> = self.all(bodies).into_iter().collect();
                while all.next().await.is_some() {
                    self.record("one more");
                }
                "all done".into()
            }
            Op::Spawn(task, on) => self.spawn(task, on),
            Op::SpawnLocal(task) => self.spawn_local(task),
            Op::JoinSet(tasks) => self.join_set(tasks).await,
            Op::Join(task) => self.join(task).await,
            Op::Abort(task) => self.abort(task),
            Op::Advance(span) => {
                self.advance(span).await;
                "advanced".into()
            }
            Op::Yield(times) => {
                for _ in 0..times {
                    yield_now().await;
                }
                String::new()
            }
            Op::Blocking(rt, body) if self.world.style == Style::Workers => {
                let drive = self.driving(rt, body);
                outcome(spawn_blocking(drive).await).into()
            }
            Op::Blocking(rt, body) => self.blocking(rt.unwrap(), body).await,
            Op::InPlace(rt, body) => {
                block_in_place(self.driving(rt, body));
                "in place".into()
            }
            Op::Probe => {
                let quiet = self.world.quiet.clone().unwrap();
                poll_fn(|cx| quiet.probe::<T>(cx.waker())).await;
                String::new()
            }
            Op::End(rt) => self.end(rt),
            Op::Pending => pending().await,
        }
    }

    /// Returns a duration of at least `span` that ends in this task's lane.
    pub(crate) fn span(&self, span: Duration) -> Duration {
        match self.world.here() {
            Some(rt) if span < Duration::from_secs(3600) => {
                let now = Instant::now();
                self.world.in_lane(self.task, rt, now + span) - now
            }
            _ => span,
        }
    }

    pub(crate) fn deadline(&self, span: Duration) -> Instant {
        Instant::now() + self.span(span)
    }

    async fn advance(&self, span: Duration) {
        // A timer of another task may be due right now, and no order of the two is promised.
        if self.world.style == Style::Lanes {
            yield_now().await;
        }
        tokio::time::advance(self.span(span)).await;
    }

    fn all(&self, bodies: Vec<Body>) -> Vec<BoxFuture<'static, ()>> {
        let bodies = bodies.into_iter().enumerate();
        bodies.map(|(i, body)| self.within(i).run(body)).collect()
    }

    async fn interval(&self, ticks: Ticks) -> String {
        let rt = self.world.clock_here();
        let mut interval = match ticks.start {
            Some(span) => T::interval_at(self.deadline(span), ticks.period),
            None => T::interval(ticks.period),
        };
        interval.set_missed_tick_behavior(ticks.behavior);
        for (index, between) in ticks.between.into_iter().enumerate() {
            let place = self.within(index);
            let due = interval.tick().await;
            let tick = on_time(due, "tick");
            let due = rt.map(|rt| self.world.since_start(rt, due));
            place.record(format!("{tick} of {due:?}"));
            match between {
                Between::Nothing => {}
                Between::Sleep(span) => T::sleep(self.span(span)).await,
                Between::Advance(span) => self.advance(span).await,
                Between::Reset => interval.reset(),
                Between::ResetImmediately => interval.reset_immediately(),
                Between::ResetAfter(span) => interval.reset_after(self.span(span)),
            }
        }
        String::new()
    }

    fn live(self) -> impl Future<Output = ()> {
        let body = self.at(0).run(self.world.tasks[self.task - 1].clone());
        let life = Life(self, "was dropped");
        async move {
            let mut life = life;
            body.await;
            life.1 = "has finished";
        }
    }

    fn new_task(&self, task: Task, local: bool) -> Place<T> {
        Place {
            task: task + 1,
            local,
            ..Place::thread(&self.world)
        }
    }

    pub(crate) fn spawn(&self, task: Task, on: Option<Rt>) -> String {
        let place = self.new_task(task, false);
        let future = place.live();
        let runtime = on.map_or_else(Handle::current, |rt| self.world.handles[rt].clone());
        self.world.spawned.lock().unwrap()[task] = Some(runtime.spawn(future));
        String::new()
    }

    fn spawn_local(&self, task: Task) -> String {
        if !self.local {
            return "not in the local set".into();
        }
        let place = self.new_task(task, true);
        let handle = spawn_local(place.live());
        self.world.spawned.lock().unwrap()[task] = Some(handle);
        String::new()
    }

    async fn join_set(&self, tasks: Vec<Task>) -> String {
        let mut set = JoinSet::new();
        for task in tasks {
            let place = self.new_task(task, false);
            set.spawn(place.live());
        }
        while let Some(result) = set.join_next().await {
            self.record(outcome(result));
        }
        "all joined".into()
    }

    async fn join(&self, task: Task) -> String {
        let handle = self.world.spawned.lock().unwrap()[task].take();
        match handle {
            Some(handle) => outcome(handle.await).into(),
            None => "nobody there".into(),
        }
    }

    fn abort(&self, task: Task) -> String {
        let spawned = self.world.spawned.lock().unwrap();
        let handle = spawned[task].as_ref().map(|handle| handle.abort_handle());
        drop(spawned);
        handle.iter().for_each(AbortHandle::abort);
        String::new()
    }

    /// Drives another runtime on a blocking thread, but only if the clock that must stand still meanwhile is that of the
    /// runtime that drives this root.
    async fn blocking(&self, rt: Rt, body: Body) -> String {
        if self.driven_by.is_none() || self.world.here() != self.driven_by {
            return "not here".into();
        }
        let root = Place {
            driven_by: Some(rt),
            ..self.at(0)
        };
        let world = self.world.clone();
        let drive = move || {
            let runtime = world.take_runtime(rt)?;
            runtime.block_on(root.run(body));
            world.put_back(rt, runtime);
            Some(())
        };
        match spawn_blocking(drive).await {
            Ok(Some(())) => "driven".into(),
            Ok(None) => "it is not there".into(),
            Err(error) => outcome(Err(error)).into(),
        }
    }

    /// In a program for workers, drives a body as a local task, on a thread that is no worker meanwhile.
    fn driving(&self, rt: Option<Rt>, body: Body) -> impl FnOnce() + Send + 'static {
        let body = self.at(0).run(body);
        let handle = rt.map(|rt| self.world.handles[rt].clone());
        move || {
            let local = LocalSet::new();
            let body = local.run_until(async { spawn_local(body).await.unwrap() });
            match handle {
                Some(handle) => handle.block_on(body),
                None => current_thread().block_on(body),
            }
        }
    }

    fn end(&self, rt: Rt) -> String {
        match self.world.take_runtime(rt) {
            Some(runtime) => {
                runtime.shutdown_background();
                "ended".into()
            }
            None => "it is not there".into(),
        }
    }
}

/// Records how a task ended when it is dropped.
struct Life<T: Time>(Place<T>, &'static str);

impl<T: Time> Drop for Life<T> {
    fn drop(&mut self) {
        self.0.record(self.1);
    }
}

/// Returns the event, and notes in it if the timer was early.
pub(crate) fn on_time(deadline: Instant, what: &str) -> String {
    match Instant::now() >= deadline {
        true => what.into(),
        false => format!("{what}, early"),
    }
}

fn in_time(in_time: InTime<()>, deadline: Instant) -> String {
    match in_time {
        Ok(()) => "in time".into(),
        Err(()) => on_time(deadline, "elapsed"),
    }
}

fn outcome(result: Result<(), JoinError>) -> &'static str {
    match result {
        Ok(()) => "joined",
        Err(error) if error.is_cancelled() => "was cancelled",
        Err(_) => "has panicked",
    }
}

pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    format!("panicked: {}", words(panic))
}

thread_local! {
    static HELD: RefCell<Vec<EnterGuard<'static>>> = const { RefCell::new(Vec::new()) };
}

/// A guard in a root's future. That future could move to another thread, but does not. This type lets all futures here
/// be `Send`, and so have one type.
struct Held;

impl Held {
    fn new(handle: &Handle) -> Self {
        // The guard borrows the handle. Leaks a few bytes, and an ended runtime's handle.
        let handle: &'static Handle = Box::leak(Box::new(handle.clone()));
        HELD.with_borrow_mut(|held| held.push(handle.enter()));
        Held
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(HELD.with_borrow_mut(Vec::pop));
    }
}
