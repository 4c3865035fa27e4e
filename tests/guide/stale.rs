//! Pages and comments name nothing that has gone: files, functions, figures, packages, tests, steps.
//! (Headings that links lead to are looked up in `pages.rs`.)
//!
//! A name between backquotes counts as gone where no code has it: not this crate's, its tests', its
//! benches', nor a manifest or a script. Names that others have are in [`FOREIGN`]. Blocks
//! of code are compiled elsewhere; of them, commands alone are read.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{files, root};

/// Names of other crates, of tools, of the kernel's, and of removed code, which no code here has.
const FOREIGN: &str = "clippy.toml .hex / loom_ TimerTest TimingWheelTest RussellLuo TiKV MultiThread async_send_sync \
    TaskTracker grpc-timeout max_connection_age response_timeout new_timer TokioRuntime \
    poll_time_histogram RuntimeMetrics fast_sleep Sse hedge Sleeper timeBeginPeriod \
    LocalRuntime build_local call_t ctrl_c dump futex task_local";

/// Of our files' names those that a path begins with that is not of the file.
const EVERYWHERE: [&str; 3] = ["retry", "task", "wheel"];

/// Endings of files that a page may name.
const FILES: [&str; 9] = [
    ".rs", ".md", ".toml", ".hex", ".json", ".svg", ".yml", ".sh", ".txt",
];

fn ends(path: &Path, ending: &str) -> bool {
    path.to_str().unwrap().ends_with(ending)
}

/// A file's text for readers: a page outside of its blocks of code, or comments.
struct Prose {
    path: PathBuf,
    /// With the number of each line.
    lines: Vec<(usize, String)>,
    /// All lines, blocks of code as well.
    text: String,
}

