//! tokio, but for [`time`], whose timers are those of tokio-wheel.
//!
//! Everything else is the real tokio's, by a glob. A name that is written out goes before what a
//! glob brings, and so `time` is tokio-wheel's. Macros come through the glob too, and what
//! `#[tokio::main]` expands to says `tokio`, which is this.

pub use real::*;

/// What [`tokio::time`](real::time) has, on tokio-wheel's timers.
#[cfg(feature = "time")]
pub use ::wheel::time;

/// tokio-wheel itself, for what `tokio::time` does not have: its `metrics()`, its `Builder`.
#[cfg(feature = "time")]
pub mod wheel {
    pub use ::wheel::*;

    /// Is here. Code that calls it, and panics where it is not, fails to compile when Cargo
    /// did not take this package: see the guide's page on the whole tree.
    pub const fn guard() {}
}
