//! `wheel::ext::io` behaves as tokio-io-timeout does, and its streams work with Tokio's utilities.

#[cfg(feature = "test-util")]
mod paused;

use support::prelude::*;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Tokio can split and copy such a stream. Making one needs no runtime.
#[test]
fn a_stream_is_made_anywhere_and_gives_the_inner_one_back() {
    let (stream, mut peer) = tokio::io::duplex(64);
    let mut stream = wheel::ext::io::TimeoutStream::new(stream);
    stream.set_read_timeout(Some(Duration::MAX));
    assert!(tokio::io::AsyncWrite::is_write_vectored(&stream));
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
