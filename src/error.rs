//! Errors of this crate's timers.

use std::{error, fmt, io};

/// The deadline of a [`Timeout`](crate::Timeout) passed first, or an item of a stream under
/// a time limit is late.
///
/// # Differences from tokio
///
/// A type of its own, since tokio's cannot be made outside of tokio. It displays
/// and converts the same. It is the one error for all that is late: futures, streams,
/// tower's services. tokio-stream and tower have one each.
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

/// Errors that tokio's timers once returned; kept so that code naming them compiles.
///
/// No function of this crate returns one, as none of tokio's does.
///
/// ```
/// let error = wheel::error::Error::invalid();
/// assert_eq!(error.to_string(), "timer duration exceeds maximum duration");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Error(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Shutdown,
    AtCapacity,
    Invalid,
}

impl Error {
    /// The driver has ended.
    ///
    /// ```
    /// assert!(wheel::error::Error::shutdown().is_shutdown());
    /// ```
    pub fn shutdown() -> Error {
        Error(Kind::Shutdown)
    }

    /// Whether the driver has ended.
    ///
    /// ```
    /// assert!(!wheel::error::Error::invalid().is_shutdown());
    /// ```
    pub fn is_shutdown(&self) -> bool {
        self.0 == Kind::Shutdown
    }

    /// There are too many timers.
    ///
    /// ```
    /// assert!(wheel::error::Error::at_capacity().is_at_capacity());
    /// ```
    pub fn at_capacity() -> Error {
        Error(Kind::AtCapacity)
    }

    /// Whether there are too many timers.
    ///
    /// ```
    /// assert!(!wheel::error::Error::invalid().is_at_capacity());
    /// ```
    pub fn is_at_capacity(&self) -> bool {
        self.0 == Kind::AtCapacity
    }

    /// The timer is misconfigured.
    ///
    /// ```
    /// assert!(wheel::error::Error::invalid().is_invalid());
    /// ```
    pub fn invalid() -> Error {
        Error(Kind::Invalid)
    }

    /// Whether the timer is misconfigured.
    ///
    /// ```
    /// assert!(!wheel::error::Error::shutdown().is_invalid());
    /// ```
    pub fn is_invalid(&self) -> bool {
        self.0 == Kind::Invalid
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Shutdown => {
                "the timer is shutdown, must be called from the context of Tokio runtime"
            }
            Kind::AtCapacity => "timer is at capacity and cannot create a new entry",
            Kind::Invalid => "timer duration exceeds maximum duration",
        })
    }
}

impl error::Error for Error {}
