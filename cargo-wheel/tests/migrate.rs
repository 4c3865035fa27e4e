//! Tests that compare forms of code and of manifests with tables, and a test that moves a workspace
//! forth and back.

#[path = "../src/migrate/imports.rs"]
mod imports;
#[path = "../src/migrate/manifest.rs"]
mod manifest;
#[path = "../src/migrate/moves.rs"]
mod moves;
#[path = "../src/migrate/rewrite.rs"]
mod rewrite;
#[allow(dead_code, reason = "the tests of the commands use all of it")]
mod support;

use std::collections::BTreeSet;
use std::path::MAIN_SEPARATOR_STR;

use toml_edit::{DocumentMut, InlineTable, value};

use manifest::{add_wheel, edited, remove_wheel};
use moves::Direction;
use rewrite::File;
use support::Service;

/// Returns the two sections of a table.
fn sections(text: &'static str) -> [(Direction, &'static str); 2] {
    let (forth, back) = text.split_once("[back]\n").unwrap();
    let (_, forth) = forth.split_once("[forth]\n").unwrap();
    [(Direction::Forth, forth), (Direction::Back, back)]
}

#[test]
fn each_form_moves() {
    for (to, text) in sections(include_str!("forms.txt")) {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
        let lines: Vec<&str> = lines.collect();
        for form in lines.chunk_by(|_, next| next.starts_with(['!', '+'])) {
            let (before, after) = form[0].split_once("==> ").unwrap_or((form[0], form[0]));
            let comes_back = before.ends_with('<').then_some((Direction::Back, after));
            let before = before.trim_end_matches('<').trim_end();
            for end in ["\n", "\r\n"] {
                check(&form[1..], to, &text_of(before, end), &text_of(after, end));
                if let Some((to, after)) = comes_back {
                    check(&form[1..], to, &text_of(after, end), &text_of(before, end));
                }
            }
        }
    }
}

fn text_of(form: &str, end: &str) -> String {
    form.replace("\\n", end) + end
}

/// Checks that `before` becomes `after`, which changes no more, and checks the list of what is left alone.
fn check(told: &[&str], to: Direction, before: &str, after: &str) {
    let file = File::read(before, to);
    assert_eq!(file.text(), after, "from: {before}");
    assert_eq!(File::read(after, to).text(), after);
    let told = |sign| {
        let lines = told.iter().filter_map(move |line| line.strip_prefix(sign));
        lines.map(str::trim)
    };
    // Most forms move an item of tokio's own, which needs tokio again on the way back.
    let usual = ["", "/ tokio"][usize::from(before != after)];
    let mut needs = told('+').next().unwrap_or(usual).split('/');
    let needs = needs.nth(to as usize).unwrap_or_default();
    let needs = Vec::from_iter(needs.split_whitespace());
    assert_eq!(Vec::from_iter(file.needs), needs, "from: {before}");
    let left = file.left.iter();
    let left = left.map(|(line, what)| format!("{line}: {what}"));
    let (left, listed): (Vec<_>, Vec<_>) = (left.collect(), told('!').collect());
    assert_eq!(left, listed, "from: {before}");
    let uses_wheel = match to {
        Direction::Forth => before != after,
        Direction::Back => after.contains("wheel::"),
    };
    assert_eq!(file.uses_wheel, uses_wheel, "from: {before}");
}

#[test]
fn each_manifest_changes() {
    for (to, text) in sections(include_str!("manifests.txt")) {
        for form in text.trim_end().split("\n\n") {
            check_manifest(form, to, "\n");
            check_manifest(form, to, "\r\n");
        }
    }
}

