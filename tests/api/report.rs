//! The reporter passes the counts on to the `metrics` crate unchanged, and each lag once, in its bucket.
#![cfg(all(feature = "metrics", feature = "test-util"))]

use support::prelude::*;

use std::collections::HashMap;

use metrics::Unit;
use metrics_util::debugging::DebugValue::{self, Counter, Gauge};
use metrics_util::debugging::{DebuggingRecorder, Snapshotter};
use wheel::ext::metrics::{LAG, PROBE_LAG, Reporter, describe, lag_buckets, report, report_as};
use wheel::{Builder, advance};

/// What was published: by name and labels, the unit, whether there is a description, and the value.
type Published = HashMap<(String, String), (Option<Unit>, bool, DebugValue)>;

/// Returns everything that was published since the last call.
fn published(snapshotter: &Snapshotter) -> Published {
    let all = snapshotter.snapshot().into_vec().into_iter();
    all.map(|(key, unit, meaning, value)| {
        let labels = key.key().labels();
        let labels: Vec<_> = labels
            .map(|label| format!("{}={}", label.key(), label.value()))
            .collect();
        let name = key.key().name().to_owned();
        ((name, labels.join(",")), (unit, meaning.is_some(), value))
    })
    .collect()
}

fn value<'a>(all: &'a Published, name: &str, labels: &str) -> &'a DebugValue {
    let found = all.get(&(name.to_owned(), labels.to_owned()));
    let (.., value) = found.unwrap_or_else(|| panic!("{name} {labels} in {all:?}"));
    value
}

/// Runs a test on a paused clock and on this thread alone, with a recorder of its own.
fn recorded<F: Future<Output = ()>>(test: impl FnOnce(Snapshotter) -> F) {
    let recorder = DebuggingRecorder::new();
    let test = test(recorder.snapshotter());
    metrics::with_local_recorder(&recorder, || paused().block_on(test));
}

#[test]
fn every_name_is_published_with_its_unit_and_meaning() {
    recorded(|snapshotter| async move {
        describe();
        Reporter::new(wheel::metrics()).publish();
        let all = published(&snapshotter);
        let mut names: Vec<_> = all.keys().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        let expected = "wheel_driver_idle_passes_total wheel_driver_passes_total {LAG} wheel_timers_armed_total \
            wheel_timers_cancelled_total wheel_timers_fired_total wheel_timers_pending \
            wheel_timers_reset_total";
        assert_eq!(names.join(" "), expected.replace("{LAG}", LAG));
        for ((name, _), (unit, has_meaning, _)) in &all {
            let wanted = match name.as_str() {
                LAG => Unit::Seconds,
                _ => Unit::Count,
            };
            assert_eq!((*unit, *has_meaning), (Some(wanted), true), "{name}");
        }
    });
}

#[test]
fn what_is_published_is_what_was_counted_however_often() {
    recorded(|snapshotter| async move {
        let mut reporter = Reporter::new(wheel::metrics());
        let mut another = reporter.clone();
        for round in 1..=3 {
            drop(pending(HOUR));
            let mut held = pending(HOUR);
            held.reset_unpin(wheel::Instant::now() + HOUR);
            reporter.publish();
            another.publish();
            let all = published(&snapshotter);
            for (name, expected) in [
                ("wheel_timers_armed_total", 2 * round),
                ("wheel_timers_cancelled_total", 2 * round - 1),
                ("wheel_timers_reset_total", round),
            ] {
                assert_eq!(value(&all, name, ""), &Counter(expected), "{name}");
            }
            let pending = value(&all, "wheel_timers_pending", "");
            assert_eq!(pending, &Gauge(1.0.into()));
        }
    });
}

#[test]
fn periods_of_zero_are_refused() {
    recorded(|_| async {
        let probe = Reporter::new(wheel::metrics()).probe(Some(Duration::ZERO));
        let messages = [
            message_of(|| report(Duration::ZERO)),
            message_of(|| probe.run(HOUR)),
        ];
        assert_eq!(messages, ["`period` must be non-zero."; 2]);
    });
}

