//! Keys find their values, freed places are used first, and pages are kept or given back as they
//! should be.

use super::*;

impl<T, const BITS: u32> PagedSlab<T, BITS> {
    fn insert_with(&mut self, value: impl FnOnce(u32) -> T) -> u32 {
        let vacant = self.vacant();
        let key = vacant.key();
        vacant.fill(value(key));
        key
    }

    /// Iterates over the keys and values of all pages, and then of the survivors.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let pages = self.pages.iter().enumerate();
        let values = pages.flat_map(|(number, page)| {
            let values = page.iter();
            values.map(move |(index, value)| (Self::join(number, index), value))
        });
        values.chain(self.survivors.iter().map(|(&key, value)| (key, value)))
    }

    /// Panics unless the counters agree with the pages.
    pub(crate) fn check(&self) {
        let in_pages: usize = self.pages.iter().map(Slab::len).sum();
        assert_eq!(
            in_pages + self.survivors.len(),
            self.len(),
            "values counted and held"
        );
        assert!(self.capacity() >= self.len(), "values have memory");
        let others = self.pages.iter().skip(1);
        let whole = others.filter(|page| page.capacity() == Self::PAGE_LEN);
        assert_eq!(whole.count(), self.whole, "pages counted and of full size");
        let mut listed = self.others.clone();
        listed.extend((self.current != NO_PAGE).then_some(self.current));
        listed.sort_unstable();
        let with_room = (0..)
            .zip(&self.pages)
            .filter(|(_, page)| page.len() < Self::PAGE_LEN);
        assert!(
            with_room.map(|(number, _)| number).eq(listed),
            "pages with room"
        );
        for &key in self.survivors.keys() {
            let page = &self.pages[Self::split(key).0];
            assert_eq!(
                page.capacity(),
                0,
                "the page of the survivor {key} has memory"
            );
        }
    }
}

/// Pages of eight values.
type Small = PagedSlab<u32, 3>;

fn filled(count: u32) -> Small {
    let mut slab = Small::new();
    for value in 0..count {
        assert_eq!(slab.insert_with(|_| value), value);
    }
    slab.check();
    slab
}

#[test]
fn the_last_page_is_not_used() {
    assert_eq!(PagedSlab::<u8, 28>::MOST, 15 << 28);
    assert_eq!(PagedSlab::<u8, 10>::MOST, u32::MAX as usize - 1_023);
}

#[test]
fn keys_find_their_values_in_every_page() {
    let mut slab = filled(20);
    assert_eq!((slab.len(), *slab.at(19)), (20, 19));
    assert_eq!(
        (slab.get(20), slab.get(24), slab.get(u32::MAX)),
        (None, None, None)
    );
    *slab.at_mut(9) += 100;
    assert_eq!(slab.remove(9), 109);
    assert_eq!(slab.get(9), None);
    assert_eq!(
        slab.iter()
            .map(|(key, _)| key)
            .filter(|&key| key > 7)
            .count(),
        11
    );
}

#[test]
fn freed_memory_is_the_next_to_be_used() {
    let mut slab = filled(16);
    slab.remove(3);
    assert_eq!(slab.insert_with(|key| key), 3);
    assert_eq!(slab.insert_with(|key| key), 16);
    slab.check();
}

#[test]
fn the_first_page_starts_small_and_the_others_have_their_full_size() {
    assert_eq!(Small::new().capacity(), 0);
    assert!(filled(1).capacity() < Small::PAGE_LEN);
    assert_eq!(filled(9).capacity(), 2 * Small::PAGE_LEN);
}

#[test]
fn growth_moves_nothing() {
    let mut slab = filled(9);
    let before: *const u32 = slab.at(8);
    (0..100).for_each(|value| _ = slab.insert_with(|_| value));
    assert!(std::ptr::eq(before, slab.at(8)));
}

#[test]
fn an_empty_page_is_garbage_unless_it_is_the_page_to_fill() {
    let mut slab = filled(20);
    (8..20).for_each(|key| _ = slab.remove(key));
    assert!(!slab.garbage.is_empty());
    let freed = mem::take(&mut slab.garbage);
    assert_eq!(freed.iter().map(Slab::capacity).sum::<usize>(), 8);
    assert_eq!(slab.capacity(), 16);
    slab.check();
    (0..16).for_each(|value| _ = slab.insert_with(|_| value));
    assert_eq!(slab.len(), 24);
    slab.check();
}

/// Pages of 256 values, which give their memory back when two are left.
type Large = PagedSlab<u32, 8>;

/// Fills three pages, and removes all values except `kept`.
fn thinned_out<const BITS: u32>(kept: &[u32]) -> PagedSlab<u32, BITS> {
    let mut slab = PagedSlab::new();
    (0..3 << BITS).for_each(|_| _ = slab.insert_with(|key| key));
    let gone = (0..3 << BITS).filter(|key| !kept.contains(key));
    gone.for_each(|key| assert_eq!(slab.remove(key), key));
    slab.check();
    slab
}

