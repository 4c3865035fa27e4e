//! Tasks that answer requests over channels.

use anyhow::{Context as _, Result};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::Counter;

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

/// Starts a server for each counter.
pub fn servers(served: impl IntoIterator<Item = Counter>) -> (Vec<Server>, Vec<JoinHandle<()>>) {
    let start = |counter: Counter| {
        let (sender, mut requests) = mpsc::unbounded_channel::<(u64, oneshot::Sender<u64>)>();
        let task = tokio::spawn(async move {
            while let Some((number, reply)) = requests.recv().await {
                counter.done();
                // If two requests were sent, nobody waits for the slower one.
                let _ = reply.send(number + 1);
            }
        });
        (Server(sender), task)
    };
    served.into_iter().map(start).unzip()
}
