//! Every lag has a bucket, and sums, maxima and quantiles are what the histogram promises.

use super::*;

#[test]
fn every_lag_is_in_the_bucket_whose_range_holds_it() {
    let edges = (0..64).flat_map(|bit| [FIRST << bit.min(40), 1 << bit]);
    for lag in edges.flat_map(|edge| [edge - 1, edge, edge + 1]) {
        let range = LagHistogram::range(LagHistogram::bucket_of(lag));
        assert!(
            range.contains(&Duration::from_nanos(lag)),
            "{lag} in {range:?}"
        );
    }
    assert_eq!(LagHistogram::bucket_of(u64::MAX), BUCKETS - 1);
}

#[test]
fn the_buckets_adjoin_and_a_millisecond_is_an_edge() {
    let ranges: Vec<_> = (0..BUCKETS).map(LagHistogram::range).collect();
    assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
    assert_eq!(ranges[0].start, Duration::ZERO);
    assert_eq!(ranges[5].start, Duration::from_millis(1));
    assert_eq!(ranges[BUCKETS - 1].start, Duration::from_micros(65_536_000));
    assert_eq!(ranges[BUCKETS - 1].end, Duration::MAX);
}

#[test]
fn totals_maxima_and_quantiles() {
    let mut lag = LagHistogram::default();
    assert_eq!((lag.count(), lag.quantile(1.0)), (0, Duration::ZERO));
    for nanos in [0, 100_000, 100_000, 3_000_000_000] {
        lag.record(nanos);
    }
    assert_eq!(lag.count(), 4);
    assert_eq!(lag.max(), Duration::from_secs(3));
    assert_eq!(lag.total(), Duration::new(3, 200_000));
    assert_eq!(lag.quantile(0.0), Duration::from_nanos(FIRST));
    assert_eq!(lag.quantile(0.75), Duration::from_micros(125));
    assert_eq!(lag.quantile(1.0), Duration::from_secs(3));
    let mut sum = lag.clone();
    sum.add(&lag);
    assert_eq!((sum.count(), sum.max()), (8, lag.max()));
}

#[test]
fn the_maximum_of_an_interval_is_exact_if_new_and_else_a_buckets_end() {
    let mut lag = LagHistogram::default();
    lag.record(3_000_000_000);
    let before = lag.clone();
    assert_eq!(lag.since(&before), LagHistogram::default());
    lag.record(100_000);
    let between = lag.since(&before);
    assert_eq!(
        (between.count(), between.total()),
        (1, Duration::from_micros(100))
    );
    assert_eq!(between.max(), Duration::from_micros(125));
    assert_eq!(between.quantile(1.0), Duration::from_micros(125));
    lag.record(3_100_000_000);
    let between = lag.since(&before);
    assert_eq!(
        (between.count(), between.max()),
        (2, Duration::from_millis(3_100))
    );
    // The last bucket has no end.
    lag.record(u64::MAX);
    let before = lag.clone();
    lag.record(u64::MAX / 2);
    assert_eq!(lag.since(&before).max(), lag.max());
}
