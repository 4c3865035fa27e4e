//! How threads learn whose pool they belong to, and what the alarm leaves to the driver task. These are unit tests, because
//! they count the tasks that tell the threads, and fire the alarm themselves.

use std::iter::repeat_n;
use std::pin::Pin;
use std::sync::{Arc, Barrier, mpsc};
use std::task::{Context, Wake, Waker};
use std::thread;

use tokio::runtime::Runtime;

use crate::clock::Tick;
use crate::driver::registry;
use crate::settings::{BATCH, MANY, PASS};
use crate::{Duration, Sleep, sleep};

const HOUR: Duration = Duration::from_secs(3_600);

fn workers(count: usize) -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(count).enable_time().build().unwrap()
}

fn one_worker() -> Runtime {
    workers(1)
}

/// Returns a runtime whose only worker is blocked, so the driver task never runs, and nobody else fires
/// the alarm, until the sender is dropped.
fn one_blocked_worker() -> (Runtime, mpsc::Sender<()>) {
    let runtime = one_worker();
    let ((unblock, blocked), (start, started)) = (mpsc::channel::<()>(), mpsc::channel());
    runtime.spawn(async move { start.send(()).map(|()| blocked.recv()) });
    started.recv().unwrap();
    (runtime, unblock)
}

/// No task runs before the poll returns, so each request waits longer than the last.
#[test]
fn a_poll_that_makes_many_timers_asks_seldom() {
    const TIMERS: usize = 300_000;
    let runtime = one_worker();
    let handle = runtime.handle().clone();
    let tasks = runtime.spawn(async move {
        for _ in 0..TIMERS {
            drop(sleep(HOUR));
        }
        handle.metrics().num_alive_tasks()
    });
    let tasks = runtime.block_on(tasks).unwrap();
    // Among them this task and the driver's.
    assert!(tasks <= 25, "{tasks} tasks");
}

/// If its cancel were late, the waker would stay in the wheel.
#[test]
fn a_timer_of_a_wheel_is_cancelled_without_delay_by_the_worker_that_made_it() {
    let runtime = one_worker();
    let counted = Arc::new(Noop);
    let waker = Waker::from(Arc::clone(&counted));
    let task = runtime.spawn(async move {
        let wheel = crate::Builder::new().build().unwrap();
        let mut sleep = wheel.sleep(HOUR);
        let polled = Pin::new(&mut sleep).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
    });
    runtime.block_on(task).unwrap();
    assert_eq!(Arc::strong_count(&counted), 1);
}

/// Otherwise the worker's own timers would ask for the handle for long.
#[test]
fn polling_the_timers_of_another_driver_uses_up_no_request() {
    let (runtime, other) = (one_worker(), one_worker());
    let inside = |runtime: &Runtime, make: fn() -> crate::Sleep| {
        let _guard = runtime.enter();
        make()
    };
    let custom = inside(&runtime, || {
        crate::Builder::new().build().unwrap().sleep(HOUR)
    });
    let foreign = inside(&other, || sleep(HOUR));
    let count = runtime.spawn(async move {
        for mut sleep in [custom, foreign] {
            assert!(futures::poll!(&mut sleep).is_pending());
        }
        super::LOCAL.with(|local| local.made.get())
    });
    assert_eq!(runtime.block_on(count).unwrap(), 0);
}

/// The thread may have given its worker away, and get it back.
#[test]
fn a_thread_of_a_pool_does_not_get_used_to_another_runtime() {
    let (runtime, other) = (one_worker(), one_worker());
    let usual = || super::LOCAL.with(|local| local.usual.get());
    super::know_pool(runtime.handle().id());
    for (entered, expected) in [(&runtime, Some(runtime.handle().id())), (&other, None)] {
        let _guard = entered.enter();
        drop(sleep(HOUR));
        assert_eq!(usual(), expected);
    }
}

