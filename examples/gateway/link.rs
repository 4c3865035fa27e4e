//! One connection from the gateway to a backend, shared by every call that is under way:
//! answers find their caller by number, so a call that is never answered blocks none behind it.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, anyhow};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::frame::{self, Frame, Frames};

/// Calls written with one system call.
const BATCH: usize = 64;

#[derive(Debug)]
pub(crate) struct Link {
    /// Unbounded, yet never longer than what the client may have in flight.
    calls: mpsc::UnboundedSender<Frame>,
    callers: Callers,
}

impl Link {
    /// Connects. The link's task, added to `tasks`, ends when the link is dropped and the
    /// backend has closed.
    pub(crate) async fn open(
        backend: SocketAddr,
        tasks: &mut JoinSet<io::Result<()>>,
    ) -> Result<Self> {
        let socket = TcpStream::connect(backend)
            .await
            .context("a backend cannot be reached")?;
        socket.set_nodelay(true)?;
        let (calls, queue) = mpsc::unbounded_channel();
        let callers = Callers::default();
        tasks.spawn(carry(socket, queue, callers.clone()));
        Ok(Link { calls, callers })
    }

    /// Waits for the backend's answer for as long as it takes: limits are the caller's.
    pub(crate) async fn call(&self, number: u64) -> Result<()> {
        let (_entry, answer) = self.callers.enter(number);
        self.calls
            .send(Frame::new(number))
            .map_err(|_| anyhow!("the link has ended"))?;
        answer.await.context("the link ended before the answer")
    }
}

/// Writes calls and reads answers until the link is dropped, then until the backend has closed too.
///
/// While it writes it does not read. Neither side can be stuck on the other for that: what is under
/// way fits the sockets' buffers many times over.
async fn carry(
    socket: TcpStream,
    mut queue: mpsc::UnboundedReceiver<Frame>,
    callers: Callers,
) -> io::Result<()> {
    let (reader, mut writer) = socket.into_split();
    let mut answers = Frames::new(reader);
    let mut batch = Vec::with_capacity(BATCH);
    let mut open = true;
    loop {
        tokio::select! {
            answer = answers.next() => match answer? {
                Some(answer) => callers.deliver(answer),
                None => return Ok(()),
            },
            taken = queue.recv_many(&mut batch, BATCH), if open => match taken {
                0 => {
                    open = false;
                    writer.shutdown().await?;
                }
                _ => {
                    frame::send(&mut writer, &batch).await?;
                    batch.clear();
                }
            },
        }
    }
}

/// Who waits for which answer.
#[derive(Clone, Debug, Default)]
struct Callers(Arc<Mutex<HashMap<u64, oneshot::Sender<()>>>>);

impl Callers {
    fn enter(&self, number: u64) -> (Entry<'_>, oneshot::Receiver<()>) {
        let (caller, answer) = oneshot::channel();
        self.lock().insert(number, caller);
        (
            Entry {
                callers: self,
                number,
            },
            answer,
        )
    }

    /// An answer whose caller has given up is nobody's.
    fn deliver(&self, answer: Frame) {
        let caller = self.lock().remove(&answer.number);
        let _ = caller.map(|caller| caller.send(()));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A caller's entry; its drop, when a timeout drops the call, leaves nothing behind.
struct Entry<'a> {
    callers: &'a Callers,
    number: u64,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.callers.lock().remove(&self.number);
    }
}
