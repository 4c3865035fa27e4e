//! `first_from` finds the first bit that is set, whichever slot the search begins at.

use super::*;

#[test]
fn a_bit_of_every_word_is_found_from_all_before_it() {
    for slot in [0, 63, 64, 127, 128, 191, 192, 255] {
        let mut one = Bits::NONE;
        one.set(slot);
        assert!(one.has(slot));
        for from in 0..Bits::MOST {
            let found = (from <= slot).then_some(slot);
            assert_eq!(one.first_from(from), found, "{slot} from {from}");
        }
        one.clear(slot);
        assert!(one.is_empty());
    }
}

#[test]
fn of_several_the_first_is_found() {
    let mut bits = Bits::NONE;
    [3, 64, 65, 200].into_iter().for_each(|slot| bits.set(slot));
    let next = |from| bits.first_from(from);
    assert_eq!(
        [next(0), next(4), next(65), next(66)],
        [Some(3), Some(64), Some(65), Some(200)]
    );
    assert_eq!(next(201), None);
}
