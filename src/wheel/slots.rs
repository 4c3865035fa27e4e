//! The slots of all levels. Slots hold keys only; entries are in `core.rs`.

use super::key_list::{BURST, KeyList};
use super::level::{Level, Scale};
use super::slot::{Place, SlotId};

/// The levels that have been needed so far, lowest first.
#[derive(Clone)]
pub(crate) struct Slots<const SLOTS: usize> {
    pub(crate) levels: Vec<Level<SLOTS>>,
    /// A bit for each level: set while the level holds entries.
    used: u64,
    /// Memory that long lists no longer need.
    pub(super) garbage: Vec<Vec<u32>>,
}

/// An occupied slot, and the tick at which it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) slot: SlotId,
    pub(crate) start: u64,
}

impl<const SLOTS: usize> Slots<SLOTS> {
    pub(crate) const fn new() -> Self {
        Self {
            levels: Vec::new(),
            used: 0,
            garbage: Vec::new(),
        }
    }

    /// Puts a key into a slot, and returns its place.
    #[inline(always)]
    pub(crate) fn push(&mut self, slot: SlotId, key: u32) -> Place {
        let level = match self.levels.get_mut(slot.level) {
            Some(level) => level,
            None => Self::add_levels(&mut self.levels, slot.level),
        };
        let list = &mut level.lists[slot.position];
        if list.is_empty() {
            level.occupied.set(slot.position);
            self.used |= 1 << slot.level;
        }
        Place::new::<SLOTS>(slot, list.push(key))
    }

    #[cold]
    fn add_levels(levels: &mut Vec<Level<SLOTS>>, highest: usize) -> &mut Level<SLOTS> {
        levels.resize_with(highest + 1, Level::new);
        &mut levels[highest]
    }

    /// Takes the key at a place out of its slot. If that moves other keys, `moved` is called with
    /// each of them and its new place.
    #[inline(always)]
    pub(crate) fn unlink(&mut self, place: Place, moved: impl FnMut(u32, Place)) {
        let slot = place.slot::<SLOTS>();
        if self.list_mut(slot).remove(place.at()) {
            self.tidy(slot, moved);
        }
    }

    /// Takes at most `most` keys out of an occupied slot, as many as there is room for, and returns
    /// how many.
    #[inline(always)]
    pub(crate) fn take(&mut self, slot: SlotId, keys: &mut [u32; BURST], most: usize) -> usize {
        let list = self.list_mut(slot);
        let taken = list.take(keys, most);
        if list.is_empty() {
            self.has_emptied(slot);
        }
        taken
    }

    /// Makes a sparse list shorter.
    #[inline(never)]
    fn tidy(&mut self, slot: SlotId, mut moved: impl FnMut(u32, Place)) {
        let list = self.list_mut(slot);
        if list.is_empty() {
            return self.has_emptied(slot);
        }
        let garbage = list.tidy(|key, at| moved(key, Place::new::<SLOTS>(slot, at)));
        self.garbage.extend(garbage);
    }

    #[inline]
    fn has_emptied(&mut self, slot: SlotId) {
        let level = &mut self.levels[slot.level];
        level.occupied.clear(slot.position);
        if level.occupied.is_empty() {
            self.used &= !(1 << slot.level);
        }
        if let Some(garbage) = level.lists[slot.position].clear() {
            self.garbage.push(garbage);
        }
    }

    #[inline]
    pub(crate) fn is_occupied(&self, slot: SlotId) -> bool {
        self.levels[slot.level].occupied.has(slot.position)
    }

    /// The occupied slot that starts first; if several start then, the slot on the highest
    /// level. All may hold entries of that tick, and those on a higher level were inserted
    /// earlier.
    #[inline]
    pub(crate) fn first(&self, now: u64) -> Option<Next> {
        let mut first: Option<Next> = None;
        for level in self.used_levels() {
            // Slots of this level, and above, start at or after the next boundary between two.
            let boundary = Scale::<SLOTS>::boundary(level, now);
            if first.is_some_and(|first| first.start < boundary) {
                break;
            }
            let occupied = &self.levels[level].occupied;
            let start = Scale::<SLOTS>::first_start(occupied, level, now)?;
            if first.is_none_or(|first| start <= first.start) {
                let slot = Scale::<SLOTS>::slot_at(start, level);
                first = Some(Next { slot, start });
            }
        }
        first
    }

    /// For every level that holds entries, the start of its first occupied slot.
    #[inline]
    pub(crate) fn starts(&self, now: u64) -> impl Iterator<Item = (usize, u64)> {
        self.used_levels().filter_map(move |level| {
            let occupied = &self.levels[level].occupied;
            Some((level, Scale::<SLOTS>::first_start(occupied, level, now)?))
        })
    }

    /// The levels that hold entries, lowest first.
    #[inline]
    pub(crate) fn used_levels(&self) -> impl Iterator<Item = usize> {
        let mut left = self.used;
        std::iter::from_fn(move || {
            let level = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (level < 64).then_some(level)
        })
    }

    /// The occupied slots of a level, in the order in which they start.
    pub(crate) fn occupied(&self, level: usize, now: u64) -> impl Iterator<Item = Next> {
        let mut left = self.levels[level].occupied;
        std::iter::from_fn(move || {
            let start = Scale::<SLOTS>::first_start(&left, level, now)?;
            let slot = Scale::<SLOTS>::slot_at(start, level);
            left.clear(slot.position);
            Some(Next { slot, start })
        })
    }

    /// The keys in a slot.
    #[inline]
    pub(crate) fn list(&self, slot: SlotId) -> &KeyList {
        &self.levels[slot.level].lists[slot.position]
    }

    #[inline]
    pub(crate) fn list_mut(&mut self, slot: SlotId) -> &mut KeyList {
        &mut self.levels[slot.level].lists[slot.position]
    }

    /// Frees the memory of empty slots, and the empty levels at the top.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.garbage = Vec::new();
        let lists = self.levels.iter_mut().flat_map(|level| &mut level.lists);
        lists.for_each(KeyList::shrink_to_fit);
        let used = self.used_levels().last().map_or(0, |last| last + 1);
        self.levels.truncate(used);
        self.levels.shrink_to_fit();
    }

    /// All slots with their lists.
    #[cfg(test)]
    pub(crate) fn lists(&self) -> impl Iterator<Item = (SlotId, &KeyList)> {
        let levels = self.levels.iter().enumerate();
        levels.flat_map(|(level, ring)| {
            let lists = ring.lists.iter().enumerate();
            lists.map(move |(position, list)| (SlotId { level, position }, list))
        })
    }
}
