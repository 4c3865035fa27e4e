//! If a worker blocks, another worker fires its timers. If a whole runtime blocks, its timers fire once, afterwards.

use crate::everywhere::*;

/// Arms `timers` timers of 40 ms on a worker, and blocks that worker. The other worker must fire them.
fn fires_while_its_worker_blocks(timers: usize, warm_up: bool) {
    within(LIMIT, move || {
        let runtime = multi_thread(2);
        let naps = if warm_up { 20 } else { 0 };
        let warmed_up = runtime.spawn(async move {
            for _ in 0..naps {
                sleep(ms(1)).await;
            }
        });
        runtime.block_on(warmed_up).unwrap();
        let blocks = runtime.spawn(async move {
            let armed = (0..timers).filter_map(|_| watched(sleep(ms(40))));
            let armed: Vec<_> = armed.collect();
            // A lost wake-up of the driver is made up for after two seconds.
            for (_timer, woken) in &armed {
                assert_eq!(woken.recv_timeout(secs(1)), Ok(true), "not early");
            }
            for (_timer, woken) in armed {
                assert!(woken.try_recv().is_err(), "once");
            }
        });
        runtime.block_on(blocks).unwrap();
    });
}

#[test]
fn timers_fire_though_the_worker_that_armed_them_blocks() {
    for warm_up in [false, true] {
        fires_while_its_worker_blocks(1, warm_up);
        fires_while_its_worker_blocks(5000, warm_up);
    }
}

/// H12, H39: the driver cannot run while its thread blocks. Timers that are armed after that, before the driver has
/// read the clock, are not early, and each overdue timer fires once.
#[test]
fn a_runtime_that_was_blocked_fires_all_that_it_missed_once_and_nothing_early() {
    current_thread().block_on(async {
        let arm = |millis| watched(sleep(ms(millis)));
        let before: Vec<_> = (1..=200).filter_map(arm).collect();
        // In real time: while a thread blocks, a paused clock does not move.
        thread::sleep(ms(250));
        let after: Vec<_> = (1..=50).filter_map(arm).collect();
        sleep(ms(51)).await;
        for (mut timer, woken) in before {
            assert!(woken.try_iter().eq([true]), "once and not early");
            assert!(poll_quietly(&mut timer).is_ready());
        }
        for (mut timer, woken) in after {
            let woken: Vec<_> = woken.try_iter().collect();
            assert!(woken.is_empty() || woken == [true], "woken twice, or early");
            assert!(poll_quietly(&mut timer).is_ready());
        }
    });
}
