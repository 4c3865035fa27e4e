//! What the rest of a service does meanwhile: an echo over loopback TCP, calls through a channel from outside the runtime, and
//! other timers.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use anyhow::Result;
use common::probe::{Probe, Wait};
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

/// Starts a server in the runtime, and pings it.
pub(crate) fn echo(runtime: &Handle) -> Result<Probe> {
    let (tell, told) = mpsc::channel();
    runtime.spawn(async move { tell.send(listen().await) });
    let mut stream = TcpStream::connect(told.recv()??)?;
    stream.set_nodelay(true)?;
    let mut buffer = [7; 32];
    Ok(Probe::start(EVERY, move || {
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
    Probe::start(EVERY, move || {
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