/// Prose and code of the whole project. A changelog names things that have gone.
fn read() -> (Vec<Prose>, Vec<(PathBuf, String)>) {
    let (mut all, mut code) = (Vec::new(), Vec::new());
    for path in files() {
        let is_page = ends(&path, ".md");
        let text = fs::read_to_string(root().join(&path)).unwrap_or_default();
        if !is_page && !ends(&path, ".rs") {
            let data = [".hex", ".svg", "Cargo.lock"];
            let is_data = data.iter().any(|ending| ends(&path, ending));
            code.push((path, if is_data { String::new() } else { text }));
            continue;
        }
        let (mut said, mut coded) = (String::new(), String::new());
        let (mut lines, mut in_code) = (Vec::new(), false);
        for (number, line) in text.lines().enumerate() {
            let comment = match is_page {
                true => Some(line),
                false => line.trim_start().strip_prefix("//"),
            };
            let Some(comment) = comment else {
                coded += line;
                coded.push('\n');
                continue;
            };
            said += comment;
            said.push('\n');
            let start = comment.trim_start_matches(['/', '!', ' ']);
            let is_fence = start.starts_with("```");
            in_code ^= is_fence;
            if in_code || is_fence {
                coded += comment;
                coded.push('\n');
            } else {
                lines.push((number + 1, comment.to_owned()));
            }
        }
        if !ends(&path, "CHANGELOG.md") {
            let path = path.clone();
            all.push(Prose {
                path,
                lines,
                text: said,
            });
        }
        code.push((path, coded));
    }
    (all, code)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The names that code has, by file.
struct Names<'a>(Vec<(&'a Path, HashSet<&'a str>)>);

impl<'a> Names<'a> {
    fn new(code: &'a [(PathBuf, String)]) -> Self {
        let names = |(path, code): &'a (PathBuf, String)| (path.as_path(), words(code));
        Names(code.iter().map(names).collect())
    }

    /// Files that are so called, or in a folder that is.
    fn module(&self, name: &str) -> impl Iterator<Item = &(&'a Path, HashSet<&'a str>)> {
        self.0.iter().filter(move |(path, _)| is_in(path, name))
    }

    fn has(&self, name: &str) -> bool {
        let is_foreign = || FOREIGN.split_whitespace().any(|foreign| foreign == name);
        self.0.iter().any(|(_, words)| words.contains(name))
            || self.module(name).next().is_some()
            || is_foreign()
    }

    /// Where a module of ours is named, one of its files has the name.
    fn has_in(&self, module: &str, name: &str) -> bool {
        let files = self.module(module);
        let mut files = files.filter(|(path, _)| ends(path, ".rs")).peekable();
        let is_ours = files.peek().is_some() && !EVERYWHERE.contains(&module);
        !is_ours || files.any(|(path, words)| words.contains(name) || is_in(path, name))
    }
}

/// A file or a folder of that name.
fn is_in(path: &Path, name: &str) -> bool {
    path.iter()
        .any(|part| Path::new(part).file_stem().is_some_and(|stem| stem == name))
}

/// Words, and words that hyphens join.
fn words(code: &str) -> HashSet<&str> {
    let plain = code.split(|c| !is_word(c));
    let joined = code.split(|c| !is_word(c) && c != '-');
    plain.chain(joined).collect()
}

/// The texts between single backquotes on a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Why the name is of nothing that there is.
fn gone(name: &str, names: &Names<'_>, near: &Path) -> Option<&'static str> {
    let plain = name.trim_end_matches("()").trim_end_matches('!');
    if FOREIGN.split_whitespace().any(|foreign| foreign == plain) {
        return None;
    }
    let is_path = |c: char| is_word(c) || "./-".contains(c);
    let mut paths = names.0.iter().map(|(path, _)| *path);
    if FILES.iter().any(|ending| plain.ends_with(ending)) && plain.chars().all(is_path) {
        let plain = plain.trim_start_matches("../");
        let beside = near.with_file_name("").join(plain);
        let found = paths.any(|path| path.ends_with(plain) || path == beside);
        return (!found).then_some("no such file");
    }
    if plain.ends_with('/') && plain.chars().all(is_path) {
        let folder = format!("/{plain}");
        let found = paths.any(|path| format!("/{}", path.display()).contains(&folder));
        return (!found).then_some("no such folder");
    }
    let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| is_word(c) || c == '-');
    let parts: Vec<_> = plain.split("::").collect();
    // A number, a command or an expression is no name.
    if !parts.iter().all(|part| is_name(part)) || plain.starts_with('-') {
        return None;
    }
    let known = parts.iter().all(|part| names.has(part));
    let in_place = parts.len() != 2 || names.has_in(parts[0], parts[1]);
    (!known || !in_place).then_some("no code has that name")
}

#[test]
fn names_between_backquotes_are_of_something() {
    let (all, code) = read();
    let names = Names::new(&code);
    let mut stale = Vec::new();
    for prose in &all {
        for (number, line) in &prose.lines {
            // Files are named without backquotes, too.
            let bare = line.split(|c| !is_word(c) && !"./-".contains(c));
            let bare = bare.map(|name| name.trim_end_matches('.'));
            let files = bare.filter(|name| name.ends_with(".rs"));
            let files = files.filter(|name| name.len() > 3 && !name.contains("docs.rs"));
            for name in quoted(line).chain(files) {
                if let Some(why) = gone(name, &names, &prose.path) {
                    stale.push(format!("{}:{number}: {name}: {why}", prose.path.display()));
                }
            }
        }
    }
    stale.dedup();
    assert!(stale.is_empty(), "{}\n{}", stale.len(), stale.join("\n"));
}

/// `-p NAME`, `--package NAME`, `--test NAME`, `.ci/run STEP`.
#[test]
fn commands_name_packages_tests_and_steps_that_there_are() {
    let (all, code) = read();
    let script = fs::read_to_string(root().join(".ci/run")).unwrap();
    let of = |ending| {
        let files = code.iter().filter(move |(path, _)| ends(path, ending));
        files.map(|(_, code)| code.as_str())
    };
    let manifests: String = of("Cargo.toml").collect();
    let catalogue: String = of("versus/catalogue.json").collect();
    let is_package = |name: &str| manifests.contains(&format!("name = \"{name}\""));
    let is_figure = |name: &str| catalogue.contains(&format!("\"name\": \"{name}\""));
    let is_test = |name: &str| root().join("tests").join(name).join("main.rs").exists();
    let is_step = |name: &str| script.contains(&format!("\n{name}() {{"));
    let mut stale = Vec::new();
    for prose in all {
        for line in prose.text.lines() {
            let asked = line.split_once("-p versus -- ").unwrap_or_default().1;
            let asked = asked.split('`').next().unwrap_or_default();
            let figures = asked
                .split_whitespace()
                .take_while(|name| !name.starts_with(['-', '#']));
            let mut unknown: Vec<_> = figures.filter(|name| !is_figure(name)).collect();
            let words = line.split([' ', '`']).filter(|word| !word.is_empty());
            let words: Vec<_> = words.collect();
            for pair in words.windows(2) {
                let name = pair[1].trim_end_matches(['.', ',', ';', ':', ')', '*']);
                // `NAME` and the like stand for any.
                let is_name =
                    name.chars().all(|c| is_word(c) || c == '-') && name.to_uppercase() != name;
                let known = match pair[0] {
                    "-p" | "--package" if line.contains("cargo ") => is_package(name),
                    "--test" if line.contains("cargo ") => is_test(name),
                    ".ci/run" if line.contains(&format!(".ci/run {name}`")) => is_step(name),
                    _ => true,
                };
                unknown.extend((is_name && !known).then_some(name));
            }
            let path = prose.path.display();
            stale.extend(unknown.iter().map(|name| format!("{path}: {name}")));
        }
    }
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}
