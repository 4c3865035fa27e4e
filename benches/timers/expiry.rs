//! Many timers that are due in the same millisecond, and how long it takes, meanwhile, to arm and cancel another one.

use std::future::{Future, poll_fn};
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use hdrhistogram::Histogram;
use tokio::runtime::Handle;
use tokio::task::coop::unconstrained;
use tokio::task::yield_now;
use tokio::time::Instant;

use crate::Timers;

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

/// Counts its wakes.
#[derive(Default)]
struct Fired(AtomicUsize);

impl Wake for Fired {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

impl Fired {
    fn count(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }
}

/// Has `count` timers fire, and arms others on every worker, so that one is at it whichever fires.
pub fn run<T: Timers>(runtime: &Handle, workers: usize, count: usize) -> Expiry {
    let (fired, _sleeps) = arm_in_time::<T>(runtime, count);
    let inserters: Vec<_> = (0..workers)
        .map(|_| runtime.spawn(insert_while::<T>(Arc::clone(&fired), count)))
        .collect();
    let mut waits = Histogram::new(3).expect("a histogram");
    for inserter in inserters {
        let some = runtime.block_on(inserter).expect("an inserter panicked");
        waits.add(some).expect("equal histograms");
    }
    // None may be woken twice.
    thread::sleep(Duration::from_millis(20));
    let fired = fired.count() as u64;
    Expiry { fired, waits }
}

/// Timers in boxes of their own.
pub type Sleeps<T> = Vec<Pin<Box<<T as Timers>::Sleep>>>;

/// As many timers that are far away.
pub fn arm_far<T: Timers>(runtime: &Handle, count: usize) -> Sleeps<T> {
    let arming = arm_all::<T>(count, Instant::now() + FAR, Arc::default());
    let sleeps = runtime.block_on(runtime.spawn(arming));
    sleeps.expect("arming panicked").expect("they are far away")
}

/// Returns when the timers are about to fire.
fn arm_in_time<T: Timers>(runtime: &Handle, count: usize) -> (Arc<Fired>, Sleeps<T>) {
    let mut lead = (TO_ARM * count as u32).max(AT_LEAST);
    loop {
        let (fired, due) = (Arc::new(Fired::default()), Instant::now() + lead);
        let arming = arm_all::<T>(count, due, Arc::clone(&fired));
        let sleeps = runtime.block_on(runtime.spawn(arming));
        if let Some(sleeps) = sleeps.expect("arming panicked") {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            return (fired, sleeps);
        }
        // Some were due before all were armed: the machine is busy.
        lead *= 2;
    }
}

/// Timers that are due together; `None` where one is due already.
async fn arm_all<T: Timers>(count: usize, due: Instant, fired: Arc<Fired>) -> Option<Sleeps<T>> {
    let waker = Waker::from(fired);
    unconstrained(poll_fn(move |_| {
        let cx = &mut Context::from_waker(&waker);
        let mut sleeps: Sleeps<T> = Vec::with_capacity(count);
        for index in 0..count as u64 {
            let within = Duration::from_nanos(index % 1_000_000);
            let mut sleep = Box::pin(T::sleep_until(due + within));
            if sleep.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            sleeps.push(sleep);
        }
        Poll::Ready(Some(sleeps))
    }))
    .await
}

/// Arms and cancels until all others have fired. It gives way now and then, so that its worker
/// can fire them, too.
async fn insert_while<T: Timers>(fired: Arc<Fired>, armed: usize) -> Histogram<u64> {
    let mut waits = Histogram::new(3).expect("a histogram");
    let began = Instant::now();
    while fired.count() < armed {
        assert!(began.elapsed() < LOST, "{}: a timer was lost", T::NAME);
        for wait in insert_some::<T>().await {
            waits.record_correct(wait, INTERVAL).expect("a wait");
        }
        yield_now().await;
    }
    waits
}

async fn insert_some<T: Timers>() -> [u64; BATCH] {
    unconstrained(poll_fn(|cx| {
        Poll::Ready(std::array::from_fn(|index| {
            let began = std::time::Instant::now();
            let after = FAR + Duration::from_millis(index as u64);
            let armed = black_box(pin!(T::sleep(after))).poll(cx);
            assert!(armed.is_pending(), "ten minutes are not over");
            began.elapsed().as_nanos() as u64
        }))
    }))
    .await
}
