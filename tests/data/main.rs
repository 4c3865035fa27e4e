//! The data structures: `TimingWheel` and `DelayQueue`, by examples, by models, and on what a fuzzer
//! has found.

mod corpora;
mod delay_queue;
mod delay_queue_model;
mod wheel_model;
mod wheel_seeds;
