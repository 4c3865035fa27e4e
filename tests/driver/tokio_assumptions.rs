//! What the driver assumes of tokio, beyond tokio's documentation: one test for each assumption.
//!
//! A test that fails here means that tokio does something else now, not that the driver is wrong.
//! The message names the assumption and the file that relies on it. Nothing here uses this crate's
//! timers. All of it is run with the lowest tokio that `Cargo.toml` allows, too.
//!
//! | assumed | relied on for |
//! | --- | --- |
//! | all tasks' wakers have one vtable, and no other waker has it | which timers may wait in a spare or a cancel queue |
//! | a waker's data pointer stays a task's as long as a clone of the waker lives | polling again without a lock |
//! | a waker keeps a task's memory, never its future | keeping a cancelled timer's waker for a while |
//! | a `LocalSet` that is polled runs its task on the spot | learning that vtable before the first timer |
//! | an interval registers by `reset_at`, and needs no runtime around it | arming on any thread |
//! | a tick that is ready leaves nothing registered | disarming |
//! | a timer that is put off is moved lazily | disarming before arming for later |
//! | a deadline that has passed rings at once, on this thread | telling such a ring from others while arming |
//! | an exhausted budget leaves a timer unregistered; `unconstrained` does not | polling in any task |
//! | wakers of timers and descriptors are called outside of tokio's locks, on a thread that drives them | firing in the alarm's waker |
//! | `advance` returns after the wakers were called | timers that are on time under `advance` |
//! | a paused clock stops at registered timers alone | exact virtual time |
//! | deadlines are rounded up to milliseconds since the runtime's beginning | finding that grid by probes |
//! | only clocks of current-thread runtimes are ever paused | reading the real clock elsewhere |
//! | tasks are dropped before time ends | closing a driver by dropping its task |
//! | a task that is spawned on a runtime which ends or has ended is dropped inside `spawn` | the pool of drivers |
//! | an interval panics after its runtime's end, in known words | timers that outlive their runtime |
//! | `worker_index()` by context | whose timer it is |
//! | a thread works for one runtime only | what a thread has learned stays true |
//! | as many workers as `num_workers()` says | one shard for each |
//! | `Handle::id()` is never used again | finding a driver by its runtime |
//! | a handle of a runtime that has ended can be entered, and shows its clock | the driver's own clock |
//! | a thread that is about to end says so | timers in destructors of thread-locals |
//! | panics without a runtime, timers or I/O, in known words | the same panics here; errors of `Builder` |

use std::cell::RefCell;
use std::collections::HashSet;
use std::future::{Future, pending, poll_fn};
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};

use futures::stream::{FuturesUnordered, StreamExt};
use tokio::runtime::{Builder, Handle, Runtime, worker_index};
use tokio::task::{self, JoinSet, LocalSet, block_in_place, coop, spawn_blocking};
use tokio::time::{self, Instant, Interval, MissedTickBehavior};

use support::{NO_RUNTIME, NO_TIMERS, OnWake, SHUT_DOWN, counting, eventually, ms, panic_of, secs};

const WAKER_ID: &str = "src/driver/waker_id.rs";
const CANCEL_QUEUE: &str = "src/driver/cancel_queue.rs";
const ALARM: &str = "src/driver/alarm.rs";
const ALARM_TIMER: &str = "src/driver/alarm_timer.rs";
const PAUSED: &str = "src/driver/paused.rs";
const REGISTRY: &str = "src/driver/registry.rs";
const CONTEXT: &str = "src/driver/context.rs";
const TIMER: &str = "src/driver/timer.rs";
const SETTINGS: &str = "src/driver/settings.rs";
const SYNC: &str = "src/driver/sync.rs";
const TIMERFD: &str = "src/driver/timerfd.rs";

/// Fails with the name of an assumption, and of the file that relies on it.
#[track_caller]
fn assumed(assumption: &str, relied_on_in: &str, holds: bool) {
    assert!(
        holds,
        "{relied_on_in} assumes of tokio, and it is no longer so: {assumption}"
    );
}

/// Runs a test that hangs where its assumption does not hold: a lock is taken twice.
fn assumed_to_end(assumption: &str, relied_on_in: &str, test: fn()) {
    let (done, ended) = mpsc::channel();
    let runs = thread::spawn(move || {
        test();
        let _ = done.send(());
    });
    let hangs = ended.recv_timeout(secs(60)) == Err(RecvTimeoutError::Timeout);
    assumed(assumption, relied_on_in, !hangs);
    if let Err(panic) = runs.join() {
        resume_unwind(panic);
    }
}

