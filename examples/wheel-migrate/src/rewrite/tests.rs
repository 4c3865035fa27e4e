//! Every form of import that was met, and what is told of it.

use super::{Note, Rewritten, rewrite};
use crate::forms::Form;
use crate::moves::{Direction, Names};

/// `!` is before what is left alone, `?` before what is to be changed by hand, `>` before what is
/// public, `=` before what is needed besides tokio-wheel or tokio, `~` before what comes back in
/// another form.
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

fn check(form: &Form, rewritten: &Rewritten) {
    let (before, after) = (&form.before, &form.after);
    let told = |notes: &[Note]| {
        let notes = notes
            .iter()
            .map(|note| format!("{}: {}", note.line, note.what));
        notes.collect::<Vec<_>>()
    };
    assert_eq!(&rewritten.text, after, "of {before}");
    assert_eq!(told(&rewritten.left), form.told('!'), "of {before}");
    assert_eq!(told(&rewritten.by_hand), form.told('?'), "of {before}");
    assert_eq!(told(&rewritten.public), form.told('>'), "of {before}");
    let needs = rewritten.needs.iter();
    let needs = needs.filter(|need| ![("tokio-wheel", ""), ("tokio", "time")].contains(need));
    let needs: Vec<_> = needs
        .map(|(package, feature)| format!("{package} {feature}"))
        .collect();
    assert_eq!(needs, form.told('='), "of {before}");
}

#[test]
fn every_form_is_moved() {
    for form in forms() {
        check(&form, &forth(&form.before));
        // What has moved does not move again.
        assert_eq!(forth(&form.after).text, form.after);
    }
    let not_rust = rewrite("fn {", Direction::Forth, &Names::default());
    assert!(not_rust.is_err(), "brackets that do not match");
}

#[test]
fn what_was_moved_moves_back() {
    for form in forms() {
        let rewritten = back(&form.after);
        assert!(rewritten.left.is_empty(), "of {}", form.after);
        assert!(!rewritten.text.contains("wheel::time"), "of {}", form.after);
        let comes_back = rewritten.text == form.before;
        assert_eq!(
            comes_back,
            form.told('~').is_empty(),
            "of {}, not {}",
            form.after,
            rewritten.text
        );
    }
}

#[test]
fn what_was_written_for_this_crate_moves_back() {
    for form in Form::all(include_str!("back.txt")) {
        check(&form, &back(&form.before));
    }
}

#[test]
fn a_line_is_told_as_it_is_and_as_it_will_be() {
    let lines = |source: &str| {
        let rewritten = back(source);
        let notes = rewritten.left.iter();
        let lines = notes.map(|note| {
            let line = rewritten.text.lines().nth(note.new_line - 1);
            assert!(line.is_some_and(|line| line.contains("Wheel")), "{line:?}");
            [note.line, note.new_line]
        });
        lines.collect::<Vec<_>>()
    };
    let wheel = "fn f(w: wheel::Wheel) {}";
    let split = format!("use wheel::time;\nuse a::{{\n    b,\n    c,\n}};\n{wheel}");
    assert_eq!(lines(&split), [[6, 6]]);
    let cut = format!("use wheel::{{time, WheelMetrics}};\n\n{wheel}");
    assert_eq!(lines(&cut), [[1, 1], [3, 4]]);
    let joined = format!("use tokio::{{net}};\nuse wheel::{{\n    time,\n}};\n{wheel}");
    assert_eq!(lines(&joined), [[5, 2]]);
}

#[test]
fn names_of_the_package_are_taken() {
    let mut names = Names::default();
    names.add("rt", "tokio");
    names.add("timers", "wheel");
    let source = "use rt::{net, time::{self, sleep}};\nrt::time::sleep(D)";
    let after = "use rt::{net};\nuse timers::time::{self, sleep};\ntimers::time::sleep(D)";
    let rewritten = rewrite(source, Direction::Forth, &names).unwrap();
    assert_eq!(rewritten.text, after);
    let rewritten = rewrite(after, Direction::Back, &names).unwrap();
    assert_eq!(rewritten.text, source);
}
