//! Idle timeouts for readers and writers, which fail if the peer is silent for too long.
//!
//! [`TimeoutStream`] wraps a reader, a writer, or a stream that is both. It has one timeout for reads and
//! another for writes, flushes and shutdowns; neither is set at first. A timeout applies to each wait,
//! which lasts from the poll that finds the inner reader or writer pending to the poll that finds it
//! ready. A wait that takes longer ends with an error of the kind
//! [`TimedOut`](std::io::ErrorKind::TimedOut). The next wait has the full timeout again, so a transfer
//! may take any time as long as it makes progress. To limit the whole transfer, put a
//! [`timeout`](crate::timeout()) around it. The inner reader or writer is polled before the timer, so
//! if it is ready, its result is returned even after the deadline.
//!
//! The timer is created by the first wait. Each further wait resets it to a later deadline, which costs
//! less than arming another timer. A read that finds data does not use the timer.
//!
//! Names and behaviour match the `TimeoutStream` of the crate tokio-io-timeout.
//!
//! # Examples
//!
//! A server whose clients must not be silent for longer than half a minute:
//!
//! ```no_run
//! use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
//! use tokio::net::TcpListener;
//! use wheel::{Duration, ext::io::TimeoutStream};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let listener = TcpListener::bind("127.0.0.1:8080").await?;
//! loop {
//!     let (socket, client) = listener.accept().await?;
//!     let mut socket = TimeoutStream::new(socket);
//!     socket.set_read_timeout(Some(Duration::from_secs(30)));
//!     socket.set_write_timeout(Some(Duration::from_secs(10)));
//!     tokio::spawn(async move {
//!         let mut buffer = [0; 4096];
//!         loop {
//!             match socket.read(&mut buffer).await {
//!                 Ok(0) => return Ok(()),
//!                 Ok(bytes) => socket.write_all(&buffer[..bytes]).await?,
//!                 Err(error) => {
//!                     eprintln!("{client}: {error}"); // "timed out"
//!                     return Err(error);
//!                 }
//!             }
//!         }
//!     });
//! }
//! # }
//! ```
//!
//! To limit the time in which neither direction makes progress, use one [`Sleep`](crate::Sleep) that
//! each message resets. The [patterns](crate::docs::patterns#an-idle-timeout-per-connection) show both
//! ways.
//!
//! # Differences from tokio-io-timeout
//!
//! * There is no `TimeoutReader` and no `TimeoutWriter`. A `TimeoutStream` around a reader has a timeout
//!   for reads, and one around a writer has a timeout for writes. It does not seek.
//! * It is `Unpin` if the inner stream is, so it needs no `pin!`, and its timeouts can be set at any time.
//! * It can be created outside a runtime. A timer belongs to the runtime of its direction's first wait.
//! * When a wait ends, tokio-io-timeout resets its timer to the current time, which wakes the task once
//!   more. This crate leaves the timer as it is, so the task may be woken once, at the deadline of its
//!   last wait.
//! * Every `Duration` is accepted. tokio-io-timeout panics with `Duration::MAX`.

mod idle;
mod stream;

pub use self::stream::TimeoutStream;
