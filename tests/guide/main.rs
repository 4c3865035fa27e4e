//! The pages' links, files and commands, and the tests that the table of hazards names, exist.
//!
//! rustdoc checks the links between items (`cargo doc --document-private-items`). These tests read the whole
//! repository, which a copy of the crate alone may not have.

use std::fs;
use std::path::Path;

/// Returns the path and the text of every file below a folder. A path starts at the root, with `/` on every system.
fn files(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let (kind, name) = (entry.file_type().unwrap(), entry.file_name());
        let path = format!("{folder}{}", name.to_str().unwrap());
        if kind.is_dir() && !["target", ".git"].contains(&name.to_str().unwrap()) {
            found.extend(files(&format!("{path}/")));
        } else if kind.is_file() {
            let text = fs::read_to_string(root().join(&path)).unwrap_or_default();
            found.push((path, text));
        }
    }
    found
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the lines of a page outside its code blocks.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    page.split("\n```").step_by(2).flat_map(str::lines)
}

/// Returns the anchor of a heading, by the rule of code hosts and of rustdoc.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    heading
        .chars()
        .filter(kept)
        .collect::<String>()
        .replace(' ', "-")
}

#[test]
fn each_link_leads_somewhere() {
    let pages = files("")
        .into_iter()
        .filter(|(path, _)| path.ends_with(".md"));
    // This page has rustdoc's own links, which rustdoc checks.
    for (path, page) in pages.filter(|(path, _)| path != "src/docs/links.md") {
        let inline = prose(&page).flat_map(|line| line.split("](").skip(1));
        let inline = inline.filter_map(|link| link.split(')').next());
        let defined = prose(&page).filter_map(|line| line.strip_prefix('[')?.split_once("]: "));
        for link in inline.chain(defined.map(|(_, link)| link)) {
            if link.starts_with("https://") {
                continue;
            }
            let (file, wanted) = link.split_once('#').unwrap_or((link, ""));
            let target = root().join(&path).with_file_name(file);
            assert!(file.is_empty() || target.exists(), "{path}: no file {link}");
            let other = match file {
                "" => page.clone(),
                _ => fs::read_to_string(target).unwrap_or_default(),
            };
            let mut headings = prose(&other).filter(|line| line.starts_with('#'));
            let found = wanted.is_empty() || headings.any(|heading| anchor(heading) == wanted);
            assert!(found, "{path}: no heading {link}");
        }
    }
}

/// Returns the commands of a page: the lines of its code blocks, and the texts between backquotes.
fn commands(page: &str) -> impl Iterator<Item = &str> {
    let blocks = page.split("\n```").skip(1).step_by(2).flat_map(str::lines);
    let quoted = prose(page).flat_map(|line| line.split('`').skip(1).step_by(2));
    let is_ours = |command: &&str| command.contains("cargo ") || command.contains(".ci/run ");
    let commands = blocks.chain(quoted).filter(is_ours);
    commands.filter_map(|command| command.split(" #").next())
}

#[test]
fn each_command_names_packages_programs_and_steps_that_exist() {
    let all = files("");
    let has = |folder: &str, ending: &str, text: &str| {
        let is_there = |(path, code): &&(String, String)| {
            path.starts_with(folder) && path.ends_with(ending) && code.contains(text)
        };
        all.iter().any(|file| is_there(&file))
    };
    let is_program = |name: &str| {
        let paths = [format!("{name}.rs"), format!("{name}/main.rs")];
        paths.iter().any(|path| root().join(path).exists())
    };
    let pages = all.iter().filter(|(path, _)| path.ends_with(".md"));
    for (path, page) in pages.filter(|(path, _)| path != "CHANGELOG.md") {
        for command in commands(page) {
            let words: Vec<_> = command.split_whitespace().collect();
            for pair in words.windows(2) {
                let name = pair[1];
                let exists = match pair[0] {
                    "-p" | "--package" => has("", "Cargo.toml", &format!("name = \"{name}\"")),
                    "--test" => is_program(&format!("tests/{name}")),
                    "--example" => is_program(&format!("examples/{name}")),
                    ".ci/run" => has(".ci/run", "", &format!("\n{name}")),
                    _ => true,
                };
                assert!(exists, "{path}: no {name}, in {command}");
            }
            let (bench, names) = command.split_once(" -- ").unwrap_or_default();
            for bench in ["versus", "footprint"]
                .iter()
                .filter(|name| bench.ends_with(*name))
            {
                let is_name = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase());
                for name in names.split_whitespace().filter(is_name) {
                    let exists = has(&format!("benches/{bench}/"), "", &format!("\"{name}\""));
                    assert!(exists, "{path}: {bench} has no {name}");
                }
            }
        }
    }
}

const HAZARDS: usize = 62;

/// Returns the names between backquotes that look like `file::test`.
fn tests_in(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_:".contains(c);
    let names = quoted.filter(move |name| name.chars().all(is_name));
    names.filter_map(|name| name.split_once("::"))
}

#[test]
fn every_hazard_has_a_test_that_exists_or_a_reason() {
    let all = files("");
    let (_, table) = all
        .iter()
        .find(|(path, _)| path == "tests/HAZARDS.md")
        .unwrap();
    let rows: Vec<_> = table
        .lines()
        .filter(|line| line.starts_with("| H"))
        .collect();
    assert_eq!(rows.len(), HAZARDS);
    for (row, number) in rows.iter().zip(1..) {
        assert!(row.starts_with(&format!("| H{number} |")), "{row}");
        let (_, here) = row.trim_end_matches(['|', ' ']).rsplit_once(" | ").unwrap();
        let covered = tests_in(here).next().is_some() || here.contains("cannot happen");
        assert!(covered, "{row}");
        for (module, test) in tests_in(here) {
            let is_there = |(path, code): &(String, String)| {
                let mut parts = path.trim_end_matches(".rs").split('/');
                parts.any(|part| part == module) && code.contains(&format!("fn {test}("))
            };
            assert!(all.iter().any(is_there), "H{number}: {module}::{test}");
        }
    }
}
