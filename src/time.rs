//! The items of tokio 1.54's [`tokio::time`], and nothing else: replace `tokio::time` by
//! `wheel::time` in every import. Items of later versions follow in minor releases.
//!
//! ```
//! use wheel::time::{self, Duration, error::Elapsed}; // was: use tokio::time::{…};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Elapsed> {
//! time::sleep(Duration::from_millis(1)).await;
//! assert_eq!(time::timeout(Duration::from_secs(1), async { 42 }).await?, 42);
//! # Ok(())
//! # }
//! ```
//!
//! The crate's root has the same items, so new code can write `wheel::sleep`. The root has more
//! names besides, which a glob import would bring into scope, so replace `use tokio::time::*;` with
//! `use wheel::time::*;`, not with `use wheel::*;`. `pause`, `resume` and `advance` need the
//! feature `test-util`.

#[doc(no_inline)]
pub use crate::error;
// From their modules: at the root, `sleep` is both a function and a private module.
#[doc(no_inline)]
pub use crate::interval::{Interval, interval, interval_at};
#[doc(no_inline)]
pub use crate::sleep::{Sleep, sleep, sleep_until};
#[doc(no_inline)]
pub use crate::timeout::{Timeout, timeout, timeout_at};
#[doc(no_inline)]
pub use crate::{Duration, Instant, MissedTickBehavior};
#[cfg(feature = "test-util")]
#[doc(no_inline)]
pub use crate::{advance, pause, resume};
