//! Every form of import that was met, and what is left alone.

use super::rewrite;

/// Each line of a pair, before and after.
const FORMS: &[(&str, &str)] = &[
    ("use tokio::time;", "use wheel as time;"),
    ("use ::tokio::time;", "use ::wheel as time;"),
    ("use tokio::time as t;", "use wheel as t;"),
    ("use tokio::time::sleep;", "use wheel::sleep;"),
    ("use tokio::time::sleep as nap;", "use wheel::sleep as nap;"),
    ("use tokio::time::*;", "use wheel::time::*;"),
    ("use tokio::time::{*};", "use wheel::time::*;"),
    ("use tokio::time::error::*;", "use wheel::error::*;"),
    (
        "use tokio::time::{self, sleep};",
        "use wheel::{self as time, sleep};",
    ),
    (
        "use tokio::time::{self as t, error::{self, Elapsed}};",
        "use wheel::{self as t, error, error::Elapsed};",
    ),
    ("use tokio::{time};", "use wheel as time;"),
    (
        "use tokio::{time::{sleep, Sleep}};",
        "use wheel::{sleep, Sleep};",
    ),
    (
        "use tokio::{net::TcpStream, time::{self, timeout}, sync::Mutex};",
        "use tokio::{net::TcpStream, sync::Mutex};\nuse wheel::{self as time, timeout};",
    ),
    (
        "use {std::io, tokio::time::sleep};",
        "use {std::io, };\nuse wheel::sleep;",
    ),
    (
        "use tokio::{self, time};",
        "use tokio::{self, };\nuse wheel as time;",
    ),
    (
        "#[cfg(a)]\npub(crate) use tokio::{spawn, time};",
        "#[cfg(a)]\npub(crate) use tokio::{spawn, };\n#[cfg(a)]\npub(crate) use wheel as time;",
    ),
    ("pub use tokio::time::*;", "pub use wheel::time::*;"),
    (
        "mod m {\n    use tokio::{join, time::Instant};\n}",
        "mod m {\n    use tokio::{join, };\n    use wheel::Instant;\n}",
    ),
    (
        "type S = Pin<Box<tokio::time::Sleep>>;",
        "type S = Pin<Box<wheel::Sleep>>;",
    ),
    (
        "fn f() -> ::tokio::time::Instant {}",
        "fn f() -> ::wheel::Instant {}",
    ),
    (
        "select! { _ = tokio::time::sleep(D) => {} }",
        "select! { _ = wheel::sleep(D) => {} }",
    ),
    (
        "macro_rules! m { () => { tokio::time::sleep(D) } }",
        "macro_rules! m { () => { wheel::sleep(D) } }",
    ),
    (
        "use tokio_stream::{StreamExt, wrappers::{IntervalStream, ReceiverStream}};",
        "use tokio_stream::{StreamExt, wrappers::{ReceiverStream}};\nuse wheel::ext::stream::IntervalStream;",
    ),
    (
        "let s = tokio_stream::wrappers::IntervalStream::new(i);",
        "let s = wheel::ext::stream::IntervalStream::new(i);",
    ),
    // What is not tokio's time stays as it is.
    ("use std::time::Duration;", "use std::time::Duration;"),
    (
        "#[tokio::test(start_paused = true)] fn f() {}",
        "#[tokio::test(start_paused = true)] fn f() {}",
    ),
    (
        "// tokio::time::sleep\nlet s = \"tokio::time\";",
        "// tokio::time::sleep\nlet s = \"tokio::time\";",
    ),
    (
        "fn f<'a>() -> impl Sized + use<'a> {}",
        "fn f<'a>() -> impl Sized + use<'a> {}",
    ),
    ("use tokio::timer::Delay;", "use tokio::timer::Delay;"),
    ("my::tokio::time::sleep(D)", "my::tokio::time::sleep(D)"),
];

#[test]
fn every_form_is_moved() {
    for (before, after) in FORMS {
        let rewritten = rewrite(before).unwrap();
        assert_eq!(rewritten.text, *after, "of {before}");
        assert_eq!(rewritten.changes.is_empty(), before == after, "of {before}");
        // What has moved does not move again.
        assert_eq!(rewrite(after).unwrap().text, *after);
    }
}

#[test]
fn what_is_left_alone_is_told() {
    let cases = [
        ("use tokio::*;", "takes `time` along"),
        ("use tokio as rt;", "`rt::time` is not moved"),
        (
            "\n\nuse hyper_util::rt::{TokioIo, TokioTimer};",
            "WheelTimer",
        ),
        (
            "let l = tower::timeout::TimeoutLayer::new(d);",
            "wheel::ext::tower",
        ),
        (
            "use tokio_util::{time::DelayQueue, sync::X};",
            "wheel::DelayQueue",
        ),
        ("$crate::tokio::time::sleep(d)", "a longer path"),
        ("use crate::{rt::tokio::time::sleep, a};", "a longer path"),
    ];
    for (source, what) in cases {
        let left = rewrite(source).unwrap().left;
        assert_eq!(left.len(), 1, "of {source}");
        assert!(left[0].what.contains(what), "{}", left[0].what);
        assert_eq!(left[0].line, 1 + source.matches('\n').count());
    }
    assert!(rewrite("fn {").is_err(), "braces that do not match");
}

#[test]
fn features_are_asked_for() {
    let needs = |source| {
        let needs = rewrite(source).unwrap().needs;
        (needs.stream, needs.test_util)
    };
    assert_eq!(needs("use tokio::time::sleep;"), (false, false));
    assert_eq!(needs("#[tokio::test(start_paused = true)]"), (false, true));
    assert_eq!(needs("tokio::time::advance(d)"), (false, true));
    assert_eq!(
        needs("use tokio_stream::wrappers::IntervalStream;"),
        (true, false)
    );
}
