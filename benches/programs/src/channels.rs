//! Tasks that answer requests over channels.

use anyhow::{Context as _, Result};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::Load;

/// A task that answers each number with the next one, until all senders are dropped.
#[derive(Clone)]
pub struct Server(mpsc::UnboundedSender<(u64, oneshot::Sender<u64>)>);

impl Server {
    /// Sends a request. The future waits for the answer.
    pub fn call(&self, number: u64) -> impl Future<Output = Result<u64>> + Send + 'static {
        let (reply, answer) = oneshot::channel();
        let sent = self.0.send((number, reply));
        async {
            sent.ok().context("a server that runs")?;
            Ok(answer.await?)
        }
    }
}

/// Starts a server per counter of `served`.
pub fn servers(served: &Load) -> (Vec<Server>, Vec<JoinHandle<()>>) {
    let mut servers = Vec::new();
    let tasks = served.spawn(|counter| {
        let (sender, mut requests) = mpsc::unbounded_channel::<(u64, oneshot::Sender<u64>)>();
        servers.push(Server(sender));
        async move {
            while let Some((number, reply)) = requests.recv().await {
                counter.done();
                // If two requests were sent, nobody waits for the slower one.
                let _ = reply.send(number + 1);
            }
        }
    });
    (servers, tasks)
}
