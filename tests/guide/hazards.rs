//! `HAZARDS.md` names tests that exist, and hazards that no test of behaviour covers are not in the sources.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{files, root};

const TABLE: &str = include_str!("../HAZARDS.md");
const HAZARDS: usize = 59;

/// A file's name in the table; its folder's for `main.rs`, `mod.rs` and `tests.rs`.
fn module(path: &Path) -> &str {
    let stem = |path: &Path| path.file_stem().unwrap().to_str().unwrap().len();
    let named = match path.file_name().unwrap().to_str().unwrap() {
        "main.rs" | "mod.rs" | "tests.rs" => path.parent().unwrap(),
        _ => path,
    };
    &named.file_name().unwrap().to_str().unwrap()[..stem(named)]
}

/// The tests of a file: functions under an attribute that says so.
fn tests_of(source: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        let function = line.strip_prefix("async ").unwrap_or(line);
        if line.starts_with("#[") && line.contains("test") && !line.starts_with("#[cfg") {
            is_test = true;
        } else if let Some(function) = function.strip_prefix("fn ") {
            let end = function.find(['(', '<']).unwrap();
            found.extend(is_test.then_some(&function[..end]));
            is_test = false;
        }
    }
    found
}

fn all_tests() -> HashSet<String> {
    let mut all = HashSet::new();
    for path in sources("tests").chain(sources("src")) {
        let source = fs::read_to_string(root().join(&path)).unwrap();
        let tests = tests_of(&source).into_iter();
        all.extend(tests.map(|test| format!("{}::{test}", module(&path))));
    }
    all
}

/// Every Rust file below a folder of the project.
fn sources(folder: &str) -> impl Iterator<Item = PathBuf> {
    let all = files().into_iter();
    all.filter(move |path| path.starts_with(folder) && path.to_string_lossy().ends_with(".rs"))
}

/// Names between backticks that look like `file::test`.
fn named_in(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|name| {
        let lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_:".contains(c);
        name.contains("::") && name.chars().all(lower)
    })
}

#[test]
fn every_test_in_the_table_exists() {
    let all = all_tests();
    let missing = named_in(TABLE).filter(|name| !all.contains(*name));
    let missing: Vec<_> = missing.collect();
    assert!(missing.is_empty(), "HAZARDS.md names {missing:?}");
}

#[test]
fn every_hazard_has_a_test_or_a_reason() {
    let rows = TABLE.lines().filter(|line| line.starts_with("| H"));
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows.len(), HAZARDS);
    for (row, number) in rows.iter().zip(1..) {
        assert!(row.starts_with(&format!("| H{number} |")), "{row}");
        let (_, here) = row.trim_end_matches(['|', ' ']).rsplit_once(" | ").unwrap();
        let covered = named_in(here).next().is_some();
        assert!(covered || here.contains("cannot happen"), "{row}");
    }
}

/// H18, H41: time is the runtime's, and all work is done by its tasks.
#[test]
fn no_source_reads_the_wall_clock_or_starts_a_thread() {
    const WORDS: [&str; 4] = [
        "SystemTime",
        "UNIX_EPOCH",
        "std::thread::spawn",
        "spawn_blocking",
    ];
    for path in sources("src") {
        let source = fs::read_to_string(root().join(&path)).unwrap();
        let code = source.lines().filter(|line| !line.trim().starts_with("//"));
        for line in code {
            let is_bad = WORDS.iter().any(|word| line.contains(word));
            assert!(!is_bad, "{}: {line}", path.display());
        }
    }
}
