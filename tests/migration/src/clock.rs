//! The canary module: all others may say `crate::clock`.

pub use hyper_util::rt::TokioTimer as HyperTimer;
pub use tokio::time::*;
