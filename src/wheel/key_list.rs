//! The keys of the entries in one slot, as a vector of cells. Each cell holds a key or is a *hole*.
//!
//! Each entry knows the place of its key, so that the key can be removed in constant time.
//! **Removing a key leaves a hole**, because moving another key into its cell would mean telling
//! that key's entry about the new place. Entries are spread over memory, so that would usually be a
//! cache miss.
//!
//! Once there are many holes, later keys fill them. A long list in which more than half of the
//! cells are holes also becomes shorter: each removal moves a few keys from its end into holes.

use std::mem;

/// The content of a cell without a key. No entry has this key.
const HOLE: u32 = u32::MAX;

/// Maximum number of cells in a *short* list. A short list keeps its holes, and keeps its memory
/// when it is empty.
pub(super) const SHORT: usize = 128;

/// Maximum number of cells that one search for a hole reads, as many as a cache line holds.
const SEARCHED: usize = 16;

/// Maximum number of cells by which one removal shortens a sparse list.
const TAKEN_OFF: usize = 4;

/// A list of keys in no particular order.
#[derive(Clone, Debug)]
pub(crate) struct KeyList {
    cells: Vec<u32>,
    /// Number of cells that hold a key.
    len: u32,
    /// Index of the cell at which the next search for a hole begins.
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

    /// Adds a key and returns its place. Fills a hole if more than an eighth of the cells are
    /// holes.
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
            // Doubling, as `push` would, could leave half of a long list's memory unused.
            self.cells.reserve_exact(cells / 4);
        }
        self.cells.push(key);
        cells as u32
    }

    /// Puts a key into the cell at which the search begins, or into the first hole of the next few
    /// cells. Returns its place, or `None` if none of these cells is a hole.
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

    /// Removes the key at a place. Returns `true` if the list is now empty or sparse, so that the
    /// caller has to [clear](Self::clear) or [tidy](Self::tidy) it.
    #[inline(always)]
    pub(crate) fn remove(&mut self, at: u32) -> bool {
        self.cells[at as usize] = HOLE;
        self.len -= 1;
        let (cells, keys) = (self.cells.len(), self.len());
        keys == 0 || cells > SHORT && cells > 2 * keys
    }

    /// Takes at most `most` cells off the end of the list. Calls `taken` for each key in them, with
    /// the number of keys before it and the key. Returns the number of keys, which is 0 if all of
    /// these cells are holes.
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

    /// Clears a list that holds only holes. Moves its memory to `garbage` if the list was long.
    #[inline(always)]
    pub(crate) fn clear(&mut self, garbage: &mut Vec<Vec<u32>>) {
        self.cells.clear();
        if self.cells.capacity() > SHORT {
            garbage.push(mem::take(&mut self.cells));
        }
    }

    /// Makes a sparse list shorter. Calls `moved` with each key that moves and its new place.
    /// Returns memory that is no longer needed, for the caller to free outside of its lock.
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

    /// Removes the last few cells, and moves their keys into holes nearer to the start of the list.
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
