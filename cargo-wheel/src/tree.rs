//! The packages that take Tokio's place in a service, and the lock file with them and without.
//! `examples/whole-tree` has these packages with the real Tokio from git; a tree that is written for a
//! service needs nothing but the registry.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use cargo_lock::{Lockfile, Name, Patch, SourceId, Version};
use cargo_metadata::semver::BuildMetadata;
use cargo_metadata::{MetadataCommand, Package};
use regex_lite::Regex;
use sha2::{Digest as _, Sha256};
use toml_edit::{Array, DocumentMut, Value, value};
use walkdir::WalkDir;

use crate::packages::{self, OURS};
use crate::process::put;
use crate::service::Service;

/// The version of Tokio that the patch follows. `.ci/whole-tree follow` changes it.
pub(crate) const TOKIO: &str = "1.54.1";

/// What the version of the package in Tokio's place ends in.
pub(crate) const MARK: &str = "+wheel";

/// The features of Tokio that the tree's copy of tokio-wheel has, too.
const SHARED: [&str; 2] = ["test-util", "tracing"];

/// By their names in the tree.
pub(crate) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// What takes the place of the registry's Tokio in a copy.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// What `cargo wheel patch` writes.
    Patch,
    /// The same, but it counts timers.
    Counting,
    /// Tokio itself, on whose runtimes the alternative timer is always enabled.
    Alternative,
}

/// Returns a copy of a service's workspace in which a tree, written beside it, replaces the
/// registry's Tokio.
pub(crate) fn patched(service: &Service, kind: Kind) -> Result<Service> {
    has_no_other_patch(service)?;
    let (name, package) = match kind {
        Kind::Patch => ("tokio-wheel", "tokio"),
        Kind::Counting => ("tokio-wheel", "counting/tokio"),
        Kind::Alternative => ("alternative", "real"),
    };
    let folder = service.target.join("tree").join(name);
    let (mut files, _) = files(service)?;
    match kind {
        Kind::Alternative => enable_alternative(&mut files)?,
        // Both, so that they share the real Tokio.
        _ => add_counting(&mut files),
    }
    write(&folder, &files)?;
    let mut copy = service.copy(name)?;
    let path = Value::from(folder.join(package).display().to_string());
    copy.settings.push(format!("patch.crates-io.tokio.path={path}"));
    take(&copy)?;
    Ok(copy)
}

pub(crate) fn has_no_other_patch(service: &Service) -> Result<()> {
    if let Some(place) = packages::place(&service.manifest(), "tokio", &["patch"]) {
        bail!("{place} patches tokio already: remove that, or run cargo wheel patch --undo");
    }
    Ok(())
}

/// Makes the lock file hold the tree's Tokio, or says what prevents that.
pub(crate) fn take(service: &Service) -> Result<()> {
    if !service.lock().exists() {
        service.output(&["generate-lockfile"])?;
    }
    let locked = service.read_lock()?.packages;
    let mut tokios = locked.iter().filter(|package| package.name.as_str() == "tokio");
    let has_tokio = tokios.any(|tokio| tokio.version.major == 1);
    ensure!(has_tokio, "no package of this workspace depends on tokio 1");
    const OLD: &str = "registry+https://github.com/rust-lang/crates.io-index#tokio@1";
    let tree = format!("{TOKIO}{MARK}");
    let mut failed = String::new();
    // This may fail, too, which the loop notices.
    let _ = service.output(&["update", "--recursive", OLD]);
    // The error names either an older package that the lock file holds, or a requirement.
    let held = Regex::new(r"previously selected package `(\S+) v([^\s`]+)")?;
    for _ in 0..5 {
        if is_patched(&service.read_lock()?) {
            return Ok(());
        }
        let Err(error) = service.output(&["update", OLD, "--precise", &tree]) else {
            continue;
        };
        failed = error.to_string();
        let Some(held) = held.captures(&failed) else {
            break;
        };
        let _ = service.output(&["update", &format!("{}@{}", &held[1], &held[2])]);
    }
    let mut unpatched = service.clone();
    unpatched.settings.clear();
    let excluded = packages::requirements(&unpatched.metadata(&[])?, TOKIO);
    ensure!(excluded.is_empty(), "{}", excluded.join("\n"));
    bail!("cargo does not take tokio {tree}: {failed}")
}

