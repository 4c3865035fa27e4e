//! The packages that take tokio's place in a dependency tree. `examples/whole-tree` has them with the
//! real tokio from git; a tree that is written for a service needs nothing but the registry.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use cargo_metadata::{MetadataCommand, Package};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Value, value};
use walkdir::WalkDir;

/// The version of tokio that the tree follows. `.ci/whole-tree follow` changes it.
pub(crate) const TOKIO: &str = "1.54.1";

/// The features of this crate that need no package with timers of its own.
const FEATURES: [&str; 5] = ["metrics", "stream", "tower", "tracing", "test-util"];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counting {
    Off,
    /// The drivers' own counts.
    Totals,
    /// Per line that arms a timer.
    Lines,
}

#[derive(clap::Args)]
pub(crate) struct Options {
    folder: PathBuf,
    /// Write the manifests alone, with the real tokio from git
    #[arg(long)]
    manifests: bool,
    #[arg(long, default_value = TOKIO)]
    tokio: String,
}

pub(crate) fn main(options: &Options) -> Result<()> {
    let folder = &options.folder;
    fs::create_dir_all(folder)?;
    let here = folder.canonicalize()?;
    let tokio = fetch(&here, &here.join("fetch"), "tokio", &options.tokio);
    fs::remove_dir_all(here.join("fetch"))?;
    if options.manifests {
        return write_manifests(folder, &tokio?, &library(&here, &here)?, None);
    }
    write_with(folder, &tokio?, &library(&here, &here)?, Counting::Off)
}

/// Writes the tree to a folder, for a service in a workspace with that root.
pub(crate) fn write(folder: &Path, root: &Path, target: &Path, counting: Counting) -> Result<()> {
    let tokio = fetch(root, &target.join("fetch-tokio"), "tokio", TOKIO)?;
    write_with(folder, &tokio, &library(root, target)?, counting)
}

fn write_with(folder: &Path, tokio: &Package, library: &Path, counting: Counting) -> Result<()> {
    let real = format!("real-{}", tokio.version);
    write_manifests(folder, tokio, library, Some(&real))?;
    put(&folder.join("tokio/src/lib.rs"), include_str!("../templates/tokio.rs"))?;
    put(&folder.join("guard/src/lib.rs"), include_str!("../templates/guard.rs"))?;
    let package = tokio.manifest_path.parent().context("a package has a folder")?;
    copy(package.as_std_path(), &folder.join(real), &[])?;
    let spans = Path::new("spans.rs");
    let replaced: &[&Path] = if counting == Counting::Off { &[] } else { &[spans] };
    let sources = folder.join("wheel/src");
    copy(&library.join("src"), &sources, replaced)?;
    let counts = match counting {
        Counting::Off => return Ok(()),
        Counting::Totals => include_str!("../templates/totals.rs"),
        Counting::Lines => include_str!("../templates/lines.rs"),
    };
    let original = fs::read_to_string(library.join("src").join(spans))?;
    put(&sources.join(spans), include_str!("../templates/spans.rs"))?;
    put(&sources.join("spans/original.rs"), &original)?;
    put(&sources.join("spans/report.rs"), include_str!("../templates/report.rs"))?;
    put(&sources.join("spans/counts.rs"), counts)
}

/// Writes a file if it has another text, so that Cargo builds only what changes.
pub(crate) fn put(file: &Path, text: &str) -> Result<()> {
    let written = || {
        if fs::read_to_string(file).is_ok_and(|old| old == text) {
            return Ok(());
        }
        file.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(file, text)
    };
    written().with_context(|| file.display().to_string())
}

fn copy(from: &Path, to: &Path, except: &[&Path]) -> Result<()> {
    for entry in WalkDir::new(from) {
        let entry = entry?;
        let name = entry.path().strip_prefix(from)?;
        if !entry.file_type().is_file() || except.contains(&name) {
            continue;
        }
        let (file, new) = (entry.path(), to.join(name));
        let text = fs::read(file).with_context(|| file.display().to_string())?;
        if fs::read(&new).is_ok_and(|old| old == text) {
            continue;
        }
        new.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(&new, text).with_context(|| new.display().to_string())?;
    }
    Ok(())
}

/// Returns the folder of this crate: of the clone from which this command was installed, or of the
/// published package.
fn library(root: &Path, target: &Path) -> Result<PathBuf> {
    match clone() {
        Some(clone) => Ok(clone),
        None => {
            let package =
                fetch(root, &target.join("fetch-wheel"), "tokio-wheel", env!("CARGO_PKG_VERSION"))?;
            Ok(package.manifest_path.with_file_name("").into())
        }
    }
}

pub(crate) fn clone() -> Option<PathBuf> {
    let clone = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    clone.join("src/spans.rs").is_file().then(|| clone.to_owned())
}

/// Makes cargo download a published package, by a scratch package that depends on it. The settings
/// that count are those of `root`.
fn fetch(root: &Path, scratch: &Path, name: &str, version: &str) -> Result<Package> {
    let manifest = format!(
        "[package]\nname = \"fetch\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n[dependencies]\n{name} = \"={version}\"\n"
    );
    put(&scratch.join("Cargo.toml"), &manifest)?;
    put(&scratch.join("lib.rs"), "")?;
    let mut command = MetadataCommand::new();
    command.manifest_path(scratch.join("Cargo.toml")).current_dir(root);
    let metadata = command
        .exec()
        .with_context(|| format!("cargo cannot get {name} {version} from the registry"))?;
    let mut packages = metadata.packages.into_iter();
    let found =
        packages.find(|package| *package.name == *name && package.version.to_string() == version);
    found.with_context(|| format!("{name} {version} is not in the registry"))
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
    facade["package"]["version"] = value(format!("{}{}", tokio.version, crate::lock::MARK));
    let oldest = tokio.rust_version.as_ref().context("tokio has a rust-version")?;
    facade["package"]["rust-version"] = value(format!("{}.{}", oldest.major, oldest.minor));
    for (name, enables) in &tokio.features {
        facade["features"][name] = value(mirrored(name, enables));
    }
    facade["dependencies"]["real"] =
        dependency([("package", "tokio".to_owned())].into_iter().chain(source()), false);
    put(&folder.join("tokio/Cargo.toml"), &facade.to_string())?;

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
            item = dependency(source(), false);
            item["features"] = features;
        }
        inner["dependencies"][name] = item;
    }
    put(&folder.join("wheel/Cargo.toml"), &inner.to_string())?;
    put(&folder.join("guard/Cargo.toml"), include_str!("../templates/guard.toml"))
}

fn dependency(
    source: impl IntoIterator<Item = (&'static str, String)>,
    has_defaults: bool,
) -> Item {
    let mut table: InlineTable = source.into_iter().collect();
    table.insert("default-features", has_defaults.into());
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
