//! Four nested timeouts per operation around an echo from another process, all of them pending: the shape of Aerospike's
//! client, which had one around each operation and one around each of its reads and writes.

use anyhow::Result;
use load::peer::{Peer, serve};
use load::{LIMIT, Load, finish, two_workers};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

fn main() -> Result<()> {
    load::main(run, |_| peer())
}

fn run(seconds: f64, size: usize) -> Result<()> {
    let mut peer = Peer::start(0)?;
    let port = peer.port()?;
    two_workers()?.block_on(async {
        let load = Load::new(size);
        let tasks = load.spawn(|task| operations(task, port, load.clone()));
        finish(load, tasks, seconds, || peer.served()).await
    })
}

async fn operations(task: usize, port: u16, load: Load) {
    let mut stream = TcpStream::connect(("127.0.0.1", port))
        .await
        .expect("a connection");
    stream.set_nodelay(true).expect("an open socket");
    let mut number = task as u64;
    loop {
        let operation = timeout(LIMIT, echo(&mut stream, number));
        let answer = timeout(4 * LIMIT, timeout(3 * LIMIT, timeout(2 * LIMIT, operation))).await;
        let answer = answer
            .expect("an answer")
            .expect("in")
            .expect("time")
            .expect("for all");
        assert_eq!(answer.expect("an open socket"), number);
        number += 1;
        if !load.done(task) {
            break;
        }
    }
}

async fn echo(stream: &mut TcpStream, number: u64) -> std::io::Result<u64> {
    stream.write_u64(number).await?;
    stream.read_u64().await
}

/// Sends back the whole numbers that it reads.
fn peer() -> Result<()> {
    serve(|requests, answers| {
        let length = requests.len() / 8 * 8;
        answers.extend_from_slice(&requests[..length]);
        (length, length as u64 / 8)
    })
}
