//! Idle timeouts for readers and writers: a peer that is silent for too long is an error.
//!
//! | type | limits each wait of |
//! | --- | --- |
//! | [`TimeoutReader`] | a read |
//! | [`TimeoutWriter`] | a write, a flush, a shutdown |
//! | [`TimeoutStream`] | both, each by a timeout of its own |
//!
//! Initially there is no timeout. Once there is, the time counts from the poll that finds the inner
//! reader or writer pending to the poll that finds it ready, and starts anew with the next wait. So
//! a transfer may take any time as long as it moves; a limit for the whole is a
//! [`timeout`](crate::timeout()) around it. A wait that takes longer ends with an error of the kind
//! [`TimedOut`](std::io::ErrorKind::TimedOut). The inner one is polled first: what is ready is
//! given out, however late.
//!
//! The timer is made at the first wait. Each later wait moves that timer to a later deadline, which
//! is the cheapest operation of a timer; a read that finds data touches no timer.
//!
//! Names and behaviour are those of the crate tokio-io-timeout.
//!
//! # Examples
//!
//! A client that must not be silent for longer than half a minute:
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
//! A limit for the silence of both directions together is a [`Sleep`](crate::Sleep) that each
//! message puts off; both are among the [patterns](crate::docs::patterns#an-idle-timeout-per-connection).
//!
//! # Differences from tokio-io-timeout
//!
//! * A reader or writer is `Unpin` if the inner one is, and so needs no `pin!`; its timeout can be
//!   set at any time.
//! * Making one needs no runtime. The timer belongs to the runtime of the first wait.
//! * tokio-io-timeout moves its timer to now when a wait has ended, and so wakes the task once more.
//!   Here the timer stays where it is: the task may be woken once, when the deadline of its last
//!   wait has come.
//! * Every `Duration` may be given. There, `Duration::MAX` panics.

#[macro_use]
mod forward;
mod idle;
mod limited;
mod stream;

pub use self::limited::{TimeoutReader, TimeoutWriter};
pub use self::stream::TimeoutStream;
