//! Which tokio is locked.

use std::fmt;
use std::path::{Path, PathBuf};

/// The oldest tokio that tokio-wheel takes.
pub(crate) const OLDEST: Version = Version(1, 54, 0);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) u64, pub(crate) u64, pub(crate) u64);

impl Version {
    fn parse(text: &str) -> Option<Self> {
        let numbers = text.split(['+', '-']).next()?;
        let mut numbers = numbers.split('.').map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(Version(next()?, next()?, next()?))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Version(major, minor, patch) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// The lock file of a directory's package, which is beside the workspace's manifest.
pub(crate) fn find(directory: &Path) -> Option<PathBuf> {
    let mut files = directory.ancestors().map(|above| above.join("Cargo.lock"));
    files.find(|path| path.is_file())
}

/// The tokio 1 of a lock file.
pub(crate) fn tokio(lock: &str) -> Option<Version> {
    let mut lines = lock.lines();
    let mut newest = None;
    while lines.any(|line| line == "name = \"tokio\"") {
        let version = lines.next()?.strip_prefix("version = \"")?;
        newest = newest.max(Version::parse(version.strip_suffix('"')?));
    }
    newest.filter(|version| version.0 == 1)
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
        assert_eq!(tokio(LOCK), Some(Version(1, 49, 0)));
        assert_eq!(tokio(""), None);
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
        let Version(major, minor, _) = OLDEST;
        assert!(manifest.contains(&format!("\ntokio = {{ version = \"{major}.{minor}\"")));
    }
}
