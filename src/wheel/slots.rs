//! All slots of all levels, and the chunks in them. What an entry is, is not known here.

use super::chunk_list::{ChunkList, Chunks, Cleared, NIL, split};
use super::level::{Level, Scale, Spot};

/// The levels that have been needed so far, lowest first.
pub(crate) struct Slots<const SLOTS: usize> {
    pub(crate) levels: Vec<Level<SLOTS>>,
    pub(crate) chunks: Chunks,
}

/// A slot that has entries, and the tick at which it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) spot: Spot,
    pub(crate) start: u64,
}

impl<const SLOTS: usize> Slots<SLOTS> {
    pub(crate) const fn new() -> Self {
        Self {
            levels: Vec::new(),
            chunks: Chunks::new(),
        }
    }

    /// Puts a key into a slot and tells its place.
    #[inline]
    pub(crate) fn push(&mut self, spot: Spot, key: u32) -> u32 {
        if spot.level >= self.levels.len() {
            self.add_levels(spot.level);
        }
        let level = &mut self.levels[spot.level];
        let place = self
            .chunks
            .push(&mut level.lists[spot.slot], spot.home::<SLOTS>(), key);
        level.occupied.set(spot.slot);
        place
    }

    #[cold]
    fn add_levels(&mut self, highest: usize) {
        self.levels.resize_with(highest + 1, Level::new);
    }

    /// Takes the key at a place out of its slot; `moved` is told the new places of keys that make way.
    #[inline]
    pub(crate) fn unlink(&mut self, place: u32, moved: impl FnMut(u32, u32)) {
        let (chunk, offset) = split(place);
        match self.chunks.clear(chunk, offset) {
            Cleared::Cell => {}
            Cleared::Last { home } => self.vacate(Spot::of_home::<SLOTS>(home)),
            Cleared::Surplus { home } => {
                let spot = Spot::of_home::<SLOTS>(home);
                self.vacate(spot);
                self.tidy(spot, chunk, moved);
            }
            Cleared::Sparse { home } => self.tidy(Spot::of_home::<SLOTS>(home), chunk, moved),
        }
    }

    #[inline]
    fn vacate(&mut self, spot: Spot) {
        self.levels[spot.level].occupied.clear(spot.slot);
    }

    #[inline(never)]
    fn tidy(&mut self, spot: Spot, chunk: u32, moved: impl FnMut(u32, u32)) {
        self.chunks
            .tidy(chunk, &mut self.levels[spot.level].lists[spot.slot], moved);
    }

    /// Takes the first key of a slot that has one.
    #[inline]
    pub(crate) fn pop(&mut self, spot: Spot) -> u32 {
        let level = &mut self.levels[spot.level];
        let list = &mut level.lists[spot.slot];
        let (key, was_last) = self.chunks.pop(list);
        if was_last {
            level.occupied.clear(spot.slot);
        }
        key
    }

    /// The home of the slot that holds this place.
    #[inline]
    pub(crate) fn home(&self, place: u32) -> u16 {
        self.chunks.at(split(place).0).home
    }

    /// The tick at which the slot that holds this place starts, or has started.
    #[inline]
    pub(crate) fn start(&self, place: u32, now: u64) -> u64 {
        Scale::<SLOTS>::start(Spot::of_home::<SLOTS>(self.home(place)), now)
    }

    #[inline]
    pub(crate) fn is_occupied(&self, spot: Spot) -> bool {
        self.levels[spot.level].occupied.has(spot.slot)
    }

    /// The occupied slot that starts first; of several, the one on the highest level.
    ///
    /// Both hold entries of the same tick, and those in the wider slot have waited longer.
    #[inline]
    pub(crate) fn first(&self, now: u64) -> Option<Next> {
        let mut first: Option<Next> = None;
        for (level, start) in self.starts(now) {
            if first.is_none_or(|first| start <= first.start) {
                let slot = Scale::<SLOTS>::position(Scale::<SLOTS>::number(start, level));
                first = Some(Next {
                    spot: Spot { level, slot },
                    start,
                });
            }
        }
        first
    }

    /// For every level that holds entries, the start of its first occupied slot.
    #[inline]
    pub(crate) fn starts(&self, now: u64) -> impl Iterator<Item = (usize, u64)> {
        let levels = self.levels.iter().enumerate();
        levels.filter_map(move |(at, level)| {
            Some((at, Scale::<SLOTS>::first_start(level.occupied, at, now)?))
        })
    }

    /// The occupied slots of a level, in the order in which they start.
    pub(crate) fn occupied(&self, level: usize, now: u64) -> impl Iterator<Item = Next> {
        let mut left = self.levels[level].occupied;
        std::iter::from_fn(move || {
            let start = Scale::<SLOTS>::first_start(left, level, now)?;
            let slot = Scale::<SLOTS>::position(Scale::<SLOTS>::number(start, level));
            left.clear(slot);
            let spot = Spot { level, slot };
            Some(Next { spot, start })
        })
    }

    /// Keys of a slot's first chunk, in order.
    #[inline]
    pub(crate) fn first_keys(&self, spot: Spot) -> impl Iterator<Item = u32> {
        self.chunks
            .at(self.levels[spot.level].lists[spot.slot].head)
            .keys()
    }

    /// Keys in a slot, in order.
    pub(crate) fn keys(&self, spot: Spot) -> impl Iterator<Item = u32> {
        self.chunks_of(spot)
            .flat_map(|chunk| self.chunks.at(chunk).keys())
    }

    /// Places in use in a slot with the keys there, in order.
    pub(crate) fn places(&self, spot: Spot) -> impl Iterator<Item = (u32, u32)> {
        self.chunks_of(spot)
            .flat_map(|chunk| self.chunks.places(chunk))
    }

    /// Keys of the chunks in a slot, in order.
    pub(crate) fn chunks_of(&self, spot: Spot) -> impl Iterator<Item = u32> {
        let head = self.levels[spot.level].lists[spot.slot].head;
        let some = |chunk| (chunk != NIL).then_some(chunk);
        std::iter::successors(some(head), move |&chunk| some(self.chunks.at(chunk).next))
    }

    /// Frees the chunks kept in empty slots, and all spare memory.
    pub(crate) fn shrink_to_fit(&mut self) {
        for level in &mut self.levels {
            for slot in 0..SLOTS {
                if !level.occupied.has(slot) {
                    self.chunks.free_kept(&mut level.lists[slot]);
                }
            }
        }
        while self
            .levels
            .last()
            .is_some_and(|level| level.occupied.is_empty())
        {
            self.levels.pop();
        }
        self.levels.shrink_to_fit();
        self.chunks.shrink_to_fit();
    }

    /// All slots with their lists.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (Spot, ChunkList)> {
        let levels = self.levels.iter().enumerate();
        levels.flat_map(|(level, ring)| {
            let lists = ring.lists.iter().enumerate();
            lists.map(move |(slot, &list)| (Spot { level, slot }, list))
        })
    }
}
