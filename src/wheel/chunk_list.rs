//! The entries of a slot, as an unrolled linked list: each node, a [`Chunk`], holds the keys of
//! up to 64 entries.
//!
//! In a linked list of single entries each step is a cache miss, and unlinking an entry writes to
//! both neighbours. A chunk is read in one go, and unlinking an entry clears a bit of its header.

use std::num::NonZeroU32;

use super::paged_slab::PagedSlab;

/// Cells in a chunk, as many as `live` has bits.
pub(super) const CELLS: u32 = 64;

/// A chunk with no more keys than this is sparse, and is merged with a neighbour that has room.
pub(super) const SPARSE: u32 = 4;

/// At most so many empty chunks are kept: as many as a level of 256 has slots.
pub(super) const MAX_KEPT: u32 = 256;

/// At most the cells of so many freed chunks are kept: 16 KiB.
const MAX_SPARE: usize = 64;

/// The chunks of one slot: the first and the last. An empty slot may keep an empty chunk.
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

/// A node of the list: keys of up to 64 entries of one slot, in order of arrival.
#[derive(Clone)]
pub(crate) struct Chunk {
    /// A bit for each cell: set while the cell is in use. The keys in other cells are stale.
    pub(crate) live: u64,
    pub(crate) prev: u32,
    pub(crate) next: u32,
    /// The slot: see [`SlotId::index`](super::slot::SlotId::index).
    pub(crate) slot_index: u16,
    pub(crate) cells: Cells,
}

type Cells = Box<[u32; CELLS as usize]>;

/// Where the key of an entry is: the number of a chunk, and the offset of a cell in it. Not zero,
/// so that a slab's vacant entries need no tag of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellAddr(NonZeroU32);

/// The work to do after a cell was cleared.
pub(crate) enum Cleared {
    /// Nothing.
    Done,
    /// The slot is empty. Its only chunk is kept, for the next insert.
    EmptyKept { slot_index: u16 },
    /// The slot is empty. Its only chunk has to be freed, for enough others are kept.
    EmptySurplus { slot_index: u16 },
    /// The slot has other chunks, and this chunk may have to be freed or merged.
    Sparse { slot_index: u16 },
}

/// The chunks of all slots.
#[derive(Clone)]
#[repr(C)]
pub(crate) struct Chunks {
    /// How many chunks are empty. Each is the only chunk of its slot.
    pub(super) kept: u32,
    pub(crate) slab: PagedSlab<Chunk, 8>,
    /// Cells of freed chunks, for the next ones. A call of the allocator may take long, and the
    /// caller holds a lock.
    spare: Vec<Cells>,
}

impl CellAddr {
    #[inline]
    const fn new(chunk: u32, offset: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(chunk * CELLS + offset))
    }

    #[inline]
    pub(crate) const fn chunk(self) -> u32 {
        (self.0.get() - 1) / CELLS
    }

    #[inline]
    pub(super) const fn offset(self) -> u32 {
        (self.0.get() - 1) % CELLS
    }
}

impl Chunk {
    /// Keys of the live cells, in order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = u32> {
        offsets(self.live).map(|offset| self.cells[offset as usize])
    }

    /// How many cells are in use.
    pub(crate) const fn count(&self) -> u32 {
        self.live.count_ones()
    }

    const fn is_alone(&self) -> bool {
        // `NIL` has all bits set.
        self.prev & self.next == NIL
    }
}

/// Whether to look for a neighbour to merge with, now that so many keys are left.
///
/// A sparse chunk looks each time. Others look at powers of two, in case a neighbour is sparse. So
/// a sparse chunk and its neighbour together hold more than half a chunk. Merging more often would
/// save memory, but each key that moves is a cache miss.
const fn should_merge(count: u32) -> bool {
    count <= SPARSE || count.is_power_of_two()
}

/// The offsets of the bits that are set, lowest first.
fn offsets(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let offset = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (offset < CELLS).then_some(offset)
    })
}

