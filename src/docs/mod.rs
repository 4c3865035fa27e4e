//! The guide: pages of prose, in the order in which somebody who adopts the crate needs them. Nothing
//! here is API.
//!
//! | page | content |
//! | --- | --- |
//! | **adopting** | |
//! | [`should_you_switch`] | who gains, and who should stay with Tokio's timers |
//! | [`compare`] | a command that tells what your service gains |
//! | [`getting_started`] | the dependency, the import, a first test, the metrics |
//! | [`migrating`] | moving a service from `tokio::time`, and moving it back |
//! | [`whole_tree`] | moving the timers of every crate in a dependency tree with one `[patch]` |
//! | **using** | |
//! | [`patterns`] | graceful shutdown, idle timeouts, a cache, jitter; programs with retries and deadlines |
//! | [`recipes`] | axum, hyper, tonic, reqwest, quinn, backon, connection pools |
//! | [`testing`] | tests under a paused clock |
//! | **operating** | |
//! | [`design`] | how the timers work: a wheel per worker, late cancels, the alarm, the expiry pass |
//! | [`metrics`] | counts of timers, lag, Prometheus, alerts |
//! | [`tuning`] | the settings of a driver, memory, custom drivers |
//! | [`high_resolution`] | timers finer than a millisecond: for whom, at what cost, other crates |
//! | [`troubleshooting`] | symptoms, causes, remedies, profiles |
//! | **reference** | |
//! | [`guarantees`] | what the crate promises, and what it leaves open |
//! | [`differences`] | each difference from `tokio::time`: who notices, what to do |
//! | [`compatibility`] | runtimes, platforms, versions, API stability |
//! | [`benchmarks`] | where tokio-wheel is faster, and where it is slower |

// The pages are also meant to be read on a code host. So no line of an example is hidden, and each link
// is defined twice: in `links.md`, which comes first and therefore applies in rustdoc, and at the end of
// the page, for the code host. `design.svg.link` defines the picture of the page *Design* in the
// same way: it contains `design.svg`, percent-encoded.

#[doc = include_str!("links.md")]
#[doc = include_str!("should_you_switch.md")]
pub mod should_you_switch {}

#[doc = include_str!("links.md")]
#[doc = include_str!("compare.md")]
pub mod compare {}

#[doc = include_str!("links.md")]
#[doc = include_str!("getting_started.md")]
pub mod getting_started {}

#[doc = include_str!("links.md")]
#[doc = include_str!("migrating.md")]
pub mod migrating {}

#[doc = include_str!("links.md")]
#[doc = include_str!("whole_tree.md")]
pub mod whole_tree {}

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
#[doc = include_str!("design.svg.link")]
#[doc = include_str!("design.md")]
pub mod design {}

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
#[doc = include_str!("troubleshooting.md")]
pub mod troubleshooting {}

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
