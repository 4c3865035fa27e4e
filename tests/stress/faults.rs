//! Timers survive a stopped process, and the memory of a burst of timers is freed.

use support::prelude::*;

use std::alloc::System;
use std::process::{Child, Command};

use cap::Cap;
use support::load::sleepers;
use wheel::{Sleep, interval};

/// Counts allocated memory, without a limit.
#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// Stops this process for `length`, after `after`.
#[cfg(unix)]
fn stop_this_process(after: Duration, length: Duration) -> Child {
    let script = format!(
        "sleep {}; kill -STOP {pid}; sleep {}; kill -CONT {pid}",
        after.as_secs_f64(),
        length.as_secs_f64(),
        pid = std::process::id(),
    );
    Command::new("sh").args(["-c", &script]).spawn().unwrap()
}

#[cfg(unix)]
#[test]
fn the_process_is_stopped_and_continued() {
    let _machine = crate::alone();
    in_a_process_of_its_own(|| {
        for runtime in [current_thread(), multi_thread(2)] {
            let tasks = sleepers(&runtime, 5000, 1, 3_000_000);
            let mut stop = stop_this_process(ms(300), secs(2));
            runtime.block_on(ticks_until_a_gap(secs(1)));
            stop.wait().unwrap();
            runtime.block_on(async {
                for task in tasks {
                    task.await.unwrap();
                }
                assert_eq!(wheel::metrics().snapshot().pending, 0);
                // After that, the driver still works.
                let nap = timeout(secs(100), sleep(ms(5))).await;
                nap.expect("the driver does not fire any more");
            });
        }
    });
}

/// Ticks a few hundred times a second, until the wait for a tick took as long as `gap`.
#[cfg(unix)]
async fn ticks_until_a_gap(gap: Duration) {
    let start = Instant::now();
    let mut interval = interval(ms(3));
    let first = interval.tick().await;
    for count in 1.. {
        let before = Instant::now();
        let due = interval.tick().await;
        assert!(due <= Instant::now(), "early");
        // The interval makes up for missed ticks, so none is left out.
        assert_eq!(due, first + ms(3) * count);
        if before.elapsed() >= gap {
            break;
        }
        assert!(start.elapsed() < secs(60), "the process was not stopped");
    }
}

/// Number of timers in a burst, which are pending at the same time.
const BURST: usize = 500_000;

/// How the timers of a burst end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Cancelled,
    Fired,
    /// The timers are ready, are reset, and are then cancelled.
    Reset,
}

/// Returns how much memory a burst uses, and how much of it is still allocated afterwards.
async fn memory_of_a_burst(end: End) -> (usize, usize) {
    let before = MEMORY.allocated();
    let length = match end {
        End::Cancelled => HOUR,
        End::Fired => secs(3),
        End::Reset => ms(0),
    };
    let mut sleeps: Vec<_> = (0..BURST).map(|_| sleep(length)).collect();
    for sleep in &mut sleeps {
        let is_ready = poll_quietly(sleep).is_ready();
        assert!(is_ready || end != End::Reset);
        assert!(!is_ready || sleep.deadline() <= Instant::now());
    }
    if end == End::Reset {
        let later = Instant::now() + HOUR;
        sleeps.iter_mut().for_each(|sleep| sleep.reset_unpin(later));
    }
    let most = MEMORY.allocated().saturating_sub(before);
    while end == End::Fired && wheel::metrics().snapshot().pending > 0 {
        sleep(ms(5)).await;
    }
    drop(sleeps);
    (most, MEMORY.allocated().saturating_sub(before))
}

#[test]
fn memory_of_a_burst_is_given_back() {
    let _machine = crate::alone();
    in_a_process_of_its_own(|| {
        let runtime = multi_thread(2);
        runtime.block_on(async { sleep(ms(1)).await });
        for end in [End::Cancelled, End::Fired, End::Reset] {
            let (most, kept) = runtime.block_on(memory_of_a_burst(end));
            println!("{end:?}: {most} bytes, {kept} kept");
            assert!(most > BURST * size_of::<Sleep>(), "{end:?}: too small");
            assert!(kept < most / 20, "{end:?}: {kept} bytes of {most} are kept");
        }
    });
}
