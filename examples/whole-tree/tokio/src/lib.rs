//! tokio, but for [`time`], whose timers are those of tokio-wheel.
//!
//! Everything else is the real tokio's, by a glob. A module that is written out goes before what a
//! glob brings, and so `time` is this one. Macros come through the glob too, and what
//! `#[tokio::main]` expands to says `tokio`, which is this.

pub use real::*;

/// What [`tokio::time`](real::time) has, on tokio-wheel's timers.
#[cfg(feature = "time")]
pub mod time {
    #[cfg(feature = "test-util")]
    pub use wheel::{advance, pause, resume};

    pub use wheel::{Duration, Instant, MissedTickBehavior};
    pub use wheel::{Interval, interval, interval_at};
    pub use wheel::{Sleep, sleep, sleep_until};
    pub use wheel::{Timeout, timeout, timeout_at};

    /// Errors.
    pub mod error {
        pub use wheel::error::{Elapsed, Error};
    }
}

/// tokio-wheel itself, for what `tokio::time` does not have: its `metrics()`, its `Builder`.
#[cfg(feature = "time")]
pub mod wheel {
    pub use ::wheel::*;

    /// Is here. Code that calls it, and panics where it is not, fails to compile when Cargo
    /// did not take this package: see the guide's page on the whole tree.
    pub const fn guard() {}
}
