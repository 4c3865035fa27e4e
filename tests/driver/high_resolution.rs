//! A driver of high resolution: rings when its timers are due, by one descriptor, which is
//! set for what is near and closed with the driver.
#![cfg(all(feature = "high-resolution", target_os = "linux"))]

use std::error::Error as _;
use std::fs::{self, File};
use std::future::poll_fn;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use support::{
    HOUR, current_thread, in_a_process_of_its_own, in_a_process_with, ms, multi_thread, secs,
    within,
};
use support::{poll_quietly, runtimes};
use tokio::runtime::{Builder as Runtimes, Runtime};
use wheel::{
    BuildError, Builder, DelayQueue, Instant, MissedTickBehavior, Wheel, interval, sleep, timeout,
};

fn precise() -> Builder {
    Builder::new().high_resolution(true)
}

fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

/// A runtime whose free functions are of high resolution.
fn installed(workers: usize) -> Runtime {
    let runtime = match workers {
        0 => current_thread(),
        _ => multi_thread(workers),
    };
    runtime
        .block_on(async { precise().install() })
        .map(drop)
        .unwrap();
    runtime
}

/// What the kernel says of this process's timerfds.
fn timerfds() -> Vec<String> {
    let entries = fs::read_dir("/proc/self/fd").unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let timers = paths.filter(|path| {
        fs::read_link(path).is_ok_and(|link| link.to_string_lossy().contains("timerfd"))
    });
    timers.map(|path| info(&path)).collect()
}

fn info(descriptor: &std::path::Path) -> String {
    let name = descriptor.file_name().unwrap();
    let path: PathBuf = ["/proc/self/fdinfo".as_ref(), name].iter().collect();
    fs::read_to_string(path).unwrap()
}

fn is_set(info: &str) -> bool {
    !info.contains("it_value: (0, 0)")
}

/// Ten sleeps, one after the other. tokio's clock ticks ten times meanwhile, so by that they
/// take nine milliseconds at least.
async fn ten_sleeps() -> Duration {
    let start = Instant::now();
    for _ in 0..10 {
        sleep(us(100)).await;
    }
    start.elapsed()
}

/// However busy the machine, one of many tries goes by undisturbed.
async fn rings_within_tokios_millisecond() -> bool {
    for _ in 0..500 {
        if ten_sleeps().await < ms(8) {
            return true;
        }
    }
    false
}

#[test]
fn timers_ring_within_tokios_millisecond() {
    for workers in [1, 2, 4] {
        let runtime = installed(workers);
        let task = runtime.spawn(rings_within_tokios_millisecond());
        assert!(runtime.block_on(task).unwrap(), "{workers} workers");
    }
    if cfg!(not(feature = "test-util")) {
        let runtime = installed(0);
        assert!(runtime.block_on(rings_within_tokios_millisecond()));
    }
}

#[test]
fn a_driver_beside_the_default_one_is_of_high_resolution_alone() {
    let runtime = multi_thread(2);
    runtime.block_on(async {
        let wheel = precise().build().unwrap();
        let start = Instant::now();
        let mut least = HOUR;
        for _ in 0..500 {
            let start = Instant::now();
            for _ in 0..10 {
                wheel.sleep(us(100)).await;
            }
            least = least.min(start.elapsed());
            if least < ms(8) {
                break;
            }
        }
        assert!(least < ms(8), "{least:?}");
        // Two of tokio's milliseconds lie between, however short the sleeps.
        for _ in 0..10 {
            sleep(us(100)).await;
        }
        assert!(start.elapsed() >= ms(8));
    });
}

