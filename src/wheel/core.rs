//! The wheel: entries in a slab, and their keys in slots. Inserting, removing and rescheduling.

use std::mem;

pub(crate) use super::advance::Progress;
use super::bits::Bits;
use super::level::Scale;
use super::paged_slab::PagedSlab;
use super::slot::{Place, SlotId};
use super::slots::Slots;

/// A timing wheel whose keys are plain `u32`s. The owner must not use the key of an entry that is
/// gone.
///
/// On the levels up to `GRAIN`, entries of one slot fire in any order. With `GRAIN` 0 a slot on
/// those is a single tick wide, and so entries fire in the order of their ticks.
///
/// With the fields in this order, an insert touches three lines of memory, if the owner puts the
/// wheel 40 bytes behind the start of a line.
#[derive(Clone)]
#[repr(C)]
pub(crate) struct Core<T, const SLOTS: usize, const GRAIN: usize> {
    pub(super) now: u64,
    pub(super) entries: PagedSlab<Entry<T>, PAGE_BITS>,
    /// How often an entry has moved to a lower level.
    pub(super) cascaded: u64,
    pub(super) slots: Slots<SLOTS>,
}

/// 1024 entries to a page: 32 KiB of wakers.
pub(crate) const PAGE_BITS: u32 = 10;
/// Memory is allocated and freed for so many entries at a time.
pub(crate) const PAGE: usize = 1 << PAGE_BITS;

#[derive(Clone)]
pub(crate) struct Entry<T> {
    pub(super) value: T,
    pub(super) deadline: u64,
    /// Where this entry's key is. The slot cannot be computed from the deadline alone: the slot also
    /// depends on the clock at the time of the insert.
    pub(super) place: Place,
}

impl<T, const SLOTS: usize, const GRAIN: usize> Core<T, SLOTS, GRAIN> {
    /// There is never room for more entries.
    pub(crate) const MOST: usize = {
        let keys = PagedSlab::<Entry<T>, PAGE_BITS>::MOST;
        let memory = isize::MAX as usize / size_of::<Entry<T>>();
        if keys < memory { keys } else { memory }
    };

    /// An empty wheel whose clock stands at `now`. The first insert allocates.
    pub(crate) const fn starting_at(now: u64) -> Self {
        // There is a bit for each slot of a level, and a ring has at least two.
        const {
            assert!(
                2 <= SLOTS && SLOTS <= Bits::MOST,
                "a timing wheel has 2 to 256 slots per level"
            );
        };
        Self {
            now,
            entries: PagedSlab::new(),
            slots: Slots::new(),
            cascaded: 0,
        }
    }

    /// The clock. No entry is due by now, unless the last advance ran out of budget.
    pub(crate) const fn now(&self) -> u64 {
        self.now
    }

    pub(crate) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Entries ever inserted.
    pub(crate) const fn inserted(&self) -> u64 {
        self.entries.inserted
    }

    /// Entries that have ever left the wheel: fired or removed.
    pub(crate) const fn removed(&self) -> u64 {
        self.entries.removed
    }

    /// How often an entry has moved to a lower level.
    pub(crate) const fn cascaded(&self) -> u64 {
        self.cascaded
    }

    /// Inserts a value. Its deadline must be later than `now`.
    #[inline(always)]
    pub(crate) fn insert(&mut self, deadline: u64, value: T) -> u32 {
        self.expect_later(deadline);
        let slot = Scale::<SLOTS>::slot_of(deadline, self.now);
        let vacant = self.entries.vacant();
        let key = vacant.key();
        let place = self.slots.push(slot, key);
        vacant.fill(Entry {
            value,
            deadline,
            place,
        });
        key
    }

    /// Removes an entry and returns its value. Panics when there is none.
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

    /// Out of line: the value then stays in registers where the entry is in its page.
    #[cold]
    #[inline(never)]
    fn remove_survivor(&mut self, key: u32) -> T {
        let entry = self.entries.remove(key);
        self.unlink(entry.place);
        entry.value
    }

    /// Moves an entry to another deadline, which must be later than `now`. Panics when there is none.
    #[inline]
    pub(crate) fn reschedule(&mut self, key: u32, deadline: u64) {
        self.expect_later(deadline);
        let slot = Scale::<SLOTS>::slot_of(deadline, self.now);
        let entry = self.entries.at_mut(key);
        entry.deadline = deadline;
        let place = entry.place;
        if place.slot != slot {
            self.relink(key, place, slot);
        }
    }

