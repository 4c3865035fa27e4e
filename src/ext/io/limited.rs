//! [`TimeoutReader`] and [`TimeoutWriter`].

use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

use super::idle::Idle;

/// A reader or a writer, and the limit for its waits.
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
            /// Without a timeout for now.
            pub fn new(inner: T) -> Self {
                let idle = Idle::default();
                $Type { inner, idle }
            }

            /// The timeout; `None` if a wait may take any time.
            pub fn timeout(&self) -> Option<Duration> {
                self.idle.timeout
            }

            /// Sets the timeout, or takes the timeout away. A wait that has begun counts
            /// anew from its next poll.
            pub fn set_timeout(&mut self, timeout: Option<Duration>) {
                self.idle.set(timeout);
            }

            /// [`set_timeout`](Self::set_timeout), pinned.
            pub fn set_timeout_pinned(self: Pin<&mut Self>, timeout: Option<Duration>) {
                self.project().idle.set(timeout);
            }

            /// The inner one, by reference.
            pub fn get_ref(&self) -> &T {
                &self.inner
            }

            /// The inner one, by mutable reference.
            pub fn get_mut(&mut self) -> &mut T {
                &mut self.inner
            }

            /// The inner one, by pinned mutable reference.
            pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut T> {
                self.project().inner
            }

            /// The inner one itself; the timer is cancelled.
            pub fn into_inner(self) -> T {
                self.inner
            }
        }

        forward_seek!($Type: inner);
    };
}

limited! {
    /// A reader with a time limit for each wait for data.
    ///
    /// Writes and seeks have no limit.
    ///
    /// # Errors
    ///
    /// Those of the inner reader, and one of the kind [`TimedOut`](io::ErrorKind::TimedOut) when
    /// data has not come for as long as the timeout. Nothing is lost then: a further read waits
    /// for as long again.
    ///
    /// # Panics
    ///
    /// A read panics outside a Tokio runtime and in a runtime built without `enable_time`, if there
    /// is a timeout and no data, with tokio's message.
    ///
    /// # Cancel safety
    ///
    /// A read is as safe to drop as the inner reader's. The time of a wait goes on when the
    /// read is dropped, also while no read is polled: the next read has what is left.
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
    /// `Unpin` if the inner reader is. [More](crate::ext::io#differences-from-tokio-io-timeout).
    TimeoutReader
}

limited! {
    /// A writer with a time limit for each wait for the peer to take data.
    ///
    /// The limit holds for writes, flushes and shutdowns. Reads and seeks have no limit.
    ///
    /// # Errors
    ///
    /// Those of the inner writer, and one of the kind [`TimedOut`](io::ErrorKind::TimedOut) when
    /// no byte was taken for as long as the timeout.
    ///
    /// # Panics
    ///
    /// A write panics outside a Tokio runtime and in a runtime built without `enable_time`, if there
    /// is a timeout and the inner writer is not ready, with tokio's message.
    ///
    /// # Cancel safety
    ///
    /// A write is as safe to drop as the inner writer's. The time of a wait goes on when the
    /// write is dropped, also while no write is polled: the next write has what is left.
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
    /// let (_peer, writer) = tokio::io::duplex(64); // takes 64 bytes that are not read
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
    /// `Unpin` if the inner writer is. [More](crate::ext::io#differences-from-tokio-io-timeout).
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
