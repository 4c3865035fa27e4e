//! What the rest of a service does meanwhile: an echo over loopback TCP, calls through a channel from outside the runtime, and
//! other timers.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Result;
use timers::Timers;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::mpsc::unbounded_channel;

/// From one request to the next.
const EVERY: Duration = Duration::from_micros(500);

/// How long a timer of another task runs, and how many such tasks there are, so that each worker has some.
const SLEEP: Duration = Duration::from_millis(1);
pub(crate) const SLEEPERS: usize = 16;

/// When a request or a timer was due, and when its answer came or the task woke.
type Wait = (Instant, Instant);

/// A thread that sends requests, until it is asked for their times.
pub(crate) struct Probe {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Wait>>,
}

impl Probe {
    fn start(mut request: impl FnMut() + Send + 'static) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let (mut due, mut requests) = (Instant::now(), Vec::new());
            while !stopped.load(Ordering::Relaxed) {
                due += EVERY;
                thread::sleep(due.saturating_duration_since(Instant::now()));
                request();
                requests.push((due, Instant::now()));
            }
            requests
        });
        Probe { stop, thread }
    }

    /// Ends the thread, and returns when its requests were due and answered.
    pub(crate) fn stop(self) -> Vec<Wait> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("a probe")
    }
}

/// Starts a server in the runtime, and pings it.
pub(crate) fn echo(runtime: &Handle) -> Result<Probe> {
    let (tell, told) = mpsc::channel();
    runtime.spawn(async move { tell.send(listen().await) });
    let mut stream = TcpStream::connect(told.recv()??)?;
    stream.set_nodelay(true)?;
    let mut buffer = [7; 32];
    Ok(Probe::start(move || {
        stream.write_all(&buffer).expect("a ping");
        stream.read_exact(&mut buffer).expect("an echo");
    }))
}

async fn listen() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let mut buffer = [0; 32];
        while stream.read_exact(&mut buffer).await.is_ok() {
            stream.write_all(&buffer).await?;
        }
        Ok::<_, anyhow::Error>(())
    });
    Ok(address)
}

/// Calls a task of the runtime through a channel.
pub(crate) fn call(runtime: &Handle) -> Probe {
    let ((request, mut requests), (answer, answers)) = (unbounded_channel(), mpsc::channel());
    runtime.spawn(async move {
        while let Some(()) = requests.recv().await {
            if answer.send(()).is_err() {
                break;
            }
        }
    });
    Probe::start(move || {
        request.send(()).expect("a task");
        answers.recv().expect("an answer");
    })
}

/// The timers of other tasks.
#[derive(Clone, Default)]
pub(crate) struct Others(Arc<Mutex<Vec<Wait>>>);

impl Others {
    /// Starts tasks that sleep again and again.
    pub(crate) fn sleep<T: Timers>(runtime: &Handle) -> Self {
        let others = Self::default();
        for _ in 0..SLEEPERS {
            let others = others.clone();
            runtime.spawn(async move {
                loop {
                    others.wait::<T>(Instant::now() + SLEEP).await;
                }
            });
        }
        others
    }

    /// Starts tasks that each arm one timer now.
    pub(crate) fn arm<T: Timers>(runtime: &Handle, due: Instant) -> Self {
        let others = Self::default();
        for _ in 0..SLEEPERS {
            let others = others.clone();
            runtime.spawn(async move { others.wait::<T>(due).await });
        }
        others
    }

    async fn wait<T: Timers>(&self, due: Instant) {
        T::sleep_until(due.into()).await;
        let wait = (due, Instant::now());
        self.0.lock().expect("no panic").push(wait);
    }

    /// Returns when the timers so far were due, and when the tasks woke.
    pub(crate) fn waits(&self) -> Vec<Wait> {
        self.0.lock().expect("no panic").clone()
    }
}

/// Returns how long the waits took that were under way then, in nanoseconds, from the shortest to the longest.
pub(crate) fn between(waits: Vec<Wait>, begin: Instant, end: Instant) -> Vec<u128> {
    let waits = waits.into_iter();
    let under_way = waits.filter(|&(due, over)| over >= begin && due <= end);
    let mut took: Vec<_> = under_way
        .map(|(due, over)| (over - due).as_nanos())
        .collect();
    took.sort_unstable();
    took
}

/// Returns the value below which this share of sorted values lies.
pub(crate) fn quantile(sorted: &[u128], share: f64) -> u128 {
    let last = sorted.len().saturating_sub(1);
    sorted
        .get((last as f64 * share).round() as usize)
        .copied()
        .unwrap_or(0)
}
