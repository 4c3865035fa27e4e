//! A service that uses timers in every way that was met in services.

pub mod clock;
pub mod error;
pub mod gateway;
pub mod heartbeat;
pub mod limits;
pub mod retry;
pub mod serve;
pub mod sessions;
pub mod upstream;
