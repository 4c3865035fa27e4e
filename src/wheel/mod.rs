//! The hierarchical timing wheel, which keeps entries with deadlines and fires those that are due.
//!
//! The documentation of [`timing_wheel`](crate::timing_wheel) explains the data structure: levels,
//! slots, and how an entry cascades. Two types offer it. [`TimingWheel`] is public, and detects
//! keys whose entry is gone. [`Core`](core::Core) has no such check and is what the timer driver
//! uses; the public wheel is built on it.
//!
//! The table lists the files from the bottom up: a file uses only files above it.
//!
//! | file | content |
//! | --- | --- |
//! | `bits.rs` | a bit for each slot of a level |
//! | `slot.rs` | the number of a slot, and the place of a key within a slot |
//! | `paged_slab.rs` | a slab that grows by pages and never moves its values |
//! | `key_list.rs` | the keys of the entries in one slot |
//! | `level.rs` | the arithmetic of levels: which slot a deadline belongs to |
//! | `slots.rs` | the slots of all levels, and which of them are occupied |
//! | `core.rs`, `advance.rs` | the wheel itself: its entries, and the passing of time |
//! | `check.rs` | every invariant of the wheel, for tests |
//! | `key.rs` | the types that the public wheel returns |
//! | `timing_wheel.rs` and its folder, `iter.rs`, `debug.rs` | the public wheel |
//! | `model.rs` and its folder, `tests.rs` | tests: the public wheel beside a naive model, and `Core` |

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
