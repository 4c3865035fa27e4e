//! Loops of tasks that do nothing but wait for very short timers.
//!
//! With tokio's timers such a loop goes round once or less in a millisecond, whatever the timers. A driver that is finer
//! than that where a runtime is busy has it go round more often, for CPU that nothing asked for; and a runtime full of
//! such tasks never parks, and looks at I/O late. A runtime that is full of other work takes all the CPU there is, so there
//! it is the CPU of that work that is measured.

use std::hint::black_box;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use common::process::cpu_of_threads;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use tokio::sync::oneshot;
use tokio::task::yield_now;

use crate::figure::Measured;
use crate::peer::Peer;
use crate::stage::Stage;

const WINDOW: Duration = Duration::from_millis(500);
/// More than any machine takes for one round.
const PATIENCE: Duration = Duration::from_secs(30);

/// On two workers and on a current-thread runtime, with one loop and with a thousand: rounds of all loops in a second, and
/// the CPU of a second; where the runtime is full, the CPU of a round of the other work.
pub(crate) fn loops<P: Peer>(figure: &'static str) -> Measured {
    let mut values = Vec::new();
    for workers in [2, 0] {
        for tasks in [1, 1000] {
            values.extend(watched::<P>(figure, workers, tasks));
        }
    }
    Measured::cancelled(values, 0)
}

fn watched<P: Peer>(figure: &'static str, workers: usize, tasks: u64) -> [f64; 2] {
    let stage = Stage::bare::<P>(workers);
    let goes_on = Arc::new(AtomicBool::new(true));
    let group = |size: u64| -> Vec<_> { (0..size).map(|_| Loop::new(&goes_on)).collect() };
    let (loops, works) = (
        group(tasks),
        group(if figure.ends_with("-full") { 4 } else { 0 }),
    );
    for (seed, this) in (0..).zip(&loops) {
        stage.handle().spawn(this.clone().run::<P>(figure, seed));
    }
    for this in &works {
        stage.handle().spawn(this.clone().compute());
    }
    let (end, ended) = oneshot::channel::<()>();
    let watcher = thread::spawn(move || {
        thread::sleep(WINDOW / 5);
        let values = watch(&loops, &works);
        goes_on.store(false, Ordering::SeqCst);
        drop(end);
        values
    });
    // Drives the runtime, if that has no workers.
    let _ = stage.run(ended);
    watcher.join().expect("no panic")
}

/// What is done within the window. A machine that is full may have no loop go round for a while: that is waited for.
fn watch(loops: &[Loop], works: &[Loop]) -> [f64; 2] {
    let look = || {
        let cpu = cpu_of_threads(None).expect("Linux's schedstat");
        (Instant::now(), sum(loops), sum(works), cpu)
    };
    let (begin, rounds_then, works_then, cpu_then) = look();
    let (end, rounds, works, cpu) = loop {
        thread::sleep(WINDOW);
        let seen = look();
        if seen.1 > rounds_then || seen.0 - begin > PATIENCE {
            break seen;
        }
    };
    assert!(rounds > rounds_then, "no loop goes round");
    let seconds = (end - begin).as_secs_f64();
    let cpu = cpu.saturating_sub(cpu_then).as_nanos() as f64;
    let each = match works - works_then {
        0 => cpu / seconds,
        works => cpu / works as f64,
    };
    [(rounds - rounds_then) as f64 / seconds, each]
}

fn sum(loops: &[Loop]) -> u64 {
    let counts = loops
        .iter()
        .map(|this| this.counter.0.load(Ordering::Relaxed));
    counts.sum()
}

/// A loop's rounds so far. On lines of memory of its own: no loop waits for another's.
#[repr(align(128))]
#[derive(Default)]
struct Counter(AtomicU64);

/// A loop: it goes round until it is told to stop.
#[derive(Clone)]
struct Loop {
    counter: Arc<Counter>,
    goes_on: Arc<AtomicBool>,
}

impl Loop {
    fn new(goes_on: &Arc<AtomicBool>) -> Self {
        Loop {
            counter: Arc::default(),
            goes_on: goes_on.clone(),
        }
    }

    fn count(&self) {
        self.counter.0.fetch_add(1, Ordering::Relaxed);
    }

    fn goes_on(&self) -> bool {
        self.goes_on.load(Ordering::Relaxed)
    }

    async fn run<P: Peer>(self, figure: &'static str, seed: u64) {
        match figure.trim_end_matches("-full") {
            "loops-zero" => self.sleep::<P>(|| 0).await,
            "loops-hundred" => self.sleep::<P>(|| 100_000).await,
            "loops-short" => {
                let mut random = SmallRng::seed_from_u64(seed);
                let short = move || random.random_range(0..1_000_000);
                self.sleep::<P>(short).await;
            }
            "loops-reset" => self.reset::<P>().await,
            "loops-waker" => Rearming::<P>::start(self),
            _ => panic!("nothing runs the figure {figure}"),
        }
    }

    async fn sleep<P: Peer>(self, mut nanos: impl FnMut() -> u64 + Send) {
        while self.goes_on() {
            P::sleep(Duration::from_nanos(nanos())).await;
            self.count();
        }
    }

    async fn reset<P: Peer>(self) {
        let mut sleep = Box::pin(P::sleep(Duration::ZERO));
        while self.goes_on() {
            P::reset(sleep.as_mut(), tokio::time::Instant::now());
            sleep.as_mut().await;
            self.count();
        }
    }

    /// Other work: computes for about 50 µs at a time, the same in every run, and yields.
    async fn compute(self) {
        while self.goes_on() {
            let mut state = 1_u64;
            for step in 0..30_000 {
                state = black_box(state.wrapping_mul(6_364_136_223_846_793_005) ^ step);
            }
            self.count();
            yield_now().await;
        }
    }
}

/// A waker that makes and polls the next timer when it is woken.
struct Rearming<P: Peer> {
    this: Loop,
    sleep: Mutex<Option<Pin<Box<P::Sleep>>>>,
}

impl<P: Peer> Rearming<P> {
    fn start(this: Loop) {
        let sleep = Mutex::new(None);
        Arc::new(Rearming::<P> { this, sleep }).arm();
    }

    fn arm(self: Arc<Self>) {
        let waker = Waker::from(self.clone());
        let mut cx = Context::from_waker(&waker);
        let mut sleep = Box::pin(P::sleep(Duration::ZERO));
        // Ready at once only at the very beginning of a millisecond.
        while sleep.as_mut().poll(&mut cx).is_ready() {
            self.this.count();
            sleep = Box::pin(P::sleep(Duration::ZERO));
        }
        let old = self.sleep.lock().expect("no panic").replace(sleep);
        drop(old);
    }
}

impl<P: Peer> Wake for Rearming<P> {
    fn wake(self: Arc<Self>) {
        self.this.count();
        if self.this.goes_on() {
            self.arm();
        } else {
            let last = self.sleep.lock().expect("no panic").take();
            drop(last);
        }
    }
}
