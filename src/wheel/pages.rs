//! A slab that grows without moving what it holds.
//!
//! One `slab::Slab` doubles its memory when it is full, and copies every entry while the caller's
//! lock is held: milliseconds for a million timers. Here growth adds a page and moves nothing, and
//! a page that has emptied is handed out as garbage, to be freed where nobody waits.

#![allow(
    clippy::cast_possible_truncation,
    reason = "fewer than 2^32 pages, and places in a page"
)]

use slab::Slab;

/// Values of type `T` in pages of `2^BITS` places, found by a `u32` key: page number, then index.
pub(crate) struct Pages<T, const BITS: u32> {
    all: Vec<Page<T>>,
    /// Pages with memory and a free place; the last one is filled first.
    roomy: Vec<u32>,
    /// Pages whose memory has been given back; their numbers are used again.
    retired: Vec<u32>,
    /// Pages that have memory and hold nothing.
    empty: usize,
    /// Values ever put in, and taken out: what is counted of timers costs no more
    /// than their number would.
    inserted: u64,
    removed: u64,
    /// Places the owner asked for; below this no page is retired.
    reserved: usize,
    garbage: Vec<Slab<T>>,
}

struct Page<T> {
    slab: Slab<T>,
    /// Position in `roomy`; meaningless while the page is full or retired.
    rank: u32,
}

impl<T, const BITS: u32> Pages<T, BITS> {
    /// Places in one page.
    pub(crate) const SIZE: usize = 1 << BITS;
    const MOST_PAGES: usize = 1 << (u32::BITS - BITS);

    /// No pages and no memory.
    pub(crate) const fn new() -> Self {
        Self {
            all: Vec::new(),
            roomy: Vec::new(),
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

    /// Values ever put in.
    pub(crate) const fn inserted(&self) -> u64 {
        self.inserted
    }

    /// Values ever taken out.
    pub(crate) const fn removed(&self) -> u64 {
        self.removed
    }

    /// Stores what `value` makes of its key. Panics when all 2^32 places are taken.
    #[inline]
    pub(crate) fn insert_with(&mut self, value: impl FnOnce(u32) -> T) -> u32 {
        let number = match self.roomy.last() {
            Some(&number) => number,
            None => self.open(),
        };
        let slab = &mut self.all[number as usize].slab;
        let vacant = slab.vacant_entry();
        let key = number << BITS | vacant.key() as u32;
        vacant.insert(value(key));
        self.inserted += 1;
        match slab.len() {
            1 => self.empty -= 1,
            full if full == Self::SIZE => _ = self.roomy.pop(),
            _ => {}
        }
        key
    }

    /// Takes the value out. Panics when there is none.
    #[inline]
    pub(crate) fn remove(&mut self, key: u32) -> T {
        let (number, index) = Self::split(key);
        let slab = &mut self.all[number].slab;
        let value = slab.remove(index);
        self.removed += 1;
        match slab.len() {
            0 => self.emptied(number),
            left if left + 1 == Self::SIZE => self.welcome(number),
            _ => {}
        }
        value
    }

    #[inline]
    pub(crate) fn get(&self, key: u32) -> Option<&T> {
        let (number, index) = Self::split(key);
        self.all.get(number)?.slab.get(index)
    }

    /// The value of a key known to be live; panics when it is not.
    #[inline]
    pub(crate) fn at(&self, key: u32) -> &T {
        let (number, index) = Self::split(key);
        &self.all[number].slab[index]
    }

    /// The value of a key known to be live; panics when it is not.
    #[inline]
    pub(crate) fn at_mut(&mut self, key: u32) -> &mut T {
        let (number, index) = Self::split(key);
        &mut self.all[number].slab[index]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let pages = self.all.iter().enumerate();
        pages.flat_map(|(number, page)| {
            page.slab
                .iter()
                .map(move |(at, value)| (Self::join(number, at), value))
        })
    }

    /// The values, in no particular order.
    pub(crate) fn into_values(self) -> impl Iterator<Item = T> {
        self.all
            .into_iter()
            .flat_map(|page| page.slab.into_iter().map(|(_, value)| value))
    }

    /// Places for which there is memory. Constant time: the first page alone may
    /// be of another size than the rest.
    pub(crate) fn capacity(&self) -> usize {
        let first = self.all.first().map_or(0, |page| page.slab.capacity());
        let in_use = self.all.len() - self.retired.len();
        let others = in_use - usize::from(first != 0);
        first + others * Self::SIZE
    }

    /// Makes memory for `additional` more values, and keeps it until `shrink_to_fit`.
    pub(crate) fn reserve(&mut self, additional: usize) {
        let wanted = self.len().saturating_add(additional);
        self.reserved = self.reserved.max(wanted);
        if wanted <= Self::SIZE && self.all.len() <= 1 {
            return self.reserve_small(wanted);
        }
        self.widen_first();
        let missing = wanted.saturating_sub(self.capacity());
        for _ in 0..missing.div_ceil(Self::SIZE) {
            self.open_last();
        }
    }

    /// Frees every page that holds nothing.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.reserved = 0;
        for number in 0..self.all.len() {
            if self.has_memory(number) && self.all[number].slab.is_empty() {
                self.retire(number);
            }
        }
        self.garbage = Vec::new();
        self.forget_last_pages();
        if let [only] = &mut self.all[..] {
            only.slab.shrink_to_fit();
        }
    }

    /// Memory that is no longer used, for the owner to drop where nobody waits.
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
        ((key >> BITS) as usize, key as usize & (Self::SIZE - 1))
    }

