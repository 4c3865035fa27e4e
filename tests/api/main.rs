//! The public interface does as documented: the names of `tokio::time`, builders, statistics, integrations.

mod auto_traits;
mod builder;
mod drop_in;
mod hyper;
mod io;
mod metrics;
mod paused;
mod report;
mod semantics;
#[cfg(feature = "tracing")]
mod spans;
mod stream;
mod tower;
