//! Tests that compare forms of code and of manifests with tables, and a test that moves a workspace
//! forth and back.

#[allow(dead_code, unused_imports)]
#[path = "../src/migrate/mod.rs"]
mod migrate;

use std::collections::BTreeSet;
use std::path::{MAIN_SEPARATOR_STR, Path};
use std::{env, fs, process};

use clap::Parser as _;
use toml_edit::DocumentMut;

use migrate::Options;
use migrate::manifest::Manifest;
use migrate::moves::Direction;
use migrate::rewrite::File;

mod tree {
    //! As if the command was installed from a clone.

    pub(crate) fn clone() -> Option<std::path::PathBuf> {
        Some("clone".into())
    }
}

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
    let here = env::current_dir().unwrap();
    let options = Options::parse_from(["", "--path", "src"]);
    // Only what says `workspace = true` has it.
    let inherited: DocumentMut = "tokio.features = [\"test-util\"]".parse().unwrap();
    let inherited = inherited.as_item();
    let mut manifest = Manifest::parse(here.join("Cargo.toml"), text('-')).unwrap();
    match to {
        Direction::Forth => manifest.add_wheel(&needs, &options, inherited),
        Direction::Back => manifest.remove_wheel(needs, inherited),
    }
    assert_eq!(manifest.text(), text('+'));
    if to == Direction::Forth && !form.starts_with('~') {
        manifest.remove_wheel(BTreeSet::new(), inherited);
        assert_eq!(manifest.text(), text('-'));
    }
}

#[rustfmt::skip]
const FILES: [(&str, &str); 11] = [
    ("Cargo.toml", "[workspace.dependencies]\ntokio = { version = \"1\", features = [\"test-util\"] }\n"),
    (".a/Cargo.toml", "[package]\n[dependencies]\ntokio.workspace = true\n"),
    (".a/src/lib.rs", "use tokio::{net, time};\n// A comment\nuse tower::timeout;\nuse tokio_util::time::DelayQueue;\n"),
    (".a/src/net.rs", "use tokio::net;\n"),
    (".a/target/built.rs", "use tokio::time;\n"),
    (".a/.hidden/lib.rs", "use tokio::time;\n"),
    (".a/vendor/b/.cargo-checksum.json", ""),
    (".a/vendor/b/lib.rs", "use tokio::time;\n"),
    (".a/notes.txt", "use tokio::time;\n"),
    (".a/b/Cargo.toml", "[package]\n[dependencies]\ntokio.workspace = true\n"),
    (".a/b/lib.rs", "use tokio::net;\n"),
];

fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn a_workspace_moves_forth_and_back() {
    let root = &env::temp_dir().join(format!("cargo-wheel-{}", process::id()));
    for (name, text) in FILES {
        write(root, name, text);
    }
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    let is_as_before = || FILES.iter().all(|(name, text)| read(name) == *text);
    let run = |arguments: &[&str]| {
        let options = Options::parse_from([&[""], arguments].concat());
        migrate::migrate(&root.join(".a"), &options)
    };
    let refusal = run(&["--write"]).unwrap_err().to_string();
    assert!(refusal.contains("--path") && is_as_before(), "{refusal}");
    let (told, changes) = run(&["--check"]).unwrap();
    let listed = [".a", "src", "lib.rs:3: `tower::timeout`: use"].join(MAIN_SEPARATOR_STR);
    assert!(changes == 2 && is_as_before(), "{told}");
    assert!(told.contains(&listed) && told.contains("<--path, or --git>"), "{told}");
    let (told, _) = run(&["--write", "--git", "u"]).unwrap();
    // The new file has a line more.
    assert!(told.contains(&listed.replace(":3:", ":4:")), "{told}");
    let wheel = "tokio-wheel = { git = \"u\", features = [\"test-util\"] }\n";
    let manifest = format!("{}{wheel}", FILES[1].1);
    assert_eq!(read(".a/Cargo.toml"), manifest);
    assert_eq!(run(&["--check"]).unwrap().1, 0);
    // What only tokio-wheel has keeps the dependency.
    write(root, ".a/src/lib.rs", "use wheel::{Builder, time};\n");
    run(&["--write", "--back"]).unwrap();
    assert_eq!(read(".a/Cargo.toml"), manifest);
    write(root, ".a/src/lib.rs", "use wheel::time;\n");
    run(&["--write", "--back"]).unwrap();
    assert_eq!(read(".a/src/lib.rs"), "use tokio::time;\n");
    write(root, ".a/src/lib.rs", FILES[2].1);
    assert!(is_as_before());
    fs::remove_dir_all(root).unwrap();
}
