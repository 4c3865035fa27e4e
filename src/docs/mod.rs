//! The guide: pages of text, and no code. Each example in them is compiled and run.
//!
//! | page | what it is for |
//! | --- | --- |
//! | [`migration`] | switching from `tokio::time`, and back; what stays on tokio's timers |
//! | [`semantics`] | what is the same, and each thing that differs |
//! | [`recipes`] | hyper, axum, tonic, reqwest, backon, connection pools |

#[doc = include_str!("migration.md")]
pub mod migration {}

#[doc = include_str!("semantics.md")]
pub mod semantics {}

#[doc = include_str!("recipes.md")]
pub mod recipes {}
