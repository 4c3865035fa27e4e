//! The error of streams' time-outs.

use std::{error, fmt, io};

/// An item of a [`Timeout`](super::Timeout) or [`TimeoutRepeating`](super::TimeoutRepeating) is late.
///
/// ```
/// use futures::StreamExt as _;
/// use wheel::{Duration, ext::StreamExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let never = futures::stream::pending::<()>();
/// let mut late = never.timeout(Duration::from_millis(1));
/// let elapsed = late.next().await.unwrap().unwrap_err();
/// assert_eq!(elapsed.to_string(), "deadline has elapsed");
/// assert_eq!(std::io::Error::from(elapsed).kind(), std::io::ErrorKind::TimedOut);
/// # }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Elapsed(());

impl Elapsed {
    pub(super) fn new() -> Self {
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
