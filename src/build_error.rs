//! [`BuildError`], and the limits of a [`Builder`](crate::Builder).

use std::time::Duration;
use std::{error, fmt, io};

pub(crate) const MOST_SHARDS: usize = 1024;
pub(crate) const MOST_CAPACITY: usize = 1 << 26;

/// The reason why a driver could not be started.
///
/// [`source`](error::Error::source) returns the operating system's error if there is one.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let error = wheel::Builder::new().shards(0).build().unwrap_err();
/// assert_eq!(error.to_string(), "invalid `shards`: 0 (expected 1 to 1024)");
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The tick is zero, is not a multiple of a millisecond, or is longer than a day.
    Tick(Duration),
    /// The spacing is zero or longer than a millisecond, or was set without high resolution.
    Spacing(Duration),
    /// The number of shards is 0, or greater than 1024.
    Shards(usize),
    /// The capacity is greater than 2²⁶ timers.
    Capacity(usize),
    /// The runtime's default driver is already running.
    ///
    /// The first timer starts it, and so does [`Handle::current`](crate::Handle::current).
    AlreadyStarted,
    /// High resolution was asked for on a system other than Linux, or without the cargo feature
    /// `high-resolution`.
    NoHighResolution,
    /// High resolution was asked for on a runtime that was built without `enable_io`.
    IoDisabled,
    /// The kernel did not provide the timer descriptor that high resolution needs, or tokio could not
    /// register it. [`source`](error::Error::source) returns the error, too.
    Descriptor(io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Tick(tick) => write!(
                f,
                "invalid `tick`: {tick:?} (expected a multiple of 1 ms, up to one day)",
            ),
            BuildError::Spacing(spacing) => write!(
                f,
                "invalid `spacing`: {spacing:?} (expected at most 1 ms and more than 0, \
                 with `high_resolution`)",
            ),
            BuildError::Shards(shards) => {
                write!(
                    f,
                    "invalid `shards`: {shards} (expected 1 to {MOST_SHARDS})"
                )
            }
            BuildError::Capacity(timers) => {
                write!(
                    f,
                    "invalid `capacity`: {timers} (expected 0 to {MOST_CAPACITY})"
                )
            }
            BuildError::AlreadyStarted => f.write_str(
                "this runtime already has a timer driver: call `install` before the first timer \
                 and before `Handle::current()`",
            ),
            BuildError::NoHighResolution => {
                f.write_str("`high_resolution` needs Linux and the cargo feature `high-resolution`")
            }
            BuildError::IoDisabled => f.write_str(
                "`high_resolution` needs a runtime with I/O: call `enable_io` on its builder",
            ),
            BuildError::Descriptor(_) => {
                f.write_str("could not set up the timer descriptor that `high_resolution` needs")
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
