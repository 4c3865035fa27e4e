//! The slots of all levels. Slots hold keys only; entries are in `core.rs`.

use super::bits::Bits;
use super::key_list::KeyList;
use super::level::Scale;
use super::slot::{Place, SlotId};

/// The slots of the levels that have been needed so far, lowest first. With the fields in this order,
/// each operation reads one line of memory here; `occupied` is behind that line, and rarely read.
#[derive(Clone)]
#[repr(C)]
pub(crate) struct Slots<const SLOTS: usize> {
    /// The keys of the entries in each slot, by the index of the slot.
    pub(super) lists: Vec<KeyList>,
    /// A bit for each level: set while the level holds entries.
    used: u64,
    /// Memory that long lists no longer need.
    pub(super) garbage: Vec<Vec<u32>>,
    /// For each level, a bit for each slot: set while the slot holds entries.
    pub(super) occupied: Vec<Bits>,
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
            lists: Vec::new(),
            occupied: Vec::new(),
            used: 0,
            garbage: Vec::new(),
        }
    }

    /// How many levels there are.
    pub(crate) fn levels(&self) -> usize {
        self.occupied.len()
    }

    /// Puts a key into a slot, and returns its place.
    #[inline(always)]
    pub(crate) fn push(&mut self, slot: SlotId, key: u32) -> Place {
        let list = match self.lists.get_mut(slot.index()) {
            Some(list) => list,
            None => {
                self.set_levels(slot.level::<SLOTS>() + 1);
                &mut self.lists[slot.index()]
            }
        };
        if list.is_empty() {
            let level = slot.level::<SLOTS>();
            self.occupied[level].set(slot.position::<SLOTS>());
            self.used |= 1 << level;
        }
        let at = list.push(key);
        Place { at, slot }
    }

    #[cold]
    fn set_levels(&mut self, levels: usize) {
        self.lists.resize(levels * SLOTS, KeyList::EMPTY);
        self.occupied.resize(levels, Bits::NONE);
    }

    /// Takes the key at a place out of its slot. If that moves other keys, `moved` is called with
    /// each of them and its new place.
    #[inline(always)]
    pub(crate) fn unlink(&mut self, place: Place, moved: impl FnMut(u32, Place)) {
        if self.lists[place.slot.index()].remove(place.at) {
            self.tidy(place.slot, moved);
        }
    }

    /// Takes at most `most` cells off an occupied slot: see [`KeyList::take`].
    #[inline(always)]
    pub(crate) fn take(
        &mut self,
        slot: SlotId,
        most: usize,
        taken: impl FnMut(usize, u32),
    ) -> usize {
        let list = &mut self.lists[slot.index()];
        let count = list.take(most, taken);
        if list.is_empty() {
            list.clear(&mut self.garbage);
            self.has_emptied(slot);
        }
        count
    }

    /// Makes a sparse list shorter.
    #[inline(never)]
    fn tidy(&mut self, slot: SlotId, mut moved: impl FnMut(u32, Place)) {
        let list = &mut self.lists[slot.index()];
        if list.is_empty() {
            list.clear(&mut self.garbage);
            return self.has_emptied(slot);
        }
        let garbage = list.tidy(|key, at| moved(key, Place { at, slot }));
        self.garbage.extend(garbage);
    }

    #[inline(always)]
    fn has_emptied(&mut self, slot: SlotId) {
        let level = slot.level::<SLOTS>();
        let occupied = &mut self.occupied[level];
        occupied.clear(slot.position::<SLOTS>());
        if occupied.is_empty() {
            self.used &= !(1 << level);
        }
    }

    /// The occupied slot that starts first; if several start then, the slot on the highest
    /// level. All may hold entries of that tick, and those on a higher level were inserted
    /// earlier.
    #[inline]
    pub(crate) fn first(&self, now: u64) -> Option<Next> {
        let mut levels = self.used_levels();
        let mut first = self.first_on(levels.next()?, now)?;
        for level in levels {
            // Where no slot of this level starts in between, none of the levels above does.
            if !Scale::<SLOTS>::is_between(level, now, first.start) {
                break;
            }
            let above = self.first_on(level, now)?;
            if above.start <= first.start {
                first = above;
            }
        }
        Some(first)
    }

    /// The occupied slot of a level that starts first.
    pub(crate) fn first_on(&self, level: usize, now: u64) -> Option<Next> {
        Self::first_of(&self.occupied[level], level, now)
    }

    fn first_of(occupied: &Bits, level: usize, now: u64) -> Option<Next> {
        let start = Scale::<SLOTS>::first_start(occupied, level, now)?;
        let slot = Scale::<SLOTS>::slot_at(start, level);
        Some(Next { slot, start })
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
        let mut left = self.occupied[level];
        std::iter::from_fn(move || {
            let next = Self::first_of(&left, level, now)?;
            left.clear(next.slot.position::<SLOTS>());
            Some(next)
        })
    }

    /// The keys in a slot.
    pub(crate) fn list(&self, slot: SlotId) -> &KeyList {
        &self.lists[slot.index()]
    }

    /// How many keys each slot of a level holds.
    pub(crate) fn counts(&self, level: usize) -> impl Iterator<Item = usize> {
        self.lists[level * SLOTS..][..SLOTS]
            .iter()
            .map(KeyList::len)
    }

    /// Frees the memory of empty slots, and the empty levels at the top.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.garbage = Vec::new();
        self.set_levels(self.used_levels().last().map_or(0, |last| last + 1));
        self.lists.iter_mut().for_each(KeyList::shrink_to_fit);
        self.lists.shrink_to_fit();
        self.occupied.shrink_to_fit();
    }
}
