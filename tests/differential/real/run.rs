//! The interpreter: runs programs side by side, and notes what each of them has come to.

use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt, select_all};
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::runtime::{Builder, Handle, Runtime, worker_index};
use tokio::task::{block_in_place, spawn_blocking, yield_now};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::context::TokioContext;
use wheel::Wheel;

use super::program::{Op, Program};
use crate::time::{Interval, Sleep, Time};
use support::{current_thread, multi_thread};

const HOUR: Duration = Duration::from_secs(3600);

/// What a program has come to: its tasks' events, each in its own order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome(BTreeMap<Vec<usize>, String>);

impl Outcome {
    /// What only one of the two has.
    pub(super) fn difference(&self, ours: &Outcome) -> String {
        let only = |mark, one: &Outcome, other: &Outcome| {
            let events = one.0.iter();
            let missing = events.filter(|(path, what)| other.0.get(*path) != Some(what));
            let lines = missing.map(|(path, what)| format!("{mark} at {path:?}: {what}\n"));
            lines.collect::<String>()
        };
        only("tokio", self, ours) + &only("wheel", ours, self)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut events = self.0.iter();
        events.try_for_each(|(path, what)| writeln!(f, "at {path:?}: {what}"))
    }
}

/// Two runtimes with workers; and a third with timers that nobody but probes makes.
pub(super) struct World<T> {
    runtimes: Option<[Runtime; 3]>,
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    handles: [Handle; 2],
    quiet: Handle,
    /// The quiet runtime's driver, while a probe looks at it.
    quiet_wheel: Mutex<Wheel>,
    proved: AtomicUsize,
    probed: AtomicUsize,
    time: std::marker::PhantomData<fn() -> T>,
}

impl<T: Time> World<T> {
    pub(super) fn new() -> Self {
        // Blocking threads drive programs that wait for other programs' blocking threads.
        let many = Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(4096)
            .enable_all()
            .build()
            .unwrap();
        let runtimes = [many, multi_thread(3), multi_thread(1)];
        let quiet_wheel = runtimes[2].block_on(async { Wheel::current() });
        let shared = Arc::new(Shared {
            handles: [runtimes[0].handle().clone(), runtimes[1].handle().clone()],
            quiet: runtimes[2].handle().clone(),
            quiet_wheel: Mutex::new(quiet_wheel),
            proved: AtomicUsize::new(0),
            probed: AtomicUsize::new(0),
            time: std::marker::PhantomData,
        });
        World {
            runtimes: Some(runtimes),
            shared,
        }
    }

    /// How often a timer was found to be the worker's, by the path that asks for no handle.
    pub(super) fn proved(&self) -> usize {
        self.shared.proved.load(Ordering::Relaxed)
    }

    pub(super) fn probed(&self) -> usize {
        self.shared.probed.load(Ordering::Relaxed)
    }
}

impl<T> Drop for World<T> {
    fn drop(&mut self) {
        let runtimes = self.runtimes.take().into_iter().flatten();
        runtimes.for_each(Runtime::shutdown_background);
    }
}