#[test]
fn a_delay_queue_on_such_a_wheel_rings_within_tokios_millisecond() {
    let runtime = multi_thread(2);
    let quickest = runtime.block_on(async {
        let wheel = precise().build().unwrap();
        let mut queue = DelayQueue::with_wheel(&wheel);
        let mut quickest = HOUR;
        for _ in 0..500 {
            let start = Instant::now();
            for n in 1..=10 {
                let due = Instant::now() + us(100);
                queue.insert_at(n, due);
                let entry = poll_fn(|cx| queue.poll_expired(cx)).await.unwrap();
                assert_eq!(entry.into_inner(), n);
                assert!(Instant::now() >= due, "early");
            }
            quickest = quickest.min(start.elapsed());
            if quickest < ms(8) {
                break;
            }
        }
        quickest
    });
    assert!(
        cfg!(feature = "test-util") || quickest < ms(8),
        "{quickest:?}"
    );
}

#[test]
fn one_descriptor_per_driver_is_closed_with_it() {
    if in_a_process_of_its_own() {
        return;
    }
    for (name, runtime) in runtimes() {
        runtime.block_on(async {
            sleep(ms(1)).await;
            assert_eq!(timerfds().len(), 0, "{name}: not switched on");
            let first = precise().build().unwrap();
            let second = precise().build().unwrap();
            assert_eq!(timerfds().len(), 2, "{name}");
            let all = (0..1000).map(|n| first.sleep(us(n % 100)));
            futures::future::join_all(all).await;
            second.sleep(us(1)).await;
            assert_eq!(timerfds().len(), 2, "{name}: however many timers");
            let refused = precise().install();
            assert!(matches!(refused, Err(BuildError::AlreadyStarted)), "{name}");
            assert_eq!(timerfds().len(), 2, "{name}: a driver that was not started");
        });
        drop(runtime);
        assert_eq!(timerfds().len(), 0, "{name}: its runtime has ended");
    }
}

#[test]
fn the_descriptors_clock_is_that_of_instants() {
    if in_a_process_of_its_own() {
        return;
    }
    let _runtime = installed(1);
    // CLOCK_MONOTONIC: stands still while the machine is suspended, and is never set.
    assert!(timerfds()[0].contains("clockid: 1\n"), "{:?}", timerfds());
}

#[test]
fn what_is_far_does_not_set_the_descriptor() {
    if in_a_process_of_its_own() {
        return;
    }
    let runtime = multi_thread(1);
    runtime.block_on(async {
        let wheel = precise().build().unwrap();
        assert!(!is_set(&timerfds()[0]), "nothing is pending");
        let mut far = wheel.sleep(HOUR);
        assert!(poll_quietly(&mut far).is_pending());
        assert!(!is_set(&timerfds()[0]), "an hour away");
        let mut near = wheel.sleep(ms(900));
        assert!(poll_quietly(&mut near).is_pending());
        assert!(is_set(&timerfds()[0]), "in a moment");
    });
}

#[test]
fn a_deadline_that_comes_near_is_handed_over_to_the_descriptor() {
    if in_a_process_of_its_own() {
        return;
    }
    let runtime = multi_thread(1);
    runtime.block_on(async {
        let wheel = precise().build().unwrap();
        let task = tokio::spawn(wheel.sleep(ms(1300)));
        while !is_set(&timerfds()[0]) {
            assert!(!task.is_finished(), "tokio rang for it");
            tokio::time::sleep(ms(10)).await;
        }
        task.await.unwrap();
    });
}

#[test]
fn a_program_that_is_executed_does_not_inherit_the_descriptor() {
    if in_a_process_of_its_own() {
        return;
    }
    let runtime = installed(2);
    assert_eq!(timerfds().len(), 1);
    let listed = Command::new("ls").args(["-l", "/proc/self/fd"]).output();
    let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
    assert!(!listed.contains("timerfd"), "{listed}");
    runtime.block_on(async { sleep(ms(1)).await });
}

