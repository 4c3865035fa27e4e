//! Keys, order of use, what is kept and what becomes garbage.

use super::*;

/// Pages of eight places.
type Small = Pages<u32, 3>;

fn filled(count: u32) -> Small {
    let mut pages = Small::new();
    for value in 0..count {
        assert_eq!(pages.insert_with(|_| value), value);
    }
    pages.check();
    pages
}

#[test]
fn keys_find_their_values_in_every_page() {
    let mut pages = filled(20);
    assert_eq!((pages.len(), *pages.at(19)), (20, 19));
    assert_eq!(
        (pages.get(20), pages.get(24), pages.get(u32::MAX)),
        (None, None, None)
    );
    *pages.at_mut(9) += 100;
    assert_eq!(pages.remove(9), 109);
    assert_eq!(pages.get(9), None);
    assert_eq!(
        pages
            .iter()
            .map(|(key, _)| key)
            .filter(|&key| key > 7)
            .count(),
        11
    );
}

#[test]
fn a_freed_place_is_the_next_to_be_used() {
    let mut pages = filled(16);
    pages.remove(3);
    assert_eq!(pages.insert_with(|key| key), 3);
    assert_eq!(pages.insert_with(|key| key), 16);
    pages.check();
}

#[test]
fn the_first_page_starts_small_and_the_others_are_made_whole() {
    assert_eq!(Small::new().capacity(), 0);
    assert!(filled(1).capacity() < Small::SIZE);
    assert_eq!(filled(9).capacity(), 2 * Small::SIZE);
}

#[test]
fn growth_moves_nothing() {
    let mut pages = filled(9);
    let before: *const u32 = pages.at(8);
    (0..100).for_each(|value| _ = pages.insert_with(|_| value));
    assert!(std::ptr::eq(before, pages.at(8)));
}

#[test]
fn one_empty_page_is_kept_and_the_next_is_garbage() {
    let mut pages = filled(24);
    (8..16).for_each(|key| _ = pages.remove(key));
    assert!(!pages.has_garbage());
    (16..24).for_each(|key| _ = pages.remove(key));
    assert!(pages.has_garbage());
    assert_eq!(
        pages
            .take_garbage()
            .iter()
            .map(Slab::capacity)
            .sum::<usize>(),
        8
    );
    assert_eq!(pages.capacity(), 16);
    pages.check();
    (0..16).for_each(|value| _ = pages.insert_with(|_| value));
    assert_eq!(pages.len(), 24);
    pages.check();
}

#[test]
fn at_the_edge_of_a_page_nothing_is_allocated_or_freed() {
    let mut pages = filled(8);
    for _ in 0..10 {
        let key = pages.insert_with(|_| 0);
        pages.remove(key);
        assert!(!pages.has_garbage());
        assert_eq!(pages.capacity(), 16);
    }
}

#[test]
fn reserved_places_stay_until_shrunk() {
    let mut pages = Small::new();
    pages.reserve(20);
    assert!(pages.capacity() >= 20);
    for _ in 0..3 {
        let keys: Vec<u32> = (0..24).map(|_| pages.insert_with(|key| key)).collect();
        for key in keys {
            pages.remove(key);
        }
        assert!(pages.capacity() >= 20);
        pages.check();
    }
    pages.shrink_to_fit();
    assert_eq!(pages.capacity(), 0);
    pages.check();
    assert_eq!(pages.insert_with(|key| key), 0);
}

#[test]
fn shrinking_keeps_what_is_held() {
    let mut pages = filled(40);
    (0..8).chain(16..39).for_each(|key| _ = pages.remove(key));
    pages.shrink_to_fit();
    pages.check();
    assert_eq!((pages.len(), *pages.at(39), *pages.at(12)), (9, 39, 12));
    (0..64).for_each(|value| _ = pages.insert_with(|_| value));
    pages.check();
}

#[test]
fn reserving_a_little_allocates_a_little() {
    let mut pages: Pages<u8, 11> = Pages::new();
    pages.reserve(10);
    assert!((10..100).contains(&pages.capacity()));
    pages.insert_with(|_| 1);
    pages.reserve(5_000);
    assert!(pages.capacity() >= 5_001);
    pages.check();
}
