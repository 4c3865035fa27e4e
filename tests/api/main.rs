//! The public interface does as documented: the names of `tokio::time`, builders, statistics, integrations, and
//! the data structures, `TimingWheel` and `DelayQueue`. The wheel's model is a unit test, `src/timing_wheel/model.rs`:
//! there each step can check every invariant.

mod auto_traits;
mod builder;
mod delay_queue;
mod delay_queue_model;
mod drop_in;
mod hyper;
mod interval;
mod io;
mod metrics;
mod paused;
mod report;
mod sleep;
#[cfg(feature = "tracing")]
mod spans;
mod stream;
mod timeout;
mod tower;
mod wheel;
