//! What cargo says about the packages of a service, and where they say it.

use std::path::{Path, PathBuf};
use std::{env, fs};

use cargo_metadata::semver::{Version, VersionReq};
use cargo_metadata::{Dependency, DependencyKind, Metadata, Node, Package};
use toml_edit::{Document, TableLike};
use walkdir::{DirEntry, WalkDir};

/// The packages of a patched tree, except the one in Tokio's place.
pub(crate) const OURS: [&str; 2] = ["tokio-wheel-whole-tree", "tokio-wheel-guard"];

/// The tables of a manifest that name dependencies.
pub(crate) const TABLES: [&str; 5] =
    ["dependencies", "dev-dependencies", "build-dependencies", "target", "workspace"];

pub(crate) fn tokios(metadata: &Metadata) -> impl Iterator<Item = &Version> {
    let tokios = metadata.packages.iter().filter(|package| package.name == "tokio");
    tokios.map(|package| &package.version).filter(|version| version.major == 1)
}

/// Returns what depends on a package, except for the tests of packages that are not the service's.
pub(crate) fn dependents<'a>(
    metadata: &'a Metadata,
    name: &'a str,
) -> impl Iterator<Item = (&'a Package, &'a Dependency)> {
    metadata.packages.iter().flat_map(move |package| {
        let counts = move |on: &&Dependency| {
            on.name == name && (package.source.is_none() || on.kind != DependencyKind::Development)
        };
        package.dependencies.iter().filter(counts).map(move |on| (package, on))
    })
}

/// Requirements for Tokio 1 that exclude a version.
pub(crate) fn requirements(metadata: &Metadata, version: &str) -> Vec<String> {
    let ours = Version::parse(version).expect("a version");
    let excludes = |wanted: &VersionReq| {
        !wanted.matches(&ours) && tokios(metadata).any(|tokio| wanted.matches(tokio))
    };
    let mut told = Vec::new();
    for (package, on) in dependents(metadata, "tokio").filter(|(_, on)| excludes(&on.req)) {
        let (place, wanted, name) = (place_of(package, on), &on.req, &package.name);
        let or = match package.source {
            None => String::new(),
            Some(_) => format!(", or cargo update {name}@{}", package.version),
        };
        told.push(format!(
            "{place} requires tokio {wanted}, which excludes {version}: change that{or}"
        ));
    }
    told.dedup();
    told
}

/// Returns the packages that ask for Tokio's feature `time`, in their manifest or by one of their own
/// features that is on. Without `time` there is no `tokio::time`. A package that relies on another
/// package's request is not counted.
pub(crate) fn timer_users(metadata: &Metadata) -> Vec<&Package> {
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let users = nodes.filter(|node| asks_for_timers(metadata, node));
    let mut users: Vec<&Package> = users.map(|node| &metadata[&node.id]).collect();
    users.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    users
}

fn asks_for_timers(metadata: &Metadata, node: &Node) -> bool {
    let package = &metadata[&node.id];
    let is_tokio = |package: &Package| package.name == "tokio" && package.version.major == 1;
    // The patch's own packages do not count, nor does another copy of tokio-wheel.
    let is_ours =
        is_tokio(package) || package.name == "tokio-wheel" || OURS.contains(&package.name.as_str());
    if is_ours || !node.deps.iter().any(|on| is_tokio(&metadata[&on.pkg])) {
        return false;
    }
    let own = node.features.iter().filter_map(|name| package.features.get(name.as_str()));
    let own: Vec<_> = own.flatten().map(|feature| feature.replace('?', "")).collect();
    let tokios = package.dependencies.iter().filter(|on| on.name == "tokio");
    tokios.filter(|on| on.kind != DependencyKind::Development).any(|on| {
        let key = on.rename.as_deref().unwrap_or("tokio");
        let asks = |feature: &&str| {
            on.features.iter().any(|asked| asked == feature)
                || own.contains(&format!("{key}/{feature}"))
        };
        ["time", "full", "test-util"].iter().any(asks)
    })
}

/// What depends on a tokio-wheel that would be a second copy on a patched tree.
pub(crate) fn second_copies(metadata: &Metadata) -> Vec<String> {
    let told = dependents(metadata, "tokio-wheel").map(|(package, on)| {
        format!("{} depends on tokio-wheel itself, which is a second copy if the tree is patched, with a driver, metrics and an Elapsed of its own", place_of(package, on))
    });
    told.collect()
}

pub(crate) fn named(package: &&Package) -> String {
    format!("{} {}", package.name, package.version)
}

/// Returns where a package depends on another, and its name.
fn place_of(package: &Package, on: &Dependency) -> String {
    let own = match on.kind {
        DependencyKind::Development => "dev-dependencies",
        DependencyKind::Build => "build-dependencies",
        _ => "dependencies",
    };
    let manifest = package.manifest_path.as_std_path();
    let place = place(manifest, &on.name, &[own, "target", "workspace"]);
    format!("{}: {}", place.unwrap_or_else(|| shown(manifest)), named(&package))
}

/// Returns a manifest, and the line on which it names a package in one of the tables or below.
pub(crate) fn place(manifest: &Path, package: &str, tables: &[&str]) -> Option<String> {
    let text = fs::read_to_string(manifest).ok()?;
    let document = Document::parse(text.as_str()).ok()?;
    let mut tables = tables.iter().filter_map(|name| document.get(name)?.as_table_like());
    let offset = tables.find_map(|table| offset(table, package))?;
    Some(format!("{}:{}", shown(manifest), 1 + text[..offset].matches('\n').count()))
}

fn offset(table: &dyn TableLike, package: &str) -> Option<usize> {
    table.iter().find_map(|(name, item)| {
        let is_it = item.get("package").map_or(Some(name), |item| item.as_str()) == Some(package);
        let (key, _) = table.get_key_value(name)?;
        let here = is_it.then(|| Some(key.span()?.start)).flatten();
        here.or_else(|| offset(item.as_table_like()?, package))
    })
}

/// Returns a package's Rust files, in order, except those of packages inside of it, and those that cargo
/// has built, in the folder `target` beside the manifest or in one that cargo has marked.
pub(crate) fn sources(package: &Package) -> impl Iterator<Item = PathBuf> {
    let is_source = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        let is_built = entry.depth() == 1 && name == "target";
        let has = |file| entry.path().join(file).exists();
        let is_other =
            is_built || name.starts_with('.') || has("CACHEDIR.TAG") || has("Cargo.toml");
        entry.depth() == 0 || !is_other
    };
    let files = WalkDir::new(package.manifest_path.with_file_name("")).sort_by_file_name();
    let files = files.into_iter().filter_entry(is_source).filter_map(Result::ok);
    let files = files.map(DirEntry::into_path);
    files.filter(|file| file.extension().is_some_and(|ending| ending == "rs"))
}

/// Returns a path relative to the current directory, if it is below.
pub(crate) fn shown(path: &Path) -> String {
    let here = env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}