impl Chunks {
    pub(crate) const fn new() -> Self {
        Self {
            kept: 0,
            slab: PagedSlab::new(),
            spare: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn at(&self, chunk: u32) -> &Chunk {
        self.slab.at(chunk)
    }

    /// Appends a key to the list of a slot. Returns its cell, and whether the slot was empty.
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        list: &mut ChunkList,
        slot_index: u16,
        key: u32,
    ) -> (CellAddr, bool) {
        if list.tail != NIL {
            let tail = self.slab.at_mut(list.tail);
            // After the last cell in use, not into a hole: keys stay in order of arrival.
            let offset = CELLS - tail.live.leading_zeros();
            if offset < CELLS {
                let was_empty = tail.live == 0;
                tail.live |= 1 << offset;
                tail.cells[offset as usize] = key;
                if was_empty {
                    self.kept -= 1;
                }
                return (CellAddr::new(list.tail, offset), was_empty);
            }
        }
        let was_empty = list.tail == NIL;
        (self.append(list, slot_index, key), was_empty)
    }

    /// Takes the first key out of a list, and tells whether none is left.
    #[inline]
    pub(crate) fn pop(&mut self, list: &mut ChunkList) -> (u32, bool) {
        let head = self.slab.at_mut(list.head);
        let key = head.cells[head.live.trailing_zeros() as usize];
        head.live &= head.live - 1;
        if head.live != 0 {
            return (key, false);
        }
        if head.is_alone() && self.kept < MAX_KEPT {
            self.kept += 1;
            return (key, true);
        }
        self.free(list.head, list);
        (key, list.head == NIL)
    }

    /// Clears a cell, and returns the work to do on its chunk.
    #[inline(always)]
    pub(crate) fn clear(&mut self, cell: CellAddr) -> Cleared {
        let chunk = self.slab.at_mut(cell.chunk());
        debug_assert!(chunk.live & 1 << cell.offset() != 0, "the cell is stale");
        chunk.live &= !(1 << cell.offset());
        let slot_index = chunk.slot_index;
        if chunk.is_alone() {
            return if chunk.live == 0 {
                self.emptied(slot_index)
            } else {
                Cleared::Done
            };
        }
        if should_merge(chunk.count()) {
            Cleared::Sparse { slot_index }
        } else {
            Cleared::Done
        }
    }

    #[inline]
    fn emptied(&mut self, slot_index: u16) -> Cleared {
        if self.kept == MAX_KEPT {
            return Cleared::EmptySurplus { slot_index };
        }
        self.kept += 1;
        Cleared::EmptyKept { slot_index }
    }

    /// Frees an empty chunk, or merges a chunk with a neighbour if either is sparse. `moved` is
    /// called with each key that moves and its new cell.
    pub(crate) fn free_or_merge(
        &mut self,
        chunk: u32,
        list: &mut ChunkList,
        moved: impl FnMut(u32, CellAddr),
    ) {
        let Chunk {
            live, prev, next, ..
        } = *self.at(chunk);
        if live == 0 {
            self.free(chunk, list);
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

    /// Of two chunks, moves the keys of the emptier into holes of the other, and frees the emptied
    /// chunk.
    fn merge(
        &mut self,
        one: u32,
        other: u32,
        list: &mut ChunkList,
        mut moved: impl FnMut(u32, CellAddr),
    ) {
        let swap = self.at(one).count() > self.at(other).count();
        let (from, into) = if swap { (other, one) } else { (one, other) };
        let from = self.remove(from, list);
        let target = self.slab.at_mut(into);
        for key in from.keys() {
            let offset = target.live.trailing_ones();
            target.live |= 1 << offset;
            target.cells[offset as usize] = key;
            moved(key, CellAddr::new(into, offset));
        }
        self.keep_cells(from.cells);
    }

    /// Frees a chunk that is empty.
    fn free(&mut self, chunk: u32, list: &mut ChunkList) {
        let cells = self.remove(chunk, list).cells;
        self.keep_cells(cells);
    }

    fn keep_cells(&mut self, cells: Cells) {
        if self.spare.len() < MAX_SPARE {
            self.spare.push(cells);
        }
    }

    /// Appends to a list a chunk that holds only `key`.
    #[cold]
    fn append(&mut self, list: &mut ChunkList, slot_index: u16, key: u32) -> CellAddr {
        let mut cells = self
            .spare
            .pop()
            .unwrap_or_else(|| Box::new([0; CELLS as usize]));
        cells[0] = key;
        let prev = list.tail;
        let chunk = self.slab.vacant_key();
        assert!(
            chunk < u32::MAX / CELLS,
            "a timing wheel has at most 2^32 cells"
        );
        self.slab.fill(
            chunk,
            Chunk {
                live: 1,
                prev,
                next: NIL,
                slot_index,
                cells,
            },
        );
        match prev {
            NIL => list.head = chunk,
            _ => self.slab.at_mut(prev).next = chunk,
        }
        list.tail = chunk;
        CellAddr::new(chunk, 0)
    }

    /// Takes a chunk out of its list.
    fn remove(&mut self, chunk: u32, list: &mut ChunkList) -> Chunk {
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

    /// The cells of a chunk that are in use, each with its key, in order.
    #[cfg(test)]
    pub(crate) fn cells(&self, chunk: u32) -> impl Iterator<Item = (CellAddr, u32)> {
        let Chunk { live, cells, .. } = self.at(chunk);
        offsets(*live).map(move |offset| (CellAddr::new(chunk, offset), cells[offset as usize]))
    }

    /// Frees the chunk that an empty slot has kept, if any.
    pub(crate) fn free_kept(&mut self, list: &mut ChunkList) {
        if list.head != NIL {
            self.kept -= 1;
            drop(self.remove(list.head, list));
        }
    }

    /// Frees memory that is not in use.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.spare = Vec::new();
        self.slab.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests;
