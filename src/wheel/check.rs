//! Every invariant of the wheel, for tests. Walks all of it.

use super::chunk_list::{CELLS, ChunkList, KEPT, NIL, SPARSE};
use super::core::Core;
use super::level::{Scale, Spot};

impl<T, const SLOTS: usize, const GRAIN: usize> Core<T, SLOTS, GRAIN> {
    /// Panics unless every invariant holds.
    pub(crate) fn check(&self) {
        self.entries.check();
        self.slots.chunks.slab.check();
        let (mut chunks, mut cells) = (0, 0);
        for (spot, list) in self.slots.lists() {
            chunks += self.check_list(spot, list);
            cells += self.check_entries(spot);
            self.check_density(spot);
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
        assert!(chunks.kept <= KEPT, "{} empty chunks are kept", chunks.kept);
    }

    /// The links of a list agree, and its occupied bit; returns how many chunks there are.
    fn check_list(&self, spot: Spot, list: ChunkList) -> usize {
        let (mut count, mut live, mut last) = (0, 0, NIL);
        for key in self.slots.chunks_of(spot) {
            let chunk = self.slots.chunks.at(key);
            assert_eq!(
                chunk.home,
                spot.home::<SLOTS>(),
                "home of a chunk in {spot:?}"
            );
            assert_eq!(chunk.prev, last, "link back in {spot:?}");
            assert!(
                chunk.live != 0 || list.head == list.tail,
                "an empty chunk among others in {spot:?}"
            );
            (count, live, last) = (count + 1, live + chunk.count(), key);
        }
        assert_eq!(last, list.tail, "end of the list of {spot:?}");
        assert_eq!(
            self.slots.is_occupied(spot),
            live != 0,
            "occupied bit of {spot:?}"
        );
        count
    }

    /// Every live cell belongs to an entry that knows it, in a slot that is right for its deadline.
    fn check_entries(&self, spot: Spot) -> usize {
        let mut count = 0;
        for (place, key) in self.slots.places(spot) {
            let entry = self.entries.get(key).expect("a live cell has an entry");
            assert_eq!(entry.place, place, "place of entry {key} in {spot:?}");
            self.check_deadline(spot, entry.deadline);
            count += 1;
        }
        count
    }

    /// The slot lies ahead of the clock by less than a turn; or it is the one being emptied.
    fn check_deadline(&self, spot: Spot, deadline: u64) {
        let start = Scale::<SLOTS>::start(spot, self.now);
        if GRAIN > 0 && deadline >= start {
            // Put off, and left where it was.
            return;
        }
        let number = Scale::<SLOTS>::number(deadline, spot.level);
        let current = Scale::<SLOTS>::number(self.now, spot.level);
        assert_eq!(
            Scale::<SLOTS>::position(number),
            spot.slot,
            "slot of deadline {deadline} in {spot:?}"
        );
        assert!(
            number >= current,
            "deadline {deadline} in {spot:?} is behind {}",
            self.now
        );
        assert!(
            number - current < SLOTS as u64,
            "deadline {deadline} in {spot:?} is a turn ahead of {}",
            self.now
        );
        if number == current {
            let start = number * Scale::<SLOTS>::unit(spot.level);
            assert_eq!(
                start, self.now,
                "the clock has passed the start of {spot:?}, which holds {deadline}"
            );
        }
    }

    /// Two neighbouring chunks are not both sparse. Firing empties the first, inserts fill the last.
    fn check_density(&self, spot: Spot) {
        let current = Scale::<SLOTS>::number(self.now, spot.level);
        if spot.slot == Scale::<SLOTS>::position(current) {
            return;
        }
        let counts: Vec<u32> = self
            .slots
            .chunks_of(spot)
            .map(|key| self.slots.chunks.at(key).count())
            .collect();
        let settled = &counts[..counts.len().saturating_sub(1)];
        assert!(
            settled
                .windows(2)
                .all(|pair| pair[0].min(pair[1]) > SPARSE || pair[0] + pair[1] > CELLS / 2),
            "sparse chunks in {spot:?}: {counts:?}"
        );
    }

    fn check_next_expiration(&self) {
        let earliest = self.iter().map(|(_, deadline, _)| deadline).min();
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
