//! What one loop does in a round, and how its rounds are counted.

use std::hint::black_box;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use clap::ValueEnum;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use tokio::task::yield_now;
use tokio::time::Instant;

use timers::Timers;

/// What a task waits for in each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Round {
    /// `sleep(Duration::ZERO)`
    Zero,
    /// `sleep` of 100 µs
    Hundred,
    /// `sleep` of less than a millisecond, at random
    Short,
    /// one `Sleep`, reset to now
    Reset,
    /// no task, but a waker that makes and polls the next timer when it is woken
    Waker,
}

impl Round {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Round::Zero => "sleep(0)",
            Round::Hundred => "sleep(100 µs)",
            Round::Short => "sleep(< 1 ms)",
            Round::Reset => "reset to now",
            Round::Waker => "waker arms anew",
        }
    }
}

/// A loop's rounds so far. On lines of memory of its own: no loop waits for another's.
#[repr(align(128))]
#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A loop: it goes round until it is told to stop.
#[derive(Clone)]
pub(crate) struct Loop {
    pub(crate) counter: Arc<Counter>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Loop {
    pub(crate) fn new(stop: &Arc<AtomicBool>) -> Self {
        Loop {
            counter: Arc::default(),
            stop: stop.clone(),
        }
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    pub(crate) async fn run<T: Timers>(self, round: Round, seed: u64) {
        match round {
            Round::Zero => self.sleep::<T>(|| Duration::ZERO).await,
            Round::Hundred => self.sleep::<T>(|| Duration::from_micros(100)).await,
            Round::Short => {
                let mut random = SmallRng::seed_from_u64(seed);
                let short = move || Duration::from_nanos(random.random_range(0..1_000_000));
                self.sleep::<T>(short).await;
            }
            Round::Reset => self.reset::<T>().await,
            Round::Waker => Rearming::<T>::start(self),
        }
    }

    async fn sleep<T: Timers>(self, mut duration: impl FnMut() -> Duration + Send) {
        while self.goes_on() {
            T::sleep(duration()).await;
            self.counter.count();
        }
    }

    async fn reset<T: Timers>(self) {
        let mut sleep = Box::pin(T::sleep(Duration::ZERO));
        while self.goes_on() {
            T::reset(sleep.as_mut(), Instant::now());
            sleep.as_mut().await;
            self.counter.count();
        }
    }

    /// Computes for about 50 µs at a time, and yields.
    pub(crate) async fn compute(self) {
        while self.goes_on() {
            compute();
            self.counter.count();
            yield_now().await;
        }
    }
}

/// The same in every run, so that what is done for a second of CPU can be compared.
fn compute() {
    let mut state = 1_u64;
    for step in 0..30_000 {
        state = black_box(state.wrapping_mul(6_364_136_223_846_793_005) ^ step);
    }
}

/// A waker that makes the next timer when it is woken.
struct Rearming<T: Timers> {
    this: Loop,
    sleep: Mutex<Option<Pin<Box<T::Sleep>>>>,
}

impl<T: Timers> Rearming<T> {
    fn start(this: Loop) {
        let sleep = Mutex::new(None);
        Arc::new(Rearming::<T> { this, sleep }).arm();
    }

    fn arm(self: Arc<Self>) {
        let waker = Waker::from(self.clone());
        let mut cx = Context::from_waker(&waker);
        let mut sleep = Box::pin(T::sleep(Duration::ZERO));
        // Ready at once only at the very beginning of a millisecond.
        while sleep.as_mut().poll(&mut cx).is_ready() {
            self.this.counter.count();
            sleep = Box::pin(T::sleep(Duration::ZERO));
        }
        let old = self.sleep.lock().expect("no panic").replace(sleep);
        drop(old);
    }
}

impl<T: Timers> Wake for Rearming<T> {
    fn wake(self: Arc<Self>) {
        self.this.counter.count();
        if self.this.goes_on() {
            self.arm();
        } else {
            let last = self.sleep.lock().expect("no panic").take();
            drop(last);
        }
    }
}
