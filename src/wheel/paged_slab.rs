//! A slab that grows by pages.
//!
//! A full `slab::Slab` doubles its memory and copies every value, while the caller holds a lock: for
//! a million timers that takes milliseconds. A `PagedSlab` adds a page and copies nothing.
//!
//! A page in which few values are left gives its memory back. Those few, the *survivors*, move into
//! a map, and are found there under the keys that they have. Otherwise a timer of an hour would keep
//! the memory of a thousand that were armed beside it. The memory is garbage, which the caller takes,
//! and frees after the release of the lock.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are fewer than 2^32 pages, and fewer than 2^32 values in a page"
)]

use std::collections::BTreeMap;
use std::mem;

use slab::Slab;

/// Values of type `T` in pages of `2^BITS`. A key is the number of a page, then an index in that
/// page. The fields that each insert and removal touches come first.
#[repr(C)]
pub(crate) struct PagedSlab<T, const BITS: u32> {
    /// Values ever removed.
    pub(super) removed: u64,
    /// Values ever inserted, for the metrics. The length is this number less the values removed: two
    /// counters take no more writes than a length.
    pub(super) inserted: u64,
    /// The page that is filled, or [`NO_PAGE`].
    current: u32,
    pages: Vec<Slab<T>>,
    /// The other pages that are not full. Those that gave their memory back are among them.
    others: Vec<u32>,
    /// Pages that have memory, without the first.
    whole: usize,
    /// Values whose page gave its memory back, by key.
    survivors: BTreeMap<u32, T>,
    /// The capacity that the owner asked for. No page within this capacity gives its memory back.
    reserved: usize,
    /// The memory that pages gave back, for the owner to drop outside of its lock.
    pub(super) garbage: Vec<Slab<T>>,
}

/// Not the number of a page.
const NO_PAGE: u32 = u32::MAX;

impl<T: Clone, const BITS: u32> Clone for PagedSlab<T, BITS> {
    /// With as much memory.
    fn clone(&self) -> Self {
        let pages = self.pages.iter().map(|page| {
            let mut copy = page.clone();
            copy.reserve_exact(page.capacity() - page.len());
            copy
        });
        Self {
            pages: pages.collect(),
            others: self.others.clone(),
            survivors: self.survivors.clone(),
            garbage: Vec::new(),
            ..*self
        }
    }
}

impl<T, const BITS: u32> PagedSlab<T, BITS> {
    /// Values in a full page.
    pub(crate) const PAGE_LEN: usize = 1 << BITS;
    /// Without the page of the key [`u32::MAX`], which the lists of slots use for a hole.
    const MOST_PAGES: usize = (1 << (u32::BITS - BITS)) - 1;
    /// There is never room for more values.
    pub(crate) const MOST: usize = Self::MOST_PAGES * Self::PAGE_LEN;
    /// A page with so many values left gives its memory back.
    const FEW: usize = Self::PAGE_LEN / 128;

    /// No pages and no memory.
    pub(crate) const fn new() -> Self {
        Self {
            removed: 0,
            inserted: 0,
            current: NO_PAGE,
            pages: Vec::new(),
            others: Vec::new(),
            whole: 0,
            survivors: BTreeMap::new(),
            reserved: 0,
            garbage: Vec::new(),
        }
    }

    pub(crate) const fn len(&self) -> usize {
        (self.inserted - self.removed) as usize
    }

