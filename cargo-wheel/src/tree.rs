//! The tree: packages that take tokio's place in a service. `examples/whole-tree` has them with the
//! real tokio from git; a tree that is written for a service needs nothing but the registry.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use cargo_metadata::{MetadataCommand, Package};
use toml_edit::{Array, DocumentMut, Value, value};
use walkdir::WalkDir;

use crate::process::put;
use crate::service::{MARK, Service};

/// The version of tokio that the tree follows. `.ci/whole-tree follow` changes it.
pub(crate) const TOKIO: &str = "1.54.1";

/// The features of tokio that the tree's copy of tokio-wheel has, too.
const SHARED: [&str; 2] = ["test-util", "tracing"];

#[derive(Clone, Copy, Debug)]
pub(crate) enum Counting {
    Off,
    /// The drivers' own counts.
    Totals,
    /// Per line that arms a timer.
    Lines,
}

/// By their names in the tree.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Writes the tree for a service to a folder.
pub(crate) fn write(folder: &Path, service: &Service, counting: Counting) -> Result<()> {
    let tokio = fetch(service, "tokio", TOKIO)?;
    let library = match clone() {
        Some(clone) => clone,
        None => folder_of(&fetch(service, "tokio-wheel", env!("CARGO_PKG_VERSION"))?),
    };
    let mut files = read(&folder_of(&tokio), "real")?;
    files.extend(read(&library.join("src"), "wheel/src")?);
    let mut add = |name: &str, text: &str| files.insert(name.into(), text.into());
    add("tokio/Cargo.toml", &facade(&tokio)?);
    add("tokio/src/lib.rs", include_str!("../templates/tokio.rs"));
    add("wheel/Cargo.toml", include_str!("../templates/wheel.toml"));
    add("guard/Cargo.toml", include_str!("../templates/guard.toml"));
    add("guard/src/lib.rs", include_str!("../templates/guard.rs"));
    match counting {
        Counting::Off => {}
        Counting::Totals => count(&mut files, include_bytes!("../templates/totals.rs")),
        Counting::Lines => count(&mut files, include_bytes!("../templates/lines.rs")),
    }
    files.iter().try_for_each(|(name, text)| put(&folder.join(name), text))
}

/// Wraps the module of the drivers' spans in one that counts.
fn count(files: &mut Files, counts: &[u8]) {
    let sources = Path::new("wheel/src");
    let mut add = |name: &str, text: &[u8]| files.insert(sources.join(name), text.into());
    let original = add("spans.rs", include_bytes!("../templates/spans.rs"));
    add("spans/original.rs", &original.unwrap_or_default());
    add("spans/report.rs", include_bytes!("../templates/report.rs"));
    add("spans/counts.rs", counts);
}

/// Reads a folder's files, by paths below another name.
fn read(from: &Path, name: &str) -> Result<Files> {
    let mut files = Files::new();
    for entry in WalkDir::new(from) {
        let entry = entry?;
        if entry.file_type().is_file() {
            files.insert(
                Path::new(name).join(entry.path().strip_prefix(from)?),
                fs::read(entry.path())?,
            );
        }
    }
    Ok(files)
}

/// Returns the clone from which this command was installed, if it is there.
pub(crate) fn clone() -> Option<PathBuf> {
    let clone = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    clone.join("src/spans.rs").is_file().then(|| clone.to_owned())
}

fn folder_of(package: &Package) -> PathBuf {
    package.manifest_path.with_file_name("").into()
}

/// Makes cargo download a published package, by a scratch package that depends on it. Cargo's
/// settings are the service's.
fn fetch(service: &Service, name: &str, version: &str) -> Result<Package> {
    let scratch = service.target.join("fetch").join(name);
    let manifest = format!(
        "package = {{ name = \"fetch\", edition = \"2021\" }}\nlib.path = \"lib.rs\"\nworkspace = {{}}\ndependencies.{name} = \"={version}\"\n"
    );
    put(&scratch.join("Cargo.toml"), manifest)?;
    put(&scratch.join("lib.rs"), "")?;
    let mut command = MetadataCommand::new();
    command.manifest_path(scratch.join("Cargo.toml")).current_dir(&service.root);
    let context = || format!("cargo cannot get {name} {version} from the registry");
    let packages = command.exec().with_context(context)?.packages;
    packages.into_iter().find(|package| *package.name == *name).with_context(context)
}

/// Returns the manifest of the package in tokio's place, with each of tokio's features.
fn facade(tokio: &Package) -> Result<String> {
    let mut manifest: DocumentMut = include_str!("../templates/tokio.toml").parse()?;
    manifest["package"]["version"] = value(format!("{TOKIO}{MARK}"));
    for (name, enables) in &tokio.features {
        manifest["features"][name] = value(mirrored(name, enables));
    }
    Ok(manifest.to_string())
}

/// Hands a feature of tokio's on to the real tokio, and to tokio-wheel if it is in `SHARED`.
fn mirrored(name: &str, enables: &[String]) -> Array {
    let own = (name == "time").then(|| "dep:wheel".to_owned());
    let ours = SHARED.contains(&name).then(|| format!("wheel?/{name}"));
    let others = enables.iter().filter(|other| !other.contains([':', '/'])).cloned();
    let all = own.into_iter().chain(ours).chain(others);
    all.chain([format!("real/{name}")]).map(Value::from).collect()
}
