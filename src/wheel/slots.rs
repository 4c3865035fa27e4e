//! The slots of all levels. Slots hold keys only; entries are in `core.rs`.

use super::chunk_list::{CellAddr, Chunks, Cleared, NIL};
use super::level::{Level, Scale};
use super::slot::SlotId;

/// The levels that have been needed so far, lowest first, and the chunks in their slots.
#[derive(Clone)]
#[repr(C)]
pub(crate) struct Slots<const SLOTS: usize> {
    pub(crate) levels: Vec<Level<SLOTS>>,
    pub(crate) chunks: Chunks,
}

/// An occupied slot, and the tick at which it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) slot: SlotId,
    pub(crate) start: u64,
}

impl<const SLOTS: usize> Slots<SLOTS> {
    pub(crate) const fn new() -> Self {
        Self {
            levels: Vec::new(),
            chunks: Chunks::new(),
        }
    }

    /// Puts a key into a slot, and returns its cell.
    #[inline(always)]
    pub(crate) fn push(&mut self, slot: SlotId, key: u32) -> CellAddr {
        let level = match self.levels.get_mut(slot.level) {
            Some(level) => level,
            None => Self::add_levels(&mut self.levels, slot.level),
        };
        let list = &mut level.lists[slot.position];
        let (cell, was_empty) = self.chunks.push(list, slot.index::<SLOTS>(), key);
        if was_empty {
            level.occupied.set(slot.position);
        }
        cell
    }

    #[cold]
    fn add_levels(levels: &mut Vec<Level<SLOTS>>, highest: usize) -> &mut Level<SLOTS> {
        levels.resize_with(highest + 1, Level::new);
        &mut levels[highest]
    }

    /// Takes the key in a cell out of its slot. If that moves other keys, `moved` is called with
    /// each of them and its new cell.
    #[inline(always)]
    pub(crate) fn unlink(&mut self, cell: CellAddr, moved: impl FnMut(u32, CellAddr)) {
        match self.chunks.clear(cell) {
            Cleared::Done => {}
            Cleared::EmptyKept { slot_index } => {
                self.mark_empty(SlotId::from_index::<SLOTS>(slot_index));
            }
            Cleared::EmptySurplus { slot_index } => {
                let slot = SlotId::from_index::<SLOTS>(slot_index);
                self.mark_empty(slot);
                self.free_or_merge(slot, cell.chunk(), moved);
            }
            Cleared::Sparse { slot_index } => {
                let slot = SlotId::from_index::<SLOTS>(slot_index);
                self.free_or_merge(slot, cell.chunk(), moved);
            }
        }
    }

    #[inline]
    fn mark_empty(&mut self, slot: SlotId) {
        self.levels[slot.level].occupied.clear(slot.position);
    }

    #[inline(never)]
    fn free_or_merge(&mut self, slot: SlotId, chunk: u32, moved: impl FnMut(u32, CellAddr)) {
        let list = &mut self.levels[slot.level].lists[slot.position];
        self.chunks.free_or_merge(chunk, list, moved);
    }

    /// Takes the first key out of an occupied slot.
    #[inline]
    pub(crate) fn pop(&mut self, slot: SlotId) -> u32 {
        let level = &mut self.levels[slot.level];
        let list = &mut level.lists[slot.position];
        let (key, was_last) = self.chunks.pop(list);
        if was_last {
            level.occupied.clear(slot.position);
        }
        key
    }

    /// The [`index`](SlotId::index) of the slot that a cell is in.
    #[inline]
    pub(crate) fn slot_index(&self, cell: CellAddr) -> u16 {
        self.chunks.at(cell.chunk()).slot_index
    }

    /// The tick at which the slot that a cell is in starts, or has started.
    #[inline]
    pub(crate) fn start(&self, cell: CellAddr, now: u64) -> u64 {
        let slot = SlotId::from_index::<SLOTS>(self.slot_index(cell));
        Scale::<SLOTS>::start(slot, now)
    }

