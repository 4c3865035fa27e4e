//! Two idle limits for connections: one for each direction by itself, and one that ends a
//! connection only when both directions are silent, as a proxy wants it.
//!
//! `cargo run --example idle_limit`

use std::io::{self, ErrorKind};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex};
use wheel::ext::io::TimeoutStream;
use wheel::{Builder, Duration, Handle, Instant};

/// A service would rather use a minute.
const IDLE: Duration = Duration::from_millis(50);

/// Echoes. The client may be silent for [`IDLE`], and may take that long to accept each part of an
/// answer.
async fn echo(stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    let mut stream = TimeoutStream::new(stream);
    stream.set_read_timeout(Some(IDLE));
    stream.set_write_timeout(Some(IDLE));
    let mut buffer = [0; 1024];
    loop {
        match stream.read(&mut buffer).await? {
            0 => return Ok(()),
            bytes => stream.write_all(&buffer[..bytes]).await?,
        }
    }
}

/// Passes on what either side sends, until one side has ended, both have been silent for [`IDLE`],
/// or one takes longer than that to accept what the other has sent. (`silence` is not polled during
/// a write, so the writes need a timeout of their own.)
async fn relay<S>(mut client: S, mut backend: S, timers: &Handle) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (mut up, mut down) = ([0; 1024], [0; 1024]);
    // Each message resets this one timer to a later deadline, which costs less than arming another.
    let mut silence = timers.sleep(IDLE);
    loop {
        tokio::select! {
            read = client.read(&mut up) => match read? {
                0 => return Ok(()),
                bytes => timers.timeout(IDLE, backend.write_all(&up[..bytes])).await??,
            },
            read = backend.read(&mut down) => match read? {
                0 => return Ok(()),
                bytes => timers.timeout(IDLE, client.write_all(&down[..bytes])).await??,
            },
            () = &mut silence => return Err(ErrorKind::TimedOut.into()),
        }
        silence.reset_unpin(Instant::now() + IDLE);
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut client, server) = duplex(64);
    let echoing = tokio::spawn(echo(server));
    client.write_all(b"hello").await?;
    println!("echo: {}", echoing.await?.unwrap_err());

    // Idle timers need not be exact: those of a driver with a `tick` share wake-ups.
    let coarse = Builder::new().tick(Duration::from_millis(10)).build()?;
    let ((mut client, near), (far, _backend)) = (duplex(64), duplex(64));
    let began = Instant::now();
    let relaying = tokio::spawn(async move { relay(near, far, &coarse).await });
    for _ in 0..4 {
        wheel::sleep(IDLE / 2).await;
        client.write_all(b"hello").await?;
    }
    let ended = relaying.await?.unwrap_err();
    println!("relay: {ended}, after {:?}", began.elapsed());
    Ok(())
}
