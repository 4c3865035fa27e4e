//! Nothing is lost, and nothing leaks, under all that a machine can do for a while.
//!
//! A process of its own: its allocator counts.

mod faults;
mod storms;
