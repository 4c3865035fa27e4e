//! The public interface does as documented: the names of `tokio::time`, builders, statistics, integrations, and
//! the data structures, `TimingWheel` and `DelayQueue`. The wheel's model is a unit test, `src/wheel/model.rs`:
//! there each step can check every invariant.

mod auto_traits;
mod builder;
mod corpora;
mod delay_queue;
mod delay_queue_model;
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
mod wheel;
