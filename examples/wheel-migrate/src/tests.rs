//! Tables of forms, before and after, and a workspace that is moved and moved back.

use std::collections::BTreeSet;
use std::path::{MAIN_SEPARATOR_STR, PathBuf};
use std::{env, fs, process};

use clap::Parser as _;

use super::manifest::Manifest;
use super::moves::{Direction, Names};
use super::rewrite::rewrite;
use super::{Options, Source, migrate};

/// A form of code, its change, and the lines that say what is listed and needed.
struct Form<'a> {
    to: Direction,
    before: &'a str,
    /// `None` if it stays as it is.
    after: Option<&'a str>,
    comes_back: bool,
    told: Vec<&'a str>,
}

fn forms(text: &str) -> Vec<Form<'_>> {
    let mut to = Direction::Forth;
    let mut forms: Vec<Form<'_>> = Vec::new();
    for line in text.lines() {
        match line.split_once("==> ") {
            _ if line == "[back]" => to = Direction::Back,
            _ if line.is_empty() || line.starts_with("# ") || line == "[forth]" => {}
            _ if line.starts_with(['!', '+']) => forms.last_mut().expect("a form").told.push(line),
            change => {
                let (before, after) =
                    change.map_or((line, None), |(before, after)| (before, Some(after)));
                let comes_back = before.ends_with('<');
                let before = before.trim_end_matches('<').trim_end();
                forms.push(Form {
                    to,
                    before,
                    after,
                    comes_back,
                    told: Vec::new(),
                });
            }
        }
    }
    forms
}

/// Checks that `before` becomes `after`, and that what has changed changes no more.
fn check(form: &Form<'_>, to: Direction, before: &str, after: &str, end: &str) {
    let mut names = Names::default();
    if form.before.contains("tk::") {
        names.add("tk", "tokio");
    }
    let text = |text: &str| text.replace("\\n", end) + end;
    let rewritten = rewrite(&text(before), to, &names);
    assert_eq!(rewritten.text, text(after), "from: {before}");
    assert_eq!(rewrite(&rewritten.text, to, &names).text, rewritten.text);
    let told = |sign: char| {
        form.told
            .iter()
            .filter_map(move |line| line.strip_prefix(sign))
            .map(str::trim)
    };
    let needs = told('+')
        .next()
        .unwrap_or_default()
        .split('/')
        .nth((to == Direction::Back).into());
    let needs = needs.unwrap_or_default().split_whitespace();
    let needed = rewritten.needs.into_iter().filter(|need| *need != "tokio");
    assert!(needed.eq(needs), "what is needed for: {before}");
    let left = rewritten
        .left
        .iter()
        .map(|(line, what)| format!("{line}: {what}"));
    let expected: Vec<&str> = told('!').filter(|_| to == form.to).collect();
    assert_eq!(left.collect::<Vec<_>>(), expected, "left in: {before}");
}

#[test]
fn each_form_moves() {
    let forms = forms(include_str!("forms.txt"));
    assert!(forms.len() > 40);
    for form in &forms {
        let after = form.after.unwrap_or(form.before);
        for end in ["\n", "\r\n"] {
            check(form, form.to, form.before, after, end);
            if form.comes_back {
                check(form, Direction::Back, after, form.before, end);
            }
        }
    }
}

#[test]
fn a_byte_order_mark_stays() {
    let rewritten = rewrite(
        "\u{feff}use tokio::time;",
        Direction::Forth,
        &Names::default(),
    );
    assert_eq!(rewritten.text, "\u{feff}use wheel::time;");
}

#[test]
fn each_manifest_changes() {
    let (forth, back) = include_str!("manifests.txt")
        .split_once("[back]\n")
        .expect("two sections");
    let (_, forth) = forth.split_once("[forth]\n").expect("two sections");
    for (to, text) in [(Direction::Forth, forth), (Direction::Back, back)] {
        for form in text.trim_end().split("\n\n") {
            for end in ["\n", "\r\n"] {
                check_manifest(form, to, end);
            }
        }
    }
}

fn check_manifest(form: &str, to: Direction, end: &str) {
    let lines = |signs: &[char]| -> Vec<&str> {
        let lines = form.lines().filter(|line| line.starts_with(signs));
        lines
            .map(|line| line.get(2..).unwrap_or_default())
            .collect()
    };
    let text = |sign: char| lines(&[' ', sign]).join(end) + end;
    let needs: BTreeSet<&str> = lines(&['='])
        .into_iter()
        .filter(|need| !need.is_empty())
        .collect();
    let path = env::current_dir().unwrap().join("Cargo.toml");
    let source = Source {
        path: path.parent().map(|here| here.join("w")),
        git: None,
    };
    let mut manifest = Manifest::parse(path, text('-')).unwrap();
    if to == Direction::Forth {
        assert!(manifest.add_wheel(&needs, &source));
        assert_eq!(manifest.text(), text('+'));
        manifest.remove_wheel(&BTreeSet::new(), None);
        let is_as_before = manifest.text() == text('-');
        assert_eq!(
            is_as_before,
            lines(&['~']).is_empty(),
            "{}",
            manifest.text()
        );
    } else {
        manifest.remove_wheel(&needs, None);
        assert_eq!(manifest.text(), text('+'));
    }
}

