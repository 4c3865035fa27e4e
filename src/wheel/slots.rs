//! All slots of all levels, and the bunches in them. What an entry is, is not known here.

use super::bunch::{Bunches, Cleared, split};
use super::level::{Chain, Level, NIL, Scale, Spot};

/// The levels that have been needed so far, lowest first.
pub(crate) struct Slots<const SLOTS: usize> {
    pub(crate) levels: Vec<Level<SLOTS>>,
    pub(crate) bunches: Bunches,
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
            bunches: Bunches::new(),
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
            .bunches
            .push(&mut level.chains[spot.slot], spot.home::<SLOTS>(), key);
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
        let (bunch, offset) = split(place);
        match self.bunches.clear(bunch, offset) {
            Cleared::Cell => {}
            Cleared::Last { home } => self.vacate(Spot::of_home::<SLOTS>(home)),
            Cleared::Surplus { home } => {
                let spot = Spot::of_home::<SLOTS>(home);
                self.vacate(spot);
                self.tidy(spot, bunch, moved);
            }
            Cleared::Sparse { home } => self.tidy(Spot::of_home::<SLOTS>(home), bunch, moved),
        }
    }

    #[inline]
    fn vacate(&mut self, spot: Spot) {
        self.levels[spot.level].occupied.clear(spot.slot);
    }

    #[inline(never)]
    fn tidy(&mut self, spot: Spot, bunch: u32, moved: impl FnMut(u32, u32)) {
        self.bunches
            .tidy(bunch, &mut self.levels[spot.level].chains[spot.slot], moved);
    }

    /// Takes the first key of a slot that has one.
    #[inline]
    pub(crate) fn pop(&mut self, spot: Spot) -> u32 {
        let level = &mut self.levels[spot.level];
        let chain = &mut level.chains[spot.slot];
        let (key, was_last) = self.bunches.pop(chain);
        if was_last {
            level.occupied.clear(spot.slot);
        }
        key
    }

    /// The home of the slot that holds this place.
    #[inline]
    pub(crate) fn home(&self, place: u32) -> u16 {
        self.bunches.at(split(place).0).home
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

    /// Keys of a slot's first bunch, in order.
    #[inline]
    pub(crate) fn first_keys(&self, spot: Spot) -> impl Iterator<Item = u32> {
        self.bunches
            .at(self.levels[spot.level].chains[spot.slot].head)
            .keys()
    }

    /// Keys in a slot, in order.
    pub(crate) fn keys(&self, spot: Spot) -> impl Iterator<Item = u32> {
        self.bunches_of(spot)
            .flat_map(|bunch| self.bunches.at(bunch).keys())
    }

    /// Places in use in a slot with the keys there, in order.
    pub(crate) fn places(&self, spot: Spot) -> impl Iterator<Item = (u32, u32)> {
        self.bunches_of(spot)
            .flat_map(|bunch| self.bunches.places(bunch))
    }

    /// Keys of the bunches in a slot, in order.
    pub(crate) fn bunches_of(&self, spot: Spot) -> impl Iterator<Item = u32> {
        let head = self.levels[spot.level].chains[spot.slot].head;
        let some = |bunch| (bunch != NIL).then_some(bunch);
        std::iter::successors(some(head), move |&bunch| some(self.bunches.at(bunch).next))
    }

    /// Frees the bunches kept in empty slots, and all spare memory.
    pub(crate) fn shrink_to_fit(&mut self) {
        for level in &mut self.levels {
            for slot in 0..SLOTS {
                if !level.occupied.has(slot) {
                    self.bunches.free_kept(&mut level.chains[slot]);
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
        self.bunches.shrink_to_fit();
    }

    /// All slots with their chains.
    pub(crate) fn chains(&self) -> impl Iterator<Item = (Spot, Chain)> {
        let levels = self.levels.iter().enumerate();
        levels.flat_map(|(level, ring)| {
            let chains = ring.chains.iter().enumerate();
            chains.map(move |(slot, &chain)| (Spot { level, slot }, chain))
        })
    }
}