#[test]
fn a_few_survivors_do_not_keep_their_page_and_are_found_under_their_keys() {
    let mut slab: Large = thinned_out(&[7, 300, 301, 700]);
    assert_eq!(mem::take(&mut slab.garbage).len(), 3);
    assert_eq!((slab.len(), slab.capacity()), (4, 4));
    assert_eq!(
        (slab.get(300), *slab.at(7), slab.get(302)),
        (Some(&300), 7, None)
    );
    *slab.at_mut(301) += 1;
    assert_eq!((*slab.at(301), slab.in_page_mut(301)), (302, None));
    assert_eq!(
        slab.iter().collect::<Vec<_>>(),
        [(7, &7), (300, &300), (301, &302), (700, &700)]
    );
    assert_eq!(
        (slab.remove(301), slab.get(301), slab.len()),
        (302, None, 3)
    );
    slab.check();
    assert!(slab.into_values().eq([7, 300, 700]));
}

#[test]
fn a_page_that_is_filled_again_gets_its_survivors_back() {
    let mut slab: Large = thinned_out(&[7, 300, 301, 700]);
    for round in 4..=3 * 256 {
        assert_eq!(slab.len(), round);
        let key = slab.insert_with(|key| key);
        assert!(![7, 300, 301, 700].contains(&key), "{key} is in use");
        slab.check();
    }
    assert!(slab.survivors.is_empty());
    assert!(slab.iter().all(|(key, &value)| key == value));
}

#[test]
fn a_page_that_is_filled_again_has_its_full_size() {
    let mut slab: PagedSlab<u32, 10> = thinned_out(&[1_024, 1_025, 2_047]);
    while !slab.survivors.is_empty() {
        slab.insert_with(|key| key);
    }
    slab.check();
}

#[test]
fn the_current_page_keeps_its_few_values() {
    let mut slab = Large::new();
    (0..300).for_each(|_| _ = slab.insert_with(|key| key));
    (257..300).for_each(|key| _ = slab.remove(key));
    assert!(slab.garbage.is_empty() && slab.survivors.is_empty());
    slab.check();
    slab.shrink_to_fit();
    assert_eq!((slab.survivors.len(), *slab.at(256)), (1, 256));
    slab.check();
    assert_eq!(slab.insert_with(|key| key), 257);
}

#[test]
fn at_the_edge_of_a_page_nothing_is_allocated_or_freed() {
    let mut slab = filled(8);
    for _ in 0..10 {
        let key = slab.insert_with(|_| 0);
        slab.remove(key);
        assert!(slab.garbage.is_empty());
        assert_eq!(slab.capacity(), 16);
    }
}

#[test]
fn reserved_memory_stays_until_shrunk() {
    let mut slab = Small::new();
    slab.reserve(20);
    assert!(slab.capacity() >= 20);
    for _ in 0..3 {
        let keys: Vec<u32> = (0..24).map(|_| slab.insert_with(|key| key)).collect();
        for key in keys {
            slab.remove(key);
        }
        assert!(slab.capacity() >= 20);
        slab.check();
    }
    slab.shrink_to_fit();
    assert_eq!(slab.capacity(), 0);
    slab.check();
    assert_eq!(slab.insert_with(|key| key), 0);
}

#[test]
fn shrinking_keeps_what_is_held() {
    let mut slab = filled(40);
    (0..8).chain(16..39).for_each(|key| _ = slab.remove(key));
    slab.shrink_to_fit();
    slab.check();
    assert_eq!((slab.len(), *slab.at(39), *slab.at(12)), (9, 39, 12));
    (0..64).for_each(|value| _ = slab.insert_with(|_| value));
    slab.check();
}

#[test]
fn reserving_a_little_allocates_a_little() {
    let mut slab: PagedSlab<u8, 11> = PagedSlab::new();
    slab.reserve(10);
    assert!((10..100).contains(&slab.capacity()));
    slab.insert_with(|_| 1);
    slab.reserve(5_000);
    assert!(slab.capacity() >= 5_001);
    slab.check();
}

#[test]
fn a_page_keeps_its_memory_until_few_values_are_left() {
    let mut slab = Large::new();
    (0..3 * 256).for_each(|_| _ = slab.insert_with(|key| key));
    (256..256 + 253).for_each(|key| _ = slab.remove(key));
    assert!(slab.garbage.is_empty());
    assert_eq!(slab.in_page_mut(511), Some(&mut 511));
    slab.remove(509);
    assert_eq!((slab.garbage.len(), slab.in_page_mut(511)), (1, None));
    slab.check();
}

#[test]
fn memory_beyond_what_was_reserved_is_given_back() {
    let mut slab = Small::new();
    slab.reserve(20);
    (0..64).for_each(|_| _ = slab.insert_with(|key| key));
    (0..64).for_each(|key| _ = slab.remove(key));
    assert!((20..48).contains(&slab.capacity()), "{}", slab.capacity());
    slab.check();
}

#[test]
fn a_first_page_whose_vector_grew_beyond_a_page_counts_as_one() {
    let mut slab = Small::new();
    slab.reserve(5);
    (0..6).for_each(|value| assert_eq!(slab.insert_with(|_| value), value));
    assert_eq!(slab.capacity(), 8);
    slab.reserve(4);
    assert_eq!(slab.capacity(), 16);
}
