//! What a slot holds: a chain of bunches of 64 cells, each cell the key of an entry.
//!
//! A linked list of entries costs a cache miss per step, both to walk and to unlink from. A bunch is
//! dense to walk, and unlinking clears one bit in a header that is shared by 64 entries.

use super::level::{Chain, NIL};
use super::pages::Pages;

/// Cells in a bunch: one for every bit of `live`.
pub(super) const CELLS: u32 = 64;

/// A bunch this empty is merged with a neighbour that has room for it.
pub(super) const SPARSE: u32 = 4;

/// Keys of up to 64 entries of one slot.
pub(crate) struct Bunch {
    /// The cells in use. What the others hold is stale.
    pub(crate) live: u64,
    pub(crate) prev: u32,
    pub(crate) next: u32,
    /// The slot, as in `Spot::home`.
    pub(crate) home: u16,
    pub(crate) cells: Cells,
}

type Cells = Box<[u32; CELLS as usize]>;

/// So many slots keep a bunch that has emptied, for the next insert: all of a level of 256.
pub(super) const KEPT: u32 = 256;

/// Cells that are kept for the next bunch: 16 KiB.
const SPARE: usize = 64;

/// What is left of a bunch in which a cell has been cleared.
pub(crate) enum Cleared {
    /// Enough.
    Cell,
    /// Nothing, and it is its slot's only bunch; it stays there for the next insert.
    Last { home: u16 },
    /// The same where enough slots have kept one: to be freed by `tidy`.
    Surplus { home: u16 },
    /// So little that it may be freed or merged: see `tidy`.
    Sparse { home: u16 },
}

/// The bunches of all slots. A place is a bunch's key and an offset in it.
pub(crate) struct Bunches {
    pub(crate) pages: Pages<Bunch, 8>,
    /// The cells of bunches that were freed: the allocator may keep its callers waiting,
    /// and with them all who want the wheel.
    spare: Vec<Cells>,
    /// Bunches that are empty.
    pub(super) kept: u32,
}

#[inline]
pub(crate) const fn split(place: u32) -> (u32, u32) {
    (place / CELLS, place % CELLS)
}

#[inline]
const fn join(bunch: u32, offset: u32) -> u32 {
    bunch * CELLS + offset
}

impl Bunch {
    /// Keys of the live cells, in order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = u32> {
        offsets(self.live).map(|offset| self.cells[offset as usize])
    }

    pub(crate) const fn count(&self) -> u32 {
        self.live.count_ones()
    }

    const fn is_alone(&self) -> bool {
        self.prev == NIL && self.next == NIL
    }
}

/// Whether a bunch with so many cells left may be able to merge.
///
/// Above `SPARSE` it is looked at now and then only, for a neighbour that has become sparse: of two
/// neighbours either both hold more than `SPARSE`, or they hold more than half a bunch together.
/// Merging later would save memory, but each cell that moves is a cache miss; so hardly any does.
const fn is_milestone(count: u32) -> bool {
    count <= SPARSE || count.is_power_of_two()
}

/// The positions of the bits that are set, lowest first.
pub(crate) fn offsets(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let offset = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (offset < CELLS).then_some(offset)
    })
}

impl Bunches {
    pub(crate) const fn new() -> Self {
        Self {
            pages: Pages::new(),
            spare: Vec::new(),
            kept: 0,
        }
    }

    #[inline]
    pub(crate) fn at(&self, bunch: u32) -> &Bunch {
        self.pages.at(bunch)
    }

    /// Appends a key to a slot's chain and tells its place.
    #[inline]
    pub(crate) fn push(&mut self, chain: &mut Chain, home: u16, key: u32) -> u32 {
        if chain.tail != NIL {
            let tail = self.pages.at_mut(chain.tail);
            // After the last live cell, never into a hole: a slot stays in order of arrival.
            let offset = CELLS - tail.live.leading_zeros();
            if offset < CELLS {
                self.kept -= u32::from(tail.live == 0);
                tail.live |= 1 << offset;
                tail.cells[offset as usize] = key;
                return join(chain.tail, offset);
            }
        }
        self.append(chain, home, key)
    }

    /// Takes the first key of a chain, and tells whether it was the last one, too.
    #[inline]
    pub(crate) fn pop(&mut self, chain: &mut Chain) -> (u32, bool) {
        let head = self.pages.at_mut(chain.head);
        let key = head.cells[head.live.trailing_zeros() as usize];
        head.live &= head.live - 1;
        if head.live != 0 {
            return (key, false);
        }
        if head.is_alone() && self.kept < KEPT {
            self.kept += 1;
            return (key, true);
        }
        self.discard(chain.head, chain);
        (key, chain.head == NIL)
    }

