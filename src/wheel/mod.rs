//! A hierarchical timing wheel: the data structure alone, without clock, lock or waker.
//!
//! Time is a `u64` of ticks, as long as the caller likes. Inserting, removing and rescheduling take
//! constant time however many entries there are; time passes when [`TimingWheel::advance`] says so.
//!
//! The idea is Varghese and Lauck's (*Hashed and Hierarchical Timing Wheels*, 1987), the shape that
//! of Kafka's `TimingWheel`. A wheel of `SLOTS` slots covers as many ticks. What is further away goes
//! to an overflow wheel, made when it is first needed, each of whose slots is as wide as the whole
//! wheel below. When the clock comes to such a slot, its entries move to the wheels below, and so
//! arrive at their very tick. With 64 slots eleven levels cover all of `u64`: no deadline is too far.
//!
//! ```text
//! TimingWheel, 64 slots a level, now = 5
//!                 slot 0    1     …    5     6     7     …    63
//! level 0, 1 tick:                   [now]  [·]   [▪]             a bit per slot: is it occupied?
//! level 1, 64:       [now] [▪]                                    entries due at 64 ..= 127
//! level 2, 4096:     [now]                         …
//!                           │
//!                           ▼            the slot's list of chunks
//!                      ┌─ chunk ─┐   ┌─ chunk ─┐
//!                      │ live:   │◀─▶│ live:   │   one bit per cell in use;
//!                      │ 1011…   │   │ 1100…   │   removing clears a bit
//!                      │ 64 cells│   │ 64 cells│   a cell: the key of an entry
//!                      └─┬─┬──┬──┘   └─┬┬──────┘
//!                        ▼ ▼  ▼        ▼▼
//!      slab, in pages:  { value, deadline, place: chunk and cell } …
//! ```
//!
//! Clocks slide, as in Kafka's wheel: the slots of a level are those that begin with the one that
//! holds `now`, and an entry goes to the lowest level on which its slot is less than one turn ahead.
//! So no entry is ever filed in the slot of `now` itself, and each moves down at most once a level.
//!
//! No operation moves more than a small constant of memory: the slab grows by pages, slots by
//! chunks, and [`TimingWheel::advance`] stops when its budget is used up.

mod advance;
mod bits;
mod check;
mod chunk_list;
pub(crate) mod core;
mod debug;
mod key;
mod level;
mod paged_slab;
mod slot;
mod slots;
#[cfg(test)]
mod tests;
mod timing_wheel;

pub use advance::Progress;
pub use key::{Expired, Key, Rescheduled};
pub use timing_wheel::TimingWheel;
