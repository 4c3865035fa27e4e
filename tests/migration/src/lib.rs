//! A service that names tokio's timers in every way that services do.

pub mod clock;
pub mod heartbeat;
pub mod retry;
pub mod sessions;
