//! `HAZARDS.md` has a test or a reason for each hazard, and hazards that no test of behaviour covers are
//! not in the sources. That the tests exist which it names: `stale.rs`.

use std::fs;
use std::path::PathBuf;

use crate::{files, root};

const TABLE: &str = include_str!("../HAZARDS.md");
const HAZARDS: usize = 60;

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
