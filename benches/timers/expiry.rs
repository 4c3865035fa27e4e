//! Many timers that are due in the same millisecond, and how long it takes, meanwhile, to arm and cancel another one.

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

/// Time to arm one timer, generously; they are due when all should be armed.
const TO_ARM: Duration = Duration::from_nanos(1_600);
const AT_LEAST: Duration = Duration::from_millis(100);
const LOST: Duration = Duration::from_secs(60);
/// Far enough to be cancelled in time.
const FAR: Duration = Duration::from_secs(600);
const BATCH: usize = 1_000;
/// Others would have come this often, in nanoseconds, and waited for what was left.
const INTERVAL: u64 = 10_000;

/// What came of the expiry.
#[derive(Debug)]
pub struct Expiry {
    /// Wakes: one for each timer, if all is well.
    pub fired: u64,
    /// Waits for an armed and cancelled timer while the others fired, in nanoseconds.
    pub waits: Histogram<u64>,
}

/// A counter; as a waker it counts its wakes.
#[derive(Debug, Default)]
pub struct Count(AtomicUsize);

impl Count {
    /// So far.
    pub fn get(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }

    /// One more.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    /// Blocks until the counter stands at `count`.
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

/// Timers in boxes of their own.
pub type Sleeps<T> = Vec<Pin<Box<<T as Timers>::Sleep>>>;

/// Timers that are going to fire.
#[expect(missing_debug_implementations, reason = "not all timers have one")]
pub struct Volley<T: Timers> {
    /// When the first is due.
    pub due: Instant,
    fired: Arc<Count>,
    sleeps: Sleeps<T>,
}

impl<T: Timers> Volley<T> {
    /// Armed on a worker, due at random within `spread`, and soon.
    pub fn arm(runtime: &Handle, count: usize, spread: Duration) -> Self {
        let mut lead = (TO_ARM * count as u32).max(AT_LEAST);
        loop {
            let (fired, due) = (Arc::new(Count::default()), Instant::now() + lead);
            let counter = Arc::clone(&fired);
            let sleeps = on_worker(runtime, move || arm_all::<T>(count, due, spread, counter));
            if let Some(sleeps) = sleeps {
                return Volley { due, fired, sleeps };
            }
            // Some were due before all were armed: the machine is busy.
            lead *= 2;
        }
    }

    /// Blocks until every timer has fired.
    pub fn wait(&self) {
        self.fired.wait_for(self.sleeps.len());
    }

    /// Wakes: one for each timer, if all is well.
    pub fn wakes(self) -> u64 {
        // None may be woken twice.
        thread::sleep(Duration::from_millis(20));
        self.fired.get() as u64
    }
}

/// Has `count` timers fire, and arms others on every worker, so that one is at it whichever fires.
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

/// As many timers that are far away.
pub fn arm_far<T: Timers>(runtime: &Handle, count: usize) -> Sleeps<T> {
    let (far, spread) = (Instant::now() + FAR, Duration::from_millis(1));
    let sleeps = on_worker(runtime, move || {
        arm_all::<T>(count, far, spread, Arc::default())
    });
    sleeps.expect("they are far away")
}

/// Runs `work` in a task, whose budget does not end.
fn on_worker<R: Send + 'static>(runtime: &Handle, work: impl FnOnce() -> R + Send + 'static) -> R {
    let task = runtime.spawn(unconstrained(on_task(|_| work())));
    runtime.block_on(task).expect("the task panicked")
}

/// `None` where a timer is due already.
fn arm_all<T: Timers>(
    count: usize,
    due: Instant,
    spread: Duration,
    fired: Arc<Count>,
) -> Option<Sleeps<T>> {
    let waker = Waker::from(fired);
    let cx = &mut Context::from_waker(&waker);
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

/// Arms and cancels until all others have fired. It gives way now and then, so that its worker
/// can fire them, too.
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