#[test]
fn every_file_that_is_named_here_exists() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in [
        WAKER_ID,
        CANCEL_QUEUE,
        ALARM,
        ALARM_TIMER,
        PAUSED,
        REGISTRY,
        CONTEXT,
        TIMER,
        SETTINGS,
        SYNC,
        TIMERFD,
    ] {
        assert!(root.join(file).is_file(), "{file} has another name now");
    }
}

fn current() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn multi(workers: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).enable_all();
    builder.build().unwrap()
}

fn both() -> [Runtime; 2] {
    [current(), multi(2)]
}

/// Runs a function in a task of a runtime.
fn in_task<R: Send + 'static>(runtime: &Runtime, f: impl FnOnce() -> R + Send + 'static) -> R {
    runtime
        .block_on(runtime.spawn(async move { f() }))
        .expect("the task does not panic")
}

fn vtable(waker: &Waker) -> usize {
    std::ptr::from_ref(waker.vtable()) as usize
}

/// The vtable and the data pointer of the waker that polls this.
fn waker_here() -> impl Future<Output = (usize, usize)> + Send {
    poll_fn(|cx| Poll::Ready((vtable(cx.waker()), cx.waker().data() as usize)))
}

// The waker of a task.

#[test]
fn all_tasks_have_one_vtable_and_no_other_waker_has_it() {
    let mut of_tasks = HashSet::new();
    let mut of_others = HashSet::from([vtable(Waker::noop()), vtable(&counting().0)]);
    for runtime in both() {
        of_others.insert(runtime.block_on(waker_here()).0);
        of_others.insert(runtime.block_on(async {
            let mut set: FuturesUnordered<_> = [waker_here()].into_iter().collect();
            set.next().await.unwrap().0
        }));
        of_tasks.insert(runtime.block_on(runtime.spawn(waker_here())).unwrap().0);
        of_tasks.insert(runtime.block_on(async {
            // Another type of future, in a set of tasks.
            let mut set = JoinSet::new();
            set.spawn(async {
                let large = [0_u8; 300];
                let (vtable, _) = waker_here().await;
                std::hint::black_box(large);
                vtable
            });
            set.join_next().await.unwrap().unwrap()
        }));
        let local = LocalSet::new();
        of_others.insert(local.block_on(&runtime, waker_here()).0);
        let task = local.run_until(async { task::spawn_local(waker_here()).await.unwrap().0 });
        of_tasks.insert(runtime.block_on(task));
    }
    let one = of_tasks.len() == 1;
    assumed("all tasks' wakers have one vtable", WAKER_ID, one);
    let apart = of_tasks.is_disjoint(&of_others);
    let assumption = "no waker but a task's has that vtable";
    assumed(assumption, WAKER_ID, apart);
}

#[test]
fn a_local_set_that_is_polled_by_hand_runs_its_task_there_and_then() {
    let set = LocalSet::new();
    let (tell, seen) = mpsc::channel();
    set.spawn_local(poll_fn(move |cx| {
        tell.send(vtable(cx.waker())).unwrap();
        Poll::Ready(())
    }));
    let _ = pin!(set).poll(&mut Context::from_waker(Waker::noop()));
    let here = seen.try_recv().ok();
    let assumption = "a `LocalSet` that is polled without a runtime runs its task on the spot";
    assumed(assumption, WAKER_ID, here.is_some());
    let runtime = current();
    let (task, _) = runtime.block_on(runtime.spawn(waker_here())).unwrap();
    let assumption = "its task's waker has the vtable of every task's";
    assumed(assumption, WAKER_ID, here == Some(task));
}

