//! Tests that compare forms of code and of manifests with tables, and a test that moves a workspace
//! forth and back.

#[path = "../src/migrate/imports.rs"]
mod imports;
#[path = "../src/migrate/moves.rs"]
mod moves;
#[path = "../src/migrate/rewrite.rs"]
mod rewrite;
#[allow(dead_code, reason = "the tests of the commands use all of it")]
mod support;

use std::path::MAIN_SEPARATOR_STR;

use regex_lite::Regex;

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
fn what_users_of_the_package_notice_is_listed() {
    let source = "pub use tokio::time::Sleep;
use tokio::time::{Interval, error::Elapsed};
pub enum Error {
    Sent { at: u8 },
    Late(
        Elapsed,
    ),
}
pub(crate) struct Hidden(Sleep);
pub struct Clear {
    pub at: u8,
}
pub fn next(
    interval: &mut Interval,
) {
    let sleep: Sleep;
}
#[macro_export]
macro_rules! nap { () => { tokio::time::sleep(D) } }
";
    let mut file = File::read(source, Direction::Forth);
    file.list_public();
    let left: Vec<_> = file.left.iter().map(|(line, what)| (*line, what.as_str())).collect();
    let why = "this is public, so a type changes for users of this package";
    let listed = [(1, "pub use tokio::time::Sleep"), (6, "pub enum Error"), (14, "pub fn next(")];
    let macros =
        "`#[macro_export]`: if this macro names wheel, its users need a path to tokio-wheel";
    let listed = listed.map(|(line, item)| (line, format!("`{item}`: {why}")));
    let listed = listed.iter().map(|(line, what)| (*line, what.as_str()));
    assert_eq!(left, Vec::from_iter(listed.chain([(18, macros)])));
}

/// Writes a package that has this crate's name and features.
fn write_wheel(service: &Service) {
    let head = "[package]\nname = \"tokio-wheel\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let features = "[features]\nstream = []\ntest-util = []\ntower = []\n";
    service.write("wheel/Cargo.toml", &format!("{head}{features}"));
    service.write("wheel/src/lib.rs", "");
}

#[test]
fn each_manifest_changes() {
    let service = Service::new("manifests", "", "");
    write_wheel(&service);
    for (to, text) in sections(include_str!("manifests.txt")) {
        for form in text.trim_end().split("\n\n") {
            check_manifest(&service, form, to);
        }
    }
}

