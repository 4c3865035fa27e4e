//! Where the dependency goes.

use std::path::{MAIN_SEPARATOR, Path};
use std::{env, iter};

use super::{Manifest, Needs, Source, WHEEL};
use crate::forms::Form;

/// `=` is before a file that changes and the features that it needs, `~` where taking the dependency
/// out leaves something else.
fn check(form: &Form, line_end: &str) {
    let mut manifest = Manifest::parse("Cargo.toml".into(), text(&form.before, line_end)).unwrap();
    for needs in form.told('=') {
        let mut needs = needs.split(' ');
        let kind = manifest.kind_of(Path::new(needs.next().unwrap()));
        let needs = iter::once("").chain(needs).map(|feature| (WHEEL, feature));
        manifest.need(kind, &needs.collect());
    }
    assert!(manifest.add("tokio", &git()).is_empty());
    assert_eq!(manifest.text(), text(&form.after, line_end));
    manifest.remove();
    let back = manifest.text();
    assert!(!back.contains("tokio-wheel"), "{back}");
    assert_eq!(back == manifest.before, form.told('~').is_empty(), "{back}");
}

fn text(lines: &str, line_end: &str) -> String {
    lines.replace('\n', line_end) + line_end
}

fn git() -> Source {
    let git = Some("u".to_owned());
    Source { git, path: None }
}

#[test]
fn the_dependency_goes_where_tokio_stands() {
    for form in Form::all(include_str!("forms.txt")) {
        check(&form, "\n");
        check(&form, "\r\n");
    }
}

/// `=` is before a file, and after it a package and its feature.
#[test]
fn what_takes_its_place_comes_with_its_features() {
    for form in Form::all(include_str!("back.txt")) {
        let mut manifest = Manifest::parse("Cargo.toml".into(), text(&form.before, "\n")).unwrap();
        for need in form.told('=') {
            let [file, package, feature] = need.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{need}");
            };
            let kind = manifest.kind_of(Path::new(file));
            manifest.need(kind, &Needs::from([(package, feature)]));
        }
        manifest.add(WHEEL, &Source::default());
        manifest.remove();
        assert_eq!(
            manifest.text(),
            text(&form.after, "\n"),
            "of {}",
            form.before
        );
        assert!(!manifest.takes_published);
    }
}

/// Windows puts `\\?\` before a resolved path, and cargo does not read that with `/`. No way leads from a
/// relative manifest to an absolute path, as none leads from one of Windows's drives to another.
#[test]
fn where_there_is_no_relative_path_it_is_one_that_cargo_reads() {
    let manifest = Manifest::parse("Cargo.toml".into(), String::new()).unwrap();
    let here = env::current_dir().unwrap().display().to_string();
    let expected = here.replace(MAIN_SEPARATOR, "/");
    assert_eq!(manifest.relative(Path::new(".")), expected);
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
    let is_unpublished = library.contains("\nrepository = \"\"");
    assert_eq!(crate::IS_PUBLISHED, !is_unpublished);
}
