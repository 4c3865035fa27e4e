//! The wheel itself: entries in a slab, and their keys in slots. This file inserts, removes and
//! reschedules entries; `advance.rs` fires them.

use std::mem::{self, offset_of};

use super::bits::Bits;
use super::key_list::KeyList;
use super::level::Scale;
use super::paged_slab::PagedSlab;
use super::slot::{Place, SlotId};
use super::slots::Slots;

/// A timing wheel whose keys are bare `u32`s.
///
/// **Do not use the key of an entry that is gone**: the wheel reuses keys, and would find another entry.
/// If it finds none, all methods except `get` and `extend` panic.
#[repr(C)]
pub(crate) struct RawWheel<T, const SLOTS: usize> {
    pub(super) now: u64,
    pub(super) entries: PagedSlab<Entry<T>, PAGE_BITS>,
    /// Number of times that an entry has cascaded.
    pub(super) cascaded: u64,
    pub(super) slots: Slots<SLOTS>,
}

/// How far after the start of a cache line the driver places its wheels. The order of all fields is such
/// that an insert then touches three lines of a wheel: the clock and the counts, the pages, the slots.
#[cfg(target_pointer_width = "64")]
pub(crate) const OFFSET: usize = 40;

#[cfg(target_pointer_width = "64")]
const _: () = {
    type Wheel = RawWheel<Option<std::task::Waker>, 256>;
    const fn line(field: usize) -> usize {
        (OFFSET + field) / 64
    }
    assert!(line(offset_of!(Wheel, now)) == line(offset_of!(Wheel, entries.inserted)));
    let end_of_pages = offset_of!(Wheel, entries.pages) + size_of::<Vec<()>>() - 1;
    assert!(line(offset_of!(Wheel, entries.current)) == line(end_of_pages));
    assert!(line(offset_of!(Wheel, slots.lists)) == line(offset_of!(Wheel, slots.used)));
    // An entry of the driver is half a line, even where the slab also has to say that a cell is vacant.
    assert!(size_of::<Option<Entry<Option<std::task::Waker>>>>() == 32);
};

/// The binary logarithm of the number of entries per page. A page of the driver takes 32 KiB.
pub(crate) const PAGE_BITS: u32 = 10;
#[cfg(test)]
pub(crate) const PAGE: usize = 1 << PAGE_BITS;

pub(crate) struct Entry<T> {
    pub(super) value: T,
    pub(super) deadline: u64,
    /// The place of this entry's key, which does not follow from `deadline` alone: the slot also depends
    /// on the time of the insert.
    pub(super) place: Place,
}

impl<T, const SLOTS: usize> RawWheel<T, SLOTS> {
    /// Maximum number of entries.
    pub(crate) const MOST: usize = {
        let keys = PagedSlab::<Entry<T>, PAGE_BITS>::MOST;
        let memory = isize::MAX as usize / size_of::<Entry<T>>();
        if keys < memory { keys } else { memory }
    };

    pub(crate) const fn starting_at(now: u64) -> Self {
        // With a single slot per level, a higher level would not have wider slots.
        const {
            assert!(
                2 <= SLOTS && SLOTS <= Bits::MOST,
                "a timing wheel has 2 to 256 slots per level"
            );
        };
        Self {
            now,
            entries: PagedSlab::new(),
            cascaded: 0,
            slots: Slots::new(),
        }
    }

    /// Returns the tick of the clock. No entry is due earlier.
    pub(crate) const fn now(&self) -> u64 {
        self.now
    }

    pub(crate) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of entries that were ever inserted.
    pub(crate) const fn inserted(&self) -> u64 {
        self.entries.inserted
    }

    /// Returns the number of entries that ever left the wheel, because they fired or were removed.
    pub(crate) const fn removed(&self) -> u64 {
        self.entries.removed
    }

    pub(crate) const fn cascaded(&self) -> u64 {
        self.cascaded
    }

    /// Inserts a value and returns its key. The deadline must not be before `now`. An entry at `now`
    /// is due, and the next advance fires it.
    #[inline(always)]
    pub(crate) fn insert(&mut self, deadline: u64, value: T) -> u32 {
        self.expect_not_passed(deadline);
        let slot = Scale::<SLOTS>::slot_of(deadline, self.now);
        let vacant = self.entries.vacant();
        let key = vacant.key();
        let place = self.slots.push(slot, key, deadline);
        vacant.fill(Entry {
            value,
            deadline,
            place,
        });
        key
    }

    #[inline(always)]
    pub(crate) fn remove(&mut self, key: u32) -> T {
        match self.entries.remove_from_page(key) {
            Some(entry) => {
                self.unlink(entry.place);
                entry.value
            }
            None => self.remove_survivor(key),
        }
    }

    /// Removes a survivor (see `paged_slab.rs`). This is out of line so that, for all other entries, the
    /// compiler keeps the value in registers.
    #[cold]
    #[inline(never)]
    fn remove_survivor(&mut self, key: u32) -> T {
        let entry = self.entries.remove_survivor(key);
        self.unlink(entry.place);
        entry.value
    }

