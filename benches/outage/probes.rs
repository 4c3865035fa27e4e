//! What the rest of a service does meanwhile: an echo over loopback TCP, and calls through a channel from outside the runtime.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::mpsc::unbounded_channel;

/// From one request to the next.
const EVERY: Duration = Duration::from_micros(500);

/// When a request was due, and when its answer came.
type Request = (Instant, Instant);

/// A thread that sends requests, until it is asked for their times.
pub(crate) struct Probe {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Request>>,
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

    /// Returns how long the requests took that were under way then, in nanoseconds, from the shortest to the longest.
    pub(crate) fn between(self, begin: Instant, end: Instant) -> Vec<u128> {
        self.stop.store(true, Ordering::Relaxed);
        let requests = self.thread.join().expect("a probe").into_iter();
        let under_way = requests.filter(|&(due, answered)| answered >= begin && due <= end);
        let mut took: Vec<_> = under_way
            .map(|(due, answered)| (answered - due).as_nanos())
            .collect();
        took.sort_unstable();
        took
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

/// Returns the value below which this share of sorted values lies.
pub(crate) fn quantile(sorted: &[u128], share: f64) -> u128 {
    let last = sorted.len().saturating_sub(1);
    sorted
        .get((last as f64 * share).round() as usize)
        .copied()
        .unwrap_or(0)
}