#[test]
fn a_data_pointer_is_one_tasks_as_long_as_a_clone_of_its_waker_lives() {
    for runtime in both() {
        let kept = runtime.spawn(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
        let kept = runtime.block_on(kept).unwrap();
        let (address, clone) = (kept.data(), kept.clone());
        let assumption = "a clone of a task's waker has the same data pointer";
        assumed(assumption, TIMER, clone.data() == address);
        drop(clone);
        let address = address as usize;
        for _ in 0..2000 {
            let (_, other) = runtime.block_on(runtime.spawn(waker_here())).unwrap();
            let assumption = "no other task has the data pointer of a waker that lives";
            assumed(assumption, TIMER, other != address);
        }
        drop(kept);
        let polls = runtime.spawn(async {
            let first = waker_here().await;
            task::yield_now().await;
            (first, waker_here().await)
        });
        let (first, second) = runtime.block_on(polls).unwrap();
        let assumption = "a task has the same data pointer at each poll";
        assumed(assumption, TIMER, first == second);
    }
}

#[test]
fn a_waker_keeps_no_future_and_no_output() {
    struct Dropped(mpsc::Sender<ThreadId>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            let _ = self.0.send(thread::current().id());
        }
    }
    for runtime in both() {
        let (tell, dropped) = mpsc::channel();
        let (give, given) = mpsc::channel::<Waker>();
        let (future, output) = (Dropped(tell.clone()), Dropped(tell));
        let aborted = {
            let give = give.clone();
            runtime.spawn(async move {
                let _future = future;
                poll_fn(|cx| {
                    give.send(cx.waker().clone()).unwrap();
                    Poll::<()>::Pending
                })
                .await;
            })
        };
        let finished = runtime.spawn(async move {
            let waker = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
            give.send(waker).unwrap();
            output
        });
        drop(runtime.block_on(finished).unwrap());
        let _output = dropped.recv_timeout(secs(20)).unwrap();
        let wakers = [runtime.block_on(async { given.recv().unwrap() })];
        aborted.abort();
        let _ = runtime.block_on(aborted);
        let gone = dropped.recv_timeout(secs(20)).is_ok();
        let assumption = "a task that is aborted drops its future though a waker of it lives";
        assumed(assumption, CANCEL_QUEUE, gone);
        let wakers = wakers.into_iter().chain(given.try_recv());
        assert_eq!(wakers.count(), 2, "dropped here, and nothing else is");
        let quiet = dropped.try_recv().is_err();
        let assumption = "dropping a task's last waker runs nobody's code";
        assumed(assumption, CANCEL_QUEUE, quiet);
    }
}

// What an interval registers, and when.

