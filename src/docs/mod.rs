//! The guide: pages of prose. Nothing here is API.
//!
//! The first pages follow the tasks of somebody who adopts the crate; the others are reference.
//!
//! | page | content |
//! | --- | --- |
//! | [`getting_started`] | the dependency, the import, a first test, the metrics |
//! | [`should_you_switch`] | when to stay with `tokio::time`, how to compare both on your service, what others measured |
//! | [`migrating`] | moving a service from `tokio::time`, and moving it back |
//! | [`patterns`] | graceful shutdown, idle timeouts, a cache, deadline propagation, jitter, retries, polling without a timer |
//! | [`recipes`] | axum, hyper, tonic, reqwest, quinn, backon, connection pools, OpenTelemetry |
//! | [`testing`] | tests under a paused clock |
//! | [`metrics`] | counts of timers, lag, alerts, Prometheus |
//! | [`tuning`] | the settings of a driver, custom drivers, settings of Tokio's runtime |
//! | [`high_resolution`] | timers finer than a millisecond: for whom, at what cost, other crates |
//! | [`whole_tree`] | moving the timers of every crate in a dependency tree with one `[patch]` |
//! | [`maintaining_the_patch`] | lock files, vendored sources, audits and releases of Tokio on a patched tree |
//! | [`troubleshooting`] | symptoms, causes, remedies |
//! | **reference** | |
//! | [`guarantees`] | what the crate promises, and what it leaves open |
//! | [`differences`] | each difference from `tokio::time`: who notices, what to do |
//! | [`compatibility`] | platforms, versions of Rust and tokio, API stability |
//! | [`benchmarks`] | where tokio-wheel is faster, where it is slower, and a model for many cores |
//! | [`design`] | how the timers work: a wheel per worker, late cancels, the alarm, the expiry pass |
//! | [`glossary`] | the terms |
//!
//! Each program on a page compiles in a package of its own with the `[dependencies]` printed above
//! it.

// The pages are also meant to be read on a code host. So no line of an example is hidden, and each link
// is defined twice: in `links.md`, which comes first and therefore applies in rustdoc, and at the end of
// the page, for the code host. `design.svg.link` defines the picture of the page *Design* in the
// same way: it contains `design.svg`, percent-encoded.

#[doc = include_str!("links.md")]
#[doc = include_str!("getting_started.md")]
pub mod getting_started {}

#[doc = include_str!("links.md")]
#[doc = include_str!("should_you_switch.md")]
pub mod should_you_switch {}

#[doc = include_str!("links.md")]
#[doc = include_str!("migrating.md")]
pub mod migrating {}

#[doc = include_str!("links.md")]
#[doc = include_str!("patterns.md")]
pub mod patterns {}

#[doc = include_str!("links.md")]
#[doc = include_str!("recipes.md")]
pub mod recipes {}

#[doc = include_str!("links.md")]
#[doc = include_str!("testing.md")]
pub mod testing {}

#[doc = include_str!("links.md")]
#[doc = include_str!("metrics.md")]
pub mod metrics {}

#[doc = include_str!("links.md")]
#[doc = include_str!("tuning.md")]
pub mod tuning {}

#[doc = include_str!("links.md")]
#[doc = include_str!("high_resolution.md")]
pub mod high_resolution {}

#[doc = include_str!("links.md")]
#[doc = include_str!("whole_tree.md")]
pub mod whole_tree {}

#[doc = include_str!("links.md")]
#[doc = include_str!("maintaining_the_patch.md")]
pub mod maintaining_the_patch {}

#[doc = include_str!("links.md")]
#[doc = include_str!("guarantees.md")]
pub mod guarantees {}

#[doc = include_str!("links.md")]
#[doc = include_str!("differences.md")]
pub mod differences {}

#[doc = include_str!("links.md")]
#[doc = include_str!("compatibility.md")]
pub mod compatibility {}

#[doc = include_str!("links.md")]
#[doc = include_str!("benchmarks.md")]
pub mod benchmarks {}

#[doc = include_str!("links.md")]
#[doc = include_str!("design.svg.link")]
#[doc = include_str!("design.md")]
pub mod design {}

#[doc = include_str!("links.md")]
#[doc = include_str!("troubleshooting.md")]
pub mod troubleshooting {}

#[doc = include_str!("links.md")]
#[doc = include_str!("glossary.md")]
pub mod glossary {}
