//! Loops of tasks that do nothing but wait for very short timers.
//!
//! With tokio's timers such a loop goes round once or less in a millisecond, whatever the timers. A driver that is finer
//! than that where a runtime is busy has it go round more often, for CPU that nothing asked for; and a runtime full of
//! such tasks never parks, and looks at I/O late. A runtime that is full of other work takes all the CPU there is, so there
//! it is the CPU of that work that is measured.

use std::hint::black_box;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use common::process::cpu_of_threads;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use timers::Timers;
use timers::expiry::Count;
use tokio::sync::oneshot;
use tokio::task::yield_now;

use crate::figure::Measured;
use crate::stage::Stage;

const WINDOW: Duration = Duration::from_millis(500);

/// On two workers and on a current-thread runtime, with one loop and with a thousand: rounds of all loops in a second, and
/// the CPU of a second; where the runtime is full, the CPU of a round of the other work.
pub(crate) fn loops<T: Timers>(figure: &'static str) -> Measured {
    let mut values = Vec::new();
    for workers in [2, 0] {
        for tasks in [1, 1000] {
            values.extend(watched::<T>(figure, workers, tasks));
        }
    }
    Measured::cancelled(values, 0)
}

fn watched<T: Timers>(figure: &'static str, workers: usize, tasks: u64) -> [f64; 2] {
    let stage = Stage::bare::<T>(workers);
    let (rounds, works) = (Arc::new(Count::default()), Arc::new(Count::default()));
    let goes_on = Arc::new(AtomicBool::new(true));
    for seed in 0..tasks {
        let this = go_round::<T>(figure, seed, Arc::clone(&rounds), Arc::clone(&goes_on));
        stage.runtime.spawn(this);
    }
    for _ in 0..if figure.ends_with("-full") { 4 } else { 0 } {
        stage.runtime.spawn(compute(Arc::clone(&works)));
    }
    let (end, ended) = oneshot::channel::<()>();
    let watcher = thread::spawn(move || {
        thread::sleep(WINDOW / 5);
        let values = watch(&rounds, &works);
        goes_on.store(false, Ordering::SeqCst);
        drop(end);
        values
    });
    // Drives the runtime, if that has no workers.
    let _ = stage.run(ended);
    watcher.join().expect("no panic")
}

/// What is done within the window. A machine that is full may have no loop go round for a while: that is waited for.
fn watch(rounds: &Count, works: &Count) -> [f64; 2] {
    let look = || {
        let cpu = cpu_of_threads(None).expect("Linux's schedstat");
        (Instant::now(), rounds.get(), works.get(), cpu)
    };
    let then = look();
    thread::sleep(WINDOW);
    rounds.wait_for(then.1 + 1);
    let now = look();
    let seconds = (now.0 - then.0).as_secs_f64();
    let cpu = now.3.saturating_sub(then.3).as_nanos() as f64;
    let each = match now.2 - then.2 {
        0 => cpu / seconds,
        works => cpu / works as f64,
    };
    [(now.1 - then.1) as f64 / seconds, each]
}

/// One loop. It ends with its runtime; a waker has to be told.
async fn go_round<T: Timers>(
    figure: &str,
    seed: u64,
    rounds: Arc<Count>,
    goes_on: Arc<AtomicBool>,
) {
    let nanos = match figure.trim_end_matches("-full") {
        "loops-zero" => 0..1,
        "loops-hundred" => 100_000..100_001,
        "loops-short" => 0..1_000_000,
        "loops-reset" => return reset::<T>(rounds).await,
        "loops-waker" => {
            let sleep = Mutex::new(None);
            let rearming = Rearming::<T> {
                rounds,
                goes_on,
                sleep,
            };
            return Arc::new(rearming).arm();
        }
        _ => panic!("nothing runs the figure {figure}"),
    };
    let mut random = SmallRng::seed_from_u64(seed);
    loop {
        T::sleep(Duration::from_nanos(random.random_range(nanos.clone()))).await;
        rounds.add();
    }
}

async fn reset<T: Timers>(rounds: Arc<Count>) {
    let mut sleep = Box::pin(T::sleep(Duration::ZERO));
    loop {
        T::reset(sleep.as_mut(), tokio::time::Instant::now());
        sleep.as_mut().await;
        rounds.add();
    }
}

/// Other work: computes for about 50 µs at a time, the same in every run, and yields.
async fn compute(works: Arc<Count>) {
    loop {
        let mut state = 1_u64;
        for step in 0..30_000 {
            state = black_box(state.wrapping_mul(6_364_136_223_846_793_005) ^ step);
        }
        works.add();
        yield_now().await;
    }
}

/// A waker that makes and polls the next timer when it is woken.
struct Rearming<T: Timers> {
    rounds: Arc<Count>,
    goes_on: Arc<AtomicBool>,
    sleep: Mutex<Option<Pin<Box<T::Sleep>>>>,
}

impl<T: Timers> Rearming<T> {
    fn arm(self: Arc<Self>) {
        let waker = Waker::from(self.clone());
        let mut cx = Context::from_waker(&waker);
        let mut sleep = Box::pin(T::sleep(Duration::ZERO));
        // Ready at once only at the very beginning of a millisecond.
        while sleep.as_mut().poll(&mut cx).is_ready() {
            self.rounds.add();
            sleep = Box::pin(T::sleep(Duration::ZERO));
        }
        let old = self.sleep.lock().expect("no panic").replace(sleep);
        drop(old);
    }
}

impl<T: Timers> Wake for Rearming<T> {
    fn wake(self: Arc<Self>) {
        self.rounds.add();
        if self.goes_on.load(Ordering::Relaxed) {
            self.arm();
        } else {
            let last = self.sleep.lock().expect("no panic").take();
            drop(last);
        }
    }
}
