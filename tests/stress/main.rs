//! Under stress, no timer is lost, no memory leaks, and no worker wakes up unnecessarily.
//!
//! These tests are a program of their own because its allocator counts, and because `parks` compares how often workers
//! sleep. cargo runs one test program at a time, and `alone` runs one test at a time.

mod faults;
mod parks;
mod storms;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until no other test of this program runs.
fn alone() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}
