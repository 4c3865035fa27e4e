//! The driver on real threads: runtimes that begin, are busy, and end; contexts; wakers that call back.
//!
//! All of it is one process. A test that counts what the process has, or is about the first timer
//! in it, runs itself once more in one of its own: `support::in_a_process_of_its_own`.

mod blocked_workers;
mod busy;
mod contexts;
mod driver;
mod everywhere;
mod first_timer;
mod high_resolution;
mod reentrancy;
mod shutdown;
mod spares;
mod tokio_assumptions;
