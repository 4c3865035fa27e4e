//! A mass expiry: many timers are due within a millisecond (or, in `fire`, a second). The benchmark measures how long
//! it takes meanwhile to arm and cancel another one.

use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use hdrhistogram::Histogram;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use tokio::runtime::Handle;
use tokio::task::coop::unconstrained;
use tokio::task::yield_now;
use tokio::time::Instant;

use crate::{Timers, arm, on_task};

/// A generous time to arm one timer. The timers are due when all should be armed.
const TO_ARM: Duration = Duration::from_nanos(1_600);
const AT_LEAST: Duration = Duration::from_millis(100);
const LOST: Duration = Duration::from_secs(60);
/// A duration that does not end before the timer is cancelled.
const FAR: Duration = Duration::from_secs(600);
const BATCH: usize = 1_000;
/// During a long wait, another task would have armed a timer every so many nanoseconds, and waited for the rest.
const INTERVAL: u64 = 10_000;

/// The result of a mass expiry.
#[derive(Debug)]
pub struct Expiry {
    /// Number of wake-ups, which should be one for each timer.
    pub fired: u64,
    /// How long it took to arm and cancel a timer while the others fired, in nanoseconds.
    pub waits: Histogram<u64>,
}

/// A counter; as a waker it counts its wakes.
#[derive(Debug, Default)]
pub struct Count(AtomicUsize);

impl Count {
    /// Returns the count.
    pub fn get(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }

    /// Adds one.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    /// Blocks until the counter reaches `count`.
    pub fn wait_for(&self, count: usize) {
        let began = Instant::now();
        while self.get() < count {
            let counted = self.get();
            assert!(began.elapsed() < LOST, "lost: {counted} of {count} came");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.add();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.add();
    }
}

/// Boxed timers.
pub type Sleeps<T> = Vec<Pin<Box<<T as Timers>::Sleep>>>;

/// Armed timers that will fire.
#[expect(
    missing_debug_implementations,
    reason = "not all timers implement Debug"
)]
pub struct Volley<T: Timers> {
    /// When the first one is due.
    pub due: Instant,
    fired: Arc<Count>,
    sleeps: Sleeps<T>,
}

impl<T: Timers> Volley<T> {
    /// Arms timers on a worker. They are due soon, at random within `spread`.
    pub fn arm(runtime: &Handle, count: usize, spread: Duration) -> Self {
        let mut lead = (TO_ARM * count as u32).max(AT_LEAST);
        loop {
            let (fired, due) = (Arc::new(Count::default()), Instant::now() + lead);
            let waker = Waker::from(Arc::clone(&fired));
            let sleeps = on_worker(runtime, waker, move |cx| {
                arm_all::<T>(cx, count, due, spread)
            });
            if let Some(sleeps) = sleeps {
                return Volley { due, fired, sleeps };
            }
            // The machine is so busy that some timers were due before all were armed.
            lead *= 2;
        }
    }

    /// Blocks until every timer has fired.
    pub fn wait(&self) {
        self.fired.wait_for(self.sleeps.len());
    }

    /// Number of wake-ups, which should be one for each timer.
    pub fn wakes(self) -> u64 {
        // Wait a while, because a second wake-up would be an error.
        thread::sleep(Duration::from_millis(20));
        self.fired.get() as u64
    }
}

/// Lets `count` timers fire, while one task per worker arms others: any worker may fire the timers.
pub fn run<T: Timers>(runtime: &Handle, workers: usize, count: usize) -> Expiry {
    let volley = Volley::<T>::arm(runtime, count, Duration::from_millis(1));
    thread::sleep(volley.due.saturating_duration_since(Instant::now()));
    let inserters: Vec<_> = (0..workers)
        .map(|_| runtime.spawn(insert_while::<T>(Arc::clone(&volley.fired), count)))
        .collect();
    let mut waits = Histogram::new(3).expect("a histogram");
    for inserter in inserters {
        let some = runtime.block_on(inserter).expect("an inserter panicked");
        waits.add(some).expect("equal histograms");
    }
    let fired = volley.wakes();
    Expiry { fired, waits }
}

/// Arms timers that are not due for a long time.
pub fn arm_far<T: Timers>(runtime: &Handle, count: usize) -> Sleeps<T> {
    let (far, spread) = (Instant::now() + FAR, Duration::from_millis(1));
    let waker = Waker::from(Arc::<Count>::default());
    let sleeps = on_worker(runtime, waker, move |cx| {
        arm_all::<T>(cx, count, far, spread)
    });
    sleeps.expect("they are far away")
}

/// Runs `work` in a task without a cooperative budget, with another waker.
fn on_worker<R: Send + 'static>(
    runtime: &Handle,
    waker: Waker,
    work: impl FnOnce(&mut Context<'_>) -> R + Send + 'static,
) -> R {
    let work = on_task(move |_| work(&mut Context::from_waker(&waker)));
    let task = runtime.spawn(unconstrained(work));
    runtime.block_on(task).expect("the task panicked")
}

/// Arms timers that are due at random within `spread` after `due`. Returns `None` if one was due already.
pub fn arm_all<T: Timers>(
    cx: &mut Context<'_>,
    count: usize,
    due: Instant,
    spread: Duration,
) -> Option<Sleeps<T>> {
    let mut random = SmallRng::seed_from_u64(0x7143);
    let mut sleeps: Sleeps<T> = Vec::with_capacity(count);
    for _ in 0..count {
        let at = due + random.random_range(Duration::ZERO..spread);
        let mut sleep = Box::pin(T::sleep_until(at));
        if sleep.as_mut().poll(cx).is_ready() {
            return None;
        }
        sleeps.push(sleep);
    }
    Some(sleeps)
}

/// Arms and cancels until all others have fired. Yields now and then, so that its worker can fire them too.
async fn insert_while<T: Timers>(fired: Arc<Count>, armed: usize) -> Histogram<u64> {
    let insert = |cx: &mut Context<'_>, index| {
        let began = std::time::Instant::now();
        let after = FAR + Duration::from_millis(index as u64);
        arm(black_box(pin!(T::sleep(after))), cx);
        began.elapsed().as_nanos() as u64
    };
    let mut waits = Histogram::new(3).expect("a histogram");
    let began = Instant::now();
    while fired.get() < armed {
        assert!(began.elapsed() < LOST, "{}: a timer was lost", T::NAME);
        let some = on_task(|cx| -> [u64; BATCH] { std::array::from_fn(|index| insert(cx, index)) });
        for wait in unconstrained(some).await {
            waits.record_correct(wait, INTERVAL).expect("a wait");
        }
        yield_now().await;
    }
    waits
}
