//! Every invariant of the wheel, for tests. Walks the whole wheel.

use super::chunk_list::{CELLS, ChunkList, MAX_KEPT, NIL, SPARSE};
use super::core::Core;
use super::level::Scale;
use super::slot::SlotId;

impl<T, const SLOTS: usize, const GRAIN: usize> Core<T, SLOTS, GRAIN> {
    /// Panics unless every invariant holds.
    pub(crate) fn check(&self) {
        self.entries.check();
        self.slots.chunks.slab.check();
        let (mut chunks, mut cells) = (0, 0);
        for (slot, list) in self.slots.lists() {
            chunks += self.check_list(slot, list);
            cells += self.check_entries(slot);
            self.check_density(slot);
        }
        assert_eq!(chunks, self.slots.chunks.slab.len(), "chunks in lists");
        self.check_kept();
        assert_eq!(cells, self.len(), "entries in slots");
        self.check_next_expiration();
    }

    /// Few chunks are empty, and their number is known.
    fn check_kept(&self) {
        let chunks = &self.slots.chunks;
        let empty = chunks.slab.iter().filter(|(_, chunk)| chunk.live == 0);
        assert_eq!(empty.count(), chunks.kept as usize, "empty chunks");
        assert!(
            chunks.kept <= MAX_KEPT,
            "{} empty chunks are kept",
            chunks.kept
        );
    }

    /// The links of a list agree with each other and with the slot's bit. Returns how many chunks
    /// there are.
    fn check_list(&self, slot: SlotId, list: ChunkList) -> usize {
        let (mut count, mut live, mut last) = (0, 0, NIL);
        for key in self.slots.chunks_of(slot) {
            let chunk = self.slots.chunks.at(key);
            assert_eq!(
                chunk.slot_index,
                slot.index::<SLOTS>(),
                "slot of a chunk in {slot:?}"
            );
            assert_eq!(chunk.prev, last, "link back in {slot:?}");
            assert!(
                chunk.live != 0 || list.head == list.tail,
                "an empty chunk among others in {slot:?}"
            );
            (count, live, last) = (count + 1, live + chunk.count(), key);
        }
        assert_eq!(last, list.tail, "end of the list of {slot:?}");
        assert_eq!(
            self.slots.is_occupied(slot),
            live != 0,
            "occupied bit of {slot:?}"
        );
        count
    }

    /// Every cell in use belongs to an entry that holds its address, and whose deadline belongs in
    /// this slot. Returns how many there are.
    fn check_entries(&self, slot: SlotId) -> usize {
        let mut count = 0;
        for (cell, key) in self.slots.cells(slot) {
            let entry = self.entries.get(key).expect("a live cell has an entry");
            assert_eq!(entry.cell, cell, "cell of entry {key} in {slot:?}");
            self.check_deadline(slot, entry.deadline);
            count += 1;
        }
        count
    }

    /// The slot is less than a turn ahead of the clock, or is the slot that is being emptied.
    fn check_deadline(&self, slot: SlotId, deadline: u64) {
        let start = Scale::<SLOTS>::start(slot, self.now);
        if deadline >= start {
            // The entry may have been put off, and has stayed in its slot.
            return;
        }
        let number = Scale::<SLOTS>::number(deadline, slot.level);
        let current = Scale::<SLOTS>::number(self.now, slot.level);
        assert_eq!(
            Scale::<SLOTS>::position(number),
            slot.position,
            "slot of deadline {deadline} in {slot:?}"
        );
        assert!(
            number >= current,
            "deadline {deadline} in {slot:?} is behind {}",
            self.now
        );
        assert!(
            number - current < SLOTS as u64,
            "deadline {deadline} in {slot:?} is a turn ahead of {}",
            self.now
        );
        if number == current {
            let start = number * Scale::<SLOTS>::unit(slot.level);
            assert_eq!(
                start, self.now,
                "the clock has passed the start of {slot:?}, which holds {deadline}"
            );
        }
    }

    /// A sparse chunk and its neighbour hold more than half a chunk. Exceptions: the first chunk of
    /// the slot that fires, and the last chunk of each slot, which inserts fill.
    fn check_density(&self, slot: SlotId) {
        let current = Scale::<SLOTS>::number(self.now, slot.level);
        if slot.position == Scale::<SLOTS>::position(current) {
            return;
        }
        let counts: Vec<u32> = self
            .slots
            .chunks_of(slot)
            .map(|key| self.slots.chunks.at(key).count())
            .collect();
        let settled = &counts[..counts.len().saturating_sub(1)];
        assert!(
            settled
                .windows(2)
                .all(|pair| pair[0].min(pair[1]) > SPARSE || pair[0] + pair[1] > CELLS / 2),
            "sparse chunks in {slot:?}: {counts:?}"
        );
    }

    fn check_next_expiration(&self) {
        let earliest = self.entries.iter().map(|(_, entry)| entry.deadline).min();
        let promised = self.next_expiration();
        assert_eq!(
            promised.is_some(),
            earliest.is_some(),
            "an expiration if and only if there are entries"
        );
        assert!(
            promised <= earliest,
            "next expiration {promised:?} hides {earliest:?}"
        );
        assert!(
            promised.is_none_or(|tick| tick >= self.now),
            "next expiration {promised:?} has passed"
        );
    }
}