    /// Room for the next value. Panics when there is none.
    #[inline(always)]
    pub(crate) fn vacant(&mut self) -> Vacant<'_, T, BITS> {
        if self.current == NO_PAGE {
            self.open_page();
        }
        Vacant {
            page: &mut self.pages[self.current as usize],
            current: &mut self.current,
            inserted: &mut self.inserted,
        }
    }

    /// Removes and returns a value. Panics when there is none.
    #[inline(always)]
    pub(crate) fn remove(&mut self, key: u32) -> T {
        match self.remove_from_page(key) {
            Some(value) => value,
            None => self.remove_survivor(key),
        }
    }

    /// Removes and returns a value, unless there is none, or it has survived its page.
    #[inline(always)]
    pub(crate) fn remove_from_page(&mut self, key: u32) -> Option<T> {
        let (number, index) = Self::split(key);
        let page = &mut self.pages[number];
        let value = page.try_remove(index)?;
        let left = page.len();
        self.removed += 1;
        if left == Self::FEW || left + 1 == Self::PAGE_LEN {
            self.has_shrunk_to(left, number);
        }
        Some(value)
    }

    /// The page that is filled keeps its memory, also when empty: otherwise an insert and a removal
    /// at the end of a page would allocate and free each time.
    fn has_shrunk_to(&mut self, left: usize, number: usize) {
        if left + 1 == Self::PAGE_LEN {
            self.others.push(number as u32);
        } else if number as u32 != self.current && self.capacity() >= self.reserved + Self::PAGE_LEN
        {
            self.give_back(number);
        }
    }

    /// Moves the values of a page to the survivors; its memory is garbage.
    fn give_back(&mut self, number: usize) {
        let mut page = mem::take(&mut self.pages[number]);
        self.whole -= usize::from(number != 0);
        let left = (0..page.capacity()).filter_map(|index| {
            let value = page.try_remove(index)?;
            Some((Self::join(number, index), value))
        });
        self.survivors.extend(left);
        self.garbage.push(page);
    }

    #[inline]
    pub(crate) fn get(&self, key: u32) -> Option<&T> {
        let (number, index) = Self::split(key);
        let value = self.pages.get(number)?.get(index);
        value.or_else(|| self.survivor(key))
    }

    /// The value under a key, unless there is none, or it has survived its page.
    #[inline(always)]
    pub(crate) fn in_page_mut(&mut self, key: u32) -> Option<&mut T> {
        let (number, index) = Self::split(key);
        self.pages.get_mut(number)?.get_mut(index)
    }

    #[cold]
    #[inline(never)]
    fn survivor(&self, key: u32) -> Option<&T> {
        self.survivors.get(&key)
    }

    #[cold]
    #[inline(never)]
    fn survivor_mut(survivors: &mut BTreeMap<u32, T>, key: u32) -> Option<&mut T> {
        survivors.get_mut(&key)
    }

    #[cold]
    #[inline(never)]
    fn remove_survivor(&mut self, key: u32) -> T {
        self.removed += 1;
        self.survivors.remove(&key).expect(NO_VALUE)
    }

    /// The value under a key. Panics when there is none.
    #[inline]
    pub(crate) fn at(&self, key: u32) -> &T {
        self.get(key).expect(NO_VALUE)
    }

    /// The value under a key. Panics when there is none.
    #[inline]
    pub(crate) fn at_mut(&mut self, key: u32) -> &mut T {
        let (number, index) = Self::split(key);
        match self.pages[number].get_mut(index) {
            Some(value) => value,
            None => Self::survivor_mut(&mut self.survivors, key).expect(NO_VALUE),
        }
    }

    /// How many values there is memory for. In constant time: only the first page may be smaller
    /// than the others.
    pub(crate) fn capacity(&self) -> usize {
        let first = self.pages.first().map_or(0, Slab::capacity);
        first + self.whole * Self::PAGE_LEN + self.survivors.len()
    }

    /// Allocates memory for `additional` more values, which is kept until `shrink_to_fit`.
    pub(crate) fn reserve(&mut self, additional: usize) {
        let wanted = self.len().saturating_add(additional);
        self.reserved = self.reserved.max(wanted);
        if wanted > self.len() && self.pages.len() <= 1 {
            // A small wheel stays small: its only page grows as far as it has to.
            if self.current == NO_PAGE {
                self.open_page();
            }
            let first = &mut self.pages[0];
            first.reserve_exact(wanted.min(Self::PAGE_LEN).saturating_sub(first.len()));
        }
        while self.capacity() < wanted {
            let number = self.add_page();
            self.furnish(number);
            self.others.push(number as u32);
        }
    }

    /// Frees every page that holds few values.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.reserved = 0;
        self.others
            .extend((self.current != NO_PAGE).then_some(self.current));
        self.current = NO_PAGE;
        for number in 0..self.pages.len() {
            let few = if number == 0 { 0 } else { Self::FEW };
            if self.pages[number].capacity() > 0 && self.pages[number].len() <= few {
                self.give_back(number);
            }
        }
        self.garbage = Vec::new();
        self.forget_last_pages();
        if let [only] = &mut self.pages[..] {
            only.shrink_to_fit();
        }
    }

    /// Forgets pages without memory and survivors, from the last on.
    fn forget_last_pages(&mut self) {
        let survivor = self.survivors.last_key_value();
        let known = survivor.map_or(0, |(&key, _)| Self::split(key).0 + 1);
        while self.pages.len() > known && self.pages.last().is_some_and(Slab::is_empty) {
            self.pages.pop();
        }
        let known = self.pages.len() as u32;
        self.pages.shrink_to_fit();
        self.others.retain(|&number| number < known);
        self.others.shrink_to_fit();
    }

    const fn split(key: u32) -> (usize, usize) {
        ((key >> BITS) as usize, key as usize & (Self::PAGE_LEN - 1))
    }

    const fn join(number: usize, index: usize) -> u32 {
        (number << BITS | index) as u32
    }

    /// Finds a page to be filled, or adds another.
    #[cold]
    fn open_page(&mut self) {
        let number = self.others.pop().map(|number| number as usize);
        let number = number.unwrap_or_else(|| self.add_page());
        if self.pages[number].capacity() == 0 {
            self.furnish(number);
        }
        self.current = number as u32;
    }

    fn add_page(&mut self) -> usize {
        assert!(
            self.pages.len() < Self::MOST_PAGES,
            "a timing wheel holds fewer than 2^32 entries"
        );
        self.pages.push(Slab::new());
        self.pages.len() - 1
    }

    /// Gives a page memory, and the values of the page that have survived.
    fn furnish(&mut self, number: usize) {
        let keys = Self::join(number, 0)..=Self::join(number, Self::PAGE_LEN - 1);
        let keys: Vec<u32> = self.survivors.range(keys).map(|(&key, _)| key).collect();
        let values = keys.into_iter().map(|key| {
            let value = self.survivors.remove(&key).expect(NO_VALUE);
            (Self::split(key).1, value)
        });
        let mut page: Slab<T> = values.collect();
        // The first page grows by doubling instead, so that a small wheel is small.
        if number != 0 {
            page.reserve_exact(Self::PAGE_LEN - page.len());
            self.whole += 1;
        }
        self.pages[number] = page;
    }
}

/// Room for a value, whose key is known before the value.
pub(crate) struct Vacant<'a, T, const BITS: u32> {
    page: &'a mut Slab<T>,
    current: &'a mut u32,
    inserted: &'a mut u64,
}

impl<T, const BITS: u32> Vacant<'_, T, BITS> {
    #[inline(always)]
    pub(crate) fn key(&self) -> u32 {
        *self.current << BITS | self.page.vacant_key() as u32
    }

    #[inline(always)]
    pub(crate) fn fill(self, value: T) {
        self.page.insert(value);
        *self.inserted += 1;
        if self.page.len() == 1 << BITS {
            *self.current = NO_PAGE;
        }
    }
}

const NO_VALUE: &str = "a key of a value";

mod iter;
#[cfg(test)]
mod tests;

pub(crate) use iter::{IntoIter, Iter, IterMut};