    /// Clears a cell, and tells what is to be done about its bunch.
    #[inline]
    pub(crate) fn clear(&mut self, bunch: u32, offset: u32) -> Cleared {
        let bunch = self.pages.at_mut(bunch);
        debug_assert!(bunch.live & 1 << offset != 0, "the cell is stale");
        bunch.live &= !(1 << offset);
        if bunch.is_alone() {
            return if bunch.live == 0 {
                let home = bunch.home;
                self.emptied(home)
            } else {
                Cleared::Cell
            };
        }
        if is_milestone(bunch.count()) {
            Cleared::Sparse { home: bunch.home }
        } else {
            Cleared::Cell
        }
    }

    #[inline]
    fn emptied(&mut self, home: u16) -> Cleared {
        if self.kept == KEPT {
            return Cleared::Surplus { home };
        }
        self.kept += 1;
        Cleared::Last { home }
    }

    /// Frees or merges a bunch that has emptied, or one of several that is sparse; `moved` is told each moved key's new place.
    pub(crate) fn tidy(&mut self, bunch: u32, chain: &mut Chain, moved: impl FnMut(u32, u32)) {
        let Bunch {
            live, prev, next, ..
        } = *self.at(bunch);
        if live == 0 {
            self.discard(bunch, chain);
        } else if self.can_merge(bunch, next) {
            self.merge(bunch, next, chain, moved);
        } else if self.can_merge(bunch, prev) {
            self.merge(bunch, prev, chain, moved);
        }
    }

    fn can_merge(&self, one: u32, other: u32) -> bool {
        if other == NIL {
            return false;
        }
        let (one, other) = (self.at(one).count(), self.at(other).count());
        one.min(other) <= SPARSE && one + other <= CELLS
    }

    /// Moves the cells of the emptier of two bunches into holes of the other, and frees it.
    fn merge(&mut self, one: u32, other: u32, chain: &mut Chain, mut moved: impl FnMut(u32, u32)) {
        let swap = self.at(one).count() > self.at(other).count();
        let (from, into) = if swap { (other, one) } else { (one, other) };
        let from = self.free(from, chain);
        let target = self.pages.at_mut(into);
        for key in from.keys() {
            let offset = target.live.trailing_ones();
            target.live |= 1 << offset;
            target.cells[offset as usize] = key;
            moved(key, join(into, offset));
        }
        self.keep(from.cells);
    }

    /// Frees a bunch that has emptied.
    fn discard(&mut self, bunch: u32, chain: &mut Chain) {
        let cells = self.free(bunch, chain).cells;
        self.keep(cells);
    }

    fn keep(&mut self, cells: Cells) {
        if self.spare.len() < SPARE {
            self.spare.push(cells);
        }
    }

    /// Adds a bunch at the end of a chain, with one key in it.
    #[cold]
    fn append(&mut self, chain: &mut Chain, home: u16, key: u32) -> u32 {
        let mut cells = self
            .spare
            .pop()
            .unwrap_or_else(|| Box::new([0; CELLS as usize]));
        cells[0] = key;
        let prev = chain.tail;
        let bunch = self.pages.insert_with(|bunch| {
            assert!(
                bunch <= u32::MAX / CELLS,
                "a timing wheel has 2^32 cells for entries, and all are taken"
            );
            Bunch {
                live: 1,
                prev,
                next: NIL,
                home,
                cells,
            }
        });
        match prev {
            NIL => chain.head = bunch,
            _ => self.pages.at_mut(prev).next = bunch,
        }
        chain.tail = bunch;
        join(bunch, 0)
    }

    /// Takes a bunch out of its chain.
    fn free(&mut self, bunch: u32, chain: &mut Chain) -> Bunch {
        let freed = self.pages.remove(bunch);
        match freed.prev {
            NIL => chain.head = freed.next,
            prev => self.pages.at_mut(prev).next = freed.next,
        }
        match freed.next {
            NIL => chain.tail = freed.prev,
            next => self.pages.at_mut(next).prev = freed.prev,
        }
        freed
    }

    /// Places in use in a bunch, with the keys there.
    pub(crate) fn places(&self, bunch: u32) -> impl Iterator<Item = (u32, u32)> {
        let Bunch { live, cells, .. } = self.at(bunch);
        offsets(*live).map(move |offset| (join(bunch, offset), cells[offset as usize]))
    }

    /// Frees the bunch that was kept in an empty chain.
    pub(crate) fn free_kept(&mut self, chain: &mut Chain) {
        if chain.head != NIL {
            self.kept -= 1;
            drop(self.free(chain.head, chain));
        }
    }

    /// Gives back what is not in use.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.spare = Vec::new();
        self.pages.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A single chain, with the place of each key as its entry would know it.
    struct Chained {
        bunches: Bunches,
        chain: Chain,
        places: Vec<u32>,
    }

    impl Chained {
        fn of(count: u32) -> Self {
            let mut chained = Self {
                bunches: Bunches::new(),
                chain: Chain::EMPTY,
                places: Vec::new(),
            };
            (0..count).for_each(|key| chained.push(key));
            chained
        }

