//! A worker wakes up no more often than with tokio's timers in the same run.
//!
//! A process of its own, so that no other test has the processors meanwhile: cargo runs one after
//! the other. Here, too, one test runs at a time. What a busy machine does to one side it does to
//! the other.

mod parks;
