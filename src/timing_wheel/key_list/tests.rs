//! A list on its own: the last key moves into the place of a removed one, and memory is given back.

use super::*;

impl KeyList {
    /// Returns each key with its place.
    pub(crate) fn places(&self) -> impl Iterator<Item = (u32, u32)> {
        self.keys.iter().copied().zip(0..)
    }

    /// Returns the number of keys that there is memory for.
    pub(crate) fn room(&self) -> usize {
        self.keys.capacity()
    }

    /// Panics if the list has far more memory than it needs.
    pub(crate) fn check(&self) {
        let (len, room) = (self.len(), self.room());
        assert!(
            room <= SHORT.max(4 * (len + SHORT)),
            "{len} keys in memory for {room}"
        );
        assert!(
            len > 0 || room <= SHORT,
            "an empty list with room for {room}"
        );
    }
}

/// A list, with the place of each key, which in a wheel is stored in the key's entry.
struct Listed {
    list: KeyList,
    places: Vec<Option<u32>>,
    /// How often the list has got other memory.
    reallocations: usize,
}

impl Listed {
    fn of(count: u32) -> Self {
        let (list, places, reallocations) = (KeyList::EMPTY, Vec::new(), 0);
        let mut listed = Self {
            list,
            places,
            reallocations,
        };
        (0..count).for_each(|_| _ = listed.push());
        listed
    }

    /// Adds the next key and returns its place.
    fn push(&mut self) -> u32 {
        let room = self.list.room();
        let at = self.list.push(self.places.len() as u32, 0);
        self.reallocations += usize::from(self.list.room() != room);
        self.places.push(Some(at));
        at
    }

    /// Removes a key, and gives memory back when a wheel would.
    fn cut(&mut self, key: u32) {
        let at = self.places[key as usize].take().expect("the key is listed");
        if let Some(moved) = self.list.remove(at) {
            self.places[moved as usize] = Some(at);
        }
        if self.list.len() % SHORT == 0 {
            self.reallocations += usize::from(self.list.give_back().is_some());
        }
    }

    fn check(&self) {
        self.list.check();
        let listed = (0..).zip(&self.places);
        let mut known: Vec<_> = listed.filter_map(|(key, &at)| Some((key, at?))).collect();
        let mut found: Vec<_> = self.list.places().collect();
        known.sort_unstable();
        found.sort_unstable();
        assert_eq!(known, found);
    }
}

#[test]
fn the_last_keys_are_the_first_to_be_taken() {
    let mut listed = Listed::of(202);
    let mut taken = Vec::new();
    while listed.list.take(4, |_, key| taken.push(key)) > 0 {}
    assert!(taken.into_iter().eq((0..202).rev()));
}

#[test]
fn the_last_key_moves_into_the_place_of_a_removed_one() {
    let mut listed = Listed::of(8);
    [7, 0, 3, 5].into_iter().for_each(|key| listed.cut(key));
    listed.check();
    assert_eq!(listed.list.keys(), [6, 1, 2, 4]);
}

#[test]
fn in_every_order_removing_gives_memory_back_with_few_copies() {
    const COUNT: u32 = 5_000;
    let mut shuffled: Vec<u32> = (0..COUNT).collect();
    shuffled.sort_by_key(|key| key.wrapping_mul(0x9E37_79B9));
    for order in [(0..COUNT).collect(), (0..COUNT).rev().collect(), shuffled] {
        let mut listed = Listed::of(COUNT);
        for key in order {
            listed.cut(key);
            listed.list.check();
        }
        assert_eq!((listed.list.len(), listed.list.room()), (0, 0));
        let copies = listed.reallocations - Listed::of(COUNT).reallocations;
        assert!(copies <= 8, "the list was copied {copies} times");
    }
}

#[test]
fn replacing_keys_at_random_takes_no_more_memory() {
    let mut listed = Listed::of(2_000);
    let room = listed.list.room();
    let mut random = 1_u32;
    for _ in 0..20_000 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let key = listed.list.keys()[random as usize % listed.list.len()];
        listed.cut(key);
        listed.push();
    }
    listed.check();
    assert_eq!(listed.list.room(), room);
}

#[test]
fn a_list_grows_by_a_quarter() {
    let listed = Listed::of(100_000);
    assert!(listed.list.room() <= 125_000);
    let copies = listed.reallocations;
    assert!(copies <= 40, "{copies} copies");
}

#[test]
fn a_short_list_keeps_its_memory_until_it_is_shrunk() {
    let mut listed = Listed::of(SHORT as u32);
    (0..SHORT as u32).for_each(|key| listed.cut(key));
    assert_eq!(listed.list.room(), SHORT);
    let mut listed = Listed::of(100);
    listed.list.shrink_to_fit();
    assert!(listed.list.room() < SHORT);
    listed.check();
}
