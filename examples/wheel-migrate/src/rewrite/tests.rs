//! Every form of import that was met, and what is told of it.

use super::{Rewritten, rewrite};
use crate::forms::Form;
use crate::moves::{Direction, Names};

/// `!` is before what is left alone, `>` before what is public, `=` before a feature, `~` before
/// what comes back in another form.
fn forms() -> impl Iterator<Item = Form> {
    let streams = Form::all(include_str!("streams.txt"));
    Form::all(include_str!("forms.txt")).chain(streams)
}

fn forth(source: &str) -> Rewritten {
    rewrite(source, Direction::Forth, &Names::default()).unwrap()
}

fn back(source: &str) -> Rewritten {
    rewrite(source, Direction::Back, &Names::default()).unwrap()
}

#[test]
fn every_form_is_moved() {
    for form in forms() {
        let (before, after) = (&form.before, &form.after);
        let rewritten = forth(before);
        assert_eq!(&rewritten.text, after, "of {before}");
        assert_eq!(rewritten.left, form.told('!'), "of {before}");
        assert_eq!(rewritten.public, form.told('>'), "of {before}");
        let needs: Vec<_> = rewritten.needs.into_iter().collect();
        assert_eq!(needs, form.told('='), "of {before}");
        // What has moved does not move again.
        assert_eq!(&forth(after).text, after);
    }
    let not_rust = rewrite("fn {", Direction::Forth, &Names::default());
    assert!(not_rust.is_err(), "brackets that do not match");
}

#[test]
fn what_was_moved_moves_back() {
    for form in forms() {
        let rewritten = back(&form.after);
        assert_eq!(rewritten.left, [""; 0], "of {}", form.after);
        assert!(!rewritten.text.contains("wheel::time"), "of {}", form.after);
        let comes_back = rewritten.text == form.before;
        assert_eq!(comes_back, form.told('~').is_empty(), "of {}", form.after);
    }
    for (after, before) in [
        ("wheel::sleep(D)", "tokio::time::sleep(D)"),
        (
            "use wheel::{sleep, error::Elapsed};",
            "use tokio::time::sleep;\nuse tokio::time::error::Elapsed;",
        ),
        (
            "use wheel::{time, DelayQueue};",
            "use tokio::time;\nuse tokio_util::time::DelayQueue;",
        ),
    ] {
        assert_eq!(back(after).text, before);
    }
    let rewritten = back("use wheel::{Builder, time};");
    assert_eq!(rewritten.text, "use wheel::{Builder, };\nuse tokio::time;");
    assert!(rewritten.left[0].contains("wheel::Builder"));
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
