//! [`TimeoutReader`] and [`TimeoutWriter`].

use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

use super::idle::Idle;

/// Defines a type that wraps a reader or a writer and has a timeout for its waits.
macro_rules! limited {
    ($(#[$about:meta])* $Type:ident) => {
        pin_project! {
            $(#[$about])*
            #[derive(Debug)]
            pub struct $Type<T> {
                #[pin]
                inner: T,
                idle: Idle,
            }
        }

        impl<T> $Type<T> {
            /// Wraps `inner`, without a timeout until one is set.
            pub fn new(inner: T) -> Self {
                let idle = Idle::default();
                $Type { inner, idle }
            }

            /// Returns the timeout, or `None` if a wait may take any time.
            pub fn timeout(&self) -> Option<Duration> {
                self.idle.timeout
            }

            /// Sets the timeout, or removes it.
            ///
            /// If a wait is in progress, its time starts again at its next poll.
            pub fn set_timeout(&mut self, timeout: Option<Duration>) {
                self.idle.set(timeout);
            }

            /// Sets the timeout of a pinned value, as [`set_timeout`](Self::set_timeout) does.
            pub fn set_timeout_pinned(self: Pin<&mut Self>, timeout: Option<Duration>) {
                self.project().idle.set(timeout);
            }

            /// Returns a reference to the inner value.
            pub fn get_ref(&self) -> &T {
                &self.inner
            }

            /// Returns a mutable reference to the inner value.
            pub fn get_mut(&mut self) -> &mut T {
                &mut self.inner
            }

            /// Returns a pinned mutable reference to the inner value.
            pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut T> {
                self.project().inner
            }

            /// Consumes the wrapper and returns the inner value, cancelling the timer.
            pub fn into_inner(self) -> T {
                self.inner
            }
        }

        forward_seek!($Type: inner);
    };
}

limited! {
    /// A reader with a timeout for each wait for data.
    ///
    /// Writes and seeks have no timeout.
    ///
    /// # Errors
    ///
    /// A read returns the inner reader's errors, and an error of the kind
    /// [`TimedOut`](io::ErrorKind::TimedOut) if no data has arrived within the timeout. No data is lost
    /// then. The next read waits for a full timeout again.
    ///
    /// # Panics
    ///
    /// If there is a timeout and no data, a read panics outside a Tokio runtime and in a runtime built
    /// without `enable_time`. The panic has Tokio's message.
    ///
    /// # Cancel safety
    ///
    /// A read is cancel safe if the inner reader's read is. Dropping a read does not stop its
    /// timeout: the next read has only the remaining time.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::ErrorKind;
    /// use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    /// use wheel::{Duration, ext::io::TimeoutReader};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let (mut peer, reader) = tokio::io::duplex(64);
    /// let mut reader = TimeoutReader::new(reader);
    /// reader.set_timeout(Some(Duration::from_millis(5)));
    ///
    /// peer.write_all(b"hello").await?;
    /// let mut buffer = [0; 5];
    /// reader.read_exact(&mut buffer).await?;
    ///
    /// let silent = reader.read(&mut buffer).await.unwrap_err();
    /// assert_eq!(silent.kind(), ErrorKind::TimedOut);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Differences from tokio-io-timeout
    ///
    /// It is `Unpin` if the inner reader is. [All
    /// differences](crate::ext::io#differences-from-tokio-io-timeout).
    TimeoutReader
}

limited! {
    /// A writer with a timeout for each wait until the peer accepts data.
    ///
    /// The timeout applies to writes, flushes and shutdowns. Reads and seeks have no timeout.
    ///
    /// # Errors
    ///
    /// A write returns the inner writer's errors, and an error of the kind
    /// [`TimedOut`](io::ErrorKind::TimedOut) if the inner writer has not been ready within the timeout.
    ///
    /// # Panics
    ///
    /// If there is a timeout and the inner writer is not ready, a write panics outside a Tokio runtime
    /// and in a runtime built without `enable_time`. The panic has Tokio's message.
    ///
    /// # Cancel safety
    ///
    /// A write is cancel safe if the inner writer's write is. Dropping a write does not stop its
    /// timeout: the next write has only the remaining time.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::ErrorKind;
    /// use tokio::io::AsyncWriteExt as _;
    /// use wheel::{Duration, ext::io::TimeoutWriter};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let (_peer, writer) = tokio::io::duplex(64); // buffers 64 bytes until they are read
    /// let mut writer = TimeoutWriter::new(writer);
    /// writer.set_timeout(Some(Duration::from_millis(5)));
    ///
    /// writer.write_all(&[0; 64]).await?;
    /// let stuck = writer.write_all(&[0; 64]).await.unwrap_err();
    /// assert_eq!(stuck.kind(), ErrorKind::TimedOut);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Differences from tokio-io-timeout
    ///
    /// It is `Unpin` if the inner writer is. [All
    /// differences](crate::ext::io#differences-from-tokio-io-timeout).
    TimeoutWriter
}

impl<R: AsyncRead> AsyncRead for TimeoutReader<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let me = self.project();
        me.idle.limit(me.inner.poll_read(cx, buf), cx)
    }
}

forward_write!(TimeoutReader: inner);

impl<W: AsyncWrite> AsyncWrite for TimeoutWriter<W> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let me = self.project();
        me.idle.limit(me.inner.poll_write(cx, buf), cx)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let me = self.project();
        me.idle.limit(me.inner.poll_flush(cx), cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let me = self.project();
        me.idle.limit(me.inner.poll_shutdown(cx), cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let me = self.project();
        me.idle.limit(me.inner.poll_write_vectored(cx, bufs), cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

forward_read!(TimeoutWriter: inner);
