//! The interpreter: runs programs side by side, and notes the events of each.

use support::prelude::*;

use std::collections::BTreeMap;
use std::future::pending;
use std::marker::PhantomData;

use futures::future::{BoxFuture, FutureExt, select_all};
use futures::stream::StreamExt;
use tokio::runtime::worker_index;
use tokio::task::JoinError;
use tokio_util::context::TokioContext;

use super::program::{Op, Program, Rt, Ticks};
use support::time::{InTime, Interval, Sleep, Time};

/// The outcome of a program: its tasks' events, each in its own order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome(BTreeMap<Vec<usize>, String>);

impl Outcome {
    /// The events that the two outcomes do not share.
    pub(super) fn difference(&self, ours: &Outcome) -> String {
        crate::difference(&self.lines(), &ours.lines())
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let events = self.0.iter();
        let lines = events.map(|(path, what)| format!("at {path:?}: {what}"));
        lines.collect()
    }
}

/// Two runtimes with workers; and a third in which only probes make timers.
pub(super) struct World<T> {
    runtimes: Option<[Runtime; 3]>,
    pub(super) shared: Arc<Shared<T>>,
}

pub(super) struct Shared<T> {
    handles: [Handle; 2],
    quiet: Handle,
    /// The quiet runtime's driver, locked while a probe looks at its timers.
    quiet_wheel: Mutex<Wheel>,
    pub(super) probes: AtomicUsize,
    /// How often a timer was found to be the worker's, by the path that takes no handle.
    pub(super) proved: AtomicUsize,
    time: PhantomData<fn() -> T>,
}

impl<T: Time> World<T> {
    pub(super) fn new() -> Self {
        // Blocking threads drive programs that wait for other programs' blocking threads.
        let many = with_workers(2).max_blocking_threads(4096).build().unwrap();
        let runtimes = [many, multi_thread(3), multi_thread(1)];
        let [one, two, quiet] = runtimes.each_ref().map(|rt| rt.handle().clone());
        let quiet_wheel = quiet.block_on(async { Wheel::current() });
        let shared = Arc::new(Shared {
            handles: [one, two],
            quiet,
            quiet_wheel: Mutex::new(quiet_wheel),
            probes: AtomicUsize::new(0),
            proved: AtomicUsize::new(0),
            time: PhantomData,
        });
        World {
            runtimes: Some(runtimes),
            shared,
        }
    }
}

impl<T> Drop for World<T> {
    fn drop(&mut self) {
        let runtimes = self.runtimes.take().into_iter().flatten();
        runtimes.for_each(Runtime::shutdown_background);
    }
}

/// Runs programs at a time, each as a task, and returns their outcomes.
pub(super) fn side_by_side<T: Time>(
    world: &World<T>,
    programs: Vec<(u64, Program)>,
) -> BTreeMap<u64, Outcome> {
    let started: Vec<_> = programs
        .into_iter()
        .map(|(seed, program)| {
            let place = Place {
                shared: world.shared.clone(),
                rt: Some(program.rt),
                path: Vec::new(),
                events: Arc::default(),
            };
            let events = place.events.clone();
            let task = world.shared.handles[program.rt].spawn(place.run(program.ops));
            (seed, task, events)
        })
        .collect();
    let finished = started.into_iter().map(|(seed, task, events)| {
        let ended = futures::executor::block_on(task);
        let mut outcome = Outcome(events.lock().unwrap().clone());
        if let Err(error) = ended {
            outcome.0.insert(Vec::new(), format!("panicked: {error}"));
        }
        (seed, outcome)
    });
    finished.collect()
}

type Events = Mutex<BTreeMap<Vec<usize>, String>>;

/// Where in a program something happens.
struct Place<T> {
    shared: Arc<Shared<T>>,
    /// The runtime whose worker runs this in a task, if any does.
    rt: Option<Rt>,
    path: Vec<usize>,
    events: Arc<Events>,
}

impl<T: Time> Place<T> {
    fn at(&self, index: usize) -> Self {
        let mut path = self.path.clone();
        path.push(index);
        Place {
            shared: self.shared.clone(),
            events: self.events.clone(),
            rt: self.rt,
            path,
        }
    }

    /// The same for a body that a thread drives which is no worker, or that others poll.
    fn elsewhere(&self, rt: Option<Rt>) -> Self {
        Place { rt, ..self.at(0) }
    }

