//! A mass expiry: many timers that are due within a short time.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use tokio::runtime::Handle;
use tokio::task::coop::unconstrained;
use tokio::time::Instant;

use crate::{Timers, on_task};

/// A generous time to arm one timer. The timers are due when all should be armed.
const TO_ARM: Duration = Duration::from_nanos(1_600);
const AT_LEAST: Duration = Duration::from_millis(100);
const LOST: Duration = Duration::from_secs(60);

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
