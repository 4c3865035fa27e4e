//! The wheel itself: entries in a slab, filed under slots; arming, cancelling and rescheduling.

use std::mem;

use slab::Slab;

pub(crate) use super::advance::Progress;
use super::bits::Bits;
use super::chunk_list::Chunk;
use super::level::{Scale, Spot};
use super::paged_slab::PagedSlab;
use super::slots::Slots;

/// A timing wheel with plain `u32` keys, for an owner that never uses a key twice.
///
/// Slots of the levels up to `GRAIN` are fired whole, entries due by the target in any order; with
/// `GRAIN` 0 that is a single tick, and ticks are fired in order.
pub(crate) struct Core<T, const SLOTS: usize, const GRAIN: usize> {
    pub(super) now: u64,
    pub(super) entries: PagedSlab<Entry<T>, PAGE_BITS>,
    pub(super) slots: Slots<SLOTS>,
    /// Entries filed anew on a lower level.
    pub(super) cascaded: u64,
}

/// 2048 entries to a page: 64 KiB of wakers.
const PAGE_BITS: u32 = 11;
/// Entries that memory comes and goes for at a time.
pub(crate) const PAGE: usize = 1 << PAGE_BITS;

pub(crate) struct Entry<T> {
    pub(super) value: T,
    pub(super) deadline: u64,
    /// The cell that holds this entry's key. Stored, for the clock may have moved since.
    pub(super) place: u32,
}

/// Memory that a wheel no longer uses. Dropping it takes a while, so do it outside of any lock.
#[must_use = "to be dropped where nobody waits"]
#[expect(dead_code, reason = "held only to be dropped")]
pub(crate) struct Garbage<T> {
    entries: Vec<Slab<Entry<T>>>,
    chunks: Vec<Slab<Chunk>>,
}

impl<T, const SLOTS: usize, const GRAIN: usize> Core<T, SLOTS, GRAIN> {
    /// An empty wheel whose clock stands at `now`. It allocates with the first insert.
    pub(crate) const fn starting_at(now: u64) -> Self {
        // One bit for each slot of a level; and one slot alone would not be a ring.
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

    /// The clock: no entry due by now is left, unless an advance ran out of budget.
    #[inline]
    pub(crate) const fn now(&self) -> u64 {
        self.now
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Entries ever filed.
    pub(crate) const fn inserted(&self) -> u64 {
        self.entries.inserted()
    }

    /// Entries ever taken out, whether fired or removed.
    pub(crate) const fn removed(&self) -> u64 {
        self.entries.removed()
    }

    /// How often an entry was filed anew on a lower level.
    pub(crate) const fn cascaded(&self) -> u64 {
        self.cascaded
    }

    /// Files a value under a deadline, which must be later than `now`.
    #[inline]
    pub(crate) fn insert(&mut self, deadline: u64, value: T) -> u32 {
        debug_assert!(
            deadline > self.now,
            "a deadline at or before now is already due"
        );
        let spot = Scale::<SLOTS>::spot(deadline, self.now);
        let slots = &mut self.slots;
        self.entries.insert_with(|key| Entry {
            value,
            deadline,
            place: slots.push(spot, key),
        })
    }

    /// Takes an entry out. Panics when there is none.
    #[inline]
    pub(crate) fn remove(&mut self, key: u32) -> T {
        let entry = self.entries.remove(key);
        self.unlink(entry.place);
        entry.value
    }

    /// Moves an entry to another deadline, which must be later than `now`. Panics when there is none.
    #[inline]
    pub(crate) fn reschedule(&mut self, key: u32, deadline: u64) {
        debug_assert!(
            deadline > self.now,
            "a deadline at or before now is already due"
        );
        let spot = Scale::<SLOTS>::spot(deadline, self.now);
        let entry = self.entries.at_mut(key);
        entry.deadline = deadline;
        let place = entry.place;
        if self.slots.home(place) != spot.home::<SLOTS>() {
            self.relink(key, place, spot);
        }
    }

    /// The same, but an entry stays where it is if its slot comes no later than the deadline:
    /// `advance` files it anew when it gets there. So a timer that is put off again and again costs
    /// one move each time that the clock comes to its slot, and no more.
    #[inline]
    pub(crate) fn reschedule_lazily(&mut self, key: u32, deadline: u64) {
        debug_assert!(
            deadline > self.now,
            "a deadline at or before now is already due"
        );
        let now = self.now;
        let entry = self.entries.at_mut(key);
        let before = mem::replace(&mut entry.deadline, deadline);
        let place = entry.place;
        if deadline >= before || self.slots.start(place, now) <= deadline {
            return;
        }
        self.relink(key, place, Scale::<SLOTS>::spot(deadline, now));
    }

    /// Moves an entry from its place to another slot.
    #[inline]
    fn relink(&mut self, key: u32, place: u32, spot: Spot) {
        self.unlink(place);
        self.entries.at_mut(key).place = self.slots.push(spot, key);
    }

    #[inline]
    fn unlink(&mut self, place: u32) {
        let entries = &mut self.entries;
        self.slots
            .unlink(place, |key, place| entries.at_mut(key).place = place);
    }

    /// The deadline of a live entry. Panics when there is none.
    #[inline]
    pub(crate) fn deadline(&self, key: u32) -> u64 {
        self.entries.at(key).deadline
    }

    #[inline]
    pub(crate) fn get(&self, key: u32) -> Option<&T> {
        Some(&self.entries.get(key)?.value)
    }

    /// The value of a live entry. Panics when there is none.
    #[inline]
    pub(crate) fn get_mut(&mut self, key: u32) -> &mut T {
        &mut self.entries.at_mut(key).value
    }

    /// Entries in no particular order: key, deadline, value.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u64, &T)> {
        self.entries
            .iter()
            .map(|(key, entry)| (key, entry.deadline, &entry.value))
    }

    /// Deadlines and values, in no particular order.
    pub(crate) fn into_values(self) -> impl Iterator<Item = (u64, T)> {
        self.entries
            .into_values()
            .map(|entry| (entry.deadline, entry.value))
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

    /// Whether there is memory to be freed.
    #[inline]
    pub(crate) fn has_garbage(&self) -> bool {
        self.entries.has_garbage() || self.slots.chunks.slab.has_garbage()
    }

    /// Memory to be freed, since last asked.
    #[inline]
    pub(crate) fn take_garbage(&mut self) -> Option<Garbage<T>> {
        self.has_garbage().then(|| self.collect_garbage())
    }

    #[cold]
    fn collect_garbage(&mut self) -> Garbage<T> {
        Garbage {
            entries: self.entries.take_garbage(),
            chunks: self.slots.chunks.slab.take_garbage(),
        }
    }
}
