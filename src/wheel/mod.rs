//! The timing wheel. The page of [`timing_wheel`](crate::timing_wheel) explains its working;
//! this page lists its files.
//!
//! From the bottom up; a file uses those above it in this table, and none below:
//!
//! | file | idea |
//! | --- | --- |
//! | `bits.rs` | a bit for each slot of a level |
//! | `slot.rs` | the name of a slot: its index; the place of a key in a slot |
//! | `paged_slab.rs` | a slab that grows by pages and never moves its values |
//! | `key_list.rs` | the keys of the entries in a slot: a vector with holes |
//! | `level.rs` | the arithmetic of levels: the slot of an entry |
//! | `slots.rs` | the slots of all levels, and which hold entries |
//! | `core.rs`, `advance.rs`, `check.rs` | the wheel: its entries, the passing of time, its invariants |
//! | `key.rs` | the types that the public wheel hands out |
//! | `timing_wheel.rs` and its folder, `iter.rs`, `debug.rs` | the public wheel, whose keys may be stale |

mod advance;
mod bits;
#[cfg(test)]
mod check;
pub(crate) mod core;
mod debug;
mod iter;
mod key;
mod key_list;
mod level;
#[cfg(all(test, not(loom)))]
mod model;
mod paged_slab;
mod slot;
mod slots;
#[cfg(test)]
mod tests;
mod timing_wheel;

pub use advance::Progress;
pub use iter::{Drain, IntoIter, Iter, IterMut};
pub use key::{Expired, Key, Rescheduled};
pub use timing_wheel::TimingWheel;
