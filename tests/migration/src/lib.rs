//! A service that names Tokio's timers in the ways that services do.

pub mod heartbeat;
pub mod sessions;

/// What other modules import from here. A comment may name tokio::time.
pub mod clock {
    pub use tokio::time::*;
}
