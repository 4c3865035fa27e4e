//! A slab that grows by pages and gives memory back.
//!
//! **Growing copies at most the first page.** A full `slab::Slab` doubles its memory and copies
//! every value, which takes milliseconds for a million timers, all within one critical section. A
//! `PagedSlab` adds a page instead.
//!
//! **A page in which only a few values are left gives its memory back.** Otherwise a timer of an
//! hour would keep the memory of a thousand short timers in the same page. The few values
//! that are left, the *survivors*, move into a map, where they are found under the same keys.
//! Removing and looking up a value try its page first, because a survivor is rare.

use std::collections::BTreeMap;
use std::mem;

use slab::Slab;

/// Values of type `T`, in pages of `2^BITS`.
///
/// A key is made of the number of a page, in the upper bits, and an index in that page.
#[repr(C)]
pub(crate) struct PagedSlab<T, const BITS: u32> {
    /// Number of values that were ever removed.
    pub(super) removed: u64,
    /// Number of values that were ever inserted. The length is the difference of both numbers.
    pub(super) inserted: u64,
    /// The page that new values go into, or [`NO_PAGE`].
    pub(super) current: u32,
    pub(super) pages: Vec<Slab<T>>,
    /// The other pages with room for values, including pages that gave their memory back.
    others: Vec<u32>,
    /// Number of pages other than the first that have memory.
    whole: usize,
    /// Values whose page gave its memory back, by key.
    survivors: BTreeMap<u32, T>,
    /// The capacity that the owner asked for, and that pages keep.
    reserved: usize,
    /// Memory that pages gave back, for `RawWheel::take_garbage`.
    pub(super) garbage: Vec<Slab<T>>,
}

/// Means "no page" in [`PagedSlab::current`].
const NO_PAGE: u32 = u32::MAX;

const NO_VALUE: &str = "there is no value under this key";

impl<T, const BITS: u32> PagedSlab<T, BITS> {
    /// Number of values in a full page.
    pub(crate) const PAGE_LEN: usize = 1 << BITS;
    /// Maximum number of pages. One page is left out, so that `MOST` fits into a `usize` of 32 bits.
    const MOST_PAGES: usize = (1 << (u32::BITS - BITS)) - 1;
    /// Maximum number of values.
    pub(crate) const MOST: usize = Self::MOST_PAGES * Self::PAGE_LEN;
    /// A page gives its memory back once only this many values are left.
    const FEW: usize = Self::PAGE_LEN / 128;

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

    /// Returns room for the next value, whose key it already knows. Panics if the slab is full.
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

    /// Removes and returns the value under a key. Panics if there is none.
    #[inline(always)]
    pub(crate) fn remove(&mut self, key: u32) -> T {
        match self.remove_from_page(key) {
            Some(value) => value,
            None => self.remove_survivor(key),
        }
    }

    /// Removes and returns the value under a key. Returns `None` if there is none, or for a survivor.
    #[inline(always)]
    pub(crate) fn remove_from_page(&mut self, key: u32) -> Option<T> {
        let (number, index) = Self::split(key);
        let page = &mut self.pages[number];
        let value = page.try_remove(index)?;
        let left = page.len();
        self.removed += 1;
        if left == Self::FEW || left + 1 == Self::PAGE_LEN {
            self.note_shrunk_to(left, number);
        }
        Some(value)
    }

    /// Notes that a full page has room again, or gives back the memory of a page with few values left.
    ///
    /// The current page keeps its memory even when it is empty. Otherwise, with all other pages
    /// full, inserting and removing one value could allocate and free each time.
    fn note_shrunk_to(&mut self, left: usize, number: usize) {
        if left + 1 == Self::PAGE_LEN {
            self.others.push(number as u32);
        } else if number as u32 != self.current && self.capacity() >= self.reserved + Self::PAGE_LEN
        {
            self.give_back(number);
        }
    }

    /// Moves the values of a page to the survivors, and its memory to the garbage.
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

