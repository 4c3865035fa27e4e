//! The arithmetic of levels in named cases, and compared with its definition.

use super::*;

fn bits(slots: &[usize]) -> Bits {
    let mut bits = Bits::NONE;
    slots.iter().for_each(|&slot| bits.set(slot));
    bits
}

/// Returns the start of the first occupied slot on level 0, where slots are one tick wide.
fn first<const SLOTS: usize>(slots: &[usize], now: u64) -> Option<u64> {
    Scale::<SLOTS>::first_start(&bits(slots), 0, now)
}

#[test]
fn no_slot_occupied() {
    assert_eq!(first::<64>(&[], 17), None);
    assert_eq!(first::<3>(&[], 2), None);
}

#[test]
fn the_slot_that_holds_now_is_first() {
    assert_eq!(first::<64>(&[10, 40], 10), Some(10));
    assert_eq!(first::<10>(&[0, 7], 27), Some(27));
    assert_eq!(first::<2>(&[0, 1], 5), Some(5));
}

#[test]
fn the_last_slot_of_the_array() {
    assert_eq!(first::<64>(&[63], 0), Some(63));
    assert_eq!(first::<60>(&[59], 61), Some(119));
    assert_eq!(first::<3>(&[2], 0), Some(2));
    assert_eq!(first::<256>(&[255], 256), Some(511));
}

#[test]
fn the_search_wraps_around_the_end_of_the_array() {
    assert_eq!(first::<64>(&[10, 40], 41), Some(74));
    assert_eq!(first::<20>(&[0], 39), Some(40));
    assert_eq!(first::<10>(&[1, 2], 5), Some(11));
    assert_eq!(first::<256>(&[65, 192], 193), Some(256 + 65));
}

#[test]
fn the_only_slot_is_found_from_everywhere() {
    for now in 64..128 {
        let next = first::<64>(&[10], now).unwrap();
        assert_eq!(next % 64, 10);
        assert!((now..now + 64).contains(&next), "{next} from {now}");
    }
    for now in 30..33 {
        assert!((now..now + 3).contains(&first::<3>(&[1], now).unwrap()));
    }
}

#[test]
fn starts_are_multiples_of_the_unit() {
    // On level 1 of 64 slots, `now` is in slot 2 of the second rotation.
    assert_eq!(
        Scale::<64>::first_start(&bits(&[5]), 1, 66 * 64 + 9),
        Some(69 * 64)
    );
    assert_eq!(
        Scale::<64>::first_start(&bits(&[1]), 1, 66 * 64 + 9),
        Some(129 * 64)
    );
}

#[test]
fn an_entry_goes_to_the_lowest_level_on_which_it_is_less_than_a_rotation_ahead() {
    let slot = |deadline, now| {
        let slot = Scale::<64>::slot_of(deadline, now);
        (slot.level::<64>(), slot.position::<64>())
    };
    assert_eq!(slot(1, 0), (0, 1));
    assert_eq!(slot(63, 0), (0, 63));
    assert_eq!(slot(64, 0), (1, 1));
    assert_eq!(slot(73, 10), (0, 9)); // past the end of the array
    assert_eq!(slot(4095, 0), (1, 63));
    assert_eq!(slot(4096, 0), (2, 1));
    assert_eq!(slot(64 + 4095, 64), (1, 0)); // the last slot of the rotation that begins at `now`
}

#[test]
fn an_entry_that_would_be_a_whole_rotation_ahead_goes_one_level_higher() {
    // 4095 ticks are less than 64 slots of 64 ticks, but from the end of a slot they reach into the
    // 64th.
    assert_eq!(Scale::<64>::slot_of(63 + 4095, 63), SlotId::new::<64>(2, 1));
    assert_eq!(Scale::<10>::slot_of(9 + 99, 9), SlotId::new::<10>(2, 1));
}

fn agrees_with_its_definition<const SLOTS: usize>() {
    let edges = (0..64).flat_map(|bit| {
        [
            (1_u64 << bit) - 1,
            1 << bit,
            u64::MAX - (1 << bit),
            u64::MAX,
        ]
    });
    let edges: Vec<u64> = edges.collect();
    for &now in &edges {
        for &deadline in edges.iter().filter(|&&deadline| deadline > now) {
            let found = Scale::<SLOTS>::slot_of(deadline, now);
            let fits = |level: usize| {
                let unit = u128::from(SLOTS as u64).pow(level as u32);
                u128::from(deadline) / unit - u128::from(now) / unit < SLOTS as u128
            };
            let level = (0..64).find(|&level| fits(level)).unwrap();
            let unit = (SLOTS as u64).pow(level as u32);
            let position = (deadline / unit % SLOTS as u64) as usize;
            let expected = SlotId::new::<SLOTS>(level, position);
            assert_eq!(found, expected, "{deadline} from {now}");
            assert!(level < Scale::<SLOTS>::LEVELS);
        }
    }
}

#[test]
fn every_number_of_slots_agrees_with_its_definition() {
    agrees_with_its_definition::<2>();
    agrees_with_its_definition::<3>();
    agrees_with_its_definition::<10>();
    agrees_with_its_definition::<20>();
    agrees_with_its_definition::<60>();
    agrees_with_its_definition::<64>();
    agrees_with_its_definition::<100>();
    agrees_with_its_definition::<256>();
}

#[test]
fn levels_for_all_of_u64() {
    assert_eq!(Scale::<64>::LEVELS, 11);
    assert_eq!(Scale::<256>::LEVELS, 8);
    assert_eq!(Scale::<2>::LEVELS, 64);
    assert_eq!(Scale::<10>::LEVELS, 20);
}

#[test]
fn a_slot_of_a_level_starts_at_each_boundary() {
    for (now, boundary) in [(0, 0), (1, 64), (64, 64), (65, 128), (1 << 40, 1 << 40)] {
        assert!(Scale::<64>::starts_between(1, now, boundary));
        assert!(Scale::<64>::starts_between(1, now, boundary + 63));
        assert!(now == boundary || !Scale::<64>::starts_between(1, now, boundary - 1));
    }
    assert!(!Scale::<64>::starts_between(1, u64::MAX - 62, u64::MAX));
    for (now, boundary) in [(0, 0), (1, 10), (10, 10), (11, 20)] {
        assert!(Scale::<10>::starts_between(1, now, boundary));
        assert!(now == boundary || !Scale::<10>::starts_between(1, now, boundary - 1));
        assert!(Scale::<10>::starts_between(0, now, now));
    }
}

/// Tries the last tick of the rotation below each level. No slot of a lower level starts later.
#[test]
fn a_slot_of_each_level_starts_at_tick_0() {
    assert!((1..64).all(|level| Scale::<2>::starts_between(level, 0, (1 << level) - 1)));
    assert!((1..8).all(|level| Scale::<256>::starts_between(level, 0, (1 << (8 * level)) - 1)));
    assert!((1..20).all(|level| Scale::<10>::starts_between(
        level,
        0,
        10_u64.pow(level as u32) - 1
    )));
}
