//! A list on its own: holes are filled, sparse lists become shorter, and memory is given back.

use super::*;

impl KeyList {
    /// Returns each key with its place.
    pub(crate) fn places(&self) -> impl Iterator<Item = (u32, u32)> {
        let cells = self.cells.iter().copied().zip(0..);
        cells.filter(|&(key, _)| key != HOLE)
    }

    /// Returns the number of cells that there is memory for.
    pub(crate) fn room(&self) -> usize {
        self.cells.capacity()
    }

    /// Panics unless the number of keys is right and the list is not too long for it.
    pub(crate) fn check(&self) {
        assert_eq!(self.keys().count(), self.len(), "keys counted and held");
        let (cells, room) = (self.cells.len(), self.room());
        assert!(
            !self.is_empty() || cells == 0 && room <= SHORT,
            "an empty list has {cells} cells, and room for {room}"
        );
        assert!(
            cells <= SHORT + 3 * self.len(),
            "{} keys in {cells} cells",
            self.len()
        );
    }
}

/// A list, with the place of each key, which in a wheel is stored in the key's entry.
struct Listed {
    list: KeyList,
    places: Vec<Option<u32>>,
    moves: usize,
    /// How often the list has got other memory.
    reallocations: usize,
}

impl Listed {
    fn of(count: u32) -> Self {
        let mut listed = Self {
            list: KeyList::EMPTY,
            places: Vec::new(),
            moves: 0,
            reallocations: 0,
        };
        (0..count).for_each(|_| _ = listed.push());
        listed
    }

    /// Adds the next key and returns its place.
    fn push(&mut self) -> u32 {
        let room = self.list.room();
        let at = self.list.push(self.places.len() as u32);
        self.reallocations += usize::from(self.list.room() != room);
        self.places.push(Some(at));
        at
    }

    /// Removes a key and returns the number of other keys that moved.
    fn cut(&mut self, key: u32) -> usize {
        let at = self.places[key as usize]
            .take()
            .expect("the key is in the list");
        let (before, room) = (self.moves, self.list.room());
        if self.list.remove(at) && !self.list.is_empty() {
            drop(self.list.tidy(|key, at| {
                self.places[key as usize] = Some(at);
                self.moves += 1;
            }));
        }
        self.clear_if_empty();
        self.reallocations += usize::from(self.list.room() != room);
        self.moves - before
    }

    fn take(&mut self, most: usize) -> Vec<u32> {
        let mut keys = Vec::new();
        let count = self.list.take(most, |before, key| {
            assert_eq!(before, keys.len());
            keys.push(key);
        });
        assert_eq!(count, keys.len());
        for &key in &keys {
            let place = self.places[key as usize].take();
            assert!(place.is_some(), "{key} was in the list");
        }
        self.clear_if_empty();
        keys
    }

    fn clear_if_empty(&mut self) {
        if self.list.is_empty() {
            self.list.clear(&mut Vec::new());
        }
    }

    fn check(&self) {
        self.list.check();
        let known = (0..)
            .zip(&self.places)
            .filter_map(|(key, &at)| Some((key, at?)));
        let (mut known, mut found): (Vec<_>, Vec<_>) =
            (known.collect(), self.list.places().collect());
        known.sort_unstable();
        found.sort_unstable();
        assert_eq!(known, found);
    }
}

/// Returns keys in an order that looks random.
fn shuffled(count: u32) -> Vec<u32> {
    let mut keys: Vec<u32> = (0..count).collect();
    keys.sort_by_key(|key| key.wrapping_mul(0x9E37_79B9));
    keys
}

#[test]
fn the_last_key_is_the_first_to_be_taken() {
    let mut listed = Listed::of(200);
    let taken = (0..50).flat_map(|_| listed.take(4));
    assert!(taken.eq((0..200).rev()));
    listed.check();
}

#[test]
fn a_removed_key_is_passed_over() {
    let mut listed = Listed::of(8);
    [7, 6, 3].into_iter().for_each(|key| _ = listed.cut(key));
    listed.check();
    assert_eq!(listed.take(3), [5]);
    assert_eq!(listed.take(3), [4, 2]);
    listed.check();
    assert_eq!(listed.take(3), [1, 0]);
    listed.check();
}

#[test]
fn as_many_cells_are_taken_as_there_are() {
    let mut listed = Listed::of(40);
    assert!(listed.take(0).is_empty());
    assert!(listed.take(usize::MAX).into_iter().eq((0..40).rev()));
    assert!(listed.take(usize::MAX).is_empty());
    listed.check();
}

