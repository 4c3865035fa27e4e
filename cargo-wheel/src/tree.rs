//! The packages that take tokio's place in a dependency tree. `examples/whole-tree` has them with the
//! real tokio from git; a tree that is written for a service needs nothing but the registry.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use cargo_metadata::{MetadataCommand, Package};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Value, value};
use walkdir::WalkDir;

use crate::lock::MARK;
use crate::service::Service;

/// The version of tokio that the tree follows. `.ci/whole-tree follow` changes it.
pub(crate) const TOKIO: &str = "1.54.1";

/// The features of this crate that need no package with timers of its own.
const FEATURES: [&str; 5] = ["metrics", "stream", "tower", "tracing", "test-util"];

#[derive(Clone, Copy, Debug)]
pub(crate) enum Counting {
    Off,
    /// The drivers' own counts.
    Totals,
    /// Per line that arms a timer.
    Lines,
}

/// Writes the manifests of the committed packages to a folder.
pub(crate) fn commit(folder: &Path) -> Result<u8> {
    let scratch = folder.join("fetch");
    let tokio = fetch(Path::new("."), &scratch, ("tokio", TOKIO))?;
    fs::remove_dir_all(scratch)?;
    write_manifests(folder, &tokio, &clone().context("this is not from a clone")?, None)?;
    Ok(0)
}

/// Writes the tree for a service to a folder.
pub(crate) fn write(folder: &Path, service: &Service, counting: Counting) -> Result<()> {
    let get = |wanted| fetch(&service.root, &service.target.join("fetch"), wanted);
    let library = match clone() {
        Some(clone) => clone,
        None => folder_of(&get(("tokio-wheel", env!("CARGO_PKG_VERSION")))?),
    };
    write_with(folder, &get(("tokio", TOKIO))?, &library, counting)
}

fn write_with(folder: &Path, tokio: &Package, library: &Path, counting: Counting) -> Result<()> {
    let real = format!("real-{}", tokio.version);
    write_manifests(folder, tokio, library, Some(&real))?;
    put(&folder.join("tokio/src/lib.rs"), include_str!("../templates/tokio.rs"))?;
    put(&folder.join("guard/src/lib.rs"), include_str!("../templates/guard.rs"))?;
    copy(&folder_of(tokio), &folder.join(real), None)?;
    let sources = folder.join("wheel/src");
    let counts = match counting {
        Counting::Off => return copy(&library.join("src"), &sources, None),
        Counting::Totals => include_str!("../templates/totals.rs"),
        Counting::Lines => include_str!("../templates/lines.rs"),
    };
    copy(&library.join("src"), &sources, Some("spans.rs"))?;
    let original = fs::read_to_string(library.join("src/spans.rs"))?;
    put(&sources.join("spans.rs"), include_str!("../templates/spans.rs"))?;
    put(&sources.join("spans/original.rs"), original)?;
    put(&sources.join("spans/report.rs"), include_str!("../templates/report.rs"))?;
    put(&sources.join("spans/counts.rs"), counts)
}

/// Writes a file if it has another text, so that Cargo builds only what changes.
pub(crate) fn put(file: &Path, text: impl AsRef<[u8]>) -> Result<()> {
    let text = text.as_ref();
    if !fs::read(file).is_ok_and(|old| old == text) {
        let made = file.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(file, text)).with_context(|| file.display().to_string())?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path, except: Option<&str>) -> Result<()> {
    for entry in WalkDir::new(from) {
        let entry = entry?;
        let name = entry.path().strip_prefix(from)?;
        if entry.file_type().is_file() && except.map(Path::new) != Some(name) {
            put(&to.join(name), fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

/// Returns the clone from which this command was installed, if it is there.
pub(crate) fn clone() -> Option<PathBuf> {
    let clone = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    clone.join("src/spans.rs").is_file().then(|| clone.to_owned())
}

fn folder_of(package: &Package) -> PathBuf {
    package.manifest_path.with_file_name("").into()
}

/// Makes cargo download a published package, by a scratch package that depends on it. The settings
/// that count are those of `root`.
fn fetch(root: &Path, scratch: &Path, (name, version): (&str, &str)) -> Result<Package> {
    let scratch = scratch.join(name);
    let head =
        "[package]\nname = \"fetch\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n[workspace]";
    put(&scratch.join("Cargo.toml"), format!("{head}\n[dependencies]\n{name} = \"={version}\"\n"))?;
    put(&scratch.join("lib.rs"), "")?;
    let mut command = MetadataCommand::new();
    command.manifest_path(std::path::absolute(scratch.join("Cargo.toml"))?).current_dir(root);
    let context = || format!("cargo cannot get {name} {version} from the registry");
    let packages = command.exec().with_context(context)?.packages;
    packages.into_iter().find(|package| *package.name == *name).with_context(context)
}

/// Writes the manifests of the three packages. The real tokio is in a folder beside them, or in git.
fn write_manifests(
    folder: &Path,
    tokio: &Package,
    library: &Path,
    real: Option<&str>,
) -> Result<()> {
    let source = || match real {
        Some(real) => vec![("path", format!("../{real}"))],
        None => {
            vec![
                ("git", "https://github.com/tokio-rs/tokio".to_owned()),
                ("tag", format!("tokio-{}", tokio.version)),
            ]
        }
    };
    let mut facade: DocumentMut = include_str!("../templates/tokio.toml").parse()?;
    facade["package"]["version"] = value(format!("{}{}", tokio.version, MARK));
    let oldest = tokio.rust_version.as_ref().context("tokio has a rust-version")?;
    facade["package"]["rust-version"] = value(format!("{}.{}", oldest.major, oldest.minor));
    for (name, enables) in &tokio.features {
        facade["features"][name] = value(mirrored(name, enables));
    }
    let real = [("package", "tokio".to_owned())].into_iter().chain(source());
    facade["dependencies"]["real"] = dependency(real);
    put(&folder.join("tokio/Cargo.toml"), facade.to_string())?;

    let path = library.join("Cargo.toml");
    let ours: DocumentMut =
        fs::read_to_string(&path).with_context(|| path.display().to_string())?.parse()?;
    let mut inner: DocumentMut = include_str!("../templates/wheel.toml").parse()?;
    inner["package"]["version"] = ours["package"]["version"].clone();
    for name in FEATURES {
        inner["features"][name] = ours["features"][name].clone();
    }
    let dependencies = ours["dependencies"].as_table_like().context("dependencies")?;
    for (name, item) in dependencies.iter().filter(|(name, _)| *name != "hyper") {
        let mut item = item.clone();
        if name == "tokio" {
            let features = item["features"].clone();
            item = dependency(source());
            item["features"] = features;
        }
        inner["dependencies"][name] = item;
    }
    put(&folder.join("wheel/Cargo.toml"), inner.to_string())?;
    put(&folder.join("guard/Cargo.toml"), include_str!("../templates/guard.toml"))
}

fn dependency(source: impl IntoIterator<Item = (&'static str, String)>) -> Item {
    let mut table: InlineTable = source.into_iter().collect();
    table.insert("default-features", false.into());
    value(table)
}

/// Hands a feature of tokio's on to the real tokio, and to this crate if it has one of that name.
fn mirrored(name: &str, enables: &[String]) -> Array {
    let own = (name == "time").then(|| "dep:wheel".to_owned());
    let ours = FEATURES.contains(&name).then(|| format!("wheel?/{name}"));
    let others = enables.iter().filter(|other| !other.contains([':', '/'])).cloned();
    let all = own.into_iter().chain(ours).chain(others);
    all.chain([format!("real/{name}")]).map(Value::from).collect()
}
