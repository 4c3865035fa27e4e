//! What `tokio::time` has, and nothing else: for a glob.
//!
//! ```
//! use wheel::prelude::*; // was: use tokio::time::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! sleep(Duration::from_millis(1)).await;
//! # }
//! ```
//!
//! A glob takes all that is public, and what it takes stands beside everything else
//! in scope. [`tokio::time`] has few names, and so has this module: the same ones, by
//! kind. A module called `metrics` here would take the place of the crate `metrics`, and
//! a trait would add its methods to every future.
//!
//! `use wheel as time;` needs none of this. The crate's root has the same names, and
//! more: [`Builder`](crate::Builder), [`DelayQueue`](crate::DelayQueue) and so on. Nothing
//! there has the name of a well-known crate either. What belongs to other crates is in
//! [`ext`](crate::ext).

#[doc(no_inline)]
pub use crate::{
    Duration, Instant, Interval, MissedTickBehavior, Sleep, Timeout, error, interval, interval_at,
    sleep, sleep_until, timeout, timeout_at,
};
#[cfg(feature = "test-util")]
#[doc(no_inline)]
pub use crate::{advance, pause, resume};
