//! The data structures: `TimingWheel` by worked examples, `DelayQueue` by examples, beside its model, and
//! on a fuzzer's inputs. The wheel's model is a unit test, `src/wheel/model.rs`: there each
//! step can check every invariant.

mod corpora;
mod delay_queue;
mod delay_queue_model;
mod wheel_seeds;
