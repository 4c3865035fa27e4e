//! Every form of import that was met, and what is left alone.

use super::{Needs, rewrite};
use crate::moves::{Direction, Names};

/// Each line of a pair, before and after.
const FORMS: &[(&str, &str)] = &[
    ("use tokio::time;", "use wheel::time;"),
    ("use ::tokio::time;", "use ::wheel::time;"),
    ("use tokio::time as t;", "use wheel::time as t;"),
    ("use tokio::time::sleep;", "use wheel::time::sleep;"),
    (
        "use tokio::time::sleep as nap;",
        "use wheel::time::sleep as nap;",
    ),
    ("use tokio::time::*;", "use wheel::time::*;"),
    ("use tokio::time::{*};", "use wheel::time::{*};"),
    ("use tokio::time::error::*;", "use wheel::time::error::*;"),
    (
        "use tokio::time::{self as t, error::{self, Elapsed}};",
        "use wheel::time::{self as t, error::{self, Elapsed}};",
    ),
    ("use tokio::{time};", "use wheel::time;"),
    ("use tokio::{self as rt};", "use tokio::{self as rt};"),
    (
        "use tokio::{time::{sleep, Sleep}};",
        "use wheel::time::{sleep, Sleep};",
    ),
    (
        "use tokio::{net::TcpStream, time::{self, timeout}, sync::Mutex};",
        "use tokio::{net::TcpStream, sync::Mutex};\nuse wheel::time::{self, timeout};",
    ),
    (
        "use tokio::{net, time, time::sleep};",
        "use tokio::{net, };\nuse wheel::{time, time::sleep};",
    ),
    (
        "use {std::io, tokio::{net, time::sleep}};",
        "use {std::io, tokio::{net, }};\nuse wheel::time::sleep;",
    ),
    (
        "use {std::io, tokio::{time::sleep}};",
        "use {std::io, };\nuse wheel::time::sleep;",
    ),
    (
        "use tokio::{self, time};",
        "use tokio::{self, };\nuse wheel::time;",
    ),
    (
        "#[cfg(a)]\npub(crate) use tokio::{spawn, time};",
        "#[cfg(a)]\npub(crate) use tokio::{spawn, };\n#[cfg(a)]\npub(crate) use wheel::time;",
    ),
    ("pub use tokio::time::*;", "pub use wheel::time::*;"),
    (
        "mod m {\n    use tokio::{join, time::Instant};\n}",
        "mod m {\n    use tokio::{join, };\n    use wheel::time::Instant;\n}",
    ),
    (
        "type S = Pin<Box<tokio::time::Sleep>>;",
        "type S = Pin<Box<wheel::time::Sleep>>;",
    ),
    (
        "fn f() -> ::tokio::time::Instant {}",
        "fn f() -> ::wheel::time::Instant {}",
    ),
    (
        "select! { _ = tokio::time::sleep(D) => {} }",
        "select! { _ = wheel::time::sleep(D) => {} }",
    ),
    (
        "macro_rules! m { () => { tokio::time::sleep(D) } }",
        "macro_rules! m { () => { wheel::time::sleep(D) } }",
    ),
    // tokio by another name, and beside a glob.
    (
        "use tokio as rt; rt::time::sleep(D)",
        "use tokio as rt; wheel::time::sleep(D)",
    ),
    (
        "use tokio::*; time::sleep(D)",
        "use tokio::*;\nuse wheel::time; time::sleep(D)",
    ),
    ("use tokio::*; spawn(f)", "use tokio::*; spawn(f)"),
    // A module of the crate's name.
    (
        "mod wheel; use tokio::time; tokio::time::sleep(D)",
        "mod wheel; use ::wheel::time; ::wheel::time::sleep(D)",
    ),
    // Queues.
    (
        "use tokio_util::{sync::X, time::{DelayQueue, delay_queue::{self, Key}}};",
        "use tokio_util::{sync::X, };\nuse wheel::{DelayQueue, delay_queue::{self, Key}};",
    ),
    (
        "use tokio_util::time::delay_queue::Expired;",
        "use wheel::delay_queue::Expired;",
    ),
    (
        "use {tokio::time, tokio_util::time::DelayQueue};",
        "use wheel::{time, DelayQueue};",
    ),
    (
        "use tokio_util::time; time::DelayQueue::new()",
        "use tokio_util::time; wheel::DelayQueue::new()",
    ),
    // Futures.
    (
        "use tokio_util::future::FutureExt as _; f.timeout(D).await",
        "use wheel::ext::FutureExt as _; f.timeout(D).await",
    ),
    // Streams.
    (
        "use tokio_stream::{StreamExt, wrappers::{IntervalStream, ReceiverStream}};",
        "use tokio_stream::{StreamExt, wrappers::{ReceiverStream}};\nuse wheel::ext::stream::IntervalStream;",
    ),
    (
        "use tokio_stream::wrappers; wrappers::IntervalStream::new(i)",
        "use tokio_stream::wrappers; wheel::ext::stream::IntervalStream::new(i)",
    ),
    (
        "use tokio_stream::StreamExt; a.b().throttle(D).timeout(E).next()",
        "use tokio_stream::StreamExt; wheel::ext::StreamExt::timeout(wheel::ext::StreamExt::throttle(a.b(), D), E).next()",
    ),
    (
        "use tokio_stream::StreamExt; tokio_stream::wrappers::IntervalStream::new(tokio::time::interval(D)).throttle(D)",
        "use tokio_stream::StreamExt; wheel::ext::StreamExt::throttle(wheel::ext::stream::IntervalStream::new(wheel::time::interval(D)), D)",
    ),
    (
        "tokio_stream::StreamExt::throttle(s, D)",
        "wheel::ext::StreamExt::throttle(s, D)",
    ),
    // What is not tokio's time stays as it is.
    ("s.throttle(D)", "s.throttle(D)"),
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

fn forth(source: &str) -> super::Rewritten {
    rewrite(source, Direction::Forth, &Names::default()).unwrap()
}

fn back(source: &str) -> super::Rewritten {
    rewrite(source, Direction::Back, &Names::default()).unwrap()
}

#[test]
fn every_form_is_moved() {
    for (before, after) in FORMS {
        let rewritten = forth(before);
        assert_eq!(rewritten.text, *after, "of {before}");
        assert_eq!(rewritten.changes.is_empty(), before == after, "of {before}");
        // What has moved does not move again.
        assert_eq!(forth(after).text, *after);
    }
}

#[test]
fn what_was_moved_moves_back() {
    for (before, after) in FORMS {
        let rewritten = back(after);
        assert!(!rewritten.keeps_wheel, "of {after}");
        assert!(!rewritten.text.contains("wheel::time"), "of {after}");
        // Declarations that were one stay two, and calls of methods stay calls of the trait.
        if after.matches("use ").count() == before.matches("use ").count()
            && !after.contains("StreamExt::")
            && !before.contains("rt::")
            && !before.contains("mod wheel")
            && !before.contains("tokio_util::")
            && !before.contains("wrappers;")
            && !before.contains("{time")
        {
            assert_eq!(rewritten.text, *before, "of {after}");
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
    let needs = |source| {
        let Needs { stream, test_util } = forth(source).needs;
        (stream, test_util)
    };
    assert_eq!(needs("use tokio::time::sleep;"), (false, false));
    assert_eq!(needs("#[tokio::test(start_paused = true)]"), (false, true));
    assert_eq!(needs("tokio::time::advance(d)"), (false, true));
    assert_eq!(
        needs("use tokio_stream::wrappers::IntervalStream;"),
        (true, false)
    );
    assert_eq!(needs("use tokio_util::time::DelayQueue;"), (true, false));
    assert_eq!(
        needs("use tokio_stream::StreamExt; s.throttle(d)"),
        (true, false)
    );
}
