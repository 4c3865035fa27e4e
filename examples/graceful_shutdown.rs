//! A service that shuts down gracefully: it accepts no more connections, lets each connection finish its
//! present request, and waits for them for a limited time.
//!
//! `cargo run --example graceful_shutdown`

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wheel::{Duration, sleep, timeout};

/// Echoes until the client disconnects or the service shuts down.
async fn serve(mut socket: TcpStream, stop: CancellationToken) -> std::io::Result<()> {
    let mut buffer = [0; 1024];
    loop {
        let bytes = tokio::select! {
            read = socket.read(&mut buffer) => read?,
            () = stop.cancelled() => 0,
        };
        match bytes {
            0 => return socket.shutdown().await,
            _ => socket.write_all(&buffer[..bytes]).await?,
        }
    }
}

/// Waits for the signal to shut down. This program ends by itself after half a second.
async fn signal() -> std::io::Result<()> {
    // Kubernetes and systemd send SIGTERM. On Unix, wait for that signal as well, with
    // `tokio::signal::unix::signal(SignalKind::terminate())`.
    tokio::select! {
        signal = tokio::signal::ctrl_c() => signal,
        () = sleep(Duration::from_millis(500)) => Ok(()),
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let (stop, connections) = (CancellationToken::new(), TaskTracker::new());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let client = tokio::spawn(TcpStream::connect(listener.local_addr()?));
    let mut signal = std::pin::pin!(signal());
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (socket, client) = accepted?;
                println!("{client} connected");
                connections.spawn(serve(socket, stop.clone()));
            }
            signal = &mut signal => break signal?,
        }
    }
    println!("shutting down: {} connection is open", connections.len());
    drop(listener);
    stop.cancel();
    connections.close();
    match timeout(Duration::from_secs(10), connections.wait()).await {
        Ok(()) => println!("all connections have ended"),
        Err(_) => println!("{} connections did not end within 10 s", connections.len()),
    }
    // The timers need no shutdown: their driver ends with the runtime.
    client.await?.map(drop)
}