/// Returns the values of a histogram, or none if it was not published.
fn lags(all: &Published, name: &str, labels: &str) -> Vec<f64> {
    match all.get(&(name.to_owned(), labels.to_owned())) {
        Some((.., DebugValue::Histogram(lags))) => {
            lags.iter().map(|lag| lag.into_inner()).collect()
        }
        None => Vec::new(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_future_describes_and_publishes_immediately_and_at_each_interval() {
    recorded(|snapshotter| async move {
        tokio::spawn(report(ms(100)));
        for round in 1..=5 {
            drop(pending(HOUR));
            // The first tick is immediate, or comes in Tokio's next millisecond.
            sleep(ms(if round == 1 { 5 } else { 100 })).await;
            tokio::task::yield_now().await;
            let all = published(&snapshotter);
            let mut values = all.values();
            assert!(values.all(|(unit, meaning, _)| unit.is_some() && *meaning));
            let cancelled = value(&all, "wheel_timers_cancelled_total", "");
            assert_eq!(cancelled, &Counter(round));
        }
    });
}

#[test]
fn each_driver_of_a_runtime_is_reported_under_its_name() {
    recorded(|snapshotter| async move {
        let wheels = ["idle", "exact"].map(|name| (name, Builder::new().build().unwrap()));
        tokio::spawn(report(ms(100)));
        for (name, wheel) in &wheels {
            tokio::spawn(report_as(name, wheel, ms(100)));
        }
        let sleeps = wheels.each_ref().map(|(_, wheel)| wheel.sleep(HOUR));
        let [cancelled, _held] = sleeps.map(armed);
        drop(cancelled);
        sleep(ms(105)).await;
        let all = published(&snapshotter);
        for (name, pending) in [("idle", 0.0), ("exact", 1.0)] {
            let found = value(&all, "wheel_timers_pending", &format!("driver={name}"));
            assert_eq!(found, &Gauge(pending.into()), "{name}");
        }
        let found = value(&all, "wheel_timers_fired_total", "");
        assert_ne!(found, &Counter(0), "the reporters' own intervals");
    });
}

#[test]
fn of_very_many_lags_each_is_published_and_others_run_meanwhile() {
    recorded(|snapshotter| async move {
        let late: Vec<_> = (0..2_500).map(|_| pending(ms(7))).collect();
        let later: Vec<_> = (0..3_750)
            .flat_map(|_| [ms(1), ms(2)].map(pending))
            .collect();
        advance(ms(10)).await;
        join_all(late.into_iter().chain(later)).await;
        tokio::spawn(report(HOUR));
        tokio::task::yield_now().await;
        let found = lags(&published(&snapshotter), LAG, "").len();
        assert!(found < 10_000, "all in one poll");
        sleep(ms(1)).await;
        let more = lags(&published(&snapshotter), LAG, "");
        assert_eq!(found + more.len(), 10_000);
        // Lags of 8 and 9 ms share a bucket, so each is published as the mean of the two.
        let is_mean = |&lag: &f64| (lag - 0.0085).abs() < 1e-9;
        assert!(more.iter().all(is_mean), "{more:?}");
    });
}

/// For any lags, the published sum is their sum, and each is published in the bucket that counted it.
#[test]
fn sums_are_true_and_so_are_the_buckets() {
    recorded(|snapshotter| async move {
        let mut reporter = Reporter::new(wheel::metrics());
        let _held: Vec<_> = (1..=300).map(|n| pending(ms(1 + n * n / 7))).collect();
        advance(ms(15_000)).await;
        let lag = wheel::metrics().snapshot().lag;
        reporter.publish();
        let found = lags(&published(&snapshotter), LAG, "");
        assert_eq!(found.len() as u64, lag.count());
        let sum: f64 = found.iter().sum();
        assert!((sum - lag.total().as_secs_f64()).abs() < 1e-6, "{sum}");
        let mut before = 0.0;
        for ((_, timers), end) in lag.buckets().zip(lag_buckets()) {
            let inside = found.iter().filter(|&&lag| before <= lag && lag < end);
            assert_eq!(inside.count() as u64, timers, "{before} to {end}");
            before = end;
        }
        reporter.publish();
        assert!(
            lags(&published(&snapshotter), LAG, "").is_empty(),
            "published twice"
        );
    });
}

/// Every deadline of the probe that passes while the runtime is blocked counts, as if each request had one.
#[test]
fn the_probe_records_each_deadline_and_how_late_it_was() {
    recorded(|snapshotter| async move {
        let reporter = Reporter::new(wheel::metrics()).label("runtime", "io");
        tokio::spawn(reporter.probe(Some(ms(100))).run(HOUR));
        sleep(ms(1_050)).await;
        let found = lags(&published(&snapshotter), PROBE_LAG, "runtime=io");
        assert_eq!(found.len(), 11);
        assert!(found.iter().all(|&lag| lag < 0.002), "{found:?}");
        advance(secs(1)).await;
        yield_now().await;
        let found = lags(&published(&snapshotter), PROBE_LAG, "runtime=io");
        let late: Vec<_> = found.iter().map(|lag| (lag * 1_000.0).round()).collect();
        let expected: Vec<_> = (0..10).rev().map(|n| f64::from(100 * n + 50)).collect();
        assert_eq!(late, expected);
    });
}

#[test]
fn the_probe_is_on_can_be_set_and_turned_off_and_other_drivers_have_none() {
    type Set = fn(Reporter) -> Reporter;
    let settings: [(&str, Set, usize); 4] = [
        ("every 97 ms", |reporter| reporter, 11),
        ("every 20 ms", |reporter| reporter.probe(Some(ms(20))), 51),
        ("every 2 s", |reporter| reporter.probe(Some(secs(2))), 1),
        ("off", |reporter| reporter.probe(None), 0),
    ];
    recorded(|snapshotter| async move {
        for (label, set, wanted) in settings {
            let reporter = Reporter::new(wheel::metrics()).label("probe", label);
            let before = wheel::metrics().snapshot().fired;
            let reporting = tokio::spawn(set(reporter).run(HOUR));
            let other = Builder::new().build().unwrap();
            let other = tokio::spawn(report_as("other", &other, HOUR));
            sleep(ms(1_010)).await;
            let all = published(&snapshotter);
            let found = lags(&all, PROBE_LAG, &format!("probe={label}"));
            assert_eq!(found.len(), wanted, "{label}");
            assert!(lags(&all, PROBE_LAG, "driver=other").is_empty());
            // The sleep fires, and so may the first ticks of three intervals, which may be due immediately.
            let fired = wheel::metrics().snapshot().fired - before;
            assert!(
                (wanted as u64..=wanted as u64 + 4).contains(&fired),
                "{fired}"
            );
            reporting.abort();
            other.abort();
        }
    });
}
