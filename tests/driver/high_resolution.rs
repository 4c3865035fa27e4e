//! A driver of high resolution wakes up when a timer is due. It sets its descriptor only for timers
//! that are near.
#![cfg(all(feature = "high-resolution", target_os = "linux"))]

use crate::everywhere::*;

use std::error::Error as _;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::Command;

use tokio::runtime::Builder as Runtimes;
use wheel::{BuildError, Builder, DelayQueue};

fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

fn precise() -> Builder {
    Builder::new().high_resolution(true)
}

/// Returns a runtime whose free functions make timers of high resolution.
fn installed(workers: usize) -> Runtime {
    let runtime = on_workers(workers);
    inside(&runtime, || precise().install().unwrap());
    runtime
}

/// Returns the kernel's report of each timerfd of this process.
fn timerfds() -> Vec<String> {
    let entries = fs::read_dir("/proc/self/fd").unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let timers = paths.filter(|path| {
        fs::read_link(path).is_ok_and(|link| link.to_string_lossy().contains("timerfd"))
    });
    let infos = timers.map(|path| Path::new("/proc/self/fdinfo").join(path.file_name().unwrap()));
    infos
        .map(|path| fs::read_to_string(path).unwrap())
        .collect()
}

fn is_set(info: &str) -> bool {
    !info.contains("it_value: (0, 0)")
}

/// Fails if waits of a tenth of a millisecond always end with Tokio's milliseconds. Ten such waits
/// would take at least nine milliseconds. However busy the machine is, one of many tries is
/// undisturbed.
async fn fires_within_tokios_millisecond(mut wait: impl AsyncFnMut(Duration)) {
    for _ in 0..500 {
        let start = Instant::now();
        for _ in 0..10 {
            wait(us(100)).await;
        }
        if start.elapsed() < ms(8) {
            return;
        }
    }
    panic!("ten waits never took less than 8 ms");
}

#[test]
fn timers_fire_within_tokios_millisecond() {
    for workers in [1, 2, 4] {
        let task = fires_within_tokios_millisecond(sleep);
        let runtime = installed(workers);
        runtime.block_on(runtime.spawn(task)).unwrap();
    }
    if cfg!(not(feature = "test-util")) {
        installed(0).block_on(fires_within_tokios_millisecond(sleep));
    }
}

#[test]
fn a_driver_beside_the_default_one_is_of_high_resolution_alone() {
    multi_thread(2).block_on(async {
        let wheel = precise().build().unwrap();
        fires_within_tokios_millisecond(|after| wheel.sleep(after)).await;
        // However short they are, ten of these sleeps take at least nine of Tokio's milliseconds.
        let start = Instant::now();
        for _ in 0..10 {
            sleep(us(100)).await;
        }
        assert!(start.elapsed() >= ms(8));
    });
}

#[test]
fn a_delay_queue_on_such_a_wheel_fires_within_tokios_millisecond() {
    multi_thread(2).block_on(async {
        let wheel = precise().build().unwrap();
        let mut queue = DelayQueue::with_handle(&wheel);
        let mut next = async |after| {
            let due = Instant::now() + after;
            queue.insert_at(due, due);
            let entry = poll_fn(|cx| queue.poll_expired(cx)).await.unwrap();
            assert_eq!(entry.into_inner(), due);
            assert!(Instant::now() >= due, "early");
        };
        next(ms(1)).await;
        if cfg!(not(feature = "test-util")) {
            fires_within_tokios_millisecond(next).await;
        }
    });
}

#[test]
fn one_descriptor_per_driver_has_the_clock_of_instants_and_is_closed_with_it() {
    in_a_process_of_its_own(|| {
        for (name, runtime) in runtimes() {
            runtime.block_on(async {
                sleep(ms(1)).await;
                assert_eq!(timerfds().len(), 0, "{name}: high resolution is off");
                let first = precise().build().unwrap();
                let second = precise().build().unwrap();
                let both = timerfds();
                assert_eq!(both.len(), 2, "{name}");
                // This is CLOCK_MONOTONIC, which stands still while the machine is suspended, and
                // which nobody sets.
                let is_monotonic = |info: &String| info.contains("clockid: 1\n");
                assert!(both.iter().all(is_monotonic), "{both:?}");
                let all = (0..1000).map(|n| first.sleep(us(n % 100)));
                join_all(all).await;
                second.sleep(us(1)).await;
                assert_eq!(timerfds().len(), 2, "{name}: a timer opened a descriptor");
                let refused = precise().install();
                assert!(matches!(refused, Err(BuildError::AlreadyStarted)), "{name}");
                assert_eq!(timerfds().len(), 2, "{name}: left by a refused driver");
            });
            drop(runtime);
            assert_eq!(timerfds().len(), 0, "{name}: its runtime has ended");
        }
    });
}