    #[inline]
    pub(crate) fn is_occupied(&self, slot: SlotId) -> bool {
        self.levels[slot.level].occupied.has(slot.position)
    }

    /// The occupied slot that starts first; if several start then, the slot on the highest
    /// level. All may hold entries of that tick, and those on a higher level were inserted
    /// earlier.
    #[inline]
    pub(crate) fn first(&self, now: u64) -> Option<Next> {
        let mut first: Option<Next> = None;
        for (level, start) in self.starts(now) {
            if first.is_none_or(|first| start <= first.start) {
                let slot = Scale::<SLOTS>::slot_at(start, level);
                first = Some(Next { slot, start });
            }
        }
        first
    }

    /// For every level that holds entries, the start of its first occupied slot.
    #[inline]
    pub(crate) fn starts(&self, now: u64) -> impl Iterator<Item = (usize, u64)> {
        self.used_levels().filter_map(move |level| {
            let occupied = self.levels[level].occupied;
            Some((level, Scale::<SLOTS>::first_start(occupied, level, now)?))
        })
    }

    /// The levels that hold entries, lowest first.
    #[inline]
    pub(crate) fn used_levels(&self) -> impl Iterator<Item = usize> {
        let levels = self.levels.iter().enumerate();
        levels.filter_map(|(at, level)| (!level.occupied.is_empty()).then_some(at))
    }

    /// The occupied slots of a level, in the order in which they start.
    pub(crate) fn occupied(&self, level: usize, now: u64) -> impl Iterator<Item = Next> {
        let mut left = self.levels[level].occupied;
        std::iter::from_fn(move || {
            let start = Scale::<SLOTS>::first_start(left, level, now)?;
            let slot = Scale::<SLOTS>::slot_at(start, level);
            left.clear(slot.position);
            Some(Next { slot, start })
        })
    }

    /// Keys in the first chunk of a slot, in order.
    #[inline]
    pub(crate) fn first_keys(&self, slot: SlotId) -> impl Iterator<Item = u32> {
        self.chunks
            .at(self.levels[slot.level].lists[slot.position].head)
            .keys()
    }

    /// Keys in a slot, in order.
    pub(crate) fn keys(&self, slot: SlotId) -> impl Iterator<Item = u32> {
        self.chunks_of(slot)
            .flat_map(|chunk| self.chunks.at(chunk).keys())
    }

    /// The cells of a slot that are in use, each with its key, in order.
    #[cfg(test)]
    pub(crate) fn cells(&self, slot: SlotId) -> impl Iterator<Item = (CellAddr, u32)> {
        self.chunks_of(slot)
            .flat_map(|chunk| self.chunks.cells(chunk))
    }

    /// The chunks of a slot, in order.
    pub(crate) fn chunks_of(&self, slot: SlotId) -> impl Iterator<Item = u32> {
        let head = self.levels[slot.level].lists[slot.position].head;
        let some = |chunk| (chunk != NIL).then_some(chunk);
        std::iter::successors(some(head), move |&chunk| some(self.chunks.at(chunk).next))
    }

    /// Frees the chunks kept in empty slots, the empty levels at the top, and all spare memory.
    pub(crate) fn shrink_to_fit(&mut self) {
        for level in &mut self.levels {
            for position in 0..SLOTS {
                if !level.occupied.has(position) {
                    self.chunks.free_kept(&mut level.lists[position]);
                }
            }
        }
        while self
            .levels
            .last()
            .is_some_and(|level| level.occupied.is_empty())
        {
            self.levels.pop();
        }
        self.levels.shrink_to_fit();
        self.chunks.shrink_to_fit();
    }

    /// All slots with their lists.
    #[cfg(test)]
    pub(crate) fn lists(&self) -> impl Iterator<Item = (SlotId, super::chunk_list::ChunkList)> {
        let levels = self.levels.iter().enumerate();
        levels.flat_map(|(level, ring)| {
            let lists = ring.lists.iter().enumerate();
            lists.map(move |(position, &list)| (SlotId { level, position }, list))
        })
    }
}