fn check_manifest(service: &Service, form: &str, to: Direction) {
    let lines = |signs: &[char]| -> Vec<&str> {
        let lines = form.lines().filter(|line| line.starts_with(signs));
        lines.filter_map(|line| line.get(2..)).collect()
    };
    let head = "[package]\nname = \"service\"\nedition = \"2024\"\n[workspace]\n";
    let text = |sign: char| head.to_owned() + &lines(&[' ', sign]).join("\n") + "\n";
    let code = lines(&['=']).join("\n");
    service.write("Cargo.toml", &text('-'));
    service.write("src/main.rs", &code);
    service.run(["migrate --write --path wheel", "migrate --write --back"][to as usize], 0);
    // Cargo adds the newest versions.
    let versions = Regex::new(r#""[0-9.]+""#).unwrap();
    let newest = |text: String| versions.replace_all(&text, "\"newest\"").into_owned();
    assert_eq!(newest(service.read("Cargo.toml")), newest(text('+')));
    if to == Direction::Forth && !form.starts_with('~') {
        service.run("migrate --write --back", 0);
        assert_eq!(service.read("Cargo.toml"), text('-'));
        assert_eq!(service.read("src/main.rs"), code);
    }
}

#[rustfmt::skip]
const FILES: [(&str, &str); 16] = [
    ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"a/b\"]\n[workspace.dependencies]\ntokio = { version = \"1\", features = [\"test-util\"] }\n"),
    ("src/main.rs", "use tokio::time;\n"),
    ("a/Cargo.toml", "[package]\nname = \"a\"\n[dependencies]\ntokio.workspace = true\n"),
    ("a/src/lib.rs", "use tokio::{net, time};\n// A comment\nuse tower::timeout;\nuse tokio_util::time::DelayQueue;\n"),
    ("a/src/net.rs", "use tokio::net;\n"),
    ("a/src/target/mod.rs", "use tokio::time;\n"),
    ("a/target/built.rs", "use tokio::time;\n"),
    ("a/built/CACHEDIR.TAG", ""),
    ("a/built/built.rs", "use tokio::time;\n"),
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
    write_wheel(&service);
    for (name, text) in FILES {
        service.write(name, text);
    }
    let is_as_before = || FILES.iter().all(|(name, text)| service.read(name) == *text);
    let refusal = service.run("migrate --write", 2).1;
    assert!(refusal.contains("--path") && is_as_before(), "{refusal}");
    let (told, _) = service.run("migrate --check", 1);
    let listed = ["a", "src", "lib.rs:3: `tower::timeout`: use"].join(MAIN_SEPARATOR_STR);
    assert!(told.contains("To make these changes, use --write") && is_as_before(), "{told}");
    assert!(told.contains(&listed) && told.contains("--path=<DIRECTORY>"), "{told}");
    let (told, _) = service.run("migrate --write --path wheel", 0);
    // The new file has a line more.
    assert!(told.contains(&listed.replace(":3:", ":4:")), "{told}");
    let wheel =
        "tokio-wheel = { version = \"0.1.0\", path = \"../wheel\", features = [\"test-util\"] }\n";
    let manifest = format!("{}{wheel}", FILES[2].1);
    assert_eq!(service.read("a/Cargo.toml"), manifest);
    assert_eq!(service.read("a/src/target/mod.rs"), "use wheel::time;\n");
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

/// A wrong path changes nothing, and a migration that has ended early is finished.
#[test]
fn a_migration_that_fails_or_ends_early() {
    let service = Service::new("early", "", "use tokio::time;\n");
    write_wheel(&service);
    service.write("src/other.rs", "use tokio::time;\n");
    for path in ["/nonexistent", "wheel/src"] {
        let (_, err) =
            service.unchanged(|| service.run(&format!("migrate --write --path {path}"), 2));
        assert!(err.contains("Nothing has changed"), "{err}");
    }
    // The sources first, as by an old version.
    service.write("src/main.rs", "use wheel::time;\n");
    let (out, _) = service.run("migrate --write --path wheel", 0);
    assert!(out.contains("Changed. Now:"), "{out}");
    assert!(service.read("Cargo.toml").contains("\ntokio-wheel = "));
    assert_eq!(service.read("src/other.rs"), "use wheel::time;\n");
    assert!(service.run("migrate --check", 0).0.contains("Nothing changes."));
    // A manifest that `cargo remove` changes, although it dislikes it.
    let manifest = service.read("Cargo.toml").replace("2024", "2021");
    let on = "anyhow = { version = \"1\", default_features = false }\n";
    service.write("Cargo.toml", &(manifest + on));
    let (_, err) = service.unchanged(|| service.run("migrate --write --back", 2));
    assert!(err.contains("Nothing has changed: this has failed: cargo remove"), "{err}");
}

/// Where `wheel` is a module or another crate, nothing changes, and a module is listed if it is in the way.
#[test]
fn another_wheel_stays() {
    let code = "mod wheel { pub mod error {} pub fn sleep() {} }\nuse wheel::error;\n";
    let service = Service::new("another", "", code);
    write_wheel(&service);
    let forth = "migrate --write --path wheel";
    for command in [forth, "migrate --write --back"] {
        let (out, _) = service.unchanged(|| service.run(command, 0));
        assert_eq!(out, "\nNothing changes.\n");
    }
    service.write("src/other.rs", "use tokio::time;\n");
    let (out, _) = service.unchanged(|| service.run(forth, 0));
    assert!(out.contains("main.rs:1: `mod wheel`: this package stays as it is"), "{out}");
    service.write("src/main.rs", "");
    service.run(forth, 0);
    service.write("src/main.rs", code);
    let (out, _) = service.unchanged(|| service.run("migrate --write --back", 0));
    assert!(out.contains("main.rs:1: `mod wheel`: this package stays as it is"), "{out}");
    // A crate.
    service.write("src/main.rs", "use wheel::time;\n");
    let manifest = service.read("Cargo.toml");
    service.write("Cargo.toml", manifest.split("tokio-wheel").next().unwrap());
    service.unchanged(|| service.run("migrate --write --back", 0));
}

/// Neither a source that cannot be written nor an interruption leaves a part of the changes.
#[test]
#[cfg(unix)]
fn all_changes_or_none() {
    let service = Service::new("none", "", "use tokio::time;\n");
    write_wheel(&service);
    service.write("src/other.rs", "use tokio::time;\n");
    // A folder in place of the new file.
    service.write("src/other.cargo-wheel/a", "");
    let forth = "migrate --write --path wheel";
    let (_, err) = service.unchanged(|| service.run(forth, 2));
    assert!(err.contains("Nothing has changed: ") && err.contains("other.rs: "), "{err}");
    let script =
        "#!/bin/sh\n[ $1 != add ] && exec \"$REAL\" \"$@\"\necho >> Cargo.toml\nsleep 60\n";
    service.write("cargo", script);
    let _ = service.command("chmod", "+x cargo").status().unwrap();
    let mut command = service.wheel(forth);
    command.env("REAL", env!("CARGO")).env("CARGO", service.0.join("cargo"));
    command.stderr(std::process::Stdio::piped());
    let manifest = service.read("Cargo.toml");
    let output = service.unchanged(|| {
        let child = command.spawn().unwrap();
        while service.read("Cargo.toml") == manifest {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        service.signal(&child, "-INT");
        child.wait_with_output().unwrap()
    });
    let (_, err) = support::printed(&output);
    assert!(err.contains("Nothing has changed: this has failed: cargo add"), "{err}");
}

/// Without space on the disk, a source keeps its text. Later, it keeps its permissions, too, and a link
/// stays one.
#[test]
#[cfg(unix)]
fn a_source_is_replaced_in_one_step() {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let service = Service::new("full", "tokio-wheel = { path = \"wheel\" }\n", "mod linked;\n");
    write_wheel(&service);
    let code = format!("use wheel::time;\n{}", "// A comment\n".repeat(100));
    service.write("elsewhere/linked", &code);
    let [file, link] = ["elsewhere/linked", "src/linked.rs"].map(|name| service.0.join(name));
    symlink(&file, &link).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    // Blocks have 1024 bytes.
    let script = "ulimit -f 1; trap '' XFSZ; exec \"$0\" wheel migrate --write --back";
    let mut command = service.command("bash", "-c");
    command.args([script, env!("CARGO_BIN_EXE_cargo-wheel")]);
    let output = service.unchanged(|| command.output().unwrap());
    assert_eq!(output.status.code(), Some(2), "{}", support::printed(&output).1);
    service.run("migrate --write --back", 0);
    assert_eq!(service.read("elsewhere/linked"), code.replace("wheel::", "tokio::"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(link.is_symlink());
}

#[test]
fn an_optional_tokio_is_listed() {
    let service = Service::new("optional", "", "use tokio::time;\n//! use tokio::{task, time};\n");
    let manifest = service.read("Cargo.toml").replace("\"1\",", "\"1\", optional = true,");
    service.write("Cargo.toml", &manifest);
    let (out, _) = service.run("migrate", 0);
    assert!(out.contains("Cargo.toml: tokio is optional: make"), "{out}");
}
