//! `wheel::ext::io` does as tokio-io-timeout: the same programs on both, in virtual time and on sockets.

#[cfg(feature = "test-util")]
mod paused;

use support::prelude::*;

use std::io::{ErrorKind, IoSlice};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What both crates' streams have.
trait Limited<S>: AsyncRead + AsyncWrite + Send + 'static {
    fn over(stream: S) -> Pin<Box<Self>>;
    fn limit_reads(self: Pin<&mut Self>, timeout: Option<Duration>);
    fn limit_writes(self: Pin<&mut Self>, timeout: Option<Duration>);
}

macro_rules! limited {
    ($module:path) => {
        const _: () = {
            use $module as io;

            impl<S: AsyncRead + AsyncWrite + Send + 'static> Limited<S> for io::TimeoutStream<S> {
                fn over(stream: S) -> Pin<Box<Self>> {
                    let mut stream = io::TimeoutStream::new(stream);
                    assert_eq!(
                        (stream.read_timeout(), stream.write_timeout()),
                        (None, None)
                    );
                    stream.set_read_timeout(Some(ms(7)));
                    stream.set_write_timeout(Some(ms(8)));
                    assert_eq!(stream.read_timeout(), Some(ms(7)));
                    assert_eq!(stream.write_timeout(), Some(ms(8)));
                    stream.set_read_timeout(None);
                    stream.set_write_timeout(None);
                    Box::pin(stream)
                }

                fn limit_reads(self: Pin<&mut Self>, timeout: Option<Duration>) {
                    self.set_read_timeout_pinned(timeout);
                }

                fn limit_writes(self: Pin<&mut Self>, timeout: Option<Duration>) {
                    self.set_write_timeout_pinned(timeout);
                }
            }
        };
    };
}

limited!(wheel::ext::io);
limited!(tokio_io_timeout);

type Ours<S> = wheel::ext::io::TimeoutStream<S>;
type Theirs<S> = tokio_io_timeout::TimeoutStream<S>;

/// A pair of connected sockets.
async fn sockets() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let connected = TcpStream::connect(listener.local_addr().unwrap());
    let (connected, accepted) = tokio::join!(connected, listener.accept());
    (connected.unwrap(), accepted.unwrap().0)
}

/// The peer sends for longer than the timeout, then is silent; takes nothing, then everything.
async fn on_sockets<L: Limited<TcpStream>>() -> Vec<Result<usize, ErrorKind>> {
    let (stream, mut peer) = sockets().await;
    let mut stream = L::over(stream);
    let limit = ms(100);
    stream.as_mut().limit_reads(Some(limit));
    stream.as_mut().limit_writes(Some(limit));
    let mut seen = Vec::new();

    let talks = tokio::spawn(async move {
        for _ in 0..30 {
            peer.write_all(b"word").await.unwrap();
            tokio::time::sleep(ms(5)).await;
        }
        peer
    });
    for _ in 0..30 {
        let word = stream.read_exact(&mut [0; 4]).await;
        seen.push(word.map_err(|error| error.kind()));
    }
    let mut peer = talks.await.unwrap();

    let began = Instant::now();
    let silent = stream.read(&mut [0; 4]).await;
    assert!(began.elapsed() >= limit, "a read ended early");
    seen.push(silent.map_err(|error| error.kind()));

    // Until the sockets' memory is full.
    let much = vec![0; 1 << 16];
    let mut wrote = 0;
    let (full, began) = loop {
        let began = Instant::now();
        match stream.write_vectored(&[IoSlice::new(&much)]).await {
            Ok(bytes) => wrote += bytes,
            Err(error) => break (error.kind(), began),
        }
    };
    assert!(began.elapsed() >= limit, "a write ended early");
    seen.push(Err(full));

    let takes = tokio::spawn(async move {
        let mut taken = vec![0; wrote];
        peer.read_exact(&mut taken).await
    });
    assert_eq!(takes.await.unwrap().unwrap(), wrote);
    seen.push(stream.write(b"more").await.map_err(|error| error.kind()));
    let ended = stream.shutdown().await.map(|()| 0);
    seen.push(ended.map_err(|error| error.kind()));
    seen
}

#[test]
fn a_peer_that_stops_ends_with_timed_out_and_a_slow_one_does_not() {
    let mut expected = vec![Ok(4); 30];
    expected.extend([Err(ErrorKind::TimedOut), Err(ErrorKind::TimedOut)]);
    expected.extend([Ok(4), Ok(0)]);
    let run = |test: fn() -> _| within(secs(60), test);
    let ours = run(|| multi_thread(2).block_on(on_sockets::<Ours<_>>()));
    assert_eq!(ours, expected);
    let theirs = run(|| multi_thread(2).block_on(on_sockets::<Theirs<_>>()));
    assert_eq!(theirs, expected);
}

/// tokio's halves, its copying, and a runtime that is not needed before there is something to wait for.
#[test]
fn a_stream_is_made_anywhere_and_gives_the_inner_one_back() {
    let (stream, mut peer) = tokio::io::duplex(64);
    let mut stream = Ours::new(stream);
    stream.set_read_timeout(Some(Duration::MAX));
    let _: &tokio::io::DuplexStream = stream.get_ref();
    let _: &mut tokio::io::DuplexStream = stream.get_mut();
    let _: Pin<&mut tokio::io::DuplexStream> = Pin::new(&mut stream).get_pin_mut();
    multi_thread(1).block_on(async {
        peer.write_all(b"hello").await.unwrap();
        let (mut read, mut write) = tokio::io::split(stream);
        let mut five = (&mut read).take(5);
        assert_eq!(tokio::io::copy(&mut five, &mut write).await.unwrap(), 5);
        let stream = read.unsplit(write);
        drop(stream.into_inner());
        let mut echo = String::new();
        peer.read_to_string(&mut echo).await.unwrap();
        assert_eq!(echo, "hello");
    });
}
