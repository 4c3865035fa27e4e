use super::bits::Bits;
use super::key_list::{KeyList, SHORT};
use super::level::Scale;
use super::slot::{Place, SlotId};

/// The slots of the levels that have been needed so far, lowest level first. A slot holds only the keys
/// of its entries; the slab holds the entries. Most operations touch only the first two fields.
#[repr(C)]
pub(crate) struct Slots<const SLOTS: usize> {
    /// The keys of the entries in each slot, indexed by [`SlotId::index`].
    pub(super) lists: Vec<KeyList>,
    /// A bit for each level, which is set while the level holds entries.
    pub(super) used: u64,
    /// Memory that long lists no longer need, for `RawWheel::take_garbage`.
    pub(super) garbage: Vec<Vec<u32>>,
    /// The occupied slots of each level.
    pub(super) occupied: Vec<Bits>,
}

impl<const SLOTS: usize> Slots<SLOTS> {
    pub(crate) const fn new() -> Self {
        Self {
            lists: Vec::new(),
            used: 0,
            garbage: Vec::new(),
            occupied: Vec::new(),
        }
    }

    pub(crate) fn levels(&self) -> usize {
        self.occupied.len()
    }

    /// Adds the key of an entry that is due at `deadline` or later to a slot, whose level need not exist
    /// yet, and returns its place.
    #[inline(always)]
    pub(crate) fn push(&mut self, slot: SlotId, key: u32, deadline: u64) -> Place {
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
        let at = list.push(key, deadline);
        Place { at, slot }
    }

    #[cold]
    fn set_levels(&mut self, levels: usize) {
        self.lists.resize_with(levels * SLOTS, || KeyList::EMPTY);
        self.occupied.resize(levels, Bits::NONE);
    }

    /// Removes the key at `place` from its slot. Calls `moved` with the key that moves there, if any.
    #[inline(always)]
    pub(crate) fn unlink(&mut self, place: Place, moved: impl FnOnce(u32)) {
        let list = &mut self.lists[place.slot.index()];
        if let Some(key) = list.remove(place.at) {
            moved(key);
        }
        // One test covers both: the list is empty, or it is time to look for unused memory.
        if list.len() % SHORT == 0 {
            self.tidy(place.slot);
        }
    }

    /// Takes at most `most` keys off the end of an occupied slot's list, as [`KeyList::take`] does.
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
            self.note_emptied(slot);
        }
        count
    }

    /// Notes an emptied slot, or gives back memory that its list no longer needs.
    #[inline(never)]
    fn tidy(&mut self, slot: SlotId) {
        let list = &mut self.lists[slot.index()];
        if list.is_empty() {
            self.note_emptied(slot);
        } else {
            self.garbage.extend(list.give_back());
        }
    }

    #[inline(always)]
    fn note_emptied(&mut self, slot: SlotId) {
        let list = &mut self.lists[slot.index()];
        list.earliest = u64::MAX;
        if list.is_large() {
            self.garbage.extend(list.give_back());
        }
        let level = slot.level::<SLOTS>();
        let occupied = &mut self.occupied[level];
        occupied.clear(slot.position::<SLOTS>());
        if occupied.is_empty() {
            self.used &= !(1 << level);
        }
    }

    /// Returns the occupied slot with the earliest tick at which an entry may be due, and that tick. Of
    /// several with the same tick, returns the one on the highest level, whose entries were inserted first,
    /// so that entries of one tick fire roughly in the order of insertion.
    #[inline]
    pub(crate) fn first(&self, now: u64) -> Option<(u64, SlotId)> {
        let mut levels = self.used_levels();
        let mut first = self.first_on(levels.next()?, now)?;
        for level in levels {
            // If `first` is in the level's current slot, and that is empty, all others start later.
            let current = Scale::<SLOTS>::number(now, level);
            if current == Scale::<SLOTS>::number(first.0, level)
                && !self.occupied[level].has(Scale::<SLOTS>::position(current))
            {
                continue;
            }
            let above = self.first_on(level, now)?;
            if above.0 <= first.0 {
                first = above;
            }
        }
        Some(first)
    }

    /// Returns the occupied slot of a level that starts first, and the earliest tick at which one of its
    /// entries may be due.
    #[inline]
    pub(crate) fn first_on(&self, level: usize, now: u64) -> Option<(u64, SlotId)> {
        let slot = Self::first_of(&self.occupied[level], level, now)?;
        Some((self.list(slot).earliest, slot))
    }

    /// Returns the first of these slots of a level, from the slot that contains `now` on.
    fn first_of(occupied: &Bits, level: usize, now: u64) -> Option<SlotId> {
        let position = Scale::<SLOTS>::position(Scale::<SLOTS>::number(now, level));
        let first = occupied
            .first_from(position)
            .or_else(|| occupied.first_from(0))?;
        Some(SlotId::new::<SLOTS>(level, first))
    }

    /// Returns the levels that hold entries, lowest first.
    #[inline]
    pub(crate) fn used_levels(&self) -> impl Iterator<Item = usize> {
        let mut left = self.used;
        std::iter::from_fn(move || {
            let level = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (level < 64).then_some(level)
        })
    }

    /// Returns the occupied slots of a level, in the order in which they start.
    pub(crate) fn occupied(&self, level: usize, now: u64) -> impl Iterator<Item = SlotId> {
        let mut left = self.occupied[level];
        std::iter::from_fn(move || {
            let next = Self::first_of(&left, level, now)?;
            left.clear(next.position::<SLOTS>());
            Some(next)
        })
    }

    #[inline]
    pub(crate) fn list(&self, slot: SlotId) -> &KeyList {
        &self.lists[slot.index()]
    }

    /// Notes that an entry in a slot now has this deadline.
    pub(crate) fn lower(&mut self, slot: SlotId, deadline: u64) {
        self.lists[slot.index()].lower(deadline);
    }

    /// Returns how many keys each slot of a level holds.
    pub(crate) fn counts(&self, level: usize) -> impl Iterator<Item = usize> {
        self.lists[level * SLOTS..][..SLOTS]
            .iter()
            .map(KeyList::len)
    }

    /// Frees the memory that the lists do not need, and removes the highest levels while they are empty.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.garbage = Vec::new();
        self.set_levels(self.used_levels().last().map_or(0, |last| last + 1));
        self.lists.iter_mut().for_each(KeyList::shrink_to_fit);
        self.lists.shrink_to_fit();
        self.occupied.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests;
