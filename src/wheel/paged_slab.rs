//! A slab that grows by pages and never moves its values.
//!
//! A full `slab::Slab` doubles its memory and copies every value, while the caller holds a lock: for
//! a million timers that takes milliseconds. A `PagedSlab` adds a page and copies nothing. An empty
//! page becomes garbage, which the caller takes, and frees after the release of the lock.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are fewer than 2^32 pages, and fewer than 2^32 values in a page"
)]

use slab::Slab;

/// Values of type `T` in pages of `2^BITS`. A key is the number of a page, then an index in that
/// page.
///
/// The first page is part of the struct: a small wheel is read without a hop. The fields that each
/// insert and removal touches come first, in this order, on few lines of memory.
#[derive(Clone)]
#[repr(C)]
pub(crate) struct PagedSlab<T, const BITS: u32> {
    /// Values ever removed.
    removed: u64,
    /// The page that is filled: the last of `available`, or [`NO_PAGE`].
    current: u32,
    /// Whether `garbage` holds anything.
    has_garbage: bool,
    /// Page 0.
    first: Page<T>,
    /// Values ever inserted, for the metrics. The length is this number less the values removed: two
    /// counters take no more writes than a length.
    inserted: u64,
    /// Pages 1 and up.
    rest: Vec<Page<T>>,
    /// Pages that have memory and are not full. The last page in this list is filled first.
    available: Vec<u32>,
    /// Pages without memory. Their numbers are used again.
    retired: Vec<u32>,
    /// How many pages have been opened and not forgotten.
    known: u32,
    /// How many pages have memory and hold nothing.
    empty: usize,
    /// The capacity that the owner asked for. No page within this capacity is retired.
    reserved: usize,
    garbage: Vec<Slab<T>>,
}

/// Not the number of a page.
const NO_PAGE: u32 = u32::MAX;

#[repr(C)]
pub(crate) struct Page<T> {
    slab: Slab<T>,
    /// Position in `available`. Stale while the page is full or retired.
    position: u32,
}

impl<T> Page<T> {
    const fn new() -> Self {
        Page {
            slab: Slab::new(),
            position: 0,
        }
    }
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
    /// Without the page of the key [`u32::MAX`], which the lists of slots use for a hole.
    const MOST_PAGES: usize = (1 << (u32::BITS - BITS)) - 1;

