//! Tokio, except that the timers of [`time`] are those of tokio-wheel.
//!
//! Everything else is re-exported from the real tokio by a glob. A name that is written out takes
//! precedence over the same name from a glob, so `time` is tokio-wheel's. Macros come through the glob
//! as well. What `#[tokio::main]` expands to names `tokio`, which is this package.

pub use real::*;

/// The items of [`tokio::time`](real::time), on tokio-wheel's timers.
#[cfg(feature = "time")]
pub use ::wheel::time;

/// tokio-wheel itself, for items that `tokio::time` does not have, such as `metrics()` and `Builder`.
#[cfg(feature = "time")]
pub mod wheel {
    pub use ::wheel::*;

    /// Does nothing. The guard crate calls this function at compile time, and fails to compile if Cargo
    /// took another tokio, which has no such function. The guide's page on the whole tree says more.
    pub const fn guard() {}
}
