//! The pages as they are read on a code host: a title, links that lead somewhere, and examples
//! without the lines that only rustdoc hides.

use std::fs;
use std::path::{Path, PathBuf};

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = [
        "README.md",
        "CHANGELOG.md",
        ".github/CONTRIBUTING.md",
        ".github/SECURITY.md",
        "examples/README.md",
        "tests/HAZARDS.md",
        "tests/README.md",
    ];
    let guide = [
        "migration",
        "whole_tree",
        "contract",
        "metrics",
        "figures",
        "high_resolution",
        "recipes",
    ]
    .map(|page| format!("src/docs/{page}.md"));
    let pages = pages.iter().map(|page| root.join(page));
    pages
        .chain(guide.iter().map(|page| root.join(page)))
        .collect()
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

/// What a heading's link is called: GitHub's rule, which is rustdoc's too.
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
        if let Some((_, target)) = line
            .strip_prefix('[')
            .and_then(|line| line.split_once("]: "))
        {
            links.push(target.to_owned());
        }
        for part in line.split("](").skip(1) {
            links.push(part.split(')').next().unwrap_or(part).to_owned());
        }
        for label in line
            .split("][")
            .skip(1)
            .filter_map(|part| part.split(']').next())
        {
            let definition = format!("\n[{label}]: ");
            assert!(page.contains(&definition), "{label} is not defined");
        }
    }
    links
}

fn follow(page: &Path, text: &str, link: &str) -> Result<(), String> {
    if link.starts_with("https://") {
        return Ok(());
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = page.with_file_name("").join(file);
    let other = if file.is_empty() {
        text.to_owned()
    } else if target
        .extension()
        .is_some_and(|extension| extension == "md")
    {
        fs::read_to_string(&target).map_err(|error| error.to_string())?
    } else {
        return target
            .exists()
            .then_some(())
            .ok_or("there is no such file".to_owned());
    };
    let found = anchor.is_empty() || anchors(&other).iter().any(|known| known == anchor);
    found
        .then_some(())
        .ok_or(format!("there is no heading #{anchor}"))
}

#[test]
fn each_page_has_a_title_and_hides_no_line() {
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        assert!(page.starts_with("# "), "{} has no title", path.display());
        let hidden = lines(&page)
            .find(|(in_code, line)| *in_code && (line.starts_with("# ") || *line == "#"));
        // A comment of a shell or of a manifest is none.
        let is_rust = |line: &str| line.ends_with(';') || line.ends_with('{') || line == "# }";
        if let Some((_, line)) = hidden.filter(|(_, line)| is_rust(line)) {
            panic!(
                "{}: `{line}` is hidden in the documentation alone",
                path.display()
            );
        }
    }
}

#[test]
fn each_link_leads_somewhere() {
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        for link in links(&page) {
            if let Err(why) = follow(&path, &page, &link) {
                panic!("{}: {link}: {why}", path.display());
            }
        }
    }
}
