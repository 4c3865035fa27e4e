//! The driver on real threads: runtimes that begin, are busy, and end; contexts; wakers that call back.
//!
//! All tests share a process. A test that counts things of the process runs itself once more in a separate process: `support::in_a_process_of_its_own`.

mod blocked_workers;
mod busy;
mod contexts;
mod driver;
mod everywhere;
mod high_resolution;
mod reentrancy;
mod shutdown;
