//! The public interface behaves as documented: the names of `tokio::time`, builders, metrics, integrations, and the data
//! structures `TimingWheel` and `DelayQueue`. The wheel's model is a unit test, `src/timing_wheel/model.rs`, because each
//! step can check every invariant there.

mod auto_traits;
mod builder;
mod delay_queue;
mod delay_queue_model;
mod drop_in;
mod hyper;
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
