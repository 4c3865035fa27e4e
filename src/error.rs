//! Errors of this crate's timers.

use std::{error, fmt, io};

/// The error of a [`Timeout`](crate::Timeout) whose deadline passed before its future completed.
///
/// Streams with a timeout and tower's services return it, too.
///
/// # Differences from tokio
///
/// This is a type of its own, because tokio's cannot be constructed outside of tokio. Its message and its
/// conversions are the same. It can also be copied and hashed. tokio-stream and tower each have an error type of their own, in place of
/// which this crate uses this one.
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

/// tokio's own error, for code that names the type. No function of this crate or of tokio returns it.
#[doc(no_inline)]
pub use tokio::time::error::Error;
