//! HttpArena's `GET /delay/{ms}`: a hyper server on a current-thread runtime that answers after that many milliseconds.
//! Every timer fires. Only the server is measured; the load comes from another process.

use std::convert::Infallible;
use std::time::Duration;

use anyhow::{Result, ensure};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use load::peer::{Peer, at_end_of_input};
use load::time::sleep;
use load::{Caller, Counter, Load, join, on_one_thread};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_blocking;

const CONNECTIONS: usize = 500;
const REQUEST: &[u8] = b"GET /delay/5 HTTP/1.1\r\nHost: localhost\r\n\r\n";

fn main() -> Result<()> {
    load::main(run, peer)
}

fn run(seconds: f64) -> Result<()> {
    on_one_thread(async {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let peer = Peer::start(listener.local_addr()?.port())?;
        let (load, mut tasks) = (Load::new(CONNECTIONS), Vec::new());
        for counter in load.counters() {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tasks.push(tokio::spawn(serve(stream, counter)));
        }
        load.measure(seconds).await?;
        // The connections end when the peer closes them.
        let answered = spawn_blocking(|| peer.served()).await??;
        join(tasks).await?;
        let sent = load.total();
        ensure!(answered == sent, "{answered} of {sent} answers arrived");
        Ok(())
    })
}

async fn serve(stream: TcpStream, counter: Counter) {
    let answer = service_fn(async |request: Request<Incoming>| {
        let began = counter.begin();
        let millis = request.uri().path().strip_prefix("/delay/");
        let millis = millis.and_then(|millis| millis.parse().ok());
        sleep(Duration::from_millis(millis.expect("a number"))).await;
        counter.end(began);
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"ok"))))
    });
    let served = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), answer)
        .await;
    served.expect("whole requests");
}

/// The load: every connection sends its next request as soon as it is answered.
fn peer(port: u16) -> Result<()> {
    let load = Load::new(CONNECTIONS);
    let stop = load.clone();
    at_end_of_input(move || stop.stop());
    on_one_thread(async {
        let tasks = load.spawn(|caller| async move {
            ask(port, caller).await.expect("an answer");
        });
        for task in tasks {
            task.await?;
        }
        println!("{}", load.total());
        Ok(())
    })
}

async fn ask(port: u16, mut caller: Caller) -> Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.set_nodelay(true)?;
    let mut answer = Vec::new();
    while caller.next().await.is_some() {
        stream.write_all(REQUEST).await?;
        answer.clear();
        while !answer.ends_with(b"\r\n\r\nok") {
            let count = stream.read_buf(&mut answer).await?;
            ensure!(count > 0, "the server closed the connection");
        }
        ensure!(
            answer.starts_with(b"HTTP/1.1 200"),
            "{}",
            String::from_utf8_lossy(&answer)
        );
    }
    Ok(())
}
