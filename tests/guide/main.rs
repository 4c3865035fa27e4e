//! What is written down: pages, their links, and the table of hazards. These read the sources, which
//! a copy of the crate alone may not have.

mod hazards;
mod pages;
mod stale;
