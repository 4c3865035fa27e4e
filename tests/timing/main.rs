//! A worker wakes up no more often than with tokio's timers in the same run.
//!
//! A process of its own, so that no other test has the processors meanwhile: cargo runs them in turn.
//! The tests of this process run in turn, too. A busy machine slows both sides alike.

mod parks;
