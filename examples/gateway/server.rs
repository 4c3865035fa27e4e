//! An axum router behind a listener of this machine, served with a limit for the head of each
//! request.
//!
//! `axum::serve` is shorter and sets no timer: there a client that sends half a head, or nothing
//! after an answer, holds its connection for ever.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::serve::Listener;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};

use crate::plan::Tally;
use crate::stack::Stack;

/// What is served.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) routes: Router,
    pub(crate) head_timeout: Duration,
    /// Of its connections.
    pub(crate) tally: Arc<Tally>,
}

impl Server {
    /// Listens on `address`, on a free port if that has none, until the runtime ends.
    pub(crate) fn start<T: Stack>(self, address: SocketAddr) -> Result<SocketAddr> {
        let listener = std::net::TcpListener::bind(address);
        let listener = listener.with_context(|| format!("cannot listen on {address}"))?;
        listener.set_nonblocking(true)?;
        let mut listener = TcpListener::from_std(listener)?;
        let address = listener.local_addr()?;
        tokio::spawn(async move {
            loop {
                // axum's: it goes on after an error.
                let (socket, _) = Listener::accept(&mut listener).await;
                self.tally.opened.add(1);
                tokio::spawn(self.clone().serve::<T>(socket));
            }
        });
        Ok(address)
    }

    async fn serve<T: Stack>(self, socket: TcpStream) -> io::Result<()> {
        socket.set_nodelay(true)?;
        // To tell HTTP/2 from HTTP/1 it would read the first bytes, and that under no timer.
        let mut server = Builder::new(TokioExecutor::new()).http1_only();
        let mut http1 = server.http1();
        http1
            .timer(T::Hyper::default())
            .header_read_timeout(self.head_timeout);
        let routes = TowerToHyperService::new(self.routes);
        let mut connection = pin!(server.serve_connection(TokioIo::new(socket), routes));
        // Any other error is seen, and told, by the other end. It sees the connection's end when this function's is there, and
        // what is counted is counted by then.
        if let Err(error) = connection.as_mut().await {
            let is_timeout = error.downcast_ref().is_some_and(hyper::Error::is_timeout);
            self.tally.timed_out.add(u64::from(is_timeout));
        }
        Ok(())
    }
}
