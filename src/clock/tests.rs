//! Conversions, at the ends of the range and between.

use super::*;

#[test]
fn an_instant_survives_the_round_trip_to_the_nanosecond() {
    let instant = Instant::now() + Duration::new(12, 345_678_901);
    assert_eq!(Tick::of(instant).to_instant(), instant);
}

#[test]
fn parts_and_subtraction_agree() {
    let now = StdInstant::now();
    for nanos in (0..5_000_000_000).step_by(7_654_321) {
        let later = now + Duration::from_nanos(nanos);
        let tick = ORIGIN.by_subtraction(later);
        assert_eq!(Parts::of(later).since(ORIGIN.secs), tick);
        assert_eq!(Some(Tick::of(later.into())), tick);
    }
}

#[test]
fn instants_that_cannot_be_read_are_subtracted() {
    let now = StdInstant::now();
    assert_eq!(Parts::of(now).since(NO_SECS), None);
    assert_eq!(of_another(now), Tick::of(now.into()));
    let (instant, secs) = (ORIGIN.instant, ORIGIN.secs + 1);
    assert!(!Origin { instant, secs }.agrees_with_parts());
}

#[test]
fn instants_outside_the_range_are_its_ends() {
    let now = StdInstant::now();
    if let Some(old) = now.checked_sub(2 * BACK) {
        assert_eq!(Tick::of(Instant::from_std(old)), Tick::ZERO);
    }
    let far = now.checked_add(Duration::from_secs(u64::MAX / 4));
    if let Some(far) = far {
        assert_eq!(Tick::of(Instant::from_std(far)), Tick::LAST);
    }
    assert!(Tick::LAST < Tick::NEVER);
    assert_eq!(Tick::LAST.saturating_add(BACK), Tick::LAST);
}

#[test]
fn ticks_are_rounded_up_and_never_down() {
    let rounded = |tick: u64| Tick(tick).round_up(10, Tick(7));
    assert_eq!(rounded(7), Tick(7));
    assert_eq!(rounded(8), Tick(17));
    assert_eq!(rounded(17), Tick(17));
    assert_eq!(rounded(3), Tick(3));
    assert_eq!(rounded(Tick::LAST.0), Tick::LAST);
}