#[test]
fn what_is_far_does_not_set_the_descriptor() {
    in_a_process_of_its_own(|| {
        let runtime = multi_thread(1);
        let wheel = inside(&runtime, || precise().build().unwrap());
        let [mut far, mut near] = [HOUR, ms(900)].map(|after| wheel.sleep(after));
        assert!(!is_set(&timerfds()[0]), "set though nothing is pending");
        assert!(poll_quietly(&mut far).is_pending());
        assert!(!is_set(&timerfds()[0]), "set for a timer an hour away");
        assert!(poll_quietly(&mut near).is_pending());
        assert!(is_set(&timerfds()[0]), "not set though a timer is due soon");
    });
}

#[test]
fn a_deadline_that_comes_near_is_handed_over_to_the_descriptor() {
    in_a_process_of_its_own(|| {
        multi_thread(1).block_on(async {
            let wheel = precise().build().unwrap();
            // On a busy machine, the descriptor may be set while this does not look.
            for _ in 0..10 {
                let task = tokio::spawn(wheel.sleep(ms(1300)));
                while !task.is_finished() {
                    if is_set(&timerfds()[0]) {
                        return task.await.unwrap();
                    }
                    tokio::time::sleep(ms(10)).await;
                }
            }
            panic!("fired by Tokio's interval");
        });
    });
}

#[test]
fn a_program_that_is_executed_does_not_inherit_the_descriptor() {
    in_a_process_of_its_own(|| {
        let runtime = installed(2);
        assert_eq!(timerfds().len(), 1);
        let listed = Command::new("ls").args(["-l", "/proc/self/fd"]).output();
        let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
        assert!(!listed.contains("timerfd"), "{listed}");
        runtime.block_on(async { sleep(ms(1)).await });
    });
}

#[test]
fn without_a_descriptor_left_there_is_an_error_and_nothing_is_lost() {
    // The process has a low limit of its own, so the test does not use up the machine's descriptors.
    in_a_process_with("ulimit -n 64", || {
        multi_thread(2).block_on(async {
            let pending = tokio::spawn(sleep(ms(30)));
            tokio::task::yield_now().await;
            let files: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
            let error = precise().build().unwrap_err();
            assert!(matches!(error, BuildError::Descriptor(_)), "{error}");
            let words = "could not set up the timer descriptor that `high_resolution` needs";
            assert_eq!(error.to_string(), words);
            let source = error.source().unwrap();
            assert!(source.is::<io::Error>());
            assert!(source.to_string().contains("open files"), "{source}");
            sleep(ms(1)).await;
            pending.await.unwrap();
            drop(files);
            precise().build().unwrap().sleep(ms(1)).await;
        });
    });
}

#[test]
fn a_runtime_without_io_is_told_so() {
    for mut builder in [Runtimes::new_current_thread(), Runtimes::new_multi_thread()] {
        let runtime = builder.enable_time().build().unwrap();
        runtime.block_on(async {
            let error = precise().install().unwrap_err();
            assert!(matches!(error, BuildError::IoDisabled));
            let words =
                "`high_resolution` needs a runtime with I/O: call `enable_io` on its builder";
            assert_eq!(error.to_string(), words);
            let built = precise().build();
            assert!(matches!(built, Err(BuildError::IoDisabled)));
            // No driver was started.
            assert_eq!(runtime.metrics().num_alive_tasks(), 0);
            Builder::new().install().unwrap().sleep(ms(1)).await;
        });
    }
}

/// Timers that become due between two wake-ups fire at the second one.
#[test]
fn wakeups_are_a_spacing_apart() {
    multi_thread(2).block_on(async {
        for spacing in [500, 1000] {
            let wheel = precise().spacing(us(spacing)).build().unwrap();
            let before = wheel.metrics().snapshot().passes;
            let start = Instant::now();
            join_all((0..4000).map(|n| wheel.sleep(ms(5) + us(10 * n)))).await;
            let wakeups = wheel.metrics().snapshot().passes - before;
            let most = start.elapsed().as_micros() as u64 / spacing + 10;
            assert!(
                wakeups <= most,
                "{spacing} us: {wakeups} wake-ups, at most {most} expected"
            );
        }
    });
}

#[test]
fn a_zero_length_sleep_waits_for_a_wakeup() {
    let runtime = installed(1);
    let task = runtime.spawn(async {
        for _ in 0..100 {
            let before = Instant::now();
            let mut zero = sleep(Duration::ZERO);
            // On a slow machine, a millisecond may have passed by now, and the timer is ready
            // immediately.
            if poll_quietly(&mut zero).is_pending() {
                zero.await;
            } else {
                assert!(before.elapsed() >= ms(1), "a loop would spin");
            }
        }
        assert!(wheel::metrics().snapshot().passes >= 50);
    });
    runtime.block_on(task).unwrap();
}

/// Timers wait for no task that may be stuck in the queue of a blocked worker.
#[test]
fn timers_fire_while_a_worker_blocks() {
    within(LIMIT, || {
        let (release, blocked) = std::sync::mpsc::channel::<()>();
        installed(2).block_on(async {
            let blocks = tokio::spawn(async move {
                let _ = poll_quietly(&mut sleep(ms(2)));
                let _ = blocked.recv();
            });
            let others = (0..50).map(|n| async move { sleep(us(100 * n)).await });
            others.collect::<JoinSet<_>>().join_all().await;
            drop(release);
            blocks.await.unwrap();
        });
    });
}
