//! The names that the other modules import from here. A comment may say tokio::time.

pub use tokio::time::*;

/// The name that logs have for the clock.
pub const NAME: &str = "tokio's";
