//! [`TimeoutStream`].

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{TimeoutReader, TimeoutWriter};

pin_project! {
    /// A stream with a time limit for each wait of a read, and another for each wait of a write.
    ///
    /// A [`TimeoutReader`] and a [`TimeoutWriter`] in one: each direction has a timeout, and a timer,
    /// of its own. A peer that only sends, or only takes, has to do that alone in time.
    ///
    /// # Errors
    ///
    /// Those of the inner stream, and one of the kind [`TimedOut`](io::ErrorKind::TimedOut) when
    /// a read or a write has waited for as long as its timeout.
    ///
    /// # Panics
    ///
    /// As [`TimeoutReader`] and [`TimeoutWriter`].
    ///
    /// # Cancel safety
    ///
    /// As [`TimeoutReader`] and [`TimeoutWriter`].
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
    /// `Unpin` if the inner stream is. [More](crate::ext::io#differences-from-tokio-io-timeout).
    #[derive(Debug)]
    pub struct TimeoutStream<S> {
        #[pin]
        stream: TimeoutReader<TimeoutWriter<S>>,
    }
}

impl<S> TimeoutStream<S> {
    /// Without timeouts for now.
    pub fn new(stream: S) -> Self {
        let stream = TimeoutReader::new(TimeoutWriter::new(stream));
        TimeoutStream { stream }
    }

    /// The timeout of reads; `None` if a wait may take any time.
    pub fn read_timeout(&self) -> Option<Duration> {
        self.stream.timeout()
    }

    /// Sets the timeout of reads, or takes the timeout away. A wait that has begun counts
    /// anew from its next poll.
    pub fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        self.stream.set_timeout(timeout);
    }

    /// [`set_read_timeout`](Self::set_read_timeout), pinned.
    pub fn set_read_timeout_pinned(self: Pin<&mut Self>, timeout: Option<Duration>) {
        self.project().stream.set_timeout_pinned(timeout);
    }

    /// The timeout of writes; `None` if a wait may take any time.
    pub fn write_timeout(&self) -> Option<Duration> {
        self.stream.get_ref().timeout()
    }

    /// Sets the timeout of writes, or takes the timeout away. A wait that has begun counts
    /// anew from its next poll.
    pub fn set_write_timeout(&mut self, timeout: Option<Duration>) {
        self.stream.get_mut().set_timeout(timeout);
    }

    /// [`set_write_timeout`](Self::set_write_timeout), pinned.
    pub fn set_write_timeout_pinned(self: Pin<&mut Self>, timeout: Option<Duration>) {
        let writer = self.project().stream.get_pin_mut();
        writer.set_timeout_pinned(timeout);
    }

    /// The inner stream, by reference.
    pub fn get_ref(&self) -> &S {
        self.stream.get_ref().get_ref()
    }

    /// The inner stream, by mutable reference.
    pub fn get_mut(&mut self) -> &mut S {
        self.stream.get_mut().get_mut()
    }

    /// The inner stream, by pinned mutable reference.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut S> {
        self.project().stream.get_pin_mut().get_pin_mut()
    }

    /// The inner stream itself; the timers are cancelled.
    pub fn into_inner(self) -> S {
        self.stream.into_inner().into_inner()
    }
}

forward_read!(TimeoutStream: stream);
forward_write!(TimeoutStream: stream);
