//! A listener on a free port of this machine. It ends when it is told to and its connections have
//! ended.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context, Result};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

/// All clients connect at once, and a full queue resets some of them; `TcpListener::bind` has 128.
/// The system may hold it lower (`net.core.somaxconn`).
const BACKLOG: u32 = 4_096;

/// A running server whose connections each come to an `R`.
#[derive(Debug)]
pub(crate) struct Server<R> {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<Vec<R>>>,
}

impl<R: Send + 'static> Server<R> {
    pub(crate) async fn start<S, C>(serve: S) -> Result<Self>
    where
        S: Fn(TcpStream) -> C + Send + 'static,
        C: Future<Output = Result<R>> + Send + 'static,
    {
        let listener = listen().context("no port to listen on")?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(accept(listener, serve, stopped));
        Ok(Server {
            address,
            stop,
            task,
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections and waits for those there are.
    pub(crate) async fn stop(self) -> Result<Vec<R>> {
        // Nobody listens where the server has failed; the task says why.
        let _ = self.stop.send(());
        self.task.await?
    }
}

fn listen() -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    socket.listen(BACKLOG)
}

async fn accept<R, S, C>(
    listener: TcpListener,
    serve: S,
    mut stopped: oneshot::Receiver<()>,
) -> Result<Vec<R>>
where
    R: Send + 'static,
    S: Fn(TcpStream) -> C,
    C: Future<Output = Result<R>> + Send + 'static,
{
    let mut connections = JoinSet::new();
    let mut results = Vec::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (socket, _) = accepted?;
                socket.set_nodelay(true)?;
                connections.spawn(serve(socket));
            }
            Some(ended) = connections.join_next() => results.push(ended??),
            _ = &mut stopped => break,
        }
    }
    while let Some(ended) = connections.join_next().await {
        results.push(ended??);
    }
    Ok(results)
}
