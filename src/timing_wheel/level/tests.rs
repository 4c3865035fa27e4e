//! The arithmetic of levels in named cases, and compared with its definition.

use super::*;

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
