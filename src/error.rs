//! Errors of this crate's timers.

use std::{error, fmt, io};

/// The error of a [`Timeout`](crate::Timeout) whose deadline passed before its future completed.
///
/// This crate's timeouts of streams and tower services return it, too.
///
/// # Differences from tokio
///
/// This is a type of its own, because tokio's cannot be constructed outside of tokio. Its message
/// and its conversions are the same. It can be copied and hashed, too, and takes the place of the
/// error types of tokio-stream and tower.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use std::{future, io};
/// use wheel::{timeout, Duration};
///
/// let never = timeout(Duration::from_millis(1), future::pending::<()>());
/// let elapsed = never.await.unwrap_err();
/// assert_eq!(elapsed.to_string(), "deadline has elapsed");
/// assert_eq!(io::Error::from(elapsed).kind(), io::ErrorKind::TimedOut);
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Elapsed(());

impl Elapsed {
    pub(crate) fn new() -> Self {
        Elapsed(())
    }
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadline has elapsed")
    }
}

impl error::Error for Elapsed {}

impl From<Elapsed> for io::Error {
    fn from(_: Elapsed) -> io::Error {
        io::ErrorKind::TimedOut.into()
    }
}

/// tokio's other error, for code that names the type. No timer of this crate or of tokio returns it.
#[doc(no_inline)]
pub use tokio::time::error::Error;