fn is_facade(name: &Name, version: &Version) -> bool {
    name.as_str() == "tokio" && version.to_string().ends_with(MARK)
}

/// Returns `true` if every crate has the tree's Tokio.
pub(crate) fn is_patched(lock: &Lockfile) -> bool {
    lock.packages.iter().any(|package| is_facade(&package.name, &package.version))
        && !lock.patch.unused.iter().any(|patch| is_facade(&patch.name, &patch.version))
}

/// Removes packages from a lock file, as if nothing depended on them.
pub(crate) fn remove(lock: &mut Lockfile, names: &[&str]) {
    lock.packages.retain(|package| !names.contains(&package.name.as_str()));
    for package in &mut lock.packages {
        package.dependencies.retain(|on| !names.contains(&on.name.as_str()));
    }
}

/// Returns the same lock file with the real Tokio as the registry's, without the package in its
/// place and tokio-wheel. When cargo uses the file, it removes what only tokio-wheel needs.
pub(crate) fn unpatched(mut lock: Lockfile) -> String {
    lock.packages.retain(|package| !is_facade(&package.name, &package.version));
    remove(&mut lock, &OURS);
    for package in &mut lock.packages {
        for on in package.dependencies.iter_mut().filter(|on| on.name.as_str() == "tokio") {
            on.version.build = BuildMetadata::EMPTY;
        }
        if package.name.as_str() == "tokio" && package.version.major == 1 {
            package.source = Some(SourceId::default());
        }
    }
    lock.patch = Patch::default();
    lock.to_string()
}

/// Returns the files of a tree, and the checksum of Tokio's package in the registry's index.
pub(crate) fn files(service: &Service) -> Result<(Files, String)> {
    let (tokio, checksum) = fetch(service, "tokio", TOKIO)?;
    let mut files = unpack(&tokio, &checksum)?;
    let library = match clone() {
        Some(clone) => clone,
        None => folder_of(&fetch(service, "tokio-wheel", env!("CARGO_PKG_VERSION"))?.0),
    };
    for (name, text) in read(&library.join("src"))? {
        files.insert(Path::new("wheel/src").join(name), text);
    }
    let mut add = |name: &str, text: &str| files.insert(name.into(), text.into());
    add("tokio/Cargo.toml", &facade(&tokio)?);
    add("tokio/src/lib.rs", include_str!("../templates/tokio.rs"));
    add("wheel/Cargo.toml", include_str!("../templates/wheel.toml"));
    add("guard/Cargo.toml", include_str!("../templates/guard.toml"));
    add("guard/src/lib.rs", include_str!("../templates/guard.rs"));
    let version = env!("CARGO_PKG_VERSION");
    let readme = format!(
        "`cargo wheel patch` has written this folder: `real` is Tokio {TOKIO} as in the registry, without its tests, `wheel` is tokio-wheel {version},\nand `tokio` is the package that joins the two in Tokio's place. Change nothing here. `cargo wheel patch --verify` compares\nall of it with the registry's package by checksums, and `cargo wheel patch --undo` removes it.\n"
    );
    add("README.md", &readme);
    Ok((files, checksum))
}

/// Adds another tokio-wheel, which counts timers, and a package in Tokio's place that depends on it.
fn add_counting(files: &mut Files) {
    for (name, mut text) in files.clone() {
        if name.ends_with("Cargo.toml") {
            text = String::from_utf8_lossy(&text).replace("../real", "../../real").into();
        }
        if ["tokio", "wheel"].iter().any(|folder| name.starts_with(folder)) {
            files.insert(Path::new("counting").join(name), text);
        }
    }
    files.insert("counting/wheel/build.rs".into(), cfg("wheel_counts").into());
}