#[test]
fn without_a_descriptor_left_there_is_an_error_and_nothing_is_lost() {
    // In a process whose limit is low, so as not to take all there are.
    if in_a_process_with("ulimit -n 64") {
        return;
    }
    let runtime = multi_thread(2);
    runtime.block_on(async {
        let pending = tokio::spawn(sleep(ms(30)));
        tokio::task::yield_now().await;
        let files: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        let error = precise().build().unwrap_err();
        assert!(matches!(error, BuildError::Descriptor(_)), "{error}");
        assert_eq!(
            error.to_string(),
            "`high_resolution` needs a descriptor, and there is none"
        );
        let source = error.source().unwrap();
        assert!(source.is::<io::Error>());
        assert!(source.to_string().contains("open files"), "{source}");
        sleep(ms(1)).await;
        pending.await.unwrap();
        drop(files);
        precise().build().unwrap().sleep(ms(1)).await;
    });
}

#[test]
fn a_runtime_without_io_is_told_so() {
    let runtimes = [
        Runtimes::new_current_thread().enable_time().build(),
        Runtimes::new_multi_thread().enable_time().build(),
    ];
    for runtime in runtimes {
        let runtime = runtime.unwrap();
        runtime.block_on(async {
            let error = precise().install().unwrap_err();
            assert!(matches!(error, BuildError::IoDisabled));
            assert_eq!(
                error.to_string(),
                "`high_resolution` needs I/O: call `enable_io` on the runtime's builder"
            );
            let built = precise().build();
            assert!(matches!(built, Err(BuildError::IoDisabled)));
            // Nothing has been started.
            assert_eq!(runtime.metrics().num_alive_tasks(), 0);
            Builder::new().install().unwrap().sleep(ms(1)).await;
        });
    }
}

#[test]
fn an_interval_keeps_its_grid() {
    let runtime = installed(2);
    let ticks = runtime.block_on(async {
        let start = Instant::now();
        let mut interval = interval(us(250));
        interval.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let first = interval.tick().await;
        assert!(first >= start);
        for n in 1..=2000 {
            let tick = interval.tick().await;
            assert_eq!(tick, first + n * us(250));
            assert!(Instant::now() >= tick, "early");
        }
        start.elapsed()
    });
    assert!(ticks >= 2000 * us(250));
}

/// What is due between two rings fires with the second.
#[test]
fn rings_are_a_tick_apart() {
    let runtime = multi_thread(2);
    runtime.block_on(async {
        let wheel = precise().tick(us(500)).build().unwrap();
        let before = wheel.metrics().snapshot().driver_wakeups;
        let start = Instant::now();
        let all = (0..4000).map(|n| wheel.sleep(ms(5) + us(10 * n)));
        futures::future::join_all(all).await;
        let rings = wheel.metrics().snapshot().driver_wakeups - before;
        let most = start.elapsed().as_micros() as u64 / 500 + 10;
        assert!(rings <= most, "{rings} rings in {:?}", start.elapsed());
    });
}

#[test]
fn a_sleep_of_nothing_waits_for_a_ring() {
    let runtime = installed(1);
    let task = runtime.spawn(async {
        for _ in 0..100 {
            let mut nothing = sleep(Duration::ZERO);
            assert!(poll_quietly(&mut nothing).is_pending(), "a loop would spin");
            nothing.await;
        }
        let metrics = wheel::metrics();
        assert!(metrics.snapshot().driver_wakeups >= 50);
    });
    runtime.block_on(task).unwrap();
}

async fn sleep_reset_and_give_up(seed: u64, limit: Instant) -> u64 {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut rounds = 0;
    while Instant::now() < limit {
        let after = us(rng.random_range(0..3000));
        let start = Instant::now();
        match rng.random_range(0..4) {
            0 => sleep(after).await,
            1 => {
                let mut timer = sleep(after);
                assert!(
                    rng.random()
                        || poll_quietly(&mut timer).is_pending()
                        || start.elapsed() >= after
                );
                timer.reset_unpin(start + after / 2);
                timer.await;
                assert!(start.elapsed() >= after / 2, "early");
                continue;
            }
            2 => drop(timeout(secs(60), tokio::task::yield_now()).await),
            _ => {
                let never = std::future::pending::<()>();
                assert!(timeout(after, never).await.is_err());
                assert!(start.elapsed() >= after, "early");
            }
        }
        rounds += 1;
    }
    rounds
}

