//! In the place of `spans.rs`, if the tree counts timers for `cargo wheel compare` or `timers`: the
//! crate's own module, except that starting a driver starts the reports, too.

#![allow(dead_code, unused_imports, unreachable_pub)]

mod counts;
mod original;
mod report;

pub(crate) use self::counts::Operation;
pub(crate) use self::original::{Resource, unseen};
pub(crate) use self::report::spawn;
