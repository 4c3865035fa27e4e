//! Where the dependency goes.

use std::path::Path;

use super::{Manifest, Source};
use crate::forms::Form;

/// `=` is before a file that changes and what it needs, `~` where taking the dependency out leaves
/// something else.
fn check(form: &Form, line_end: &str) {
    let [before, after] =
        [&form.before, &form.after].map(|text| text.replace('\n', line_end) + line_end);
    let mut manifest = Manifest::parse("Cargo.toml".into(), before.clone()).unwrap();
    for needs in form.told('=') {
        let mut needs = needs.split(' ');
        let kind = manifest.kind_of(Path::new(needs.next().unwrap()));
        manifest.need(kind, &needs.collect(), true);
    }
    let git = Some("u".to_owned());
    let from = Source { git, path: None };
    assert!(!manifest.add(&from));
    assert_eq!(manifest.text(), after);
    manifest.remove();
    let back = manifest.text();
    assert!(!back.contains("tokio-wheel"), "{back}");
    assert_eq!(back == before, form.told('~').is_empty(), "{back}");
}

#[test]
fn the_dependency_goes_where_tokio_stands() {
    for form in Form::all(include_str!("forms.txt")) {
        check(&form, "\n");
        check(&form, "\r\n");
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