/// Runs programs at a time, each as a task, and returns what they have come to.
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
    /// On a worker of which runtime this is a task's, if it is.
    rt: Option<usize>,
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

    /// The same where a thread drives it that is no worker, or where others poll it.
    fn elsewhere(&self, rt: Option<usize>) -> Self {
        Place { rt, ..self.at(0) }
    }

    fn record(&self, what: impl Into<String>) {
        let old = self
            .events
            .lock()
            .unwrap()
            .insert(self.path.clone(), what.into());
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
        match op {
            Op::Sleep(span) => {
                let begin = Instant::now();
                T::sleep(span).await;
                on_time(begin + span, "slept")
            }
            Op::SleepUntil { span, past } => {
                let now = Instant::now();
                let deadline = if past { now - span } else { now + span };
                T::sleep_until(deadline).await;
                on_time(deadline, "slept until then")
            }
            Op::InTime(ops) => {
                let body = self.at(0).run(ops);
                told(T::timeout(HOUR, body).await, Instant::now())
            }
            Op::Elapses { span, at } => {
                let deadline = Instant::now() + span;
                let in_time = match at {
                    true => T::timeout_at(deadline, pending::<()>()).await,
                    false => T::timeout(span, pending::<()>()).await,
                };
                told(in_time, deadline)
            }
            Op::Interval {
                period,
                start,
                ticks,
            } => interval::<T>(period, start, ticks).await,
            Op::Reset(spans) => {
                let mut sleep = Box::pin(T::sleep(HOUR));
                let mut deadline = sleep.deadline();
                for span in spans {
                    if poll_once(sleep.as_mut()).await.is_ready() {
                        assert!(Instant::now() >= deadline, "early");
                    }
                    deadline = Instant::now() + span;
                    sleep.as_mut().reset(deadline);
                }
                sleep.as_mut().await;
                assert!(sleep.is_elapsed());
                on_time(deadline, "reset, and done")
            }
            Op::Select { span, others } => {
                let deadline = Instant::now() + span;
                let first = Box::pin(T::sleep_until(deadline));
                let others = (0..others).map(|_| Box::pin(T::sleep(HOUR)));
                let all = std::iter::once(first).chain(others);
                let (_, winner, losers) = select_all(all).await;
                drop(losers);
                on_time(deadline, &format!("branch {winner} was first"))
            }
            Op::Unordered(spans) => {
                let begin = Instant::now();
                let sleeps = spans.iter().map(|&span| async move {
                    T::sleep(span).await;
                    Instant::now() >= begin + span
                });
                let mut all: FuturesUnordered<_> = sleeps.collect();
                let mut woken = 0;
                while let Some(on_time) = all.next().await {
                    assert!(on_time, "early");
                    woken += 1;
                }
                format!("all done: {woken}")
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
            Op::Spawn { rt, ops } => {
                let body = self.elsewhere(Some(rt)).run(ops);
                let joined = self.shared.handles[rt].spawn(body).await;
                joined.map_or_else(|error| format!("panicked: {error}"), |()| "joined".into())
            }
            Op::Abort { rt } => {
                let task = self.shared.handles[rt].spawn(async { T::sleep(HOUR).await });
                yield_now().await;
                task.abort();
                let cancelled = task.await.is_err_and(|error| error.is_cancelled());
                format!("was cancelled: {cancelled}")
            }
            Op::Elsewhere { span, rt, polled } => {
                let deadline = Instant::now() + span;
                let mut sleep = Box::pin(T::sleep_until(deadline));
                if polled {
                    let _ = poll_once(sleep.as_mut()).await;
                }
                let joined = self.shared.handles[rt].spawn(sleep).await;
                joined.expect("no panic");
                on_time(deadline, "awaited elsewhere")
            }
            Op::Entered { span } => {
                let deadline = Instant::now() + span;
                let other = self.rt.map_or(0, |rt| 1 - rt);
                let sleep = {
                    let _guard = self.shared.handles[other].enter();
                    T::sleep_until(deadline)
                };
                sleep.await;
                on_time(deadline, "made for another")
            }
            Op::Wrapped(ops) => {
                let other = self.rt.map_or(0, |rt| 1 - rt);
                // Its tasks, if it spawns some, are still those of the worker's runtime.
                let body = self.at(0).run(ops);
                let handle = self.shared.handles[other].clone();
                TokioContext::new(body, handle).await;
                "left".into()
            }
            Op::InPlace { rt, ops } => self.in_place(rt, ops),
            Op::Blocking { rt, ops } => {
                let body = self.elsewhere(None).run(ops);
                let handle = rt.map(|rt| self.shared.handles[rt].clone());
                let drive = move || match handle {
                    Some(handle) => handle.block_on(body),
                    None => current_thread().block_on(body),
                };
                let driven = match self.rt {
                    Some(_) => spawn_blocking(drive).await,
                    // One inside the other would need a thread for each.
                    None => self.shared.handles[0].spawn_blocking(drive).await,
                };
                driven.map_or_else(|error| format!("panicked: {error}"), |()| "blocking".into())
            }
            Op::Probe => {
                self.probe().await;
                "probed".into()
            }
        }
    }

    /// On a worker, where that is possible.
    fn in_place(&self, rt: usize, ops: Vec<Op>) -> String {
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

    /// Makes a timer inside `enter()` of the quiet runtime, has it registered outside, and looks
    /// who has it. By the rule it is the worker's; a thread that is not known to be a worker asks
    /// the current handle, which is the quiet runtime's.
    async fn probe(&self) {
        if self.rt.is_none() {
            return;
        }
        let shared = &self.shared;
        poll_fn(|cx| {
            if worker_index().is_none() {
                return Poll::Ready(());
            }
            // One at a time: what is pending there is this one.
            let quiet = shared.quiet_wheel.lock().unwrap();
            let mut sleep = {
                let _guard = shared.quiet.enter();
                Box::pin(T::sleep(HOUR))
            };
            let task = poll_unconstrained(sleep.as_mut(), cx.waker());
            assert!(task.is_pending());
            shared.probed.fetch_add(1, Ordering::Relaxed);
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

fn poll_unconstrained<F: Future>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    let mut future = std::pin::pin!(tokio::task::coop::unconstrained(future));
    future.as_mut().poll(&mut Context::from_waker(waker))
}

/// Polled once with the task's own waker.
async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(poll_unconstrained(future.as_mut(), cx.waker()))).await
}

fn on_time(deadline: Instant, what: &str) -> String {
    match Instant::now() >= deadline {
        true => what.to_owned(),
        false => format!("{what}, early"),
    }
}

fn told(in_time: bool, deadline: Instant) -> String {
    match in_time {
        true => "in time".into(),
        false => on_time(deadline, "elapsed"),
    }
}

async fn interval<T: Time>(period: Duration, start: Option<Duration>, ticks: usize) -> String {
    let begin = Instant::now();
    let mut interval = match start {
        Some(span) => T::interval_at(begin + span, period),
        None => T::interval(period),
    };
    interval.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut due = None;
    for _ in 0..ticks {
        let tick = poll_fn(|cx| interval.poll_tick(cx)).await;
        assert!(Instant::now() >= tick, "early");
        let expected = due.map_or(tick, |due| due + period);
        assert_eq!(tick, expected, "a tick is not a period after the last");
        due = Some(tick);
    }
    let first = start.is_none_or(|span| due >= Some(begin + span + period * (ticks as u32 - 1)));
    let reset = Instant::now();
    let least = [period, Duration::ZERO, period / 2][ticks % 3];
    match ticks % 3 {
        0 => interval.reset(),
        1 => interval.reset_immediately(),
        _ => interval.reset_after(least),
    }
    poll_fn(|cx| interval.poll_tick(cx)).await;
    on_time(
        reset + least,
        &format!("tick by tick: {ticks}, from the start: {first}"),
    )
}
