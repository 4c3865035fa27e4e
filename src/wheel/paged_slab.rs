//! A slab that grows by pages and never moves what it holds.
//!
//! A full `slab::Slab` doubles its memory and copies every value, while the caller holds a lock: for
//! a million timers that takes milliseconds. A `PagedSlab` adds a page and copies nothing. An empty
//! page becomes garbage: the caller takes it and frees it after it has released the lock.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are fewer than 2^32 pages, and fewer than 2^32 values in a page"
)]

use slab::Slab;

/// Values of type `T` in pages of `2^BITS`. A key is the number of a page, then an index in it.
#[derive(Clone)]
pub(crate) struct PagedSlab<T, const BITS: u32> {
    pages: Vec<Page<T>>,
    /// Pages that have memory and are not full. The last one is filled first.
    available: Vec<u32>,
    /// Pages without memory. Their numbers are used again.
    retired: Vec<u32>,
    /// How many pages have memory and hold nothing.
    empty: usize,
    /// Values ever inserted and ever removed, for the metrics. Their difference is the length, so
    /// counting them takes no more writes than a length would.
    inserted: u64,
    removed: u64,
    /// The capacity that the owner asked for. No page is retired that it needs.
    reserved: usize,
    garbage: Vec<Slab<T>>,
}

pub(crate) struct Page<T> {
    slab: Slab<T>,
    /// Position in `available`. Stale while the page is full or retired.
    position: u32,
}

impl<T: Clone> Clone for Page<T> {
    /// With as much memory: all pages but the first have room for `PAGE_LEN`.
    fn clone(&self) -> Self {
        let mut slab = self.slab.clone();
        slab.reserve_exact(self.slab.capacity() - slab.len());
        Page {
            slab,
            position: self.position,
        }
    }
}

impl<T, const BITS: u32> PagedSlab<T, BITS> {
    /// Values in a full page.
    pub(crate) const PAGE_LEN: usize = 1 << BITS;
    const MOST_PAGES: usize = 1 << (u32::BITS - BITS);

    /// No pages and no memory.
    pub(crate) const fn new() -> Self {
        Self {
            pages: Vec::new(),
            available: Vec::new(),
            retired: Vec::new(),
            empty: 0,
            inserted: 0,
            removed: 0,
            reserved: 0,
            garbage: Vec::new(),
        }
    }

    pub(crate) const fn len(&self) -> usize {
        (self.inserted - self.removed) as usize
    }

    /// Values ever inserted.
    pub(crate) const fn inserted(&self) -> u64 {
        self.inserted
    }

    /// Values ever removed.
    pub(crate) const fn removed(&self) -> u64 {
        self.removed
    }

    /// Stores the value that `value` makes from its key. Panics when there are 2^32 already.
    #[inline]
    pub(crate) fn insert_with(&mut self, value: impl FnOnce(u32) -> T) -> u32 {
        let number = match self.available.last() {
            Some(&number) => number,
            None => self.open_page(),
        };
        let slab = &mut self.pages[number as usize].slab;
        let vacant = slab.vacant_entry();
        let key = number << BITS | vacant.key() as u32;
        vacant.insert(value(key));
        self.inserted += 1;
        match slab.len() {
            1 => self.empty -= 1,
            full if full == Self::PAGE_LEN => _ = self.available.pop(),
            _ => {}
        }
        key
    }

    /// Removes a value and returns it. Panics when there is none.
    #[inline]
    pub(crate) fn remove(&mut self, key: u32) -> T {
        let (number, index) = Self::split(key);
        let slab = &mut self.pages[number].slab;
        let value = slab.remove(index);
        self.removed += 1;
        match slab.len() {
            0 => self.emptied(number),
            left if left + 1 == Self::PAGE_LEN => self.make_available(number),
            _ => {}
        }
        value
    }

    #[inline]
    pub(crate) fn get(&self, key: u32) -> Option<&T> {
        let (number, index) = Self::split(key);
        self.pages.get(number)?.slab.get(index)
    }

    /// The value under a key. Panics when there is none.
    #[inline]
    pub(crate) fn at(&self, key: u32) -> &T {
        let (number, index) = Self::split(key);
        &self.pages[number].slab[index]
    }

    /// The value under a key. Panics when there is none.
    #[inline]
    pub(crate) fn at_mut(&mut self, key: u32) -> &mut T {
        let (number, index) = Self::split(key);
        &mut self.pages[number].slab[index]
    }

    /// How many values there is memory for. In constant time: only the first page may be smaller
    /// than the others.
    pub(crate) fn capacity(&self) -> usize {
        let first = self.pages.first().map_or(0, |page| page.slab.capacity());
        let in_use = self.pages.len() - self.retired.len();
        let others = in_use - usize::from(first != 0);
        first + others * Self::PAGE_LEN
    }

    /// Allocates memory for `additional` more values, and keeps it until `shrink_to_fit`.
    pub(crate) fn reserve(&mut self, additional: usize) {
        let wanted = self.len().saturating_add(additional);
        self.reserved = self.reserved.max(wanted);
        if wanted <= Self::PAGE_LEN && self.pages.len() <= 1 {
            return self.reserve_small(wanted);
        }
        self.widen_first();
        let missing = wanted.saturating_sub(self.capacity());
        for _ in 0..missing.div_ceil(Self::PAGE_LEN) {
            self.open_page_last();
        }
    }

