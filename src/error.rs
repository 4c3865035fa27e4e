//! Errors of this crate's timers.

use std::{error, fmt, io};

/// The deadline of a [`Timeout`](crate::Timeout) passed first, or an item of a stream under
/// a time limit is late.
///
/// # Differences from tokio
///
/// A type of its own, since tokio's cannot be made outside of tokio. Message and
/// conversions are the same. This crate has the same error for late futures, streams and
/// tower's services; tokio-stream and tower have an error type each.
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
#[derive(Debug, PartialEq, Eq)]
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

/// tokio's own, for code that names it: no function of this crate or of tokio returns this
/// error.
#[doc(no_inline)]
pub use tokio::time::error::Error;