#[test]
fn holes_at_the_end_are_skipped_a_few_at_a_time() {
    let mut listed = Listed::of(3 * SHORT as u32);
    // More than half of the cells hold keys, so the list is not made shorter.
    (2 * SHORT as u32..3 * SHORT as u32).for_each(|key| assert_eq!(listed.cut(key), 0));
    (0..SHORT / 16).for_each(|_| assert!(listed.take(16).is_empty()));
    assert_eq!(listed.take(16).len(), 16);
    listed.check();
}

#[test]
fn few_holes_are_left_and_many_are_filled() {
    let mut listed = Listed::of(80);
    (0..10).for_each(|key| _ = listed.cut(key));
    assert_eq!(listed.push(), 80);
    [40, 41].into_iter().for_each(|key| _ = listed.cut(key));
    assert_eq!([listed.push(), listed.push(), listed.push()], [0, 1, 81]);
    listed.check();
}

#[test]
fn a_search_reads_one_cache_line_and_the_next_search_continues_after_it() {
    let mut listed = Listed::of(64);
    listed.cut(0);
    (32..64).for_each(|key| _ = listed.cut(key));
    let places: Vec<u32> = (0..5).map(|_| listed.push()).collect();
    assert_eq!(places, [0, 64, 32, 33, 34]);
    let places: Vec<u32> = (0..29).map(|_| listed.push()).collect();
    assert_eq!(places[28], 72, "few enough holes are left");
    (1..20).for_each(|key| _ = listed.cut(key));
    let places: Vec<u32> = (0..9).map(|_| listed.push()).collect();
    assert_eq!(places, [56, 57, 58, 59, 60, 61, 62, 63, 73]);
    assert_eq!(listed.push(), 1, "from the beginning again");
    listed.check();
}

#[test]
fn replacing_keys_at_random_moves_none_and_takes_little_more_memory() {
    let mut listed = Listed::of(2_000);
    let mut random = 1_u32;
    for round in 0..20_000 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let there: Vec<u32> = listed.list.keys().collect();
        assert_eq!(listed.cut(there[random as usize % there.len()]), 0);
        listed.push();
        if round % 100 == 0 {
            listed.check();
        }
    }
    assert!(
        listed.list.cells.len() < 2_600,
        "{} cells",
        listed.list.cells.len()
    );
}

#[test]
fn in_every_order_removing_moves_a_few_and_shortens_the_list() {
    const COUNT: u32 = 5_000;
    let orders = [
        (0..COUNT).collect(),
        (0..COUNT).rev().collect(),
        shuffled(COUNT),
        from_both_ends(COUNT),
    ];
    for order in orders {
        let mut listed = Listed::of(COUNT);
        for key in order {
            assert!(listed.cut(key) <= TAKEN_OFF);
            listed.list.check();
            let (cells, room) = (listed.list.cells.len(), listed.list.room());
            assert!(
                room <= 3 * cells + SHORT,
                "{cells} cells in memory for {room}"
            );
        }
        assert_eq!((listed.list.len(), listed.list.room()), (0, 0));
        assert!(listed.moves <= COUNT as usize, "{} moves", listed.moves);
        let copies = listed.reallocations - Listed::of(COUNT).reallocations;
        assert!(copies <= 8, "the list was copied {copies} times");
    }
}

fn from_both_ends(count: u32) -> Vec<u32> {
    (0..count / 2)
        .flat_map(|key| [key, count - 1 - key])
        .collect()
}

#[test]
fn a_short_list_keeps_its_memory_and_a_long_list_hands_its_memory_out() {
    for (count, kept) in [(SHORT as u32, SHORT), (SHORT as u32 + 1, 0)] {
        let mut listed = Listed::of(count);
        while !listed.take(16).is_empty() {}
        assert_eq!(listed.list.room(), kept);
    }
}

#[test]
fn a_list_grows_by_a_quarter() {
    let listed = Listed::of(100_000);
    assert!(listed.list.room() <= 125_000);
    assert!(
        listed.reallocations <= 40,
        "{} copies",
        listed.reallocations
    );
}

#[test]
fn a_short_list_moves_nothing_and_gives_memory_back_when_shrunk() {
    let mut listed = Listed::of(SHORT as u32);
    (1..SHORT as u32).for_each(|key| assert_eq!(listed.cut(key), 0));
    listed.check();
    let mut listed = Listed::of(100);
    listed.list.shrink_to_fit();
    assert!(listed.list.room() < SHORT);
    listed.check();
}