    fn record(&self, what: impl Into<String>) {
        let mut events = self.events.lock().unwrap();
        let old = events.insert(self.path.clone(), what.into());
        assert!(old.is_none(), "recorded twice");
    }

    fn run(self, ops: Vec<Op>) -> BoxFuture<'static, ()> {
        async move {
            for (index, op) in ops.into_iter().enumerate() {
                let place = self.at(index);
                let what = self.at(index).apply(op).await;
                place.record(what);
            }
        }
        .boxed()
    }

    async fn apply(self, op: Op) -> String {
        let now = Instant::now();
        match op {
            Op::Sleep(span) => {
                T::sleep(span).await;
                on_time(now + span, "slept")
            }
            Op::SleepUntil(span) => until::<T>(now + span, "slept until then").await,
            Op::SleepUntilPast(span) => until::<T>(now - span, "slept until then").await,
            Op::InTime(ops) => in_time(T::timeout(HOUR, self.at(0).run(ops)).await, now),
            Op::Elapses(span) => in_time(T::timeout(span, pending::<()>()).await, now + span),
            Op::ElapsesAt(span) => {
                let timeout = T::timeout_at(now + span, pending::<()>());
                in_time(timeout.await, now + span)
            }
            Op::Interval(ticks) => interval::<T>(ticks).await,
            Op::Reset(spans) => reset_to_each::<T>(spans).await,
            Op::Select(span, others) => {
                let first = Box::pin(T::sleep_until(now + span));
                let others = (0..others).map(|_| Box::pin(T::sleep(HOUR)));
                let all = std::iter::once(first).chain(others);
                let (_, winner, losers) = select_all(all).await;
                drop(losers);
                on_time(now + span, &format!("branch {winner} was first"))
            }
            Op::Unordered(spans) => {
                let sleeps = spans.into_iter().map(|span| async move {
                    T::sleep(span).await;
                    assert!(Instant::now() >= now + span, "early");
                });
                let all: FuturesUnordered<_> = sleeps.collect();
                format!("all done: {}", all.count().await)
            }
            Op::Cancel(timers) => {
                let mut armed: Vec<_> = (0..timers).map(|_| Box::pin(T::sleep(HOUR))).collect();
                for sleep in &mut armed {
                    assert!(poll_once(sleep.as_mut()).await.is_pending());
                }
                drop(armed);
                format!("cancelled timers: {timers}")
            }
            Op::Yield(times) => {
                for _ in 0..times {
                    yield_now().await;
                }
                "yielded".into()
            }
            Op::Spawn(rt, ops) => {
                let body = self.elsewhere(Some(rt)).run(ops);
                joined(self.shared.handles[rt].spawn(body).await, "joined")
            }
            Op::Abort(rt) => {
                let task = self.shared.handles[rt].spawn(async { T::sleep(HOUR).await });
                yield_now().await;
                task.abort();
                let cancelled = task.await.is_err_and(|error| error.is_cancelled());
                format!("was cancelled: {cancelled}")
            }
            Op::Elsewhere(rt, span, is_polled) => {
                let mut sleep = Box::pin(T::sleep_until(now + span));
                if is_polled {
                    let _ = poll_once(sleep.as_mut()).await;
                }
                let ended = self.shared.handles[rt].spawn(sleep).await;
                ended.expect("no panic");
                on_time(now + span, "awaited elsewhere")
            }
            Op::Entered(span) => {
                inside(self.other(), || T::sleep_until(now + span)).await;
                on_time(now + span, "made for another")
            }
            Op::Wrapped(ops) => {
                // Tasks that the body spawns are still those of the worker's runtime.
                let body = self.at(0).run(ops);
                TokioContext::new(body, self.other().clone()).await;
                "left".into()
            }
            Op::InPlace(rt, ops) => self.in_place(rt, ops),
            Op::Blocking(rt, ops) => self.blocking(rt, ops).await,
            Op::Probe => {
                self.probe().await;
                "probed".into()
            }
        }
    }

    /// The runtime that this is not a task of.
    fn other(&self) -> &Handle {
        &self.shared.handles[self.rt.map_or(0, |rt| 1 - rt)]
    }

    async fn blocking(&self, rt: Option<Rt>, ops: Vec<Op>) -> String {
        let body = self.elsewhere(None).run(ops);
        let handle = rt.map(|rt| self.shared.handles[rt].clone());
        let drive = move || match handle {
            Some(handle) => handle.block_on(body),
            None => current_thread().block_on(body),
        };
        let driven = match self.rt {
            Some(_) => spawn_blocking(drive).await,
            // A nested blocking thread would need a thread for each level.
            None => self.shared.handles[0].spawn_blocking(drive).await,
        };
        joined(driven, "blocking")
    }

    /// On a worker, where that is possible.
    fn in_place(&self, rt: Rt, ops: Vec<Op>) -> String {
        let body = self.elsewhere(None).run(ops);
        let handle = self.shared.handles[rt].clone();
        if self.rt.is_some() && worker_index().is_some() {
            block_in_place(|| handle.block_on(body));
        } else {
            let thread = std::thread::spawn(move || handle.block_on(body));
            thread.join().expect("no panic");
        }
        "in place".into()
    }

    /// Makes a timer inside `enter()` of the quiet runtime, registers the timer outside, and looks which
    /// runtime has the timer: by the rule, the worker's. On a thread that is not known to be a worker the
    /// current handle decides, which is the quiet runtime's.
    async fn probe(&self) {
        if self.rt.is_none() {
            return;
        }
        let shared = &self.shared;
        poll_fn(|cx| {
            if worker_index().is_none() {
                return Poll::Ready(());
            }
            // A probe at a time: a timer that is pending there is this probe's.
            let quiet = shared.quiet_wheel.lock().unwrap();
            let sleep = inside(&shared.quiet, || Box::pin(T::sleep(HOUR)));
            let sleep = registered_with(sleep, cx.waker());
            shared.probes.fetch_add(1, Ordering::Relaxed);
            if quiet.pending() == 0 {
                shared.proved.fetch_add(1, Ordering::Relaxed);
            }
            drop(sleep);
            assert_eq!(quiet.pending(), 0);
            Poll::Ready(())
        })
        .await;
    }
}

