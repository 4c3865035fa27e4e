//! The reasons for which a driver is not made, and the limits of a
//! [`Builder`](crate::Builder).

use std::time::Duration;
use std::{error, fmt, io};

pub(crate) const MOST_SHARDS: usize = 1024;
pub(crate) const MOST_CAPACITY: usize = 1 << 26;

/// Why a driver was not made.
///
/// [`source`](error::Error::source) is the kernel's error, if any.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let error = wheel::Builder::new().shards(0).build().unwrap_err();
/// assert_eq!(error.to_string(), "`shards` is 0: allowed is 1 to 1024");
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The tick is neither a divisor nor a multiple of a millisecond, or is longer than a
    /// day.
    Tick(Duration),
    /// No shards, or more than 1024.
    Shards(usize),
    /// More than 2²⁶ timers to make room for at once.
    Capacity(usize),
    /// The runtime's default driver has started already: the first timer starts the
    /// driver.
    AlreadyStarted,
    /// High resolution needs Linux, and the cargo feature `high-resolution`.
    NoHighResolution,
    /// High resolution needs a runtime that was built with `enable_io`.
    IoDisabled,
    /// The kernel gave no descriptor for high resolution, or tokio could not register the
    /// descriptor. The error is the [`source`](error::Error::source), too.
    Descriptor(io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Tick(tick) => write!(
                f,
                "`tick` is {tick:?}: allowed is a divisor of a millisecond, \
                 or a multiple of one up to a day",
            ),
            BuildError::Shards(shards) => {
                write!(f, "`shards` is {shards}: allowed is 1 to {MOST_SHARDS}")
            }
            BuildError::Capacity(timers) => {
                write!(f, "`capacity` is {timers}: allowed is 0 to {MOST_CAPACITY}")
            }
            BuildError::AlreadyStarted => f.write_str(
                "this runtime's timers have a driver already: install one before the first timer",
            ),
            BuildError::NoHighResolution => f.write_str(
                "`high_resolution` needs Linux, and the cargo feature `high-resolution`",
            ),
            BuildError::IoDisabled => f.write_str(
                "`high_resolution` needs I/O: call `enable_io` on the runtime's builder",
            ),
            BuildError::Descriptor(_) => {
                f.write_str("`high_resolution` needs a descriptor, and there is none")
            }
        }
    }
}

impl error::Error for BuildError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            BuildError::Descriptor(error) => Some(error),
            _ => None,
        }
    }
}
