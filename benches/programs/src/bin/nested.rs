//! Four nested timeouts per operation around an echo from another process, all of them pending: as in Aerospike's
//! client, which had timeouts around operations and around their reads and writes.

use anyhow::Result;
use load::peer::{against_peer, echo};
use load::time::timeout;
use load::{Caller, LIMIT, Load};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn main() -> Result<()> {
    let start = async |port, load: &Load| Ok(load.spawn(|counter| operations(port, counter)));
    against_peer(start, echo)
}

async fn operations(port: u16, mut caller: Caller) {
    let mut stream = TcpStream::connect(("127.0.0.1", port))
        .await
        .expect("a connection");
    stream.set_nodelay(true).expect("an open socket");
    while let Some(number) = caller.next().await {
        let operation = timeout(LIMIT, call(&mut stream, number));
        let answer = timeout(4 * LIMIT, timeout(3 * LIMIT, timeout(2 * LIMIT, operation))).await;
        let Ok(Ok(Ok(Ok(answer)))) = answer else {
            panic!("no answer in time");
        };
        assert_eq!(answer.expect("an open socket"), number);
    }
}

async fn call(stream: &mut TcpStream, number: u64) -> std::io::Result<u64> {
    stream.write_u64(number).await?;
    stream.read_u64().await
}
