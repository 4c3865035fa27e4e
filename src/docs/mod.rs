//! The guide: pages of text, and no code. Each program in them compiles in a package of its own
//! with the `[dependencies]` above the program on its page.
//!
//! | page | content |
//! | --- | --- |
//! | [`migrating`] | switching from `tokio::time`, and back; timers that stay with tokio |
//! | [`whole_tree`] | a section of `Cargo.toml` that moves the timers of every crate in a dependency tree |
//! | [`guarantees`] | promises, points left open, differences from tokio |
//! | [`metrics`] | counts of timers, lag, alerts; Prometheus |
//! | [`benchmarks`] | measurements, and their meaning for a service |
//! | [`many_cores`] | what there is to gain, from timers per second and workers |
//! | [`tuning`] | timers tens of microseconds after their deadlines: when, and at which costs |
//! | [`patterns`] | graceful shutdown, idle limits, a cache, a budget, jitter, a back-off |
//! | [`recipes`] | axum, hyper, tonic, reqwest, quinn, backon, pools, OpenTelemetry; the wheel alone |
//!
//! The pages are read on a code host as well. So no line of an example is hidden, and each
//! link is defined twice: for the documentation in `links.md`, which comes first and so holds
//! here, and at the end of the page, for the code host.

#[doc = include_str!("links.md")]
#[doc = include_str!("migrating.md")]
pub mod migrating {}

#[doc = include_str!("links.md")]
#[doc = include_str!("whole_tree.md")]
pub mod whole_tree {}

#[doc = include_str!("links.md")]
#[doc = include_str!("guarantees.md")]
pub mod guarantees {}

#[doc = include_str!("links.md")]
#[doc = include_str!("tuning.md")]
pub mod tuning {}

#[doc = include_str!("links.md")]
#[doc = include_str!("patterns.md")]
pub mod patterns {}

#[doc = include_str!("links.md")]
#[doc = include_str!("recipes.md")]
pub mod recipes {}

#[doc = include_str!("links.md")]
#[doc = include_str!("metrics.md")]
pub mod metrics {}

#[doc = include_str!("links.md")]
#[doc = include_str!("benchmarks.md")]
pub mod benchmarks {}

#[doc = include_str!("links.md")]
#[doc = include_str!("many_cores.md")]
pub mod many_cores {}