    /// No pages and no memory.
    pub(crate) const fn new() -> Self {
        Self {
            removed: 0,
            current: NO_PAGE,
            has_garbage: false,
            first: Page::new(),
            inserted: 0,
            rest: Vec::new(),
            available: Vec::new(),
            retired: Vec::new(),
            known: 0,
            empty: 0,
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

    /// The key of the next value. Panics when there are 2^32 already.
    #[inline(always)]
    pub(crate) fn vacant_key(&mut self) -> u32 {
        if self.current == NO_PAGE {
            self.open_page();
        }
        let number = self.current;
        number << BITS | self.page(number as usize).slab.vacant_key() as u32
    }

    /// Stores a value under the [`vacant_key`](Self::vacant_key).
    #[inline(always)]
    pub(crate) fn fill(&mut self, key: u32, value: T) {
        let (number, _) = Self::split(key);
        let slab = &mut self.page_mut(number).slab;
        slab.insert(value);
        let len = slab.len();
        self.inserted += 1;
        if len == 1 || len == Self::PAGE_LEN {
            self.has_grown_to(len);
        }
    }

    fn has_grown_to(&mut self, len: usize) {
        if len == 1 {
            self.empty -= 1;
        } else {
            self.available.pop();
            self.choose_current();
        }
    }

    /// Removes and returns a value. Panics when there is none.
    #[inline(always)]
    pub(crate) fn remove(&mut self, key: u32) -> T {
        let (number, index) = Self::split(key);
        let slab = &mut self.page_mut(number).slab;
        let value = slab.remove(index);
        let left = slab.len();
        self.removed += 1;
        if left == 0 || left + 1 == Self::PAGE_LEN {
            self.has_shrunk_to(left, number);
        }
        value
    }

    fn has_shrunk_to(&mut self, left: usize, number: usize) {
        if left == 0 {
            self.emptied(number);
        } else {
            self.make_available(number);
        }
    }

    #[inline(always)]
    fn page(&self, number: usize) -> &Page<T> {
        match number.checked_sub(1) {
            None => &self.first,
            Some(of_rest) => &self.rest[of_rest],
        }
    }

    #[inline(always)]
    fn page_mut(&mut self, number: usize) -> &mut Page<T> {
        match number.checked_sub(1) {
            None => &mut self.first,
            Some(of_rest) => &mut self.rest[of_rest],
        }
    }

    /// To be called when the end of `available` has changed.
    fn choose_current(&mut self) {
        self.current = self.available.last().copied().unwrap_or(NO_PAGE);
    }

    #[inline]
    pub(crate) fn get(&self, key: u32) -> Option<&T> {
        let (number, index) = Self::split(key);
        let page = match number.checked_sub(1) {
            None => &self.first,
            Some(of_rest) => self.rest.get(of_rest)?,
        };
        page.slab.get(index)
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, key: u32) -> Option<&mut T> {
        let (number, index) = Self::split(key);
        let page = match number.checked_sub(1) {
            None => &mut self.first,
            Some(of_rest) => self.rest.get_mut(of_rest)?,
        };
        page.slab.get_mut(index)
    }

    /// The value under a key. Panics when there is none.
    #[inline]
    pub(crate) fn at(&self, key: u32) -> &T {
        let (number, index) = Self::split(key);
        &self.page(number).slab[index]
    }

    /// The value under a key. Panics when there is none.
    #[inline]
    pub(crate) fn at_mut(&mut self, key: u32) -> &mut T {
        let (number, index) = Self::split(key);
        &mut self.page_mut(number).slab[index]
    }

    /// How many values there is memory for. In constant time: only the first page may be smaller
    /// than the others.
    pub(crate) fn capacity(&self) -> usize {
        let first = self.first.slab.capacity();
        let in_use = self.known as usize - self.retired.len();
        let others = in_use - usize::from(first != 0);
        first + others * Self::PAGE_LEN
    }

    /// Allocates memory for `additional` more values, which is kept until `shrink_to_fit`.
    pub(crate) fn reserve(&mut self, additional: usize) {
        let wanted = self.len().saturating_add(additional);
        self.reserved = self.reserved.max(wanted);
        if wanted <= Self::PAGE_LEN && self.known <= 1 {
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
        for number in 0..self.known as usize {
            if self.has_memory(number) && self.page(number).slab.is_empty() {
                self.retire(number);
            }
        }
        drop(self.take_garbage());
        self.forget_last_pages();
        if self.known == 1 {
            self.first.slab.shrink_to_fit();
        }
    }

    /// The memory of retired pages, for the owner to drop outside of its lock.
    #[inline]
    pub(crate) fn take_garbage(&mut self) -> Vec<Slab<T>> {
        self.has_garbage = false;
        std::mem::take(&mut self.garbage)
    }

    #[inline]
    pub(crate) const fn has_garbage(&self) -> bool {
        self.has_garbage
    }

    #[inline]
    const fn split(key: u32) -> (usize, usize) {
        ((key >> BITS) as usize, key as usize & (Self::PAGE_LEN - 1))
    }

    const fn join(number: usize, index: usize) -> u32 {
        (number << BITS | index) as u32
    }

    fn has_memory(&self, number: usize) -> bool {
        self.page(number).slab.capacity() != 0
    }

    /// Allocates another page, which is filled next.
    #[cold]
    fn open_page(&mut self) -> u32 {
        let number = self
            .retired
            .pop()
            .map_or_else(|| self.add_page(), |number| number as usize);
        if number != 0 {
            // The first page grows by doubling instead, so that a small wheel is small.
            self.page_mut(number).slab = Slab::with_capacity(Self::PAGE_LEN);
        }
        self.empty += 1;
        self.make_available(number);
        number as u32
    }

    fn add_page(&mut self) -> usize {
        let number = self.known as usize;
        assert!(
            number < Self::MOST_PAGES,
            "a timing wheel holds fewer than 2^32 entries"
        );
        if number != 0 {
            self.rest.push(Page::new());
        }
        self.known += 1;
        number
    }

    /// Notes that a page is not full. This page is filled next, while in the cache.
    fn make_available(&mut self, number: usize) {
        self.page_mut(number).position = self.available.len() as u32;
        self.available.push(number as u32);
        self.choose_current();
    }

    #[inline]
    fn emptied(&mut self, number: usize) {
        self.empty += 1;
        if self.empty > 1 {
            self.retire_surplus(number);
        }
    }

    /// An empty page is kept: otherwise an insert and a removal at the end of a page would allocate
    /// and free each time. A second empty page is retired.
    #[cold]
    fn retire_surplus(&mut self, number: usize) {
        let in_use = self.known as usize - self.retired.len();
        if (in_use - 1) * Self::PAGE_LEN >= self.reserved {
            self.retire(number);
        }
    }

    fn retire(&mut self, number: usize) {
        self.remove_from_available(number);
        self.empty -= 1;
        self.retired.push(number as u32);
        let slab = std::mem::take(&mut self.page_mut(number).slab);
        self.garbage.push(slab);
        self.has_garbage = true;
    }

    fn remove_from_available(&mut self, number: usize) {
        let position = self.page(number).position;
        self.available.swap_remove(position as usize);
        if let Some(&mover) = self.available.get(position as usize) {
            self.page_mut(mover as usize).position = position;
        }
        self.choose_current();
    }

    /// Forgets the retired pages that have the highest numbers.
    fn forget_last_pages(&mut self) {
        while self.known > 0 && !self.has_memory(self.known as usize - 1) {
            self.known -= 1;
            self.rest.pop();
        }
        let known = self.known;
        self.retired.retain(|&number| number < known);
        self.rest.shrink_to_fit();
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
        let slab = &mut self.first.slab;
        slab.reserve_exact(wanted - slab.len());
    }

    /// Grows the first page to the length of the others.
    fn widen_first(&mut self) {
        let slab = &mut self.first.slab;
        if slab.capacity() != 0 && slab.capacity() < Self::PAGE_LEN {
            slab.reserve_exact(Self::PAGE_LEN - slab.len());
        }
    }

    /// Allocates another page, which is filled after all others.
    fn open_page_last(&mut self) {
        let number = self.open_page() as usize;
        if number == 0 {
            self.first.slab.reserve_exact(Self::PAGE_LEN);
        }
        let last = self.available.len() - 1;
        self.available.swap(0, last);
        for position in [0, last] {
            let number = self.available[position] as usize;
            self.page_mut(number).position = position as u32;
        }
        self.choose_current();
    }

    /// Panics unless the counts, the stack of available pages and the pages agree.
    #[cfg(test)]
    pub(crate) fn check(&self) {
        let held: usize = self.all_pages().map(|page| page.slab.len()).sum();
        assert_eq!(held, self.len(), "entries counted and held");
        let memory: usize = self.all_pages().map(|page| page.slab.capacity()).sum();
        assert_eq!(memory, self.capacity(), "capacity counted and there");
        for (position, &number) in self.available.iter().enumerate() {
            let page = self.page(number as usize);
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
            .all_pages()
            .filter(|page| page.slab.len() == Self::PAGE_LEN)
            .count();
        assert_eq!(
            full + self.available.len() + self.retired.len(),
            self.known as usize,
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
            .filter(|&&number| self.page(number as usize).slab.is_empty())
            .count();
        assert_eq!(empty, self.empty, "empty pages");
        let last = self.available.last().copied();
        assert_eq!(last.unwrap_or(NO_PAGE), self.current, "the page to fill");
        let rest = self.known.saturating_sub(1) as usize;
        assert_eq!(rest, self.rest.len(), "known pages");
    }
}

mod iter;
#[cfg(test)]
mod tests;

pub(crate) use iter::{IntoIter, Iter, IterMut};