    const fn join(number: usize, index: usize) -> u32 {
        (number << BITS | index) as u32
    }

    fn has_memory(&self, number: usize) -> bool {
        self.all[number].slab.capacity() != 0
    }

    /// Finds memory for one more page and makes it the next to be filled.
    #[cold]
    fn open(&mut self) -> u32 {
        let number = self
            .retired
            .pop()
            .map_or_else(|| self.add_page(), |number| number as usize);
        if number != 0 {
            // The first page alone grows by doubling, so that a small wheel is small.
            self.all[number].slab = Slab::with_capacity(Self::SIZE);
        }
        self.empty += 1;
        self.welcome(number);
        number as u32
    }

    fn add_page(&mut self) -> usize {
        let number = self.all.len();
        assert!(
            number < Self::MOST_PAGES,
            "a timing wheel has 2^32 places, and all are taken"
        );
        self.all.push(Page {
            slab: Slab::new(),
            rank: 0,
        });
        number
    }

    /// A page has room (again): it is filled next, while it is still in the cache.
    fn welcome(&mut self, number: usize) {
        self.all[number].rank = self.roomy.len() as u32;
        self.roomy.push(number as u32);
    }

    #[inline]
    fn emptied(&mut self, number: usize) {
        self.empty += 1;
        if self.empty > 1 {
            self.retire_surplus(number);
        }
    }

    /// One empty page is kept, so that a pair of insert and remove at a page's edge allocates
    /// nothing; the second one goes.
    #[cold]
    fn retire_surplus(&mut self, number: usize) {
        let in_use = self.all.len() - self.retired.len();
        if (in_use - 1) * Self::SIZE >= self.reserved {
            self.retire(number);
        }
    }

    fn retire(&mut self, number: usize) {
        self.leave_roomy(number);
        self.empty -= 1;
        self.retired.push(number as u32);
        let slab = std::mem::take(&mut self.all[number].slab);
        self.garbage.push(slab);
    }

    fn leave_roomy(&mut self, number: usize) {
        let rank = self.all[number].rank;
        self.roomy.swap_remove(rank as usize);
        if let Some(&mover) = self.roomy.get(rank as usize) {
            self.all[mover as usize].rank = rank;
        }
    }

    /// Drops the retired pages at the end of the list, with their numbers.
    fn forget_last_pages(&mut self) {
        while !self.all.is_empty() && !self.has_memory(self.all.len() - 1) {
            self.all.pop();
        }
        let known = self.all.len();
        self.retired.retain(|&number| (number as usize) < known);
        self.all.shrink_to_fit();
        self.roomy.shrink_to_fit();
        self.retired.shrink_to_fit();
    }

    fn reserve_small(&mut self, wanted: usize) {
        if wanted == 0 {
            return;
        }
        if self.roomy.is_empty() && self.len() == 0 {
            self.open();
        }
        let slab = &mut self.all[0].slab;
        slab.reserve_exact(wanted - slab.len());
    }

    /// The rest of the first page, which alone may be smaller than the others.
    fn widen_first(&mut self) {
        if let Some(first) = self.all.first_mut() {
            if first.slab.capacity() != 0 && first.slab.capacity() < Self::SIZE {
                first.slab.reserve_exact(Self::SIZE - first.slab.len());
            }
        }
    }

    /// Opens a page to be filled after all others.
    fn open_last(&mut self) {
        let number = self.open() as usize;
        if number == 0 {
            self.all[0].slab.reserve_exact(Self::SIZE);
        }
        let last = self.roomy.len() - 1;
        self.roomy.swap(0, last);
        for rank in [0, last] {
            self.all[self.roomy[rank] as usize].rank = rank as u32;
        }
    }

    /// Panics unless the counts, the stack of pages with room and the pages agree.
    pub(crate) fn check(&self) {
        let held: usize = self.all.iter().map(|page| page.slab.len()).sum();
        assert_eq!(held, self.len(), "entries counted and held");
        let memory: usize = self.all.iter().map(|page| page.slab.capacity()).sum();
        assert_eq!(memory, self.capacity(), "places counted and there");
        for (rank, &number) in self.roomy.iter().enumerate() {
            let page = &self.all[number as usize];
            assert_eq!(page.rank as usize, rank, "rank of page {number}");
            assert!(
                page.slab.len() < Self::SIZE,
                "page {number} is full and said to have room"
            );
        }
        let full = self
            .all
            .iter()
            .filter(|page| page.slab.len() == Self::SIZE)
            .count();
        assert_eq!(
            full + self.roomy.len() + self.retired.len(),
            self.all.len(),
            "pages of each kind"
        );
        assert!(
            self.retired
                .iter()
                .all(|&number| !self.has_memory(number as usize)),
            "a retired page has memory"
        );
        let empty = self
            .roomy
            .iter()
            .filter(|&&number| self.all[number as usize].slab.is_empty())
            .count();
        assert_eq!(empty, self.empty, "empty pages");
    }
}

#[cfg(test)]
mod tests;
