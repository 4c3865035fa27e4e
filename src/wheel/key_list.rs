//! The keys of the entries in a slot: a vector of cells, each a key or a hole.
//!
//! A key that is removed leaves a hole behind, so that no other entry has to be told of a new place:
//! entries lie anywhere in memory, and each is a cache miss. Later keys fill the holes once there
//! are many. A long list in which half of the cells are holes becomes shorter by a few cells with
//! each removal.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are fewer than 2^32 entries"
)]

use std::mem;

/// A cell without a key. No entry has this key.
const HOLE: u32 = u32::MAX;

/// A list of no more cells than this is short: it keeps its holes, and its memory when empty.
pub(super) const SHORT: usize = 128;

/// A search for a hole reads so many cells at most: a line of memory.
const SEARCHED: usize = 16;

/// A removal from a sparse list takes so many cells off the end of the list at most.
const TAKEN_OFF: usize = 4;

/// Keys in no particular order.
#[derive(Clone, Debug)]
pub(crate) struct KeyList {
    cells: Vec<u32>,
    /// How many cells hold a key.
    len: u32,
    /// The cell at which the next search for a hole begins.
    search: u32,
}

impl KeyList {
    pub(crate) const EMPTY: Self = Self {
        cells: Vec::new(),
        len: 0,
        search: 0,
    };

    pub(crate) const fn len(&self) -> usize {
        self.len as usize
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = u32> {
        self.cells.iter().copied().filter(|&key| key != HOLE)
    }

    /// Adds a key, and returns its place.
    #[inline(always)]
    pub(crate) fn push(&mut self, key: u32) -> u32 {
        let holes = self.cells.len() - self.len();
        self.len += 1;
        if holes > self.cells.len() / 8 {
            if let Some(at) = self.fill_hole(key) {
                return at;
            }
        }
        let cells = self.cells.len();
        if cells == self.cells.capacity() && cells >= SHORT {
            // Twice the room would take more memory than the entries' deadlines.
            self.cells.reserve_exact(cells / 4);
        }
        self.cells.push(key);
        cells as u32
    }

    /// Puts a key into the hole after the one that was filled last, or into a hole in the next few
    /// cells.
    #[inline(always)]
    fn fill_hole(&mut self, key: u32) -> Option<u32> {
        let at = self.search;
        match self.cells.get_mut(at as usize) {
            Some(cell) if *cell == HOLE => *cell = key,
            _ => return self.search_for_hole(key),
        }
        self.search += 1;
        Some(at)
    }

    #[inline(never)]
    fn search_for_hole(&mut self, key: u32) -> Option<u32> {
        if self.search as usize >= self.cells.len() {
            self.search = 0;
        }
        let begin = self.search;
        let cells = self.cells[begin as usize..].iter_mut().take(SEARCHED);
        let Some((cell, at)) = cells.zip(begin..).find(|(cell, _)| **cell == HOLE) else {
            self.search += SEARCHED as u32;
            return None;
        };
        *cell = key;
        self.search = at + 1;
        Some(at)
    }

    /// Removes the key at a place. Returns whether the list is to be [tidied](Self::tidy) then.
    #[inline(always)]
    pub(crate) fn remove(&mut self, at: u32) -> bool {
        self.cells[at as usize] = HOLE;
        self.len -= 1;
        let (cells, keys) = (self.cells.len(), self.len());
        keys == 0 || cells > SHORT && cells > 2 * keys
    }

    /// Takes at most `most` cells off the end of the list. Calls `taken` with each key that they held,
    /// and how many came before. Returns how many keys that are: none where there are only holes.
    #[inline(always)]
    pub(crate) fn take(&mut self, most: usize, mut taken: impl FnMut(usize, u32)) -> usize {
        let left = self.cells.len() - most.min(self.cells.len());
        let mut count = 0;
        for &key in self.cells[left..].iter().rev() {
            if key != HOLE {
                taken(count, key);
                count += 1;
            }
        }
        self.cells.truncate(left);
        self.len -= count as u32;
        count
    }

    /// Takes the holes out of an empty list. Its memory is garbage if that is long.
    #[inline(always)]
    pub(crate) fn clear(&mut self, garbage: &mut Vec<Vec<u32>>) {
        self.cells.clear();
        if self.cells.capacity() > SHORT {
            garbage.push(mem::take(&mut self.cells));
        }
    }

    /// Makes a sparse list shorter. `moved` is called with each key that gets another place, and that
    /// place. Returns memory that is not needed any more.
    #[inline(never)]
    pub(crate) fn tidy(&mut self, moved: impl FnMut(u32, u32)) -> Option<Vec<u32>> {
        self.shorten(moved);
        let needed = self.cells.len() + self.cells.len() / 4;
        (self.cells.capacity() > 2 * needed).then(|| {
            let mut cells = Vec::with_capacity(needed);
            cells.extend_from_slice(&self.cells);
            mem::replace(&mut self.cells, cells)
        })
    }

    /// Moves keys from the end of the list into holes before them.
    fn shorten(&mut self, mut moved: impl FnMut(u32, u32)) {
        for _ in 0..TAKEN_OFF {
            let Some(key) = self.cells.pop() else { return };
            if key == HOLE {
                continue;
            }
            match self.fill_hole(key) {
                Some(at) => moved(key, at),
                None => self.cells.push(key),
            }
        }
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.cells.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests;
