//! The data structures: `TimingWheel` by worked examples, `DelayQueue` by examples and beside its model.
//! The wheel's model is a unit test, `src/wheel/model.rs`: there each step can check every invariant.

mod delay_queue;
mod delay_queue_model;
mod wheel_seeds;