    /// Frees every page that holds nothing.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.reserved = 0;
        for number in 0..self.pages.len() {
            if self.has_memory(number) && self.pages[number].slab.is_empty() {
                self.retire(number);
            }
        }
        self.garbage = Vec::new();
        self.forget_last_pages();
        if let [only] = &mut self.pages[..] {
            only.slab.shrink_to_fit();
        }
    }

    /// The memory of retired pages, for the owner to drop outside of its lock.
    #[inline]
    pub(crate) fn take_garbage(&mut self) -> Vec<Slab<T>> {
        std::mem::take(&mut self.garbage)
    }

    #[inline]
    pub(crate) fn has_garbage(&self) -> bool {
        !self.garbage.is_empty()
    }

    #[inline]
    const fn split(key: u32) -> (usize, usize) {
        ((key >> BITS) as usize, key as usize & (Self::PAGE_LEN - 1))
    }

    const fn join(number: usize, index: usize) -> u32 {
        (number << BITS | index) as u32
    }

    fn has_memory(&self, number: usize) -> bool {
        self.pages[number].slab.capacity() != 0
    }

    /// Allocates one more page, which is filled next.
    #[cold]
    fn open_page(&mut self) -> u32 {
        let number = self
            .retired
            .pop()
            .map_or_else(|| self.add_page(), |number| number as usize);
        if number != 0 {
            // The first page grows by doubling instead, so that a small wheel is small.
            self.pages[number].slab = Slab::with_capacity(Self::PAGE_LEN);
        }
        self.empty += 1;
        self.make_available(number);
        number as u32
    }

    fn add_page(&mut self) -> usize {
        let number = self.pages.len();
        assert!(
            number < Self::MOST_PAGES,
            "a timing wheel holds at most 2^32 entries"
        );
        self.pages.push(Page {
            slab: Slab::new(),
            position: 0,
        });
        number
    }

    /// Notes that a page is not full. It is filled next, while it is in the cache.
    fn make_available(&mut self, number: usize) {
        self.pages[number].position = self.available.len() as u32;
        self.available.push(number as u32);
    }

    #[inline]
    fn emptied(&mut self, number: usize) {
        self.empty += 1;
        if self.empty > 1 {
            self.retire_surplus(number);
        }
    }

    /// One empty page is kept: without it, an insert and a remove at the end of a page would
    /// allocate and free each time. A second empty page is retired.
    #[cold]
    fn retire_surplus(&mut self, number: usize) {
        let in_use = self.pages.len() - self.retired.len();
        if (in_use - 1) * Self::PAGE_LEN >= self.reserved {
            self.retire(number);
        }
    }

    fn retire(&mut self, number: usize) {
        self.remove_from_available(number);
        self.empty -= 1;
        self.retired.push(number as u32);
        let slab = std::mem::take(&mut self.pages[number].slab);
        self.garbage.push(slab);
    }

    fn remove_from_available(&mut self, number: usize) {
        let position = self.pages[number].position;
        self.available.swap_remove(position as usize);
        if let Some(&mover) = self.available.get(position as usize) {
            self.pages[mover as usize].position = position;
        }
    }

    /// Forgets the retired pages that have the highest numbers.
    fn forget_last_pages(&mut self) {
        while !self.pages.is_empty() && !self.has_memory(self.pages.len() - 1) {
            self.pages.pop();
        }
        let known = self.pages.len();
        self.retired.retain(|&number| (number as usize) < known);
        self.pages.shrink_to_fit();
        self.available.shrink_to_fit();
        self.retired.shrink_to_fit();
    }

    fn reserve_small(&mut self, wanted: usize) {
        if wanted == 0 {
            return;
        }
        if self.available.is_empty() && self.len() == 0 {
            self.open_page();
        }
        let slab = &mut self.pages[0].slab;
        slab.reserve_exact(wanted - slab.len());
    }

    /// Grows the first page to the length of the others.
    fn widen_first(&mut self) {
        if let Some(first) = self.pages.first_mut() {
            if first.slab.capacity() != 0 && first.slab.capacity() < Self::PAGE_LEN {
                first.slab.reserve_exact(Self::PAGE_LEN - first.slab.len());
            }
        }
    }

    /// Allocates one more page, which is filled after all others.
    fn open_page_last(&mut self) {
        let number = self.open_page() as usize;
        if number == 0 {
            self.pages[0].slab.reserve_exact(Self::PAGE_LEN);
        }
        let last = self.available.len() - 1;
        self.available.swap(0, last);
        for position in [0, last] {
            self.pages[self.available[position] as usize].position = position as u32;
        }
    }

    /// Panics unless the counts, the stack of available pages and the pages agree.
    #[cfg(test)]
    pub(crate) fn check(&self) {
        let held: usize = self.pages.iter().map(|page| page.slab.len()).sum();
        assert_eq!(held, self.len(), "entries counted and held");
        let memory: usize = self.pages.iter().map(|page| page.slab.capacity()).sum();
        assert_eq!(memory, self.capacity(), "capacity counted and there");
        for (position, &number) in self.available.iter().enumerate() {
            let page = &self.pages[number as usize];
            assert_eq!(
                page.position as usize, position,
                "position of page {number}"
            );
            assert!(
                page.slab.len() < Self::PAGE_LEN,
                "page {number} is full and in `available`"
            );
        }
        let full = self
            .pages
            .iter()
            .filter(|page| page.slab.len() == Self::PAGE_LEN)
            .count();
        assert_eq!(
            full + self.available.len() + self.retired.len(),
            self.pages.len(),
            "pages of each kind"
        );
        assert!(
            self.retired
                .iter()
                .all(|&number| !self.has_memory(number as usize)),
            "a retired page has memory"
        );
        let empty = self
            .available
            .iter()
            .filter(|&&number| self.pages[number as usize].slab.is_empty())
            .count();
        assert_eq!(empty, self.empty, "empty pages");
    }
}

mod iter;
#[cfg(test)]
mod tests;

pub(crate) use iter::{IntoIter, Iter, IterMut};