fn check_manifest(form: &'static str, to: Direction, end: &str) {
    let lines = |signs: &[char]| -> Vec<&'static str> {
        let lines = form.lines().filter(|line| line.starts_with(signs));
        lines.filter_map(|line| line.get(2..)).collect()
    };
    let text = |sign: char| lines(&[' ', sign]).join(end) + end;
    let needs: BTreeSet<&str> = lines(&['=']).into_iter().collect();
    let new = value(InlineTable::from_iter([("path", "src")]));
    // Only what says `workspace = true` has it.
    let inherited: DocumentMut = "tokio.features = [\"test-util\"]".parse().unwrap();
    let inherited = inherited.as_item();
    let before = text('-');
    let after = edited(&before, |document| match to {
        Direction::Forth => add_wheel(document, &needs, &new, inherited),
        Direction::Back => remove_wheel(document, needs, inherited),
    });
    let after = after.unwrap();
    assert_eq!(after, text('+'));
    if to == Direction::Forth && !form.starts_with('~') {
        let back = |document: &mut _| remove_wheel(document, BTreeSet::new(), inherited);
        assert_eq!(edited(&after, back).unwrap(), before);
    }
}

#[rustfmt::skip]
const FILES: [(&str, &str); 13] = [
    ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"a/b\"]\n[workspace.dependencies]\ntokio = { version = \"1\", features = [\"test-util\"] }\n"),
    ("src/main.rs", "use tokio::time;\n"),
    ("a/Cargo.toml", "[package]\nname = \"a\"\n[dependencies]\ntokio.workspace = true\n"),
    ("a/src/lib.rs", "use tokio::{net, time};\n// A comment\nuse tower::timeout;\nuse tokio_util::time::DelayQueue;\n"),
    ("a/src/net.rs", "use tokio::net;\n"),
    ("a/target/built.rs", "use tokio::time;\n"),
    ("a/.hidden/lib.rs", "use tokio::time;\n"),
    ("a/vendor/b/Cargo.toml", ""),
    ("a/vendor/b/lib.rs", "use tokio::time;\n"),
    ("a/notes.txt", "use tokio::time;\n"),
    ("a/b/Cargo.toml", "[package]\nname = \"b\"\n[dependencies]\ntokio.workspace = true\n"),
    ("a/b/src/lib.rs", "use tokio::net;\n"),
    ("a/b/tests/tests.rs", "use tokio::net;\n"),
];

#[test]
fn a_workspace_moves_forth_and_back() {
    let service = Service::new("workspace", "", "");
    for (name, text) in FILES {
        service.write(name, text);
    }
    let is_as_before = || FILES.iter().all(|(name, text)| service.read(name) == *text);
    let refusal = service.run("migrate --write", 2).1;
    assert!(refusal.contains("--path") && is_as_before(), "{refusal}");
    let (told, _) = service.run("migrate --check", 1);
    let listed = ["a", "src", "lib.rs:3: `tower::timeout`: use"].join(MAIN_SEPARATOR_STR);
    assert!(told.contains("2 files would change") && is_as_before(), "{told}");
    assert!(told.contains(&listed) && told.contains("<--path, or --git>"), "{told}");
    let (told, _) = service.run("migrate --write --git file:///u", 0);
    // The new file has a line more.
    assert!(told.contains(&listed.replace(":3:", ":4:")), "{told}");
    let wheel = "tokio-wheel = { git = \"file:///u\", features = [\"test-util\"] }\n";
    let manifest = format!("{}{wheel}", FILES[2].1);
    assert_eq!(service.read("a/Cargo.toml"), manifest);
    service.run("migrate --check", 0);
    // What only tokio-wheel has keeps the dependency.
    service.write("a/src/lib.rs", "use wheel::{Builder, time};\n");
    service.run("migrate --write --back", 0);
    assert_eq!(service.read("a/Cargo.toml"), manifest);
    service.write("a/src/lib.rs", "use wheel::time;\n");
    service.run("migrate --write --back", 0);
    assert_eq!(service.read("a/src/lib.rs"), "use tokio::time;\n");
    service.write("a/src/lib.rs", FILES[3].1);
    assert!(is_as_before());
}
