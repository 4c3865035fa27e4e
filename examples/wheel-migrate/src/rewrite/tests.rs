//! Every form of import that was met, and what is left alone.

use super::rewrite;
use crate::moves::{Direction, Names};

/// What each form becomes: pairs of lines before and lines after, or lines that stay.
fn forms() -> impl Iterator<Item = (String, String)> {
    include_str!("forms.txt").split("\n\n").map(|form| {
        let lines = form.lines().filter(|line| !line.starts_with('#'));
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (sign, line) in lines.filter_map(|line| line.split_at_checked(2)) {
            before.extend((sign != "+ ").then_some(line));
            after.extend((sign != "- ").then_some(line));
        }
        (before.join("\n"), after.join("\n"))
    })
}

fn forth(source: &str) -> super::Rewritten {
    rewrite(source, Direction::Forth, &Names::default()).unwrap()
}

fn back(source: &str) -> super::Rewritten {
    rewrite(source, Direction::Back, &Names::default()).unwrap()
}

#[test]
fn every_form_is_moved() {
    for (before, after) in forms() {
        let rewritten = forth(&before);
        assert_eq!(rewritten.text, after, "of {before}");
        assert_eq!(rewritten.changes.is_empty(), before == after, "of {before}");
        // What has moved does not move again.
        assert_eq!(forth(&after).text, after);
    }
}

#[test]
fn what_was_moved_moves_back() {
    for (before, after) in forms() {
        let rewritten = back(&after);
        assert!(!rewritten.keeps_wheel, "of {after}");
        assert!(!rewritten.text.contains("wheel::time"), "of {after}");
        // Declarations that were one stay two, and calls of methods stay calls of the trait.
        let one_way = ["rt::", "mod wheel", "tokio_util::", "wrappers;", "{time"];
        if after.matches("use ").count() == before.matches("use ").count()
            && !after.contains("StreamExt::")
            && !one_way.iter().any(|form| before.contains(form))
        {
            assert_eq!(rewritten.text, before, "of {after}");
        }
    }
    for (after, before) in [
        ("wheel::sleep(D)", "tokio::time::sleep(D)"),
        (
            "use wheel::{sleep, error::Elapsed};",
            "use tokio::{time::sleep, time::error::Elapsed};",
        ),
        (
            "use wheel::{time, DelayQueue};",
            "use {tokio::time, tokio_util::time::DelayQueue};",
        ),
    ] {
        assert_eq!(back(after).text, before);
    }
    let rewritten = back("use wheel::{Builder, time};");
    assert!(rewritten.keeps_wheel);
    assert_eq!(rewritten.text, "use wheel::{Builder, };\nuse tokio::time;");
    assert!(rewritten.left[0].what.contains("wheel::Builder"));
}

#[test]
fn names_of_the_package_are_taken() {
    let mut names = Names::default();
    names.add("rt", "tokio");
    names.add("timers", "wheel");
    let source = "use rt::{net, time::{self, sleep}}; rt::time::sleep(D)";
    let after = "use rt::{net, };\nuse timers::time::{self, sleep}; timers::time::sleep(D)";
    let rewritten = rewrite(source, Direction::Forth, &names).unwrap();
    assert_eq!(rewritten.text, after);
    let rewritten = rewrite("timers::time::sleep(D)", Direction::Back, &names).unwrap();
    assert_eq!(rewritten.text, "rt::time::sleep(D)");
}

#[test]
fn what_is_left_alone_is_told() {
    let cases = [
        (
            "\n\nuse hyper_util::rt::{TokioIo, TokioTimer};",
            "WheelTimer",
        ),
        (
            "let l = tower::timeout::TimeoutLayer::new(d);",
            "wheel::ext::tower",
        ),
        ("use tokio_util::time;", "wheel::delay_queue"),
        (
            "use tokio_util::future::FutureExt; fn f() { with_cancellation_token(t) }",
            "wheel::ext::FutureExt",
        ),
        (
            "use tower::ServiceBuilder; fn f() { b.timeout(d) }",
            "TimeoutLayer",
        ),
        (
            "use tokio_stream::StreamExt;\nfn f() { run(s.timeout(d)) }",
            "if this is a stream's",
        ),
        ("$crate::tokio::time::sleep(d)", "a longer path"),
        ("use crate::{rt::tokio::time::sleep, a};", "a longer path"),
    ];
    for (source, what) in cases {
        let left = forth(source).left;
        assert_eq!(left.len(), 1, "of {source}");
        assert!(left[0].what.contains(what), "{}", left[0].what);
        assert_eq!(left[0].line, 1 + source.matches('\n').count());
    }
    for source in [
        "use tokio_stream::StreamExt; s.next()",
        "use tower::ServiceBuilder; b.layer(l)",
    ] {
        assert!(forth(source).left.is_empty(), "of {source}");
    }
    let not_rust = rewrite("fn {", Direction::Forth, &Names::default());
    assert!(not_rust.is_err(), "brackets that do not match");
}

#[test]
fn features_are_asked_for() {
    assert!(forth("use tokio::time::sleep;").needs.is_empty());
    for (source, feature) in [
        ("#[tokio::test(start_paused = true)]", "test-util"),
        ("tokio::time::advance(d)", "test-util"),
        ("use tokio_stream::wrappers::IntervalStream;", "stream"),
        ("use tokio_util::time::DelayQueue;", "stream"),
        ("use tokio_stream::StreamExt; s.throttle(d)", "stream"),
    ] {
        assert_eq!(forth(source).needs, [feature].into(), "of {source}");
    }
}
