//! All that the machine can do, for a while. A process of its own: its allocator counts.

mod faults;
mod storms;