/// Makes Tokio's multi-thread runtimes have the alternative timer, as with `--cfg tokio_unstable`.
/// Current-thread runtimes, which lack this timer, ignore the builder's choice.
fn enable_alternative(files: &mut Files) -> Result<()> {
    let mut edit = |name: &str, from: &str, to: &str| {
        let file = files.get_mut(Path::new(name)).context("no such file")?;
        let text = str::from_utf8(file)?;
        ensure!(text.contains(from), "{name}: no `{from}`");
        *file = text.replacen(from, to, 1).into();
        Ok(())
    };
    let builder = "real/src/runtime/builder.rs";
    edit(
        builder,
        "timer_flavor: TimerFlavor::Traditional",
        "timer_flavor: TimerFlavor::Alternative",
    )?;
    edit("real/Cargo.toml", "\nbuild = false", "\nbuild = \"build.rs\"")?;
    edit("real/Cargo.toml", TOKIO, &format!("{TOKIO}{MARK}"))?;
    files.insert("real/build.rs".into(), cfg("tokio_unstable").into());
    Ok(())
}

/// A build script that sets a `cfg` for its package alone.
fn cfg(name: &str) -> String {
    format!("fn main() {{ println!(\"cargo::rustc-cfg={name}\") }}\n")
}

/// Makes a folder have these files and no others, so that cargo builds only what changes.
pub(crate) fn write(folder: &Path, files: &Files) -> Result<()> {
    for name in read(folder)?.keys().filter(|name| !files.contains_key(*name)) {
        fs::remove_file(folder.join(name))?;
    }
    files.iter().try_for_each(|(name, text)| put(&folder.join(name), text))
}

/// Reads a folder's files. It may be absent.
pub(crate) fn read(folder: &Path) -> Result<Files> {
    let mut files = Files::new();
    for entry in WalkDir::new(folder).into_iter().filter_map(Result::ok) {
        if entry.file_type().is_file() {
            files.insert(entry.path().strip_prefix(folder)?.to_owned(), fs::read(entry.path())?);
        }
    }
    Ok(files)
}

/// Returns the files of Tokio's package, without its tests, from cargo's cache, if the checksum is
/// right.
fn unpack(tokio: &Package, checksum: &str) -> Result<Files> {
    let (source, name) = (folder_of(tokio), format!("tokio-{TOKIO}.crate"));
    let index = source.parent().and_then(Path::file_name).unwrap_or_default();
    let file = source.join("../../../cache").join(index).join(name);
    let bytes = fs::read(&file).with_context(|| file.display().to_string())?;
    let found: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    ensure!(found == checksum, "{}: SHA-256 is {found}, not {checksum}", file.display());
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&bytes[..]));
    let mut files = Files::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path: PathBuf = entry.path()?.components().skip(1).collect();
        if !["tests", "benches"].iter().any(|folder| path.starts_with(folder)) {
            let mut text = Vec::new();
            std::io::copy(&mut entry, &mut text)?;
            files.insert(Path::new("real").join(path), text);
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

/// Makes cargo download a published package, by a scratch package that depends on it, and returns its
/// checksum, too. Cargo's settings are the service's.
fn fetch(service: &Service, name: &str, version: &str) -> Result<(Package, String)> {
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
    let package = packages.into_iter().find(|package| *package.name == *name);
    let locked = Lockfile::load(scratch.join("Cargo.lock"))?.packages;
    let checksum = locked.into_iter().find(|package| package.name.as_str() == name);
    let checksum = checksum.and_then(|package| package.checksum).with_context(context)?;
    Ok((package.with_context(context)?, checksum.to_string()))
}

/// Returns the manifest of the package in Tokio's place, with each of Tokio's features. Its Tokio is
/// not the registry's, because the patch would make the package depend on itself.
fn facade(tokio: &Package) -> Result<String> {
    let mut manifest: DocumentMut = include_str!("../templates/tokio.toml").parse()?;
    manifest["package"]["version"] = value(format!("{TOKIO}{MARK}"));
    for (name, enables) in &tokio.features {
        manifest["features"][name] = value(mirrored(name, enables));
    }
    Ok(manifest.to_string())
}

/// Hands a feature of Tokio's on to the real Tokio, and to tokio-wheel if it is in `SHARED`.
fn mirrored(name: &str, enables: &[String]) -> Array {
    let own = (name == "time").then(|| "dep:wheel".to_owned());
    let ours = SHARED.contains(&name).then(|| format!("wheel?/{name}"));
    let others = enables.iter().filter(|other| !other.contains([':', '/'])).cloned();
    let all = own.into_iter().chain(ours).chain(others);
    all.chain([format!("real/{name}")]).map(Value::from).collect()
}