#[test]
fn many_tasks_lose_nothing() {
    for workers in [0, 1, 4] {
        within(secs(60), move || {
            let runtime = installed(workers);
            let limit = Instant::now() + ms(300);
            let tasks = (0..64).map(|seed| runtime.spawn(sleep_reset_and_give_up(seed, limit)));
            let tasks: Vec<_> = tasks.collect();
            for task in tasks {
                assert!(runtime.block_on(task).unwrap() > 0);
            }
        });
    }
}

/// A worker that blocks has nothing in its queue that others wait for.
#[test]
fn timers_fire_while_a_worker_blocks() {
    within(secs(60), || {
        let runtime = installed(2);
        let (release, blocked) = std::sync::mpsc::channel::<()>();
        let blocks = runtime.spawn(async move {
            let _ = poll_quietly(&mut sleep(ms(2)));
            let _ = blocked.recv();
        });
        let others = (0..50).map(|n| runtime.spawn(async move { sleep(us(100 * n)).await }));
        for other in others.collect::<Vec<_>>() {
            runtime.block_on(other).unwrap();
        }
        drop(release);
        runtime.block_on(blocks).unwrap();
    });
}

#[test]
fn runtimes_end_while_the_descriptor_rings_and_drivers_are_used_again() {
    within(secs(60), || {
        for round in 0..200 {
            let runtime = if round % 3 == 2 {
                multi_thread(2)
            } else {
                installed(2)
            };
            for n in 0..20 {
                runtime.spawn(async move {
                    loop {
                        sleep(us(20 * n)).await;
                    }
                });
            }
            runtime.block_on(async { sleep(us(300)).await });
        }
    });
}

#[test]
fn a_timer_goes_on_when_its_runtime_has_ended() {
    within(secs(60), || {
        let (first, second) = (installed(1), installed(1));
        let start = Instant::now();
        let mut timer = {
            let _inside = first.enter();
            sleep(ms(20))
        };
        assert!(
            first
                .block_on(async { poll_quietly(&mut timer) })
                .is_pending()
        );
        drop(first);
        second.block_on(timer);
        assert!(start.elapsed() >= ms(20));
    });
}

#[test]
fn timers_of_other_threads_ring() {
    within(secs(60), || {
        let runtime = multi_thread(1);
        let wheel = runtime.block_on(async { precise().build() }).unwrap();
        let threads = (0..4).map(|_| {
            let wheel: Wheel = wheel.clone();
            std::thread::spawn(move || {
                for n in 0..100 {
                    futures::executor::block_on(wheel.sleep(us(10 * n)));
                }
            })
        });
        for thread in threads.collect::<Vec<_>>() {
            thread.join().unwrap();
        }
    });
}

#[cfg(feature = "test-util")]
mod paused {
    use super::*;

    #[test]
    fn a_paused_clock_is_exact() {
        let runtime = support::paused();
        let passed = runtime.block_on(async {
            precise().install().unwrap();
            let mut all = Vec::new();
            for n in [1, 250, 999, 1000, 1001, 1500, 3_600_000_000_u64] {
                let (start, theirs) = (Instant::now(), tokio::time::sleep(us(n)));
                theirs.await;
                let theirs = start.elapsed();
                let start = Instant::now();
                sleep(us(n)).await;
                all.push((n, theirs, start.elapsed()));
            }
            all
        });
        for (n, theirs, ours) in passed {
            assert_eq!(theirs, ours, "{n} µs");
        }
    }

    #[test]
    fn a_clock_that_is_paused_later_is_exact() {
        let runtime = installed(0);
        runtime.block_on(async {
            sleep(ms(2)).await;
            let before = tokio::spawn(sleep(ms(500)));
            tokio::task::yield_now().await;
            tokio::time::pause();
            let start = Instant::now();
            sleep(HOUR).await;
            assert_eq!(start.elapsed().as_secs(), 3600);
            assert!(before.is_finished());
        });
    }
}
