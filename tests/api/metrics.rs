//! The counts of timers balance in every case, and each count has its documented meaning.

use support::prelude::*;

use tokio_test::{assert_pending, assert_ready, task};
use wheel::{Metrics, MetricsSnapshot, Sleep, metrics};

/// Returns how many timers were armed, have fired, were cancelled and are pending, and asserts that these balance.
fn counts(metrics: &Metrics) -> (u64, u64, u64, usize) {
    let now = metrics.snapshot();
    assert_balanced(&now);
    (now.armed, now.fired, now.cancelled, now.pending)
}

/// Returns an armed timer that is due soon, even if the machine stalls.
fn pending_briefly() -> Sleep {
    loop {
        let mut sleep = sleep(ms(5));
        if poll_quietly(&mut sleep).is_pending() {
            return sleep;
        }
    }
}

#[test]
fn debug_prints_the_public_counts_and_no_others() {
    let printed = format!("{:?}", MetricsSnapshot::default());
    let words = printed.split([' ', '{', ',']);
    let fields: Vec<_> = words.filter_map(|word| word.strip_suffix(':')).collect();
    let counts = "armed fired cancelled pending reset";
    let expected = format!("{counts} lag count max total passes idle_passes");
    assert_eq!(fields.join(" "), expected);
    assert!(printed.ends_with(", .. }"), "{printed}");
}

/// What is done to a timer, and how many are then armed, fired and pending.
const WAYS: [(&str, (u64, u64, usize)); 8] = [
    ("never polled", (0, 0, 0)),
    ("due when first polled", (0, 0, 0)),
    ("pending", (1, 0, 1)),
    ("fires", (1, 1, 0)),
    ("polled again", (1, 0, 1)),
    ("reset", (1, 0, 1)),
    ("reset to the past", (1, 1, 0)),
    ("reset after it fired", (2, 1, 1)),
];

async fn treated(how: &str) -> Sleep {
    let start = Instant::now();
    let mut timer = match how {
        "due when first polled" => sleep_until(start - ms(2)),
        "never polled" | "reset" => sleep(HOUR),
        "fires" | "reset after it fired" => pending_briefly(),
        _ => pending(HOUR),
    };
    match how {
        "due when first polled" => assert_ready!(poll_quietly(&mut timer)),
        "fires" => (&mut timer).await,
        "polled again" => assert_pending!(task::spawn(&mut timer).poll()),
        // The first reset comes before the first poll, and arms the timer.
        "reset" => {
            for (resets, deadline) in [2 * HOUR, HOUR / 2, secs(7)].into_iter().enumerate() {
                timer.reset_unpin(Instant::now() + deadline);
                assert_eq!(metrics().snapshot().reset, resets as u64);
            }
        }
        "reset to the past" => {
            thread::sleep(ms(2));
            timer.reset_unpin(start);
            assert_ready!(poll_quietly(&mut timer));
            let now = metrics().snapshot();
            assert_eq!((now.reset, now.lag.max()), (1, Duration::ZERO), "not late");
        }
        "reset after it fired" => {
            (&mut timer).await;
            timer.reset_unpin(Instant::now() + HOUR);
            assert_eq!(metrics().snapshot().reset, 0);
        }
        _ => {}
    }
    timer
}

#[test]
fn a_timer_is_armed_and_then_fires_or_is_cancelled() {
    for (how, (armed, fired, pending)) in WAYS {
        current_thread().block_on(async {
            let metrics = metrics();
            let held = treated(how).await;
            assert_eq!(counts(&metrics), (armed, fired, 0, pending), "{how}");
            drop(held);
            let expected = (armed, fired, pending as u64, 0);
            assert_eq!(counts(&metrics), expected, "{how}");
        });
    }
}

#[test]
fn the_end_of_a_runtime_cancels_what_is_pending() {
    for (name, runtime) in runtimes() {
        let wheel = runtime.block_on(async { Timers::current() });
        let metrics = wheel.metrics();
        let shards = metrics.num_shards();
        let held: Vec<_> = runtime.block_on(async {
            pending_briefly().await;
            (0..10).map(|_| pending(HOUR)).collect()
        });
        assert_eq!(counts(&metrics), (11, 1, 0, 10), "{name}");
        let wakeups = metrics.snapshot().passes;
        drop(runtime);
        assert_eq!(counts(&metrics), (11, 1, 10, 0), "{name}");
        assert_eq!(metrics.num_shards(), shards, "{name}");
        assert!(metrics.snapshot().passes >= wakeups, "{name}");
        // The same is true of metrics that are obtained after the end.
        assert_eq!(counts(&wheel.metrics()), (11, 1, 10, 0), "{name}");
        drop(held);
        assert_eq!(counts(&metrics), (11, 1, 10, 0), "{name}");
    }
}

/// If reading started the driver, its task would count as alive.
#[test]
fn reading_starts_nothing() {
    for (name, runtime) in runtimes() {
        let _guard = runtime.enter();
        let metrics = metrics();
        assert_eq!(counts(&metrics), (0, 0, 0, 0), "{name}");
        assert_eq!(
            (metrics.num_shards(), format!("{metrics:?}")),
            (0, "Metrics { .. }".into())
        );
        assert_eq!(runtime.metrics().num_alive_tasks(), 0, "{name}");
        let held = pending(HOUR);
        assert_eq!(counts(&metrics), (1, 0, 0, 1), "{name}");
        drop((runtime, held));
        assert_eq!(counts(&metrics), (1, 0, 1, 0), "{name}");
        for (_, later) in runtimes() {
            later.block_on(async { pending_briefly().await });
        }
        assert_eq!(counts(&metrics), (1, 0, 1, 0), "{name}");
    }
}

