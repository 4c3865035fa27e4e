//! A hierarchical timing wheel: the data structure alone, without clock, lock or waker.
//!
//! This page explains how the wheel works; [`TimingWheel`] shows how to use it.
//!
//! A wheel has levels, and each level is a circular array of `SLOTS` slots. A slot of level 0 is a single
//! tick wide, and a slot of each further level is as wide as the whole level below it. A level is created
//! when a deadline first needs it. With 64 slots, eleven levels cover all of `u64`, so no deadline is too
//! far away.
//!
//! ```text
//! TimingWheel, 64 slots a level, now = 5
//!                 slot 0    1     …    5     6     7     …    63
//! level 0, 1 tick:                   [now]  [·]   [▪]             a bit per slot: is it occupied?
//! level 1, 64:       [now] [▪]                                    ticks 64 ..= 127
//! level 2, 4096:     [now]  │                      …
//!                           │
//!                           ▼            the slot's list of keys
//!                      ┌────┬────┬────┬────┐
//!                      │ 17 │  3 │ 40 │  8 │
//!                      └─┬──┴─┬──┴─┬──┴─┬──┘
//!                        ▼    ▼    ▼    ▼
//!      paged slab:     { value, deadline, place of its key } …
//! ```
//!
//! An entry goes into the lowest level on which its slot lies fewer than `SLOTS` slots ahead of the
//! slot that contains `now`. Each slot's list knows the earliest deadline that it has had since it was empty.
//! When the clock reaches that tick, the entries of the slot that are due fire. All others *cascade*: they
//! move to a lower level. In the public wheel, each entry therefore fires at exactly its tick, and moves at
//! most once per level.
//!
//! Every operation moves few entries, because the slab grows by pages, and
//! [`TimingWheel::advance_bounded`] stops when its budget is used up. Except: an advance without a
//! budget, `shrink_to_fit`, the first page's growth, and a slot's list of keys (four bytes each), which
//! is copied as a whole when it grows or gives memory back.
//!
//! The idea is from Varghese and Lauck (*Hashed and Hierarchical Timing Wheels*, 1987). Kafka's
//! `TimingWheel` is the source of one detail: a level begins with the slot of `now` rather than at
//! a multiple of its length.

// `RawWheel` is the wheel of the timer driver. The public `TimingWheel` is built on it, and detects keys
// whose entry is gone. A file uses only files above it in this table:
//
// | file | content |
// | --- | --- |
// | `bits.rs` | which slots of a level are occupied |
// | `slot.rs` | the index of a slot, and the place of a key within a slot |
// | `paged_slab.rs` | a slab that grows by pages and gives memory back |
// | `key_list.rs` | the keys of the entries in one slot |
// | `level.rs` | the arithmetic of levels: which slot a deadline belongs to |
// | `slots.rs` | the slots of all levels, and which of them are occupied |
// | `raw.rs`, `advance.rs` | the wheel itself: its entries, and the passing of time |
// | `check.rs` | every invariant of the wheel, for tests |
// | `key.rs` | the types that the public wheel returns |
// | `public.rs` and its folder, `debug.rs` | the public wheel |
// | `model.rs` and its folder, `tests.rs` | tests of the public wheel, against a naive model, and of `RawWheel` |

mod advance;
mod bits;
#[cfg(test)]
mod check;
mod debug;
mod key;
mod key_list;
mod level;
#[cfg(all(test, not(any(loom, shuttle))))]
mod model;
mod paged_slab;
mod public;
pub(crate) mod raw;
mod slot;
mod slots;
#[cfg(test)]
mod tests;

pub use advance::Progress;
pub use key::{Expired, Key, Rescheduled};
pub use public::TimingWheel;
