//! Checks every invariant of the wheel, for tests. Each check walks the whole wheel.

use super::key_list::KeyList;
use super::level::Scale;
use super::raw::RawWheel;
use super::slot::{Place, SlotId};
use super::slots::Slots;

impl<const SLOTS: usize> Slots<SLOTS> {
    fn is_occupied(&self, slot: SlotId) -> bool {
        self.occupied[slot.level::<SLOTS>()].has(slot.position::<SLOTS>())
    }

    pub(crate) fn lists(&self) -> impl Iterator<Item = (SlotId, &KeyList)> {
        let lists = self.lists.iter().enumerate();
        lists.map(|(index, list)| (SlotId::new::<SLOTS>(0, index), list))
    }
}

impl<T, const SLOTS: usize> RawWheel<T, SLOTS> {
    pub(crate) fn check(&self) {
        self.entries.check();
        let mut keys = 0;
        for (slot, list) in self.slots.lists() {
            assert_eq!(
                self.slots.is_occupied(slot),
                !list.is_empty(),
                "occupied bit of {slot:?}"
            );
            list.check();
            self.check_list(slot, list);
            keys += list.len();
        }
        assert_eq!(keys, self.len(), "entries in slots");
        self.check_next_expiration();
    }

    /// Checks that the clock will not pass a list by, and that every key belongs to an entry that has this
    /// place, and may wait there.
    fn check_list(&self, slot: SlotId, list: &KeyList) {
        let (level, first) = (slot.level::<SLOTS>(), list.earliest);
        if list.is_empty() {
            assert_eq!(first, u64::MAX, "earliest of an empty list");
        } else {
            assert!(
                first >= self.now,
                "the clock has passed {first} in {slot:?}"
            );
            assert_eq!(
                Scale::<SLOTS>::slot_at(first, level),
                slot,
                "slot of {first}"
            );
            let ahead =
                Scale::<SLOTS>::number(first, level) - Scale::<SLOTS>::number(self.now, level);
            assert!(ahead < SLOTS as u64, "{first} is a rotation ahead");
        }
        for (key, at) in list.places() {
            let entry = self.entries.get(key).expect("a key has an entry");
            let place = Place { at, slot };
            assert_eq!(entry.place, place, "place of entry {key} in {slot:?}");
            let deadline = entry.deadline;
            assert!(first <= deadline, "{first} in {slot:?} hides {deadline}");
        }
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