/// A thread that was the first worker's, gave that away, and got another one, must not stay in the first
/// worker's shard. It notices that when the shard is busy.
#[test]
fn a_thread_that_becomes_another_worker_notes_its_index() {
    let (runtime, meet) = (workers(2), Arc::new(Barrier::new(2)));
    let _guard = runtime.enter();
    let driver = registry::driver_of(runtime.handle());
    let _busy = driver.shards().nth(1).unwrap().try_lock();
    let here = runtime.handle().id();
    let tasks = [0, 1].map(|_| {
        let meet = Arc::clone(&meet);
        runtime.spawn(async move {
            meet.wait();
            super::know_pool(here);
            super::LOCAL.with(|local| {
                local.usual.set(Some(here));
                local.index.set(Some(0));
            });
            assert!(futures::poll!(&mut sleep(HOUR)).is_pending());
            drop(sleep(HOUR));
            let noted = super::LOCAL.with(|local| local.index.get());
            assert_eq!(noted, tokio::runtime::worker_index());
        })
    });
    for task in tasks {
        runtime.block_on(task).unwrap();
    }
}

/// Otherwise each part of the slot would wait for Tokio's timer, and all timers of the shard with it.
#[test]
fn the_driver_task_goes_on_while_a_large_slot_cascades() {
    const SLOT: u64 = 64 * 64 * 64 * 64;
    let (runtime, _unblock) = one_blocked_worker();
    let _guard = runtime.enter();
    let driver = registry::driver_of(runtime.handle());
    let due = Tick((Tick::really_now().0 + 8 * SLOT).next_multiple_of(SLOT));
    let last = Tick(due.0 + SLOT - 1);
    let shard = driver.shards().next().unwrap();
    for when in repeat_n(last, 3 * MANY).chain([due]) {
        assert!(shard.arm(when, Waker::noop().clone()).is_ok());
    }
    driver.rearm();
    thread::sleep(due.saturating_since(Tick::really_now()));
    driver.alarm_fired();
    let mut task = tokio_test::task::spawn(());
    task.enter(|context, _| driver.poll_task(context.waker()));
    assert!(shard.snapshot().fired > 0);
    assert!(task.is_woken(), "no pass was requested");
}

#[test]
fn the_alarm_leaves_deferred_timers_to_the_driver_task_for_a_while() {
    const ALL: usize = 1_000;
    let (runtime, _unblock) = one_blocked_worker();
    let _guard = runtime.enter();
    let driver = registry::driver_of(runtime.handle());
    let armed = |millis| {
        let mut sleep = sleep(Duration::from_millis(millis));
        let polled = Pin::new(&mut sleep).poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
        sleep
    };
    let fired_after = |millis| {
        thread::sleep(Duration::from_millis(millis));
        driver.alarm_fired();
        let fired = driver.shards().map(|shard| shard.snapshot().fired);
        fired.sum::<u64>() as usize
    };
    let _many: Vec<Sleep> = (0..ALL).map(|_| armed(500)).collect();
    let first = fired_after(510);
    assert!((PASS..PASS + BATCH).contains(&first), "{first} have fired");
    let _later = armed(50);
    let fired = fired_after(60);
    // If this thread was stopped for long, the alarm may have waited long enough.
    if Tick::really_now() < driver.alarm.awaited_until() {
        assert_eq!(fired, first + 1);
    }
    assert_eq!(fired_after(100), ALL + 1);
}

/// If the alarm has to move a second time, it is set early enough for the next deadlines.
#[test]
fn a_series_of_falling_deadlines_seldom_moves_the_alarm() {
    let runtime = one_worker();
    let _guard = runtime.enter();
    let driver = registry::driver_of(runtime.handle());
    let mut sleeps = Vec::new();
    let moves = (0..100).filter(|fall| {
        let before = driver.alarm.armed_for();
        let mut sleep = Box::pin(sleep(HOUR - Duration::from_secs(*fall)));
        assert!(
            sleep
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        sleeps.push(sleep);
        driver.alarm.armed_for() < before
    });
    // The driver task may set it to the earliest deadline meanwhile.
    let moves = moves.count();
    assert!(moves < 10, "{moves} moves");
}

struct Noop;

impl Wake for Noop {
    fn wake(self: Arc<Self>) {}
}
