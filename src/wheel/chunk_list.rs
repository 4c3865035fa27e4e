//! The entries of a slot, as an unrolled linked list: each node, a [`Chunk`], holds the keys of
//! up to 64 entries.
//!
//! In a linked list of single entries each step is a cache miss, and unlinking one writes to both
//! its neighbours. A chunk is read in one go, and unlinking an entry clears one bit of its header.

use super::paged_slab::PagedSlab;

/// Cells in a chunk: one for every bit of `live`.
pub(super) const CELLS: u32 = 64;

/// A chunk this empty is merged with a neighbour that has room for it.
pub(super) const SPARSE: u32 = 4;

/// Keys of up to 64 entries of one slot.
pub(crate) struct Chunk {
    /// The cells in use. What the others hold is stale.
    pub(crate) live: u64,
    pub(crate) prev: u32,
    pub(crate) next: u32,
    /// The slot, as in `Spot::home`.
    pub(crate) home: u16,
    pub(crate) cells: Cells,
}

type Cells = Box<[u32; CELLS as usize]>;

/// So many slots keep a chunk that has emptied, for the next insert: all of a level of 256.
pub(super) const KEPT: u32 = 256;

/// Cells that are kept for the next chunk: 16 KiB.
const SPARE: usize = 64;

/// The chunks of one slot, first and last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkList {
    pub(crate) head: u32,
    pub(crate) tail: u32,
}

/// The end of a list.
pub(crate) const NIL: u32 = u32::MAX;

impl ChunkList {
    pub(crate) const EMPTY: Self = Self {
        head: NIL,
        tail: NIL,
    };
}

/// What is left of a chunk in which a cell has been cleared.
pub(crate) enum Cleared {
    /// Enough.
    Cell,
    /// Nothing, and it is its slot's only chunk; it stays there for the next insert.
    Last { home: u16 },
    /// The same where enough slots have kept one: to be freed by `tidy`.
    Surplus { home: u16 },
    /// So little that it may be freed or merged: see `tidy`.
    Sparse { home: u16 },
}

/// The chunks of all slots. A place is a chunk's key and an offset in it.
pub(crate) struct Chunks {
    pub(crate) slab: PagedSlab<Chunk, 8>,
    /// The cells of chunks that were freed: the allocator may keep its callers waiting,
    /// and with them all who want the wheel.
    spare: Vec<Cells>,
    /// Chunks that are empty.
    pub(super) kept: u32,
}

#[inline]
pub(crate) const fn split(place: u32) -> (u32, u32) {
    (place / CELLS, place % CELLS)
}

#[inline]
const fn join(chunk: u32, offset: u32) -> u32 {
    chunk * CELLS + offset
}

impl Chunk {
    /// Keys of the live cells, in order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = u32> {
        offsets(self.live).map(|offset| self.cells[offset as usize])
    }

    pub(crate) const fn count(&self) -> u32 {
        self.live.count_ones()
    }

    const fn is_alone(&self) -> bool {
        self.prev == NIL && self.next == NIL
    }
}

/// Whether a chunk with so many cells left may be able to merge.
///
/// Above `SPARSE` it is looked at now and then only, for a neighbour that has become sparse: of two
/// neighbours either both hold more than `SPARSE`, or they hold more than half a chunk together.
/// Merging later would save memory, but each cell that moves is a cache miss; so hardly any does.
const fn is_milestone(count: u32) -> bool {
    count <= SPARSE || count.is_power_of_two()
}

/// The positions of the bits that are set, lowest first.
pub(crate) fn offsets(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let offset = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (offset < CELLS).then_some(offset)
    })
}

impl Chunks {
    pub(crate) const fn new() -> Self {
        Self {
            slab: PagedSlab::new(),
            spare: Vec::new(),
            kept: 0,
        }
    }

    #[inline]
    pub(crate) fn at(&self, chunk: u32) -> &Chunk {
        self.slab.at(chunk)
    }

    /// Appends a key to a slot's list and tells its place.
    #[inline]
    pub(crate) fn push(&mut self, list: &mut ChunkList, home: u16, key: u32) -> u32 {
        if list.tail != NIL {
            let tail = self.slab.at_mut(list.tail);
            // After the last live cell, never into a hole: a slot stays in order of arrival.
            let offset = CELLS - tail.live.leading_zeros();
            if offset < CELLS {
                self.kept -= u32::from(tail.live == 0);
                tail.live |= 1 << offset;
                tail.cells[offset as usize] = key;
                return join(list.tail, offset);
            }
        }
        self.append(list, home, key)
    }

    /// Takes the first key of a list, and tells whether it was the last one, too.
    #[inline]
    pub(crate) fn pop(&mut self, list: &mut ChunkList) -> (u32, bool) {
        let head = self.slab.at_mut(list.head);
        let key = head.cells[head.live.trailing_zeros() as usize];
        head.live &= head.live - 1;
        if head.live != 0 {
            return (key, false);
        }
        if head.is_alone() && self.kept < KEPT {
            self.kept += 1;
            return (key, true);
        }
        self.discard(list.head, list);
        (key, list.head == NIL)
    }

