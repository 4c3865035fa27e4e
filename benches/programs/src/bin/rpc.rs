//! Calls of a client that shares one connection to a server in another process among its callers. Each call has a timeout
//! of the client's own code.

use anyhow::{Context as _, Result};
use load::peer::{against_peer, echo};
use load::time::timeout;
use load::{Caller, LIMIT, Load};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// Answers arrive in the order of the requests.
type Reply = oneshot::Sender<u64>;

#[derive(Clone)]
struct Client(UnboundedSender<(u64, Reply)>);

impl Client {
    async fn connect(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        let (read, write) = stream.into_split();
        let (client, requests) = unbounded_channel();
        let (sent, mut waiting) = unbounded_channel::<Reply>();
        tokio::spawn(send(requests, write, sent));
        tokio::spawn(async move {
            let mut read = BufReader::new(read);
            while let (Some(reply), Ok(answer)) = (waiting.recv().await, read.read_u64().await) {
                // A caller that has given up needs no answer.
                let _ = reply.send(answer);
            }
        });
        Ok(Self(client))
    }

    async fn call(&self, number: u64) -> Result<u64> {
        let (reply, answer) = oneshot::channel();
        self.0.send((number, reply)).ok().context("a connection")?;
        Ok(timeout(LIMIT, answer).await??)
    }
}

/// Sends all requests that wait in one packet.
async fn send(
    mut requests: UnboundedReceiver<(u64, Reply)>,
    mut write: OwnedWriteHalf,
    sent: UnboundedSender<Reply>,
) -> Result<()> {
    let mut batch = Vec::new();
    while requests.recv_many(&mut batch, 64).await > 0 {
        let mut bytes = Vec::new();
        for (number, reply) in batch.drain(..) {
            bytes.extend(number.to_be_bytes());
            sent.send(reply)?;
        }
        write.write_all(&bytes).await?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let start = async |port, load: &Load| {
        let client = Client::connect(port).await?;
        Ok(load.spawn(|caller| calls(caller, client.clone())))
    };
    against_peer(start, echo)
}

async fn calls(mut caller: Caller, client: Client) {
    while let Some(number) = caller.next().await {
        let answer = client.call(number).await;
        assert_eq!(answer.expect("an answer in time"), number);
    }
}
