//! The queries of the documentation, the rules and the dashboard return the published values.
#![cfg(test)]

mod query;

use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use query::{Scrape, only, query};
use wheel::ext::metrics::{LAG, Reporter, describe, lag_buckets};
use wheel::{Instant, advance, sleep};

const RULES: &str = include_str!("../../examples/prometheus/rules.yml");
const DASHBOARD: &str = include_str!("../../examples/prometheus/dashboard.json");
const PAGE: &str = include_str!("../../src/docs/metrics.md");

/// Half an hour of a service, scraped every minute. In each minute `of` timers fire, and `late` of
/// them 40 ms late: the clock goes on by so much at once.
async fn scraped(late: usize, of: usize) -> Vec<Scrape> {
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Full(LAG.to_owned()), &lag_buckets())
        .unwrap()
        .build_recorder();
    let page = recorder.handle();
    let _installed = metrics::set_default_local_recorder(&recorder);
    describe();
    let mut reporter = Reporter::new(wheel::metrics());
    let start = Instant::now();
    let mut scrapes = Vec::new();
    for minute in 1..=30 {
        for timer in 0..of {
            let mut sleep = sleep(ms(10));
            let mut cx = Context::from_waker(Waker::noop());
            assert!(Pin::new(&mut sleep).poll(&mut cx).is_pending());
            advance(ms(if timer < late { 50 } else { 10 })).await;
            sleep.await;
        }
        tokio::time::sleep_until(start + Duration::from_secs(60 * minute)).await;
        scrapes.push(scrape(&mut reporter, &page, start));
    }
    scrapes
}

fn scrape(reporter: &mut Reporter, page: &PrometheusHandle, start: Instant) -> Scrape {
    reporter.publish();
    page.run_upkeep();
    Scrape::read(start.elapsed(), &page.render())
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[track_caller]
fn assert_near(found: f64, wanted: f64) {
    let is_near = (found - wanted).abs() < wanted.abs() * 1e-3 + 1e-9;
    assert!(is_near, "{found}, not {wanted}");
}

fn alert() -> String {
    let rules: serde_yaml_ng::Value = serde_yaml_ng::from_str(RULES).unwrap();
    let rule = &rules["groups"][0]["rules"][0];
    assert_eq!(rule["alert"], "RuntimeBlocked");
    rule["expr"].as_str().unwrap().to_owned()
}

/// Titles with their legends, and queries, of the dashboard.
fn panels() -> Vec<(String, String)> {
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let mut found = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let (title, legend) = (text(&panel["title"]), text(&target["legendFormat"]));
            found.push((format!("{title}: {legend}"), text(&target["expr"])));
        }
    }
    found
}

/// The queries on the documentation's page.
fn documented() -> Vec<String> {
    let (_, page) = PAGE.split_once("```text\n").unwrap();
    let (page, _) = page.split_once("```").unwrap();
    page.split("\n\n").map(str::to_owned).collect()
}

#[tokio::test(start_paused = true)]
async fn the_alert_fires_when_more_than_one_in_a_hundred_is_late() {
    for late in [0, 1] {
        let scrapes = scraped(late, 200).await;
        let firing = query(&scrapes, &alert());
        assert!(firing.is_empty(), "{late} late: {firing:?}");
    }
    let scrapes = scraped(3, 100).await;
    assert_near(only(&query(&scrapes, &alert())), 0.03);
}

#[tokio::test(start_paused = true)]
async fn every_panel_and_the_queries_of_the_documentation_show_what_was_the_case() {
    let scrapes = scraped(3, 100).await;
    let panels = panels();
    assert_eq!(panels.len(), 6);
    let value = |of: &str| {
        let panel = panels.iter().find(|(name, _)| name.contains(of));
        let (_, expr) = panel.unwrap_or_else(|| panic!("{of} in {panels:?}"));
        only(&query(&scrapes, expr))
    };
    // 40 ms is in the bucket from 32 to 64, with three of 100 lags. The 99th lag is the second of these:
    // two thirds from the bucket's start.
    assert_near(value("99 %"), 0.032 + 0.032 * 2.0 / 3.0);
    assert_near(value("mean"), 0.03 * 0.04);
    assert_near(value("share"), 0.03);
    assert_near(value("fired"), 100.0 / 60.0);
    assert_eq!(value("cancelled"), 0.0);
    assert_eq!(value("pending"), 0.0);
    let [share, most] = &documented()[..] else {
        panic!("two queries: {:?}", documented())
    };
    assert_near(only(&query(&scrapes, share)), value("share"));
    assert_near(only(&query(&scrapes, most)), value("99 %"));
}
