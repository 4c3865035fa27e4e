//! Which slot is first: in named cases, from the slot that contains `now` on, and of several levels.

use super::*;

/// Returns the position of the first of these slots of a level.
fn first_of<const SLOTS: usize>(slots: &[usize], level: usize, now: u64) -> Option<usize> {
    let mut occupied = Bits::NONE;
    slots.iter().for_each(|&slot| occupied.set(slot));
    let first = Slots::<SLOTS>::first_of(&occupied, level, now)?;
    assert_eq!(first.level::<SLOTS>(), level);
    Some(first.position::<SLOTS>())
}

/// On level 0, where slots are one tick wide.
fn first<const SLOTS: usize>(slots: &[usize], now: u64) -> Option<usize> {
    first_of::<SLOTS>(slots, 0, now)
}

#[test]
fn no_slot_occupied() {
    assert_eq!(first::<64>(&[], 17), None);
    assert_eq!(first::<3>(&[], 2), None);
}

#[test]
fn the_slot_that_holds_now_is_first() {
    assert_eq!(first::<64>(&[10, 40], 10), Some(10));
    assert_eq!(first::<10>(&[0, 7], 27), Some(7));
    assert_eq!(first::<2>(&[0, 1], 5), Some(1));
}

#[test]
fn the_last_slot_of_the_array() {
    assert_eq!(first::<64>(&[63], 0), Some(63));
    assert_eq!(first::<60>(&[59], 61), Some(59));
    assert_eq!(first::<3>(&[2], 0), Some(2));
    assert_eq!(first::<256>(&[255], 256), Some(255));
}

#[test]
fn the_search_wraps_around_the_end_of_the_array() {
    assert_eq!(first::<64>(&[10, 40], 41), Some(10));
    assert_eq!(first::<20>(&[0], 39), Some(0));
    assert_eq!(first::<10>(&[1, 2], 5), Some(1));
    assert_eq!(first::<256>(&[65, 192], 193), Some(65));
}

#[test]
fn the_only_slot_is_found_from_everywhere() {
    assert!((64..128).all(|now| first::<64>(&[10], now) == Some(10)));
    assert!((30..33).all(|now| first::<3>(&[1], now) == Some(1)));
}

/// On level 1 of 64 slots, `now` is in slot 2 of the second rotation.
#[test]
fn a_wide_slot_that_holds_now_is_first() {
    let now = 66 * 64 + 9;
    assert_eq!(first_of::<64>(&[2, 5], 1, now), Some(2));
    assert_eq!(first_of::<64>(&[5], 1, now), Some(5));
    assert_eq!(first_of::<64>(&[1], 1, now), Some(1));
}

/// The clock stands at tick 70, in slot 1 of level 1, and tick 75 is in slot 11 of level 0.
#[test]
fn the_current_slot_of_a_higher_level_may_come_first() {
    let [low, current, next] =
        [(0, 11), (1, 1), (1, 2)].map(|(level, position)| SlotId::new::<64>(level, position));
    let mut slots = Slots::<64>::new();
    slots.push(low, 0, 75);
    slots.push(next, 1, 130);
    assert_eq!(slots.first(70), Some((75, low)));
    slots.push(current, 2, 100);
    assert_eq!(slots.first(70), Some((75, low)));
    slots.push(current, 3, 75);
    assert_eq!(slots.first(70), Some((75, current)));
    slots.push(current, 4, 72);
    assert_eq!(slots.first(70), Some((72, current)));
}