    /// The same, but an entry stays in its slot if the slot starts no later than the new deadline.
    /// The entry moves only when the clock comes to the slot, however often it was put off before.
    #[inline(always)]
    pub(crate) fn reschedule_lazily(&mut self, key: u32, deadline: u64) {
        self.expect_later(deadline);
        let before = mem::replace(&mut self.entries.at_mut(key).deadline, deadline);
        if deadline < before {
            self.put_forward(key, deadline);
        }
    }

    /// Puts an entry off if the key has an entry, `is_such` holds for its value, and the new
    /// deadline is not earlier. Returns whether all three hold; also `false` for an entry that has
    /// survived its page, which the longer ways find.
    #[inline(always)]
    pub(crate) fn put_off_if(
        &mut self,
        key: u32,
        deadline: u64,
        is_such: impl FnOnce(&T) -> bool,
    ) -> bool {
        match self.entries.in_page_mut(key) {
            Some(entry) if deadline >= entry.deadline && is_such(&entry.value) => {
                entry.deadline = deadline;
                true
            }
            _ => false,
        }
    }

    fn expect_later(&self, deadline: u64) {
        debug_assert!(deadline > self.now, "such a deadline is due already");
    }

    /// Gives an entry another value, and another deadline as
    /// [`reschedule_lazily`](Self::reschedule_lazily) does. Returns the old value.
    #[inline(always)]
    pub(crate) fn replace(&mut self, key: u32, deadline: u64, value: T) -> T {
        let entry = self.entries.at_mut(key);
        let old = mem::replace(&mut entry.value, value);
        let before = mem::replace(&mut entry.deadline, deadline);
        if deadline < before {
            self.put_forward(key, deadline);
        }
        old
    }

    #[inline(never)]
    fn put_forward(&mut self, key: u32, deadline: u64) {
        let (place, now) = (self.entries.at(key).place, self.now);
        if Scale::<SLOTS>::start(place.slot, now) > deadline {
            self.relink(key, place, Scale::<SLOTS>::slot_of(deadline, now));
        }
    }

    /// Moves the key of an entry from its place to another slot.
    fn relink(&mut self, key: u32, place: Place, slot: SlotId) {
        self.unlink(place);
        self.link(key, slot);
    }

    /// Puts the key of an entry that is in no slot into a slot.
    pub(super) fn link(&mut self, key: u32, slot: SlotId) {
        self.entries.at_mut(key).place = self.slots.push(slot, key);
    }

    #[inline(always)]
    fn unlink(&mut self, place: Place) {
        let entries = &mut self.entries;
        self.slots
            .unlink(place, |key, place| entries.at_mut(key).place = place);
    }

    /// The deadline of an entry. Panics when there is none.
    pub(crate) fn deadline(&self, key: u32) -> u64 {
        self.entries.at(key).deadline
    }

    pub(crate) fn get(&self, key: u32) -> Option<&T> {
        Some(&self.entries.get(key)?.value)
    }

    /// The value of an entry. Panics when there is none.
    pub(crate) fn get_mut(&mut self, key: u32) -> &mut T {
        &mut self.entries.at_mut(key).value
    }

    /// Deadlines and values, in no particular order.
    pub(crate) fn into_values(self) -> impl Iterator<Item = (u64, T)> {
        let entries = self.entries.into_iter();
        entries.map(|(_, entry)| (entry.deadline, entry.value))
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

    /// Whether there is memory that is no longer used.
    pub(crate) fn has_garbage(&self) -> bool {
        !self.entries.garbage.is_empty() || !self.slots.garbage.is_empty()
    }

    /// The memory that has come out of use since this was last called. The drop takes long.
    #[must_use = "to be dropped outside of any lock"]
    #[inline]
    pub(crate) fn take_garbage(&mut self) -> Option<impl Sized + use<T, SLOTS, GRAIN>> {
        let (pages, lists) = (&mut self.entries.garbage, &mut self.slots.garbage);
        let is_any = !pages.is_empty() || !lists.is_empty();
        is_any.then(|| (mem::take(pages), mem::take(lists)))
    }
}