const FILES: [(&str, &str); 8] = [
    (
        "Cargo.toml",
        "[workspace]\n[workspace.dependencies]\ntokio = { version = \"1\", features = [\"time\"] }\n",
    ),
    (
        "a/Cargo.toml",
        "[package]\n[dependencies]\ntokio.workspace = true\n",
    ),
    (
        "a/src/lib.rs",
        "use tokio::{net, time};\n// A comment\nuse tower::timeout;\n",
    ),
    (
        "b/Cargo.toml",
        "[package]\n[dev-dependencies]\ntokio.workspace = true\n",
    ),
    ("b/src/lib.rs", "// tokio::time\n"),
    (
        "c/Cargo.toml",
        "[package]\n[dependencies]\ntk = { package = \"tokio\", version = \"1\", features = [\"time\"] }\n",
    ),
    ("c/src/main.rs", "use tk::time;\n"),
    ("c/target/built.rs", "use tk::time;\n"),
];

/// A workspace in a temporary directory.
struct Workspace(PathBuf);

impl Workspace {
    fn new(name: &str) -> Self {
        let name = format!("wheel-migrate-{name}-{}", process::id());
        let workspace = Workspace(env::temp_dir().join(name));
        for (name, text) in FILES {
            workspace.write(name, text);
        }
        workspace
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }

    fn is_as_before(&self) -> bool {
        FILES.iter().all(|(name, text)| self.read(name) == *text)
    }

    /// Runs the command. Returns what it prints, and how many files change.
    fn run(&self, arguments: &[&str]) -> anyhow::Result<(String, usize)> {
        let all = [&["", self.0.to_str().unwrap()], arguments].concat();
        migrate(&Options::parse_from(all))
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn a_workspace_moves_forth_and_back() {
    let workspace = Workspace::new("moves");
    let (told, changes) = workspace.run(&["--check"]).unwrap();
    let listed = ["a", "src", "lib.rs:3: `tower::timeout` stays"].join(MAIN_SEPARATOR_STR);
    assert!(changes == 5 && told.contains(&listed), "{told}");
    assert!(workspace.is_as_before());
    let (told, _) = workspace.run(&["--write", "--git", "u"]).unwrap();
    // The new file has a line more.
    assert!(told.contains(&listed.replace(":3:", ":4:")), "{told}");
    assert_eq!(
        workspace.read("Cargo.toml"),
        format!("{}tokio-wheel = {{ git = \"u\" }}\n", FILES[0].1)
    );
    let inherits = "tokio-wheel = { workspace = true }\n";
    assert_eq!(
        workspace.read("a/Cargo.toml"),
        format!("{}{inherits}", FILES[1].1)
    );
    assert_eq!(
        workspace.read("a/src/lib.rs").lines().nth(1),
        Some("use wheel::time;")
    );
    for (name, text) in [FILES[3], FILES[4], FILES[7]] {
        assert_eq!(workspace.read(name), text);
    }
    assert!(
        workspace
            .read("c/Cargo.toml")
            .ends_with("tokio-wheel = { git = \"u\" }\n")
    );
    assert_eq!(workspace.run(&["--check"]).unwrap().1, 0);
    // A group that was split stays so.
    workspace.run(&["--write", "--back"]).unwrap();
    workspace.write("a/src/lib.rs", FILES[2].1);
    assert!(workspace.is_as_before());
}

#[test]
fn the_dependency_stays_where_it_is_needed() {
    let workspace = Workspace::new("stays");
    workspace.run(&["--write", "--git", "u"]).unwrap();
    workspace.write("a/src/lib.rs", "use wheel::{Builder, time};\n");
    let manifests = ["Cargo.toml", "a/Cargo.toml"].map(|name| (name, workspace.read(name)));
    let (told, _) = workspace.run(&["--write", "--back"]).unwrap();
    assert!(told.contains("lib.rs:1: `wheel::Builder`"), "{told}");
    for (name, text) in manifests {
        assert_eq!(workspace.read(name), text);
    }
    assert_eq!(workspace.read("c/Cargo.toml"), FILES[5].1);
}

#[test]
fn an_unpublished_dependency_is_refused() {
    let workspace = Workspace::new("refused");
    let refusal = workspace.run(&["--write"]).unwrap_err().to_string();
    assert!(refusal.contains("--path"), "{refusal}");
    assert!(workspace.is_as_before());
}