/// Polled once with the task's own waker.
async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(poll(&mut future, cx.waker()))).await
}

fn on_time(deadline: Instant, what: &str) -> String {
    match Instant::now() >= deadline {
        true => what.to_owned(),
        false => format!("{what}, early"),
    }
}

fn in_time(in_time: InTime<()>, deadline: Instant) -> String {
    match in_time {
        Ok(()) => "in time".into(),
        Err(()) => on_time(deadline, "elapsed"),
    }
}

fn joined(ended: Result<(), JoinError>, what: &str) -> String {
    match ended {
        Ok(()) => what.to_owned(),
        Err(error) => format!("panicked: {error}"),
    }
}

async fn until<T: Time>(deadline: Instant, what: &str) -> String {
    T::sleep_until(deadline).await;
    on_time(deadline, what)
}

async fn reset_to_each<T: Time>(spans: Vec<Duration>) -> String {
    let mut sleep = Box::pin(T::sleep(HOUR));
    for span in spans {
        if poll_once(sleep.as_mut()).await.is_ready() {
            assert!(Instant::now() >= sleep.deadline(), "early");
        }
        sleep.as_mut().reset(Instant::now() + span);
    }
    let deadline = sleep.deadline();
    sleep.as_mut().await;
    assert!(sleep.is_elapsed());
    on_time(deadline, "reset, and done")
}

async fn interval<T: Time>(ticks: Ticks) -> String {
    let Ticks { period, count, .. } = ticks;
    let begin = Instant::now();
    let mut interval = match ticks.start {
        Some(span) => T::interval_at(begin + span, period),
        None => T::interval(period),
    };
    let mut expected = ticks.start.map(|span| begin + span);
    for _ in 0..count {
        let tick = interval.tick().await;
        assert!(Instant::now() >= tick, "early");
        assert_eq!(
            tick,
            expected.unwrap_or(tick),
            "not a period after the last"
        );
        expected = Some(tick + period);
    }
    let reset = Instant::now();
    let least = [period, Duration::ZERO, period / 2][count % 3];
    match count % 3 {
        0 => interval.reset(),
        1 => interval.reset_immediately(),
        _ => interval.reset_after(least),
    }
    interval.tick().await;
    on_time(reset + least, &format!("tick by tick: {count}"))
}
