//! The driver on real threads: runtimes that begin, are busy and end; contexts; wakers that use timers.
//!
//! All tests share a process. A test that counts what a process has, such as descriptors, runs itself again in a
//! process of its own: see `support::in_a_process_of_its_own`.

mod blocked_workers;
mod busy;
mod contexts;
mod driver;
mod everywhere;
mod high_resolution;
mod reentrancy;
mod shutdown;
