//! The pages as they are read on a code host: a title, links that lead somewhere, and examples
//! without the lines that only rustdoc hides.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{files, root};

/// Neither is read by itself: rustdoc's links, and a table that a bench prints.
const PARTS: [&str; 2] = ["links.md", "table.md"];

/// Every page of the project, and its text.
fn pages() -> impl Iterator<Item = (PathBuf, String)> {
    let all = files().into_iter().map(|path| root().join(path));
    let is_page = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md");
    let pages = all.filter(is_page);
    let pages = pages.filter(|path| !PARTS.iter().any(|part| path.ends_with(part)));
    pages.map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
}

/// The lines of a page, and whether each is part of a block of code.
fn lines(page: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut in_code = false;
    page.lines().map(move |line| {
        let is_fence = line.starts_with("```");
        in_code ^= is_fence;
        (in_code || is_fence, line)
    })
}

/// The anchor of a heading, by GitHub's rule, which is rustdoc's too.
fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn anchors(page: &str) -> Vec<String> {
    let headings = lines(page).filter(|(in_code, line)| !in_code && line.starts_with('#'));
    headings
        .map(|(_, line)| anchor(line.trim_start_matches('#').trim()))
        .collect()
}

/// Where the links of a page lead.
fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    for (_, line) in lines(page).filter(|(in_code, _)| !in_code) {
        let definition = line
            .strip_prefix('[')
            .and_then(|line| line.split_once("]: "));
        links.extend(definition.map(|(_, target)| target.to_owned()));
        let inline = line.split("](").skip(1);
        links.extend(inline.filter_map(|part| Some(part.split_once(')')?.0.to_owned())));
        let labels = line.split("][").skip(1);
        for label in labels.filter_map(|part| part.split(']').next()) {
            let definition = format!("\n[{label}]: ");
            assert!(page.contains(&definition), "{label} is not defined");
        }
    }
    links
}

/// Why the link leads nowhere.
fn trouble(page: &Path, text: &str, link: &str) -> Option<String> {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = page.with_file_name("").join(file);
    if link.starts_with("https://") {
        return None;
    }
    if !file.is_empty() && !target.exists() {
        return Some("there is no such file".to_owned());
    }
    let other = match file {
        "" => text.to_owned(),
        _ => fs::read_to_string(&target).unwrap_or_default(),
    };
    let found = anchor.is_empty() || anchors(&other).iter().any(|known| known == anchor);
    (!found).then(|| format!("there is no heading #{anchor}"))
}

#[test]
fn each_page_has_a_title_and_hides_no_line() {
    for (path, page) in pages() {
        assert!(page.starts_with("# "), "{} has no title", path.display());
        let hidden = lines(&page)
            .find(|(in_code, line)| *in_code && (line.starts_with("# ") || *line == "#"));
        // A comment of a shell or of a manifest is none.
        let is_rust = |line: &str| line.ends_with(';') || line.ends_with('{') || line == "# }";
        let hidden = hidden.filter(|(_, line)| is_rust(line));
        // In the documentation alone.
        assert_eq!(hidden, None, "{}: hidden", path.display());
    }
}

#[test]
fn each_link_leads_somewhere() {
    for (path, page) in pages() {
        for link in links(&page) {
            let why = trouble(&path, &page, &link);
            assert_eq!(why, None, "{}: {link}", path.display());
        }
    }
}
