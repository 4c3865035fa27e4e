//! [`TimeoutStream`].

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::idle::Idle;

pin_project! {
    /// A reader, a writer or a stream, with one timeout for each wait of a read, and another for each wait
    /// of a write, a flush or a shutdown.
    ///
    /// Each direction has its own timeout and its own timer, so traffic in one direction does not
    /// extend a wait in the other.
    ///
    /// # Errors
    ///
    /// A read or a write returns the inner stream's errors, and an error of the kind
    /// [`TimedOut`](io::ErrorKind::TimedOut) if it has waited for as long as its timeout.
    ///
    /// # Panics
    ///
    /// A poll that begins to wait panics under the same conditions as [`sleep`](crate::sleep()), if its
    /// direction has a timeout.
    ///
    /// # Cancel safety
    ///
    /// A read or a write is cancel safe if the inner stream's is. Dropping it does not stop its
    /// timeout: the next read or write has only the remaining time.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::ErrorKind;
    /// use tokio::io::AsyncReadExt as _;
    /// use tokio::net::{TcpListener, TcpStream};
    /// use wheel::{Duration, ext::io::TimeoutStream};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    ///
    /// let mut client = TimeoutStream::new(client);
    /// client.set_read_timeout(Some(Duration::from_millis(5)));
    /// let silent = client.read_u8().await.unwrap_err();
    /// assert_eq!(silent.kind(), ErrorKind::TimedOut);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Differences from tokio-io-timeout
    ///
    /// Listed on the [page of the module](crate::ext::io#differences-from-tokio-io-timeout).
    #[derive(Debug)]
    pub struct TimeoutStream<S> {
        #[pin]
        inner: S,
        reads: Idle,
        writes: Idle,
    }
}

impl<S> TimeoutStream<S> {
    /// Wraps `inner`, without timeouts until they are set.
    pub fn new(inner: S) -> Self {
        TimeoutStream {
            inner,
            reads: Idle::default(),
            writes: Idle::default(),
        }
    }

    /// Returns the timeout of reads, or `None` if they may wait for any time.
    pub fn read_timeout(&self) -> Option<Duration> {
        self.reads.timeout
    }

    /// Sets the timeout of reads, or removes it.
    ///
    /// If a wait is in progress, its time starts again at its next poll.
    pub fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        self.reads.set(timeout);
    }

    /// Sets the timeout of a pinned stream's reads, as [`set_read_timeout`](Self::set_read_timeout) does.
    pub fn set_read_timeout_pinned(self: Pin<&mut Self>, timeout: Option<Duration>) {
        self.project().reads.set(timeout);
    }

    /// Returns the timeout of writes, or `None` if they may wait for any time.
    pub fn write_timeout(&self) -> Option<Duration> {
        self.writes.timeout
    }

    /// Sets the timeout of writes, or removes it.
    ///
    /// If a wait is in progress, its time starts again at its next poll.
    pub fn set_write_timeout(&mut self, timeout: Option<Duration>) {
        self.writes.set(timeout);
    }

    /// Sets the timeout of a pinned stream's writes, as [`set_write_timeout`](Self::set_write_timeout)
    /// does.
    pub fn set_write_timeout_pinned(self: Pin<&mut Self>, timeout: Option<Duration>) {
        self.project().writes.set(timeout);
    }

    /// Returns a reference to the inner value.
    pub fn get_ref(&self) -> &S {
        &self.inner
    }

    /// Returns a mutable reference to the inner value.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// Returns a pinned mutable reference to the inner value.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut S> {
        self.project().inner
    }

    /// Consumes the `TimeoutStream` and returns the inner value.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S: AsyncRead> AsyncRead for TimeoutStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let me = self.project();
        me.reads.limit(me.inner.poll_read(cx, buf), cx)
    }
}

impl<S: AsyncWrite> AsyncWrite for TimeoutStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let me = self.project();
        me.writes.limit(me.inner.poll_write(cx, buf), cx)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let me = self.project();
        me.writes.limit(me.inner.poll_flush(cx), cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let me = self.project();
        me.writes.limit(me.inner.poll_shutdown(cx), cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let me = self.project();
        me.writes.limit(me.inner.poll_write_vectored(cx, bufs), cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
