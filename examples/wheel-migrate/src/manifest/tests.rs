//! Where the dependency goes.

use std::path::{Path, PathBuf};

use super::{Kind, Manifest, PackageNeeds, Source, relative};

/// What of a package needs which features.
fn needs<const N: usize>(kind: Kind, features: [&'static str; N]) -> PackageNeeds {
    [(kind, features.into())].into()
}

fn plain() -> PackageNeeds {
    needs(Kind::Normal, [])
}

fn paused() -> PackageNeeds {
    needs(Kind::Normal, ["test-util"])
}

fn parse(text: &str) -> Manifest {
    Manifest::parse(PathBuf::from("/s/p/Cargo.toml"), text.to_owned()).unwrap()
}

fn added(text: &str, needs: &PackageNeeds) -> String {
    let mut manifest = parse(text);
    let sections = |text: &str| text.lines().filter(|line| line.starts_with('[')).count();
    let before = sections(text);
    let from = Source::Git("u".to_owned());
    assert!(!manifest.add(needs, &from, None));
    let after = manifest.text();
    // And out again. A section that was made for it stays.
    manifest.remove(None);
    let back = manifest.text();
    assert!(!back.contains("tokio-wheel"), "{back}");
    if sections(&back) == before && !text.contains("tokio-wheel") {
        assert_eq!(back.trim(), text.trim());
    }
    after
}

#[test]
fn the_dependency_goes_where_tokio_stands() {
    let line = "tokio-wheel = { git = \"u\" }";
    for (before, after) in [
        (
            "[dependencies]\na = \"1\"\ntokio = \"1\" # of b\nz = \"1\"\n".to_owned(),
            format!("[dependencies]\na = \"1\"\ntokio = \"1\" # of b\n{line}\nz = \"1\"\n"),
        ),
        (
            "[dependencies]\r\ntokio = \"1\"".to_owned(),
            format!("[dependencies]\r\ntokio = \"1\"\r\n{line}\r\n"),
        ),
        (
            "[target.'cfg(unix)'.dependencies]\ntokio = \"1\"\n".to_owned(),
            format!("[target.'cfg(unix)'.dependencies]\ntokio = \"1\"\n{line}\n"),
        ),
        (
            "[dev-dependencies]\ntokio = \"1\"\n".to_owned(),
            format!("[dev-dependencies]\ntokio = \"1\"\n{line}\n"),
        ),
        (
            "[dependencies]\nrt = { package = \"tokio\", version = \"1\" }\n".to_owned(),
            format!("[dependencies]\nrt = {{ package = \"tokio\", version = \"1\" }}\n{line}\n"),
        ),
        (
            "[dependencies.tokio]\nversion = \"1\"\n".to_owned(),
            "[dependencies.tokio]\nversion = \"1\"\n\n[dependencies.tokio-wheel]\ngit = \"u\"\n"
                .to_owned(),
        ),
        // tokio is there by way of another crate.
        (
            "[a]\n".to_owned(),
            format!("[a]\n\n[dependencies]\n{line}\n"),
        ),
        // There already.
        (
            "[dependencies]\ntokio = \"1\"\ntokio-wheel = \"1\"\n".to_owned(),
            "[dependencies]\ntokio = \"1\"\ntokio-wheel = \"1\"\n".to_owned(),
        ),
    ] {
        assert_eq!(added(&before, &plain()), after);
    }
}

#[test]
fn paused_clocks_are_for_tests() {
    let both = "[dependencies]\ntokio = \"1\"\n\n[dev-dependencies]\ntokio = \"1\"\n";
    let after = added(both, &paused());
    assert_eq!(
        after,
        "[dependencies]\ntokio = \"1\"\ntokio-wheel = { git = \"u\" }\n\n\
         [dev-dependencies]\ntokio = \"1\"\n\
         tokio-wheel = { git = \"u\", features = [\"test-util\"] }\n"
    );
    // There already, by another name and with features of the user's choice.
    let there =
        "[dependencies]\ntokio = \"1\"\nwheel = { package = \"tokio-wheel\", path = \"w\" }\n";
    let mut manifest = parse(there);
    assert!(!manifest.add(&paused(), &Source::Registry, None));
    assert!(!manifest.has_changed());
    let after = added(
        "[dependencies]\ntokio = \"1\"\n",
        &needs(Kind::Dev, ["stream"]),
    );
    assert_eq!(
        after,
        "[dependencies]\ntokio = \"1\"\n\n\
         [dev-dependencies]\ntokio-wheel = { git = \"u\", features = [\"stream\"] }\n"
    );
}

#[test]
fn an_optional_tokio_takes_this_along() {
    let named = "[dependencies]\ntokio = { version = \"1\", optional = true }\n\n\
        [features]\nrt = [\"dep:tokio\"]\nnet = [\"rt\", \"tokio/net\"]\nno = []\n";
    let after = added(named, &plain());
    assert!(after.contains("tokio-wheel = { git = \"u\", optional = true }"));
    assert!(after.contains("rt = [\"dep:tokio\", \"dep:tokio-wheel\"]"));
    assert!(after.contains("net = [\"rt\", \"tokio/net\", \"dep:tokio-wheel\"]"));
    assert!(after.contains("no = []"));
    let lines = named.replace("[\"dep:tokio\"]", "[\n    \"dep:tokio\",\n]");
    let after = added(&lines, &plain());
    assert!(after.contains("rt = [\n    \"dep:tokio\",\n    \"dep:tokio-wheel\",\n]"));
    let implicit = "[dependencies]\ntokio = { version = \"1\", optional = true }\n";
    let after = added(implicit, &plain());
    assert!(after.contains("[features]\ntokio = [\"dep:tokio\", \"dep:tokio-wheel\"]"));
}

#[test]
fn what_is_inherited_is_inherited() {
    let root =
        "[workspace]\n[workspace.dependencies]\nrt = { package = \"tokio\", version = \"1\" }\n";
    let mut root = Manifest::parse(PathBuf::from("/s/Cargo.toml"), root.to_owned()).unwrap();
    for (before, line) in [
        (
            "rt.workspace = true\n",
            "tokio-wheel = { workspace = true }\n",
        ),
        (
            "rt = { workspace = true, optional = true }\n",
            "tokio-wheel = { workspace = true, optional = true }\n",
        ),
    ] {
        let mut member = parse(&format!("[dependencies]\n{before}"));
        let from = Source::Path(PathBuf::from("/w/wheel"), PathBuf::from("../wheel"));
        assert_eq!(member.names(Some(&root)).library("rt"), "tokio");
        assert!(member.add(&plain(), &from, Some(&root)));
        assert!(member.text().contains(line), "{}", member.text());
        root.add_to_workspace(&from);
        let line = "tokio-wheel = { path = \"../w/wheel\" }\n";
        assert_eq!(root.text().matches(line).count(), 1);
    }
}

#[test]
fn a_path_is_relative_to_the_manifest() {
    let to = |from, to| relative(Path::new(from), Path::new(to));
    assert_eq!(to("/a/b/c", "/a/d"), Path::new("../../d"));
    assert_eq!(to("/a", "/a/b"), Path::new("b"));
}

#[test]
fn what_is_not_toml_is_an_error() {
    let error = Manifest::parse(PathBuf::new(), "[dependencies\n".to_owned());
    assert!(error.unwrap_err().contains("line 1"));
}

#[test]
fn the_version_is_the_librarys() {
    let library = include_str!("../../../../Cargo.toml");
    let line = format!(
        "\nname = \"tokio-wheel\"\nversion = {:?}\n",
        env!("CARGO_PKG_VERSION")
    );
    assert!(library.contains(&line));
}
