//! The public interface does as documented: what `tokio::time` has, builders, statistics, and what is for other crates.

mod auto_traits;
mod builder;
mod drop_in;
mod hyper;
mod metrics;
mod paused;
mod report;
mod semantics;
mod stream;
mod tower;
