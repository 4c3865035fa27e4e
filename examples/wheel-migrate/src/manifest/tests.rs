//! Where the dependency goes.

use std::path::Path;

use super::{Kind, Manifest, Source};
use crate::forms::Form;
use crate::rewrite::Features;

/// Of a package whose files need these features.
fn parse(text: &str, kind: Kind, features: Features) -> Manifest {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("p/Cargo.toml");
    let mut manifest = Manifest::parse(path, text.to_owned()).unwrap();
    manifest.needs.insert(kind, features);
    manifest
}

/// `=` is before what the package needs, `~` where taking it out leaves something else.
fn forms() -> impl Iterator<Item = (Form, Kind, Features)> {
    Form::all(include_str!("forms.txt")).map(|form| {
        let mut needs = form.told('=')[0].split(' ');
        let kind = match needs.next() {
            Some("Normal") => Kind::Normal,
            Some("Dev") => Kind::Dev,
            Some("Build") => Kind::Build,
            other => panic!("{other:?}"),
        };
        (form, kind, needs.collect())
    })
}

#[test]
fn the_dependency_goes_where_tokio_stands() {
    let git = Some("u".to_owned());
    let from = Source {
        git,
        ..Source::default()
    };
    for (form, kind, features) in forms() {
        for end in ["\n", "\r\n"] {
            let [before, after] =
                [&form.before, &form.after].map(|text| text.replace('\n', end) + end);
            let mut manifest = parse(&before, kind, features.clone());
            assert!(!manifest.add(&from));
            assert_eq!(manifest.text(), after);
            manifest.remove();
            let back = manifest.text();
            assert!(!back.contains("tokio-wheel"), "{back}");
            assert_eq!(back == before, form.told('~').is_empty(), "{back}");
        }
    }
}

#[test]
fn what_is_inherited_is_inherited() {
    let root =
        "[workspace]\n[workspace.dependencies]\nrt = { package = \"tokio\", version = \"1\" }\n";
    let mut root = parse(root, Kind::Normal, Features::new());
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
        let mut member = parse(
            &format!("[dependencies]\n{before}"),
            Kind::Normal,
            Features::new(),
        );
        member.inherited = Some(root.renamed());
        // Relative to where the test runs, and written relative to the manifest.
        let from = Source {
            path: Some("src".into()),
            ..Source::default()
        };
        let path = ["rt", "time"].map(str::to_owned);
        assert_eq!(member.names().by_library(&path)[0], "tokio");
        assert!(member.add(&from));
        assert!(member.text().contains(line), "{}", member.text());
        root.add_to_workspace(&from);
        let line = "tokio-wheel = { path = \"../src\" }\n";
        assert_eq!(root.text().matches(line).count(), 1);
    }
}

#[test]
fn what_is_not_toml_is_an_error() {
    let error = Manifest::parse("Cargo.toml".into(), "[dependencies\n".to_owned());
    assert!(error.unwrap_err().to_string().contains("line 1"));
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
