//! [`TimeoutStream`].

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{TimeoutReader, TimeoutWriter};

pin_project! {
    /// A stream with one timeout for each wait of a read, and another for each wait of a write.
    ///
    /// This combines a [`TimeoutReader`] and a [`TimeoutWriter`]. Each direction has its own
    /// timeout and its own timer, so traffic in one direction does not extend a wait in the other.
    ///
    /// # Errors
    ///
    /// A read or a write returns the inner stream's errors, and an error of the kind
    /// [`TimedOut`](io::ErrorKind::TimedOut) if it has waited for as long as its timeout.
    ///
    /// # Panics
    ///
    /// Reads panic under the same conditions as those of a [`TimeoutReader`], and writes under the same
    /// conditions as those of a [`TimeoutWriter`].
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
    /// It is `Unpin` if the inner stream is. [All
    /// differences](crate::ext::io#differences-from-tokio-io-timeout).
    #[derive(Debug)]
    pub struct TimeoutStream<S> {
        #[pin]
        stream: TimeoutReader<TimeoutWriter<S>>,
    }
}

impl<S> TimeoutStream<S> {
    /// Wraps `stream`, without timeouts until they are set.
    pub fn new(stream: S) -> Self {
        let stream = TimeoutReader::new(TimeoutWriter::new(stream));
        TimeoutStream { stream }
    }

    /// Returns the timeout of reads, or `None` if a wait may take any time.
    pub fn read_timeout(&self) -> Option<Duration> {
        self.stream.timeout()
    }

    /// Sets the timeout of reads, or removes it.
    ///
    /// If a read is waiting, its time starts again at its next poll.
    pub fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        self.stream.set_timeout(timeout);
    }

    /// Sets the timeout of reads of a pinned stream, as [`set_read_timeout`](Self::set_read_timeout)
    /// does.
    pub fn set_read_timeout_pinned(self: Pin<&mut Self>, timeout: Option<Duration>) {
        self.project().stream.set_timeout_pinned(timeout);
    }

    /// Returns the timeout of writes, or `None` if a wait may take any time.
    pub fn write_timeout(&self) -> Option<Duration> {
        self.stream.get_ref().timeout()
    }

    /// Sets the timeout of writes, or removes it.
    ///
    /// If a write is waiting, its time starts again at its next poll.
    pub fn set_write_timeout(&mut self, timeout: Option<Duration>) {
        self.stream.get_mut().set_timeout(timeout);
    }

    /// Sets the timeout of writes of a pinned stream, as
    /// [`set_write_timeout`](Self::set_write_timeout) does.
    pub fn set_write_timeout_pinned(self: Pin<&mut Self>, timeout: Option<Duration>) {
        let writer = self.project().stream.get_pin_mut();
        writer.set_timeout_pinned(timeout);
    }

    /// Returns a reference to the inner stream.
    pub fn get_ref(&self) -> &S {
        self.stream.get_ref().get_ref()
    }

    /// Returns a mutable reference to the inner stream.
    pub fn get_mut(&mut self) -> &mut S {
        self.stream.get_mut().get_mut()
    }

    /// Returns a pinned mutable reference to the inner stream.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut S> {
        self.project().stream.get_pin_mut().get_pin_mut()
    }

    /// Consumes the `TimeoutStream` and returns the inner stream, cancelling both timers.
    pub fn into_inner(self) -> S {
        self.stream.into_inner().into_inner()
    }
}

forward_read!(TimeoutStream: stream);
forward_write!(TimeoutStream: stream);
