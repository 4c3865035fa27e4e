//! A server that limits how long a client may take for the head of a request.
//!
//! `axum::serve` has no such limit: a client that connects and sends nothing stays connected forever. hyper-util's
//! server has one, on a timer of your choice. The limit also counts while a kept-alive connection waits for its next
//! request, so it must be longer than the idle limit of the clients or of the load balancer in front.
//!
//! `cargo run --example hyper_server --features hyper`

use std::io;

use axum::{Router, routing::get};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use wheel::{Duration, Instant, ext::hyper::WheelTimer};

async fn serve(listener: TcpListener, app: Router) -> io::Result<()> {
    // HTTP/1 only, because no limit covers the detection of the HTTP version.
    let mut server = Builder::new(TokioExecutor::new()).http1_only();
    let http1 = &mut server.http1();
    // A service would rather use five seconds or more.
    http1
        .timer(WheelTimer)
        .header_read_timeout(Duration::from_millis(300));
    loop {
        let (socket, _) = listener.accept().await?;
        let (server, app) = (server.clone(), TowerToHyperService::new(app.clone()));
        tokio::spawn(async move {
            if let Err(error) = server.serve_connection(TokioIo::new(socket), app).await {
                println!("server: {error}");
            }
        });
    }
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let app = Router::new().route("/", get(async || "hello"));
    tokio::spawn(serve(listener, app));

    for request in [
        "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "GET / HT",
    ] {
        let began = Instant::now();
        let mut client = TcpStream::connect(address).await?;
        client.write_all(request.as_bytes()).await?;
        let bytes = client.read_to_end(&mut Vec::new()).await?;
        println!(
            "client: {bytes} bytes, disconnected after {:?}",
            began.elapsed()
        );
    }
    Ok(())
}