    /// Clears a cell, and tells what is to be done about its chunk.
    #[inline]
    pub(crate) fn clear(&mut self, chunk: u32, offset: u32) -> Cleared {
        let chunk = self.slab.at_mut(chunk);
        debug_assert!(chunk.live & 1 << offset != 0, "the cell is stale");
        chunk.live &= !(1 << offset);
        if chunk.is_alone() {
            return if chunk.live == 0 {
                let home = chunk.home;
                self.emptied(home)
            } else {
                Cleared::Cell
            };
        }
        if is_milestone(chunk.count()) {
            Cleared::Sparse { home: chunk.home }
        } else {
            Cleared::Cell
        }
    }

    #[inline]
    fn emptied(&mut self, home: u16) -> Cleared {
        if self.kept == KEPT {
            return Cleared::Surplus { home };
        }
        self.kept += 1;
        Cleared::Last { home }
    }

    /// Frees or merges a chunk that has emptied, or one of several that is sparse; `moved` is told each moved key's new place.
    pub(crate) fn tidy(&mut self, chunk: u32, list: &mut ChunkList, moved: impl FnMut(u32, u32)) {
        let Chunk {
            live, prev, next, ..
        } = *self.at(chunk);
        if live == 0 {
            self.discard(chunk, list);
        } else if self.can_merge(chunk, next) {
            self.merge(chunk, next, list, moved);
        } else if self.can_merge(chunk, prev) {
            self.merge(chunk, prev, list, moved);
        }
    }

    fn can_merge(&self, one: u32, other: u32) -> bool {
        if other == NIL {
            return false;
        }
        let (one, other) = (self.at(one).count(), self.at(other).count());
        one.min(other) <= SPARSE && one + other <= CELLS
    }

    /// Moves the cells of the emptier of two chunks into holes of the other, and frees it.
    fn merge(
        &mut self,
        one: u32,
        other: u32,
        list: &mut ChunkList,
        mut moved: impl FnMut(u32, u32),
    ) {
        let swap = self.at(one).count() > self.at(other).count();
        let (from, into) = if swap { (other, one) } else { (one, other) };
        let from = self.free(from, list);
        let target = self.slab.at_mut(into);
        for key in from.keys() {
            let offset = target.live.trailing_ones();
            target.live |= 1 << offset;
            target.cells[offset as usize] = key;
            moved(key, join(into, offset));
        }
        self.keep(from.cells);
    }

    /// Frees a chunk that has emptied.
    fn discard(&mut self, chunk: u32, list: &mut ChunkList) {
        let cells = self.free(chunk, list).cells;
        self.keep(cells);
    }

    fn keep(&mut self, cells: Cells) {
        if self.spare.len() < SPARE {
            self.spare.push(cells);
        }
    }

    /// Adds a chunk at the end of a list, with one key in it.
    #[cold]
    fn append(&mut self, list: &mut ChunkList, home: u16, key: u32) -> u32 {
        let mut cells = self
            .spare
            .pop()
            .unwrap_or_else(|| Box::new([0; CELLS as usize]));
        cells[0] = key;
        let prev = list.tail;
        let chunk = self.slab.insert_with(|chunk| {
            assert!(
                chunk <= u32::MAX / CELLS,
                "a timing wheel has 2^32 cells for entries, and all are taken"
            );
            Chunk {
                live: 1,
                prev,
                next: NIL,
                home,
                cells,
            }
        });
        match prev {
            NIL => list.head = chunk,
            _ => self.slab.at_mut(prev).next = chunk,
        }
        list.tail = chunk;
        join(chunk, 0)
    }

    /// Takes a chunk out of its list.
    fn free(&mut self, chunk: u32, list: &mut ChunkList) -> Chunk {
        let freed = self.slab.remove(chunk);
        match freed.prev {
            NIL => list.head = freed.next,
            prev => self.slab.at_mut(prev).next = freed.next,
        }
        match freed.next {
            NIL => list.tail = freed.prev,
            next => self.slab.at_mut(next).prev = freed.prev,
        }
        freed
    }

    /// Places in use in a chunk, with the keys there.
    pub(crate) fn places(&self, chunk: u32) -> impl Iterator<Item = (u32, u32)> {
        let Chunk { live, cells, .. } = self.at(chunk);
        offsets(*live).map(move |offset| (join(chunk, offset), cells[offset as usize]))
    }

    /// Frees the chunk that was kept in an empty list.
    pub(crate) fn free_kept(&mut self, list: &mut ChunkList) {
        if list.head != NIL {
            self.kept -= 1;
            drop(self.free(list.head, list));
        }
    }

    /// Gives back what is not in use.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.spare = Vec::new();
        self.slab.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests;
