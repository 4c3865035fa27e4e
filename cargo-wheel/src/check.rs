//! Whose timers move, and what is in the way.

use std::fs;
use std::path::Path;

use anyhow::Result;
use cargo_metadata::semver::{Version, VersionReq};
use cargo_metadata::{Dependency, DependencyKind, Metadata, Package};
use toml_edit::{Document, TableLike};

use crate::process::Saved;
use crate::service::{Service, shown, sources, timer_users};
use crate::tree::TOKIO;

/// Packages with timers of their own, which nothing here moves.
const OWN_TIMERS: [(&str, &str); 11] = [
    ("async-io", "a heap, in the thread of its reactor"),
    ("async-timer", "a timer of the system for each"),
    ("compio-runtime", "its runtime's"),
    ("futures-timer", "a heap, in a thread of its own"),
    ("glommio", "its runtime's"),
    ("moka", "a wheel for its entries"),
    ("monoio", "its runtime's"),
    ("pingora-timeout", "a tree, in a thread of its own"),
    ("quanta", "a thread that reads the clock"),
    ("tokio-timer", "tokio 0.1's"),
    ("tokio-timerfd", "a timer of the system for each"),
];

pub(crate) fn check(service: &Service, arguments: &[String]) -> Result<u8> {
    let _saved = Saved::of(service.lock());
    let metadata = service.metadata(arguments)?;
    let users = timer_users(&metadata);
    let is_own = |package: &&&Package| metadata.workspace_members.contains(&package.id);
    let (own, others): (Vec<_>, Vec<_>) = users.iter().partition(is_own);
    list("On tokio's timers", users.iter().map(named));
    list("moved by changed imports (cargo wheel migrate)", own.into_iter().map(named));
    list("moved only by the patched tree (cargo wheel try)", others.into_iter().map(named));
    let stay = metadata.packages.iter().filter_map(|package| {
        let row = OWN_TIMERS.iter().find(|row| *package.name == *row.0)?;
        Some(format!("{}: {}", named(&package), row.1))
    });
    list("not moved, because they have timers of their own", stay);
    let obstacles = [requirements, old_tokios, alternative_timers, second_copies];
    let obstacles: Vec<_> = obstacles.iter().flat_map(|find| find(&metadata)).collect();
    list("In the way", obstacles.iter().cloned());
    let next = match (users.is_empty(), obstacles.is_empty()) {
        (true, _) => "No package asks for tokio's timers, so there is nothing to gain.",
        (_, true) => "Nothing is in the way. Next: cargo wheel compare -- run --release",
        (_, false) => "Remove what is in the way, and check again.",
    };
    println!("{next}");
    Ok(u8::from(!obstacles.is_empty()))
}

fn list(title: &str, rows: impl Iterator<Item = String>) {
    let rows: Vec<_> = rows.collect();
    let rows = if rows.is_empty() { "none".to_owned() } else { rows.join("\n  ") };
    println!("{title}:\n  {rows}\n");
}

fn named(package: &&Package) -> String {
    format!("{} {}", package.name, package.version)
}

fn tokios(metadata: &Metadata) -> impl Iterator<Item = &Version> {
    let tokios = metadata.packages.iter().filter(|package| package.name == "tokio");
    tokios.map(|package| &package.version).filter(|version| version.major == 1)
}

/// Requirements for tokio 1 that exclude the tree's version.
pub(crate) fn requirements(metadata: &Metadata) -> Vec<String> {
    let ours = Version::parse(TOKIO).expect("a version");
    let excludes = |wanted: &VersionReq| {
        !wanted.matches(&ours) && tokios(metadata).any(|tokio| wanted.matches(tokio))
    };
    let mut told = Vec::new();
    for (package, on) in dependents(metadata, "tokio").filter(|(_, on)| excludes(&on.req)) {
        let (place, wanted, name) = (place_of(package, on), &on.req, &package.name);
        let remedy = match package.source {
            None => "change that".to_owned(),
            Some(_) => format!("change that, or cargo update {name}@{}", package.version),
        };
        told.push(format!("{place} requires tokio {wanted}, and the tree has {TOKIO}: {remedy}"));
    }
    told.dedup();
    told
}

/// Returns what depends on a package, except for the tests of packages that are not the service's.
fn dependents<'a>(
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

fn old_tokios(metadata: &Metadata) -> Vec<String> {
    let old = tokios(metadata).filter(|version| version.minor < 54);
    let told = old.map(|old| format!("Cargo.lock has tokio {old}, and 1.54 is the first that works: cargo update --recursive tokio@{old}"));
    told.collect()
}

/// Calls of `enable_alt_timer`, in the packages that depend on tokio.
fn alternative_timers(metadata: &Metadata) -> Vec<String> {
    let mut told = Vec::new();
    for file in dependents(metadata, "tokio").flat_map(|(package, _)| sources(package)) {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let calls = text.lines().zip(1..).filter(|(line, _)| line.contains(".enable_alt_timer()"));
        let place = shown(&file);
        told.extend(
            calls.map(|(_, line)| format!("{place}:{line}: enable_alt_timer: remove this call")),
        );
    }
    told.sort();
    told.dedup();
    told
}

/// What depends on a tokio-wheel beside the tree's.
pub(crate) fn second_copies(metadata: &Metadata) -> Vec<String> {
    let told = dependents(metadata, "tokio-wheel").map(|(package, on)| {
        format!("{} depends on tokio-wheel. On the tree that is a second copy, with a driver, metrics and an Elapsed of its own: use tokio::wheel there, or depend on tokio-wheel-whole-tree", place_of(package, on))
    });
    told.collect()
}

/// Returns where a package depends on another, and its name.
fn place_of(package: &Package, on: &Dependency) -> String {
    let own = match on.kind {
        DependencyKind::Development => "dev-dependencies",
        DependencyKind::Build => "build-dependencies",
        _ => "dependencies",
    };
    let tables = [own, "target", "workspace"];
    let manifest = package.manifest_path.as_std_path();
    let place = place(manifest, &on.name, &tables).unwrap_or_else(|| shown(manifest));
    format!("{place}: {}", named(&package))
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