        fn push(&mut self, key: u32) {
            assert_eq!(key as usize, self.places.len());
            let place = self.bunches.push(&mut self.chain, 7, key);
            self.places.push(place);
        }

        /// Removes a key, and returns how many others were moved.
        fn cut(&mut self, key: u32) -> usize {
            let (bunch, offset) = split(self.places[key as usize]);
            let mut count = 0;
            if let Cleared::Sparse { home } = self.bunches.clear(bunch, offset) {
                assert_eq!(home, 7);
                self.bunches.tidy(bunch, &mut self.chain, |key, place| {
                    self.places[key as usize] = place;
                    count += 1;
                });
            }
            count
        }

        fn keys(&self) -> Vec<u32> {
            let mut keys = Vec::new();
            let mut bunch = self.chain.head;
            while bunch != NIL {
                for (place, key) in self.bunches.places(bunch) {
                    assert_eq!(self.places[key as usize], place);
                    keys.push(key);
                }
                bunch = self.bunches.at(bunch).next;
            }
            keys
        }

        fn bunch_count(&self) -> usize {
            self.bunches.pages.len()
        }
    }

    #[test]
    fn keys_come_in_order_of_arrival() {
        let mut chained = Chained::of(200);
        assert_eq!(chained.bunch_count(), 4);
        for key in 0..200 {
            let popped = chained.bunches.pop(&mut chained.chain);
            assert_eq!(popped, (key, key == 199));
        }
        assert_eq!(chained.bunch_count(), 1, "kept for the next insert");
        chained.bunches.free_kept(&mut chained.chain);
        assert_eq!((chained.chain, chained.bunch_count()), (Chain::EMPTY, 0));
    }

    #[test]
    fn a_hole_is_not_filled_by_a_later_key() {
        let mut chained = Chained::of(3);
        chained.cut(1);
        chained.push(3);
        assert_eq!(chained.keys(), [0, 2, 3]);
    }

    #[test]
    fn the_last_bunch_stays_with_its_stale_cells() {
        let mut chained = Chained::of(1);
        let kept = chained.chain;
        chained.cut(0);
        assert_eq!((chained.chain, chained.bunch_count()), (kept, 1));
        assert!(chained.keys().is_empty());
        chained.push(1);
        assert_eq!((chained.keys(), chained.chain), (vec![1], kept));
        assert_eq!(chained.places[0], chained.places[1]);
    }

    #[test]
    fn a_kept_bunch_can_be_freed() {
        let mut chained = Chained::of(1);
        chained.cut(0);
        chained.bunches.free_kept(&mut chained.chain);
        assert_eq!((chained.chain, chained.bunch_count()), (Chain::EMPTY, 0));
    }

    #[test]
    fn a_bunch_emptied_among_others_is_freed() {
        let mut chained = Chained::of(3 * 64);
        (64..128).for_each(|key| _ = chained.cut(key));
        assert_eq!(chained.bunch_count(), 2);
        assert_eq!(chained.keys(), (0..64).chain(128..192).collect::<Vec<_>>());
    }

    #[test]
    fn a_sparse_bunch_joins_its_neighbour_once_that_is_half_empty() {
        let mut chained = Chained::of(2 * 64);
        (64..128 - 4).for_each(|key| assert_eq!(chained.cut(key), 0)); // 64 and 4: no room
        (0..31).for_each(|key| assert_eq!(chained.cut(key), 0));
        assert_eq!(chained.cut(31), 4); // 32 and 4
        assert_eq!(chained.bunch_count(), 1);
        assert_eq!(chained.keys().len(), 36);
    }

    #[test]
    fn a_cancel_moves_a_few_at_most_and_hardly_any_on_average() {
        let mut chained = Chained::of(64 * 64);
        let mut order: Vec<u32> = (0..64 * 64).collect();
        order.sort_by_key(|key| key.wrapping_mul(0x9E37_79B9)); // as good as random
        let moves: Vec<usize> = order.iter().map(|&key| chained.cut(key)).collect();
        assert!(moves.iter().all(|&count| count <= SPARSE as usize));
        assert!(moves.iter().sum::<usize>() <= moves.len() / 4);
        assert!(moves.iter().any(|&count| count > 0));
        assert_eq!(chained.bunch_count(), 1);
    }

    #[test]
    fn chains_do_not_thin_out_without_end() {
        let mut chained = Chained::of(64 * 64);
        let mut order: Vec<u32> = (0..64 * 64).collect();
        order.sort_by_key(|key| key.wrapping_mul(0x85EB_CA6B));
        for (cut, &key) in order.iter().enumerate() {
            chained.cut(key);
            let (live, bunches) = (order.len() - cut - 1, chained.bunch_count());
            assert!(
                live >= (bunches - 1) * SPARSE as usize,
                "{live} keys in {bunches} bunches"
            );
        }
    }
}