    /// Returns the value under a key. Returns `None` if there is none, or for a survivor.
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
    pub(super) fn remove_survivor(&mut self, key: u32) -> T {
        self.removed += 1;
        self.survivors.remove(&key).expect(NO_VALUE)
    }

    /// Returns the value under a key. Panics if there is none.
    #[inline]
    pub(crate) fn at(&self, key: u32) -> &T {
        self.get(key).expect(NO_VALUE)
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, key: u32) -> &mut T {
        let (number, index) = Self::split(key);
        match self.pages[number].get_mut(index) {
            Some(value) => value,
            None => Self::survivor_mut(&mut self.survivors, key).expect(NO_VALUE),
        }
    }

    /// Returns the number of values that there is memory for. This takes constant time, because every page
    /// except the first has the same size. The vector of the first may have room for more than a page.
    pub(crate) fn capacity(&self) -> usize {
        let first = self.pages.first().map_or(0, Slab::capacity);
        first.min(Self::PAGE_LEN) + self.whole * Self::PAGE_LEN + self.survivors.len()
    }

    /// Allocates memory for `additional` more values and keeps it until `shrink_to_fit` is called.
    pub(crate) fn reserve(&mut self, additional: usize) {
        let wanted = self.len().saturating_add(additional);
        self.reserved = self.reserved.max(wanted);
        if wanted > self.len() && self.pages.len() <= 1 {
            // The only page of a small wheel grows no further than necessary.
            if self.current == NO_PAGE {
                self.open_page();
            }
            let first = &mut self.pages[0];
            first.reserve_exact(wanted.min(Self::PAGE_LEN).saturating_sub(first.len()));
        }
        while self.capacity() < wanted {
            let number = self.add_page();
            self.allocate(number);
            self.others.push(number as u32);
        }
    }

    /// Gives back every page with few values (the first only if it has none), removes empty pages
    /// at the end, and shrinks a single page to what it uses.
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
        self.remove_last_pages();
        if let [only] = &mut self.pages[..] {
            only.shrink_to_fit();
        }
    }

    /// Removes pages from the end of the list while they have neither values nor survivors.
    fn remove_last_pages(&mut self) {
        let survivor = self.survivors.last_key_value();
        let needed = survivor.map_or(0, |(&key, _)| Self::split(key).0 + 1);
        while self.pages.len() > needed && self.pages.last().is_some_and(Slab::is_empty) {
            self.pages.pop();
        }
        let count = self.pages.len() as u32;
        self.pages.shrink_to_fit();
        self.others.retain(|&number| number < count);
        self.others.shrink_to_fit();
    }

    pub(crate) fn into_values(self) -> impl Iterator<Item = T> {
        let values = self.pages.into_iter().flatten().map(|(_, value)| value);
        values.chain(self.survivors.into_values())
    }

    const fn split(key: u32) -> (usize, usize) {
        ((key >> BITS) as usize, key as usize & (Self::PAGE_LEN - 1))
    }

    const fn join(number: usize, index: usize) -> u32 {
        (number << BITS | index) as u32
    }

    /// Makes a page with room the current page. Adds a page if there is none.
    #[cold]
    fn open_page(&mut self) {
        let number = self.others.pop().map(|number| number as usize);
        let number = number.unwrap_or_else(|| self.add_page());
        if self.pages[number].capacity() == 0 {
            self.allocate(number);
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

    /// Allocates the memory of a page, and moves its survivors back into it.
    fn allocate(&mut self, number: usize) {
        let keys = Self::join(number, 0)..=Self::join(number, Self::PAGE_LEN - 1);
        let keys: Vec<u32> = self.survivors.range(keys).map(|(&key, _)| key).collect();
        let values = keys.into_iter().map(|key| {
            let value = self.survivors.remove(&key).expect(NO_VALUE);
            (Self::split(key).1, value)
        });
        let mut page: Slab<T> = values.collect();
        // The first page grows by doubling instead, so that a small wheel takes little memory.
        if number != 0 {
            // The survivors may have grown it in larger steps.
            page.shrink_to_fit();
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

#[cfg(test)]
mod tests;
