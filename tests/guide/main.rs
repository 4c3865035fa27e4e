//! The pages' links lead to files and headings, the benchmarks' commands name packages that exist, the picture in rustdoc is
//! the file, and every hazard has a test.
//!
//! rustdoc checks the links between items (`cargo doc --document-private-items`). These tests read the whole
//! repository, so they need more than a copy of the crate.

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
            found.push((path.clone(), read(&path).unwrap_or_default()));
        }
    }
    found
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> std::io::Result<String> {
    fs::read_to_string(root().join(path))
}

/// Returns the anchor of a heading, by the rule of code hosts and of rustdoc.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    heading.replace(' ', "-").chars().filter(kept).collect()
}

#[test]
fn each_link_leads_to_a_file_and_a_heading() {
    let pages = files("").into_iter();
    // This page has rustdoc's own links, which rustdoc checks.
    let pages = pages.filter(|(path, _)| path.ends_with(".md") && path != "src/docs/links.md");
    for (path, page) in pages {
        let prose = page.split("\n```").step_by(2).flat_map(str::lines);
        let links = prose.flat_map(|line| {
            let inline = line
                .split("](")
                .skip(1)
                .filter_map(|link| link.split(')').next());
            inline.chain(
                line.strip_prefix('[')
                    .and_then(|line| Some(line.split_once("]: ")?.1)),
            )
        });
        for link in links.filter(|link| !link.starts_with("https://")) {
            let (file, wanted) = link.split_once('#').unwrap_or((link, ""));
            let target = root().join(&path).with_file_name(file);
            assert!(file.is_empty() || target.exists(), "{path}: no file {link}");
            let other = fs::read_to_string(target).unwrap_or_else(|_| page.clone());
            let mut headings = other.lines().filter(|line| line.starts_with('#'));
            let found = wanted.is_empty() || headings.any(|heading| anchor(heading) == wanted);
            assert!(found, "{path}: no heading {link}");
        }
    }
}

#[test]
fn each_command_names_a_package_that_exists() {
    let all = files("");
    let is_package = |name: &str| {
        let line = format!("name = \"{name}\"\n");
        let mut manifests = all.iter().filter(|(path, _)| path.ends_with("Cargo.toml"));
        manifests.any(|(_, text)| text.contains(&line))
    };
    for (path, page) in all.iter().filter(|(path, _)| path.ends_with(".md")) {
        for command in page.lines().filter(|line| line.contains("cargo ")) {
            for after in command.split(" -p ").skip(1) {
                let name = after.split([' ', '`']).next().unwrap();
                assert!(is_package(name), "{path}: no package {name}");
            }
        }
    }
}

/// rustdoc has no files beside its pages, so the page *Design* defines its picture as a link with the file's text in it.
/// After a change of the picture, run this in `src/docs`:
///
/// ```text
/// python3 -c 'import urllib.parse as u; print("[picture]: data:image/svg+xml," + u.quote(open("design.svg").read()))' >design.svg.link
/// ```
#[test]
fn the_picture_in_rustdoc_is_the_file() {
    let link = read("src/docs/design.svg.link").unwrap();
    let encoded = link.strip_prefix("[picture]: data:image/svg+xml,").unwrap();
    let mut parts = encoded.trim_end().split('%');
    let mut picture = parts.next().unwrap().to_owned();
    for part in parts {
        let (code, rest) = part.split_at(2);
        picture.push(u8::from_str_radix(code, 16).unwrap().into());
        picture.push_str(rest);
    }
    assert_eq!(picture, read("src/docs/design.svg").unwrap());
}

/// Returns the names between backquotes that look like `file::test`.
fn tests_in(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_:".contains(c);
    let names = quoted.filter(move |name| name.chars().all(is_name));
    names.filter_map(|name| name.split_once("::"))
}

#[test]
fn every_hazard_has_a_test_that_exists_or_a_reason() {
    let (all, table) = (files(""), read("tests/HAZARDS.md").unwrap());
    for row in table.lines().filter(|line| line.starts_with("| H")) {
        let (_, here) = row.trim_end_matches(['|', ' ']).rsplit_once(" | ").unwrap();
        let covered = tests_in(here).next().is_some() || here.contains("cannot happen");
        assert!(covered, "{row}");
        for (module, test) in tests_in(here) {
            let is_there = |(path, code): &(String, String)| {
                let mut parts = path.trim_end_matches(".rs").split('/');
                parts.any(|part| part == module) && code.contains(&format!("fn {test}("))
            };
            assert!(all.iter().any(is_there), "{module}::{test}, in {row}");
        }
    }
}
