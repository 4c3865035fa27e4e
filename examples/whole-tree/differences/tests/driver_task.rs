//! The driver runs as a task of each runtime that has armed a timer.

use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::time::{sleep, timeout};

fn in_both_kinds_of_runtime(test: impl AsyncFn()) {
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        builder.enable_all().build().unwrap().block_on(test());
    }
}

fn alive() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

async fn a_timer() {
    sleep(Duration::from_millis(50)).await;
}

#[test]
fn it_is_alive_from_the_first_timer_on() {
    in_both_kinds_of_runtime(async || {
        assert_eq!(alive(), 0);
        a_timer().await;
        assert_eq!(alive(), 1);
        a_timer().await;
        assert_eq!(alive(), 1, "one, however many timers");
    });
}

/// A loop that sleeps until no task is alive never ends. The remedy is to count the tasks after the first
/// timer, before anything else is spawned: what is alive then is the driver's.
#[test]
fn tasks_beside_it_can_be_waited_for() {
    in_both_kinds_of_runtime(async || {
        a_timer().await;
        let before = alive();
        tokio::spawn(sleep(Duration::from_millis(20)));
        let all = async {
            while alive() > before {
                a_timer().await;
            }
        };
        let ended = timeout(Duration::from_secs(30), all).await;
        ended.expect("all tasks but the driver's end");
    });
}

/// Tokio promises only that ids differ.
#[test]
fn ids_of_tasks_are_still_all_different() {
    in_both_kinds_of_runtime(async || {
        let [first, second] = [tokio::spawn(a_timer()), tokio::spawn(a_timer())];
        assert_ne!(first.id(), second.id());
        first.await.unwrap();
        second.await.unwrap();
    });
}

/// A hook sees the task as spawned at the line of the first timer, so it cannot be recognised by its place.
#[cfg(tokio_unstable)]
#[test]
fn hooks_see_it() {
    use std::sync::{Arc, Mutex};

    let seen = Arc::new(Mutex::new(Vec::new()));
    let hook = seen.clone();
    let runtime = Builder::new_current_thread()
        .enable_all()
        .on_task_spawn(move |task| hook.lock().unwrap().push(task.spawned_at().line()))
        .build()
        .unwrap();
    let line = line!() + 1;
    runtime.block_on(async { sleep(Duration::from_millis(50)).await });
    assert_eq!(*seen.lock().unwrap(), [line]);
}
