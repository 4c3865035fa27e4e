//! An axum router behind a listener of this machine, served with a limit for the head of each
//! request. It ends when it is told to and its connections have ended.
//!
//! `axum::serve` is shorter and sets no timer: there a client that sends half a head, or nothing
//! after an answer, holds its connection for ever.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

use crate::stack::Stack;

/// All clients connect at once, and a full queue resets some of them; `TcpListener::bind` has 128.
/// The system may hold it lower (`net.core.somaxconn`).
const BACKLOG: u32 = 4_096;

/// What became of a server's connections.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Connections {
    pub(crate) opened: u64,
    /// Closed by the timer: a head did not come in time.
    pub(crate) timed_out: u64,
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<Connections>>,
}

impl Server {
    /// Listens on `address`, on a free port if that has none.
    pub(crate) fn start<T: Stack>(
        address: SocketAddr,
        routes: Router,
        head_timeout: Duration,
    ) -> Result<Self> {
        let listener = listen(address).with_context(|| format!("cannot listen on {address}"))?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(accept::<T>(listener, stopped, routes, head_timeout));
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
    pub(crate) async fn stop(self) -> Result<Connections> {
        // Nothing listens where the server has failed; the task says why.
        let _ = self.stop.send(());
        self.task.await?
    }

    /// Is not stopped: ends when it can take no more connections.
    pub(crate) async fn ended(self) -> Result<Connections> {
        let _stop = self.stop;
        self.task.await?
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

async fn accept<T: Stack>(
    listener: TcpListener,
    mut stopped: oneshot::Receiver<()>,
    routes: Router,
    head_timeout: Duration,
) -> Result<Connections> {
    let mut open = JoinSet::new();
    let mut connections = Connections::default();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (socket, _) = accepted?;
                socket.set_nodelay(true)?;
                connections.opened += 1;
                open.spawn(serve::<T>(socket, routes.clone(), head_timeout));
            }
            Some(timed_out) = open.join_next() => connections.timed_out += u64::from(timed_out?),
            _ = &mut stopped => break,
        }
    }
    while let Some(timed_out) = open.join_next().await {
        connections.timed_out += u64::from(timed_out?);
    }
    Ok(connections)
}

/// Whether it was the timer that ended the connection.
async fn serve<T: Stack>(socket: TcpStream, routes: Router, head_timeout: Duration) -> bool {
    // To tell HTTP/2 from HTTP/1 it would read the first bytes, and that under no timer.
    let mut server = Builder::new(TokioExecutor::new()).http1_only();
    server
        .http1()
        .timer(T::Hyper::default())
        .header_read_timeout(head_timeout);
    let routes = TowerToHyperService::new(routes);
    let ended = server.serve_connection(TokioIo::new(socket), routes).await;
    // Any other error is seen, and told, by the other end.
    ended.is_err_and(|error| error.downcast_ref().is_some_and(hyper::Error::is_timeout))
}