#[test]
fn shards_add_up_and_there_is_none_beyond() {
    let runtime = multi_thread(2);
    let wheel = runtime.block_on(async { Timers::current() });
    let arm = |wheel: Timers| thread::spawn(move || armed(wheel.sleep(HOUR)));
    // Threads of other tests take turns with these.
    let held: Vec<_> = (0..32)
        .map(|_| arm(wheel.clone()).join().unwrap())
        .collect();
    let metrics = wheel.metrics();
    let [first, second] = [0, 1].map(|index| metrics.shard(index).pending);
    assert!(
        first > 0 && second > 0,
        "threads are spread over the shards"
    );
    assert_eq!((first + second, metrics.snapshot().pending), (32, 32));
    drop(held);
    assert_eq!(metrics.shard(1).cancelled, second as u64);
    let message = message_of(|| metrics.shard(2));
    assert_eq!(message, "shard index 2 is out of range: there are 2 shards");
}

/// An expiry pass on a current-thread runtime fires everything, however long it takes.
#[test]
fn timers_at_the_end_of_a_long_pass_are_later_than_those_at_its_beginning() {
    within(secs(120), || {
        current_thread().block_on(async {
            let metrics = metrics();
            let first = AtomicBool::new(true);
            let slow = OnWake::waker(move || {
                if first.swap(false, Ordering::SeqCst) {
                    thread::sleep(ms(50));
                }
            });
            let deadline = Instant::now() + secs(1);
            let mut held: Vec<_> = (0..2_000).map(|_| sleep_until(deadline)).collect();
            for sleep in &mut held {
                let _ = poll(sleep, &slow);
            }
            assert!(metrics.snapshot().pending > 1_000, "arming took over 1 s");
            sleep_until(deadline).await;
            // On a slow machine, the deadline passed while no thread drove the runtime.
            while metrics.snapshot().pending > 0 {
                sleep(ms(1)).await;
            }
            let lag = metrics.snapshot().lag;
            assert!(lag.max() >= ms(50), "{lag:?}");
            // The first timer did not wait for the slow waker.
            assert!(lag.total() < lag.max() * 2_001, "{lag:?}");
        });
    });
}

/// With `test-util` the alarm is re-armed after a cancel, because of paused clocks.
#[cfg(not(feature = "test-util"))]
#[tokio::test]
async fn the_alarm_of_a_cancelled_timer_wakes_the_driver_once() {
    let metrics = metrics();
    pending_briefly().await;
    let before = metrics.snapshot();
    drop(pending(ms(1_100)));
    tokio::time::sleep(ms(1_150)).await;
    let now = metrics.snapshot();
    assert_eq!(now.passes, before.passes + 1);
    assert_eq!(now.idle_passes, before.idle_passes + 1);
}

#[cfg(feature = "test-util")]
mod paused {
    use super::*;
    use wheel::{Builder, advance};

    #[tokio::test(start_paused = true)]
    async fn lag_is_the_time_from_the_deadline_to_the_pass() {
        let metrics = metrics();
        let held: Vec<_> = (1..=10).map(|n| pending(ms(n))).collect();
        let _later = pending(ms(11));
        advance(ms(10)).await;
        // They are 9, 8, … 0 ms late.
        assert_eq!(counts(&metrics), (11, 10, 0, 1));
        let lag = metrics.snapshot().lag;
        assert_eq!((lag.max(), lag.total()), (ms(9), ms(45)));
        drop(held);
    }

    #[tokio::test(start_paused = true)]
    async fn lag_counts_from_the_deadline_as_rounded_up() {
        let wheel = Builder::new().tick(ms(100)).build().unwrap();
        let _late = armed(wheel.sleep(ms(1)));
        advance(ms(130)).await;
        assert_eq!(wheel.metrics().snapshot().lag.max(), ms(30));
    }

    fn changes(now: &MetricsSnapshot) -> [u64; 4] {
        [now.armed, now.fired, now.cancelled, now.reset]
    }

    #[tokio::test(start_paused = true)]
    async fn since_has_what_happened_between_two_snapshots() {
        let metrics = metrics();
        let [before, mut moved] = [pending(HOUR), pending(HOUR)];
        let start = metrics.snapshot();
        let mut late = pending(ms(3));
        advance(ms(10)).await;
        (&mut late).await;
        drop(before);
        moved.reset_unpin(Instant::now() + 2 * HOUR);
        let first = metrics.snapshot();
        let between = first.since(&start);
        assert_eq!((changes(&between), between.pending), ([1, 1, 1, 1], 1));
        assert_eq!((between.lag.count(), between.lag.max()), (1, ms(7)));
        assert!(between.passes >= 1);

        let between = metrics.snapshot().since(&first);
        assert_eq!((changes(&between), between.pending), ([0; 4], 1));
        assert_eq!(between.lag, wheel::LagHistogram::default());
        assert_eq!(between.passes, 0);
    }
}