fn interval() -> Interval {
    let mut interval = time::interval(ms(1));
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

/// As the driver arms.
fn arm(interval: &mut Interval, at: Instant, waker: &Waker) -> Poll<Instant> {
    interval.reset_at(at);
    let tick = coop::unconstrained(poll_fn(|cx| interval.poll_tick(cx)));
    pin!(tick).poll(&mut Context::from_waker(waker))
}

/// Before the runtime's beginning, so that tokio has passed it however late it looks at its timers.
fn past() -> Instant {
    let now = Instant::now();
    let day = now.checked_sub(secs(24 * 3600));
    day.unwrap_or_else(|| now - secs(1))
}

#[test]
fn an_interval_is_armed_on_a_thread_without_a_runtime() {
    for runtime in both() {
        let mut interval = {
            let _guard = runtime.enter();
            interval()
        };
        let (waker, count) = counting();
        let polled = arm(&mut interval, Instant::now() + ms(20), &waker);
        let assumption = "an interval can be reset and polled where no runtime is current";
        assumed(assumption, ALARM_TIMER, polled.is_pending());
        runtime.block_on(async { time::sleep(ms(60)).await });
        eventually("rung", || count.wakes() > 0);
    }
}

#[test]
fn arming_for_what_has_passed_rings_at_once_and_on_this_thread() {
    for runtime in both() {
        let mut interval = {
            let _guard = runtime.enter();
            interval()
        };
        let (tell, rung) = mpsc::channel();
        let tell = Mutex::new(tell);
        let waker = OnWake::waker(move || {
            let _ = tell.lock().unwrap().send(thread::current().id());
        });
        runtime.block_on(async { time::sleep(ms(10)).await });
        let polled = arm(&mut interval, past(), &waker);
        let assumption = "a deadline that has passed is ready at the first poll";
        assumed(assumption, ALARM_TIMER, polled.is_ready());
        let polled = arm(&mut interval, Instant::now() + secs(3600), &waker);
        assert!(polled.is_pending());
        assert_eq!(rung.try_recv().ok(), None);
        let polled = arm(&mut interval, past(), &waker);
        let assumption =
            "moving an armed interval to the past wakes its waker inside of `reset_at`";
        let here = rung.try_recv() == Ok(thread::current().id());
        assumed(assumption, ALARM_TIMER, here && polled.is_ready());
    }
}

#[test]
fn an_exhausted_budget_leaves_a_timer_unregistered_unless_it_is_unconstrained() {
    current().block_on(async {
        let spent = poll_fn(|cx| {
            while let Poll::Ready(budget) = coop::poll_proceed(cx) {
                budget.made_progress();
            }
            let waker = Waker::noop();
            let sleep = pin!(time::sleep_until(past()));
            let constrained = sleep.poll(&mut Context::from_waker(waker));
            let unconstrained = arm(&mut interval(), past(), waker);
            Poll::Ready((constrained, unconstrained))
        });
        let (constrained, unconstrained) = spent.await;
        let assumption = "a timer is pending where the budget is spent, though it is due";
        assumed(assumption, ALARM_TIMER, constrained.is_pending());
        let assumption = "`coop::unconstrained` polls it though the budget is spent";
        assumed(assumption, ALARM_TIMER, unconstrained.is_ready());
    });
}

// Wakers.

#[test]
fn wakers_are_called_outside_of_tokios_locks_and_on_a_thread_that_drives_time() {
    let assumption = "a timer's waker is called with none of the timers' locks held";
    assumed_to_end(assumption, ALARM, wakers_use_timers);
}

fn wakers_use_timers() {
    for (workers, runtime) in [(0, current()), (1, multi(1)), (2, multi(2))] {
        let handle = runtime.handle().clone();
        let interval = {
            let _guard = runtime.enter();
            Arc::new(Mutex::new((interval(), interval())))
        };
        let (tell, rung) = mpsc::channel();
        let (again, tell) = (interval.clone(), Mutex::new(tell));
        let waker = OnWake::waker(move || {
            // Nobody polls them: the lock is free, unless this is re-entered.
            let Ok(mut both) = again.try_lock() else {
                return;
            };
            // Arms, moves, disarms, makes and drops timers of the same runtime.
            let (mine, other) = &mut *both;
            let soon = || Instant::now() + secs(3600);
            let _ = arm(mine, soon(), Waker::noop());
            let _ = arm(other, soon(), Waker::noop());
            let _ = arm(other, past(), Waker::noop());
            let _guard = handle.enter();
            let mut sleep = Box::pin(time::sleep(secs(3600)));
            let _ = sleep.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            drop(sleep);
            let here = (thread::current().id(), worker_index());
            tell.lock().unwrap().send(here).unwrap();
        });
        let armed = arm(
            &mut interval.lock().unwrap().0,
            Instant::now() + ms(20),
            &waker,
        );
        assert!(armed.is_pending());
        let mut rang = None;
        runtime.block_on(async {
            for _ in 0..20_000 {
                rang = rung.try_recv().ok();
                if rang.is_some() {
                    break;
                }
                time::sleep(ms(1)).await;
            }
        });
        let assumption = "a waker that is called for a timer may use timers of that runtime";
        assumed(assumption, ALARM, rang.is_some());
        let drives = rang.is_some_and(|(thread, index)| match workers {
            0 => thread == thread::current().id(),
            _ => index.is_some_and(|index| index < workers),
        });
        let assumption = "a timer's waker is called on a thread that drives its runtime";
        assumed(assumption, ALARM, drives);
    }
}

#[test]
fn only_a_current_thread_runtimes_clock_can_be_another_than_the_real_one() {
    let before = std::time::Instant::now();
    let shown = in_task(&multi(1), || Instant::now().into_std());
    let real = before <= shown && shown <= std::time::Instant::now();
    let assumption = "a multi-thread runtime shows the real clock";
    assumed(assumption, ALARM, real);
    #[cfg(feature = "test-util")]
    {
        let paused = panic_of(|| multi(1).block_on(async { time::pause() }));
        let assumption = "the clock of a multi-thread runtime cannot be paused";
        assumed(assumption, ALARM, paused.is_some());
    }
}

// The end of a runtime.

/// Does something when it is dropped.
struct AtEnd<F: FnMut()>(F);

impl<F: FnMut()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn tasks_are_dropped_before_time_ends() {
    for runtime in both() {
        let mut interval = {
            let _guard = runtime.enter();
            interval()
        };
        let (tell, told) = mpsc::channel();
        let (waker, _) = counting();
        assert!(arm(&mut interval, Instant::now() + secs(3600), &waker).is_pending());
        let end = AtEnd(move || {
            let mut fine = false;
            let panicked = panic_of(|| {
                let later = arm(&mut interval, Instant::now() + secs(60), &waker);
                fine = later.is_pending() && arm(&mut interval, past(), &waker).is_ready();
            });
            let _ = tell.send(fine && panicked.is_none());
        });
        let started = runtime.spawn(async move {
            let _end = end;
            pending::<()>().await;
        });
        runtime.block_on(task::yield_now());
        drop(runtime);
        let works = told.recv_timeout(secs(20)) == Ok(true);
        let assumption = "a task that its runtime's end drops can still arm and disarm an interval";
        assumed(assumption, REGISTRY, works);
        drop(started);
    }
}

#[test]
fn a_task_that_is_spawned_at_or_after_the_end_is_dropped_inside_spawn() {
    let here = |handle: &Handle| {
        let (tell, told) = mpsc::channel();
        let end = AtEnd(move || {
            let _ = tell.send(thread::current().id());
        });
        handle.spawn(async move {
            let _end = end;
            pending::<()>().await;
        });
        told.try_recv() == Ok(thread::current().id())
    };
    for runtime in both() {
        let handle = runtime.handle().clone();
        let (tell, told) = mpsc::channel();
        let inside = handle.clone();
        let end = AtEnd(move || {
            let _ = tell.send(here(&inside));
        });
        runtime.spawn(async move {
            let _end = end;
            pending::<()>().await;
        });
        runtime.block_on(task::yield_now());
        drop(runtime);
        let at = told.recv_timeout(secs(20)) == Ok(true);
        let assumption = "a runtime that is about to end drops a new task inside of `spawn`";
        assumed(assumption, REGISTRY, at);
        let assumption = "a runtime that has ended drops a new task inside of `spawn`";
        assumed(assumption, REGISTRY, here(&handle));
    }
}

#[test]
fn an_interval_panics_after_its_runtimes_end_in_known_words() {
    for runtime in both() {
        let (mut interval, mut sleep) = {
            let _guard = runtime.enter();
            (interval(), Box::pin(time::sleep(secs(3600))))
        };
        let (waker, count) = counting();
        assert!(arm(&mut interval, Instant::now() + secs(3600), &waker).is_pending());
        drop(runtime);
        let assumption = "the end of a runtime wakes the wakers of its timers";
        assumed(assumption, TIMER, count.wakes() > 0);
        let soon = Instant::now() + ms(1);
        let armed = panic_of(|| arm(&mut interval, soon, &waker));
        let polled = panic_of(|| {
            let _ = sleep.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        });
        for panic in [armed, polled] {
            let words = panic.map(|panic| panic.message);
            let assumption =
                "a timer that is polled after its runtime's end panics, in known words";
            assumed(assumption, TIMER, words.as_deref() == Some(SHUT_DOWN));
        }
    }
}

#[test]
fn a_handle_of_a_runtime_that_has_ended_can_be_entered_and_shows_a_clock() {
    for runtime in both() {
        let handle = runtime.handle().clone();
        drop(runtime);
        let entered = panic_of(|| {
            let _guard = handle.enter();
            assert_eq!(Handle::current().id(), handle.id());
            let _ = Instant::now();
        });
        let assumption = "the handle of a runtime that has ended can be entered";
        assumed(assumption, SYNC, entered.is_none());
    }
}

// Contexts.

#[test]
fn where_a_thread_has_a_workers_index() {
    let assume = |assumption: &str, holds: bool| assumed(assumption, CONTEXT, holds);
    let (three, other) = (multi(3), multi(2));
    let none = worker_index().is_none() && {
        let _guard = three.enter();
        worker_index().is_none()
    };
    assume(
        "a plain thread has no index, nor has one that entered a runtime",
        none,
    );
    let none = three.block_on(async { worker_index() }).is_none();
    assume("a multi-thread runtime's `block_on` has none", none);
    let none = three.block_on(async { spawn_blocking(worker_index).await.unwrap() });
    assume("a blocking thread has none", none.is_none());

    let handle = other.handle().clone();
    let seen = in_task(&three, move || {
        let plain = worker_index();
        let entered = {
            let _guard = handle.enter();
            worker_index()
        };
        let in_place = block_in_place(worker_index);
        let own = block_in_place(|| current().block_on(async { worker_index() }));
        let nested = block_in_place(|| handle.block_on(async { worker_index() }));
        (plain, entered, in_place, own, nested)
    });
    let (plain, entered, in_place, own, nested) = seen;
    assume(
        "a task has its worker's",
        plain.is_some_and(|index| index < 3),
    );
    assume("entering another runtime changes nothing", entered == plain);
    assume("`block_in_place` has none", in_place.is_none());
    let assumption = "a current-thread runtime that is driven there has 0";
    assume(assumption, own == Some(0));
    let assumption = "in another multi-thread runtime's `block_on` there, it is the worker's again";
    assume(assumption, nested == plain);

    let alone = current();
    let zero =
        alone.block_on(async { (worker_index(), tokio::spawn(async { worker_index() }).await) });
    let is_zero = matches!(zero, (Some(0), Ok(Some(0))));
    assume(
        "a current-thread runtime has 0, in `block_on` and in tasks",
        is_zero,
    );
}

#[test]
fn there_are_as_many_workers_as_the_metrics_say_each_with_an_index_of_its_own() {
    let runtime = multi(3);
    let workers = runtime.metrics().num_workers();
    assumed("`num_workers` counts the workers", SETTINGS, workers == 3);
    let alone = current().metrics().num_workers();
    let assumption = "a current-thread runtime has one worker";
    assumed(assumption, SETTINGS, alone == 1);
    // Each blocks its worker until all three have come.
    let barrier = Arc::new(std::sync::Barrier::new(3));
    let tasks: Vec<_> = (0..3)
        .map(|_| {
            let barrier = barrier.clone();
            runtime.spawn(async move {
                barrier.wait();
                worker_index()
            })
        })
        .collect();
    let indices: HashSet<_> = tasks
        .into_iter()
        .map(|task| runtime.block_on(task).unwrap())
        .collect();
    let apart = indices == HashSet::from([Some(0), Some(1), Some(2)]);
    let assumption = "workers that run at once have indices of their own, below `num_workers`";
    assumed(assumption, CONTEXT, apart);
}

#[test]
fn a_thread_that_works_for_a_runtime_was_started_by_it() {
    let started = Arc::new(Mutex::new(HashSet::new()));
    let log = started.clone();
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .on_thread_start(move || {
            log.lock().unwrap().insert(thread::current().id());
        })
        .build()
        .unwrap();
    let handed_on = AtomicUsize::new(0);
    for _ in 0..50 {
        let (before, after) = runtime
            .block_on(runtime.spawn(async {
                let before = thread::current().id();
                // The worker goes to another thread of the runtime.
                block_in_place(|| thread::sleep(ms(1)));
                task::yield_now().await;
                (before, thread::current().id())
            }))
            .unwrap();
        handed_on.fetch_add(usize::from(before != after), Ordering::Relaxed);
        let started = started.lock().unwrap();
        let own = started.contains(&before) && started.contains(&after);
        let assumption = "a worker runs on threads that its runtime has started, and on no other";
        assumed(assumption, CONTEXT, own);
    }
}

#[test]
fn the_identity_of_a_runtime_is_not_used_again() {
    let mut seen = HashSet::new();
    for _ in 0..200 {
        let runtime = Builder::new_current_thread().build().unwrap();
        let (id, clone) = (runtime.handle().id(), runtime.handle().clone());
        let inside = runtime.block_on(async { Handle::current().id() });
        assert!(id == clone.id() && id == inside);
        let assumption = "no two runtimes have one identity, also after the first has ended";
        assumed(assumption, REGISTRY, seen.insert(id));
    }
}

#[test]
fn a_thread_that_is_about_to_end_says_so() {
    struct Last(mpsc::Sender<bool>);
    impl Drop for Last {
        fn drop(&mut self) {
            let says = match Handle::try_current() {
                Ok(_) => false,
                Err(error) => error.is_thread_local_destroyed() || error.is_missing_context(),
            };
            let _ = self.0.send(says);
        }
    }
    std::thread_local! {
        static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
    }
    let (tell, told) = mpsc::channel();
    let thread = thread::spawn(move || {
        // Before tokio's own: it is dropped after them, or before; neither is to panic.
        LAST.set(Some(Last(tell)));
        current().block_on(async {});
    });
    thread.join().unwrap();
    let assumption =
        "`Handle::try_current` returns an error while a thread ends, and does not panic";
    assumed(assumption, SYNC, told.recv() == Ok(true));
}

// Words.

#[test]
fn what_tokio_panics_with_where_something_is_missing() {
    let words = |f: fn()| panic_of(f).map(|panic| panic.message);
    let without = words(|| drop(time::interval(ms(1))));
    let assumption = "without a runtime `interval` panics in known words";
    assumed(
        assumption,
        ALARM_TIMER,
        without.as_deref() == Some(NO_RUNTIME),
    );
    let timeless = words(|| {
        let runtime = Builder::new_current_thread().build().unwrap();
        let _guard = runtime.enter();
        drop(time::sleep(ms(1)));
    });
    let assumption = "in a runtime without timers `sleep` panics in known words, when it is made";
    assumed(
        assumption,
        ALARM_TIMER,
        timeless.as_deref() == Some(NO_TIMERS),
    );
    let file = panic_of(|| drop(time::sleep(ms(1)))).map(|panic| panic.file);
    let here = file.is_some_and(|file| file == file!());
    let assumption = "`sleep` names the line of its caller";
    assumed(assumption, ALARM_TIMER, here);
}

#[cfg(target_os = "linux")]
#[test]
fn a_runtime_without_io_panics_and_one_that_has_ended_says_so() {
    use std::os::unix::net::UnixStream;
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    #[allow(deprecated, reason = "as the driver does")]
    fn register(socket: UnixStream) -> AsyncFd<UnixStream> {
        AsyncFd::with_interest(socket, Interest::READABLE).unwrap()
    }
    let socket = || {
        let (one, other) = UnixStream::pair().unwrap();
        one.set_nonblocking(true).unwrap();
        (one, other)
    };
    let without = panic_of(|| {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let _guard = runtime.enter();
        drop(register(socket().0));
    });
    let assumption = "registering a descriptor in a runtime without I/O panics";
    assumed(assumption, TIMERFD, without.is_some());

    let runtime = current();
    let (one, _other) = socket();
    let descriptor = {
        let _guard = runtime.enter();
        register(one)
    };
    let (waker, count) = counting();
    let cx = &mut Context::from_waker(&waker);
    assert!(descriptor.poll_read_ready(cx).is_pending());
    drop(runtime);
    let assumption = "the end of a runtime wakes the wakers of its descriptors";
    assumed(assumption, TIMERFD, count.wakes() > 0);
    let ended = matches!(descriptor.poll_read_ready(cx), Poll::Ready(Err(_)));
    let assumption = "a descriptor of a runtime that has ended returns an error";
    assumed(assumption, TIMERFD, ended);
}

#[cfg(target_os = "linux")]
#[test]
fn a_descriptors_waker_is_called_outside_of_tokios_locks() {
    let assumption = "a descriptor's waker is called with none of its locks held";
    assumed_to_end(assumption, TIMERFD, wakers_use_descriptors);
}

#[cfg(target_os = "linux")]
fn wakers_use_descriptors() {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::sync::OnceLock;
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    for runtime in both() {
        let (one, mut other) = UnixStream::pair().unwrap();
        one.set_nonblocking(true).unwrap();
        let descriptor = {
            let _guard = runtime.enter();
            #[allow(deprecated, reason = "as the driver does")]
            Arc::new(AsyncFd::with_interest(one, Interest::READABLE).unwrap())
        };
        let (shared, (tell, rung)) = (Arc::new(OnceLock::new()), mpsc::channel());
        let (again, tell) = (shared.clone(), Mutex::new(tell));
        let waker = OnWake::waker(move || {
            let again: &Arc<AsyncFd<UnixStream>> = again.get().unwrap();
            let mut cx = Context::from_waker(Waker::noop());
            if let Poll::Ready(Ok(mut ready)) = again.poll_read_ready(&mut cx) {
                ready.clear_ready();
            }
            let waits = again.poll_read_ready(&mut cx).is_pending();
            let _ = tell.lock().unwrap().send(waits);
        });
        let _ = shared.set(descriptor.clone());
        let polled = descriptor.poll_read_ready(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        other.write_all(b"!").unwrap();
        let mut rang = None;
        runtime.block_on(async {
            for _ in 0..20_000 {
                rang = rung.try_recv().ok();
                if rang.is_some() {
                    break;
                }
                time::sleep(ms(1)).await;
            }
        });
        let assumption = "a waker that is called for a descriptor may use that descriptor";
        assumed(assumption, TIMERFD, rang == Some(true));
    }
}

#[cfg(feature = "test-util")]
mod paused {
    //! Where the clock can be paused, and so where it stops can be told.

    use std::time::Duration;

    use super::*;

    type Stops = Arc<Mutex<Vec<Duration>>>;

    /// A paused runtime, and where its clock has stopped.
    fn watched() -> (Runtime, Stops) {
        let stops = Stops::default();
        let log = stops.clone();
        let begun = Mutex::new(None);
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .on_thread_unpark(move || {
                let now = Instant::now();
                let begun = *begun.lock().unwrap().get_or_insert(now);
                log.lock().unwrap().push(now - begun);
            })
            .build()
            .unwrap();
        (runtime, stops)
    }

    /// Where the clock stops on the way to a timer of 50 ms beside what `prepare` has made, and
    /// how often its waker is woken.
    fn stops<K>(prepare: impl FnOnce(&Waker) -> K) -> (Vec<u64>, usize) {
        let (runtime, stops) = watched();
        let (waker, count) = counting();
        runtime.block_on(async {
            let start = Instant::now();
            time::sleep(ms(1)).await;
            let _kept = prepare(&waker);
            stops.lock().unwrap().clear();
            time::sleep_until(start + ms(50)).await;
        });
        let stops = stops.lock().unwrap();
        let mut stops: Vec<_> = stops.iter().map(|at| at.as_millis() as u64).collect();
        stops.dedup();
        (stops, count.wakes())
    }

    fn armed(waker: &Waker) -> Interval {
        let mut interval = interval();
        assert!(arm(&mut interval, Instant::now() + ms(20), waker).is_pending());
        interval
    }

    fn disarm(interval: &mut Interval, waker: &Waker) {
        assert!(arm(interval, past(), waker).is_ready());
    }

    #[test]
    fn a_paused_clock_stops_at_registered_timers_and_nowhere_else() {
        let (none, _) = stops(|_| {});
        let (unpolled, _) = stops(|_| interval());
        let assumption = "an interval that was never reset nor polled has registered nothing";
        assumed(assumption, ALARM_TIMER, unpolled == none);
        let (dropped, rings) = stops(|waker| drop(armed(waker)));
        let assumption = "a paused clock does not stop for a timer that was dropped";
        assumed(assumption, PAUSED, dropped == none && rings == 0);
        let (with, rings) = stops(armed);
        let assumption = "a paused clock stops at what is registered, which rings once";
        assumed(assumption, PAUSED, with != none && rings == 1);
        let (reset, _) = stops(|_| {
            let mut interval = interval();
            interval.reset_at(Instant::now() + ms(20));
            interval
        });
        let assumption = "`reset_at` registers, though nobody polls";
        assumed(assumption, ALARM_TIMER, reset == with);
    }

    #[test]
    fn a_tick_that_is_ready_leaves_nothing_registered() {
        let (none, _) = stops(|_| {});
        let (disarmed, _) = stops(|waker| {
            let mut interval = armed(waker);
            disarm(&mut interval, waker);
            interval
        });
        let assumption =
            "an interval that has yielded a tick, and is not polled again, is not registered";
        assumed(assumption, ALARM_TIMER, disarmed == none);
    }

    #[test]
    fn a_timer_that_is_put_off_still_stops_the_clock_at_its_old_deadline() {
        let put_off = |waker: &Waker, by: fn(&mut Interval, &Waker)| {
            let mut interval = armed(waker);
            by(&mut interval, waker);
            assert!(arm(&mut interval, Instant::now() + ms(30), waker).is_pending());
            interval
        };
        let (lazily, _) = stops(|waker| put_off(waker, |_, _| {}));
        let (disarmed, _) = stops(|waker| put_off(waker, disarm));
        let assumption = "a timer is put off lazily: disarming it before is still needed";
        assumed(assumption, ALARM, lazily.len() > disarmed.len());
    }

    #[test]
    fn advance_returns_after_the_wakers_were_called() {
        let (runtime, _) = watched();
        runtime.block_on(async {
            let mut interval = interval();
            let (waker, count) = counting();
            assert!(arm(&mut interval, Instant::now() + ms(20), &waker).is_pending());
            time::advance(ms(19)).await;
            assert_eq!(count.wakes(), 0, "early");
            time::advance(ms(1)).await;
            let assumption = "`advance` returns after the wakers of what is due were called";
            assumed(assumption, ALARM, count.wakes() == 1);
        });
    }

    /// Whether tokio has come to a deadline.
    fn has_come(deadline: Instant) -> bool {
        let sleep = coop::unconstrained(time::sleep_until(deadline));
        pin!(sleep)
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    }

    /// How far after a whole millisecond since `origin` tokio's begin.
    fn phase(origin: Instant) -> u128 {
        let now = Instant::now();
        let (mut come, mut to_come) = (now - ms(2), now + ms(2));
        assert!(has_come(come) && !has_come(to_come));
        while to_come - come > Duration::from_nanos(1) {
            let between = come + (to_come - come) / 2;
            match has_come(between) {
                true => come = between,
                false => to_come = between,
            }
        }
        (come - origin).as_nanos() % 1_000_000
    }

    #[test]
    fn deadlines_are_rounded_up_to_milliseconds_of_a_grid_that_stays() {
        let (runtime, _) = watched();
        runtime.block_on(async {
            let origin = Instant::now() - secs(60);
            time::sleep(ms(3)).await;
            let first = phase(origin);
            for micros in [300, 777, 999] {
                time::advance(Duration::from_micros(micros)).await;
                time::sleep(ms(2)).await;
                let assumption = "tokio's milliseconds begin where they began before";
                assumed(assumption, PAUSED, phase(origin) == first);
                let deadline = Instant::now() + Duration::from_nanos(1);
                time::sleep_until(deadline).await;
                let now = Instant::now();
                let up = now >= deadline && now - deadline < ms(1);
                let assumption = "a deadline is rounded up to such a millisecond, and no further";
                assumed(assumption, PAUSED, up);
            }
        });
    }
}
