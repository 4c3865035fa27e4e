//! Which tokio is locked.

use semver::Version;
use toml_edit::{Document, Item};

/// The oldest tokio that tokio-wheel takes.
pub(crate) const OLDEST: Version = Version::new(1, 54, 0);

/// The newest tokio of a lock file, if that is a tokio 1.
fn tokio(lock: &str) -> Option<Version> {
    let lock: Document<&str> = Document::parse(lock).ok()?;
    let packages = lock.get("package")?.as_array_of_tables()?.iter();
    let text = |item: Option<&Item>| Some(item?.as_str()?.to_owned());
    let tokio = packages.filter(|package| text(package.get("name")).as_deref() == Some("tokio"));
    let versions = tokio.filter_map(|package| text(package.get("version"))?.parse().ok());
    versions
        .max()
        .filter(|version: &Version| version.major == 1)
}

/// What to say of it.
pub(crate) fn advice(lock: &str) -> String {
    match tokio(lock) {
        None => "There is no tokio 1 in Cargo.lock.".to_owned(),
        Some(version) if version >= OLDEST => format!("Cargo.lock has tokio {version}."),
        Some(version) => format!(
            "Cargo.lock has tokio {version}, and tokio-wheel takes {OLDEST} or newer. First, so that \
             tokio's own changes are not taken for a difference of the timers:\n  \
             cargo update --recursive tokio@{version} && cargo test\n\
             Where that leaves it below {OLDEST}, a requirement (`=` or `~`) holds it: \
             cargo tree --invert tokio"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{OLDEST, Version, advice, tokio};

    const LOCK: &str = "[[package]]\nname = \"tokio\"\nversion = \"0.2.25\"\n\n\
        [[package]]\nname = \"tokio\"\nversion = \"1.49.0+wheel\"\n\n\
        [[package]]\nname = \"tokio-util\"\nversion = \"9.0.0\"\n";

    #[test]
    fn the_newest_tokio_is_read() {
        assert_eq!(tokio(LOCK), Version::parse("1.49.0+wheel").ok());
        assert_eq!(tokio(""), None);
        assert_eq!(tokio(&LOCK.replace("1.49.0", "2.0.0")), None);
    }

    #[test]
    fn an_old_one_is_told_with_the_command() {
        assert!(advice(LOCK).contains("cargo update --recursive tokio@1.49.0"));
        let new = LOCK.replace("1.49.0", &OLDEST.to_string());
        assert!(!advice(&new).contains("cargo update"));
    }

    #[test]
    fn the_oldest_is_the_librarys() {
        let manifest = include_str!("../../../Cargo.toml");
        let (major, minor) = (OLDEST.major, OLDEST.minor);
        assert!(manifest.contains(&format!("\ntokio = {{ version = \"{major}.{minor}\"")));
    }
}