    /// Changes the deadline of an entry. The new one must not be before `now`.
    #[inline]
    pub(crate) fn reschedule(&mut self, key: u32, deadline: u64) {
        self.expect_not_passed(deadline);
        let slot = Scale::<SLOTS>::slot_of(deadline, self.now);
        let entry = self.entries.at_mut(key);
        entry.deadline = deadline;
        let place = entry.place;
        if place.slot == slot {
            self.slots.lower(slot, deadline);
        } else {
            self.relink(key, place, slot);
        }
    }

    /// Changes the deadline of an entry, as [`reschedule`](Self::reschedule) does, but leaves the entry
    /// in its slot unless that starts after the new deadline. So a deadline can be extended again and
    /// again, and the entry moves once: when the clock reaches its first deadline.
    ///
    /// Calls `change` on the value, and returns its result.
    #[inline(always)]
    pub(crate) fn reschedule_lazily<R>(
        &mut self,
        key: u32,
        deadline: u64,
        change: impl FnOnce(&mut T) -> R,
    ) -> R {
        self.expect_not_passed(deadline);
        let entry = self.entries.at_mut(key);
        let result = change(&mut entry.value);
        let before = mem::replace(&mut entry.deadline, deadline);
        if deadline < before {
            self.move_earlier(key, deadline);
        }
        result
    }

    /// Moves an entry to a slot for its new, earlier deadline, unless its slot starts early enough.
    #[inline(never)]
    fn move_earlier(&mut self, key: u32, deadline: u64) {
        let (place, now) = (self.entries.at(key).place, self.now);
        if Scale::<SLOTS>::start(place.slot, now) > deadline {
            self.relink(key, place, Scale::<SLOTS>::slot_of(deadline, now));
        } else {
            self.slots.lower(place.slot, deadline);
        }
    }

    /// Extends the deadline of an entry, which stays in its slot, and returns `true`. Returns `false` and
    /// changes nothing if there is no such entry, if the new deadline is earlier than the old one, or for a
    /// survivor (see `paged_slab.rs`): only a slow path looks those up.
    #[inline(always)]
    pub(crate) fn extend(&mut self, key: u32, deadline: u64) -> bool {
        match self.entries.in_page_mut(key) {
            Some(entry) if deadline >= entry.deadline => {
                entry.deadline = deadline;
                true
            }
            _ => false,
        }
    }

    /// Turns the clock back to `now`, which moves all entries, and fires none. Does nothing if the clock is
    /// earlier.
    pub(crate) fn turn_back(&mut self, now: u64) {
        if now >= self.now {
            return;
        }
        self.now = now;
        let keys = self.slots.lists.iter().flat_map(KeyList::keys);
        for key in keys.copied().collect::<Vec<_>>() {
            self.reschedule(key, self.deadline(key));
        }
    }

    fn expect_not_passed(&self, deadline: u64) {
        debug_assert!(deadline >= self.now, "this deadline has passed");
    }

    fn relink(&mut self, key: u32, place: Place, slot: SlotId) {
        self.unlink(place);
        self.link(key, slot);
    }

    /// Adds the key of an entry to a slot. The key must not be in any slot.
    pub(super) fn link(&mut self, key: u32, slot: SlotId) {
        let entry = self.entries.at_mut(key);
        entry.place = self.slots.push(slot, key, entry.deadline);
    }

    /// Removes the key at `place` from its slot. Notes the new place of the key that moves there.
    #[inline(always)]
    fn unlink(&mut self, place: Place) {
        let entries = &mut self.entries;
        let note = |moved| entries.at_mut(moved).place.at = place.at;
        self.slots.unlink(place, note);
    }

    pub(crate) fn deadline(&self, key: u32) -> u64 {
        self.entries.at(key).deadline
    }

    pub(crate) fn get(&self, key: u32) -> Option<&T> {
        Some(&self.entries.get(key)?.value)
    }

    pub(crate) fn get_mut(&mut self, key: u32) -> &mut T {
        &mut self.entries.at_mut(key).value
    }

    /// Returns the deadlines and values of all entries, in no particular order.
    pub(crate) fn into_values(self) -> impl Iterator<Item = (u64, T)> {
        let entries = self.entries.into_values();
        entries.map(|entry| (entry.deadline, entry.value))
    }

    /// Moves all entries into a new wheel. In this one, they count as removed.
    pub(crate) fn take(&mut self) -> Self {
        let mut emptied = Self::starting_at(self.now);
        emptied.cascaded = self.cascaded;
        emptied.entries.inserted = self.inserted();
        emptied.entries.removed = self.inserted();
        mem::replace(self, emptied)
    }

    pub(crate) fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    pub(crate) fn reserve(&mut self, additional: usize) {
        self.entries.reserve(additional);
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.slots.shrink_to_fit();
        self.entries.shrink_to_fit();
    }

    /// Returns `true` if [`take_garbage`](Self::take_garbage) would return memory.
    pub(crate) fn has_garbage(&self) -> bool {
        !self.entries.garbage.is_empty() || !self.slots.garbage.is_empty()
    }

    /// Returns the memory that is no longer used. **Drop it outside of any lock**, because freeing
    /// many pages takes a long time.
    #[must_use = "to be dropped outside of any lock"]
    #[inline]
    pub(crate) fn take_garbage(&mut self) -> Option<impl Sized + use<T, SLOTS>> {
        self.has_garbage().then(|| {
            let pages = mem::take(&mut self.entries.garbage);
            (pages, mem::take(&mut self.slots.garbage))
        })
    }
}
