//! Whose timers move, and what is in the way.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use cargo_metadata::semver::Version;
use cargo_metadata::{CargoOpt, Metadata, Package};
use toml_edit::{Document, TableLike};
use walkdir::WalkDir;

use crate::migrate::{is_source, shown};
use crate::service::{Service, timer_users};
use crate::tree::TOKIO;

/// Packages with timers of their own, which neither way moves.
#[rustfmt::skip]
const OWN_TIMERS: [(&str, &str); 12] = [
    ("async-io", "a heap, in the thread of its reactor"),
    ("async-std", "async-io's"),
    ("async-timer", "a timer of the system for each"),
    ("compio-runtime", "its runtime's"),
    ("futures-timer", "a heap, in a thread of its own"),
    ("glommio", "its runtime's"),
    ("monoio", "its runtime's"),
    ("moka", "a wheel for its entries"),
    ("pingora-timeout", "a tree, in a thread of its own"),
    ("quanta", "a thread that reads the clock"),
    ("tokio-timer", "tokio 0.1's"),
    ("tokio-timerfd", "a timer of the system for each"),
];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Features of the service to turn on
    #[arg(long, value_delimiter = ',')]
    features: Vec<String>,
    /// Turn on all features of the service
    #[arg(long)]
    all_features: bool,
    /// Turn off the service's default features
    #[arg(long)]
    no_default_features: bool,
}

impl Options {
    fn for_cargo(&self) -> Vec<CargoOpt> {
        let some =
            (!self.features.is_empty()).then(|| CargoOpt::SomeFeatures(self.features.clone()));
        let all = self.all_features.then_some(CargoOpt::AllFeatures);
        let no = self.no_default_features.then_some(CargoOpt::NoDefaultFeatures);
        [some, all, no].into_iter().flatten().collect()
    }
}

pub(crate) fn check(service: &Service, options: &Options) -> Result<u8> {
    let saved = crate::process::Saved::of([service.lock()])?;
    let metadata = service.metadata(&options.for_cargo())?;
    drop(saved);
    let users = timer_users(&metadata);
    let (own, others): (Vec<&Package>, Vec<&Package>) =
        users.iter().copied().partition(|package| is_member(&metadata, package));
    list("On tokio's timers:", users.iter().map(|package| named(package)));
    list(
        "These move when the workspace's imports are changed (cargo wheel migrate):",
        own.iter().map(|package| named(package)),
    );
    list(
        "These move only with the patched tree (cargo wheel try, cargo wheel patch):",
        others.iter().map(|package| named(package)),
    );
    let stay = metadata.packages.iter().filter_map(|package| {
        let row = OWN_TIMERS.iter().find(|row| *package.name == *row.0)?;
        Some(format!("{}: {}", named(package), row.1))
    });
    list("These have timers of their own, and stay:", stay);
    let mut obstacles = requirements(&metadata);
    obstacles.extend(old_tokios(&metadata));
    obstacles.extend(alternative_timers(&metadata));
    obstacles.extend(second_copies(&metadata));
    list("In the way:", obstacles.iter().cloned());
    match (users.is_empty(), obstacles.is_empty()) {
        (true, _) => println!("No package asks for tokio's timers, so there is nothing to gain."),
        (_, true) => println!(
            "Nothing is in the way. Next, for example: cargo wheel compare -- run --release"
        ),
        _ => return Ok(1),
    }
    Ok(0)
}

fn list(title: &str, rows: impl Iterator<Item = String>) {
    let rows: Vec<_> = rows.collect();
    let rows = if rows.is_empty() { "none".to_owned() } else { rows.join("\n  ") };
    println!("{title}\n  {rows}\n");
}

fn named(package: &Package) -> String {
    format!("{} {}", package.name, package.version)
}

fn is_member(metadata: &Metadata, package: &Package) -> bool {
    metadata.workspace_members.contains(&package.id)
}

fn tokios(metadata: &Metadata) -> impl Iterator<Item = &Package> {
    metadata.packages.iter().filter(|package| package.name == "tokio" && package.version.major == 1)
}

/// Requirements for tokio 1 that exclude the tree's version.
pub(crate) fn requirements(metadata: &Metadata) -> Vec<String> {
    let Ok(ours) = Version::parse(TOKIO) else {
        return Vec::new();
    };
    let mut found = BTreeSet::new();
    for package in &metadata.packages {
        let requirements = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.name == "tokio")
            .map(|dependency| &dependency.req);
        for wanted in requirements.filter(|wanted| !wanted.matches(&ours)) {
            if !tokios(metadata).any(|tokio| wanted.matches(&tokio.version)) {
                continue;
            }
            let place = place(package.manifest_path.as_std_path(), "tokio", DEPENDENCIES);
            let remedy = match package.source {
                Some(_) => format!(
                    "cargo update {}@{}, or depend on a newer one",
                    package.name, package.version
                ),
                None => format!("require {}.{} there", ours.major, ours.minor),
            };
            let name = named(package);
            found.insert(format!(
                "{place}: {name} requires tokio {wanted}, and the tree has {TOKIO}: {remedy}"
            ));
        }
    }
    found.into_iter().collect()
}

fn old_tokios(metadata: &Metadata) -> Vec<String> {
    let oldest = Version::new(1, 54, 0);
    let old = tokios(metadata).filter(|tokio| tokio.version < oldest).map(|tokio| &tokio.version);
    old.map(|old| {
        format!("Cargo.lock has tokio {old}, and tokio-wheel needs {oldest}: cargo update --recursive tokio@{old}")
    })
    .collect()
}

/// Calls of `enable_alt_timer`, in the packages that depend on tokio.
fn alternative_timers(metadata: &Metadata) -> Vec<String> {
    let mut found = BTreeSet::new();
    let ours = ["tokio", "tokio-wheel", "tokio-wheel-whole-tree"];
    let users = metadata
        .packages
        .iter()
        .filter(|package| package.dependencies.iter().any(|on| on.name == "tokio"));
    for package in users.filter(|package| !ours.contains(&package.name.as_str())) {
        let folder = package.manifest_path.with_file_name("");
        let files = WalkDir::new(folder).into_iter().filter_entry(is_source).filter_map(Result::ok);
        for file in
            files.filter(|file| file.path().extension().is_some_and(|extension| extension == "rs"))
        {
            let text = fs::read_to_string(file.path()).unwrap_or_default();
            let lines =
                text.lines().zip(1..).filter(|(line, _)| line.contains(".enable_alt_timer()"));
            found.extend(lines.map(|(_, number)| {
                format!("{}:{number}: enable_alt_timer: remove this call", shown(file.path()))
            }));
        }
    }
    found.into_iter().collect()
}

/// What depends on this crate itself, beside the tree.
pub(crate) fn second_copies(metadata: &Metadata) -> Vec<String> {
    let copies = metadata.packages.iter().filter(|package| package.name == "tokio-wheel");
    let ids: Vec<_> = copies.map(|package| &package.id).collect();
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let users = nodes.filter(|node| node.dependencies.iter().any(|id| ids.contains(&id)));
    let told = users.map(|node| {
        let package = &metadata[&node.id];
        let place = place(package.manifest_path.as_std_path(), "tokio-wheel", DEPENDENCIES);
        format!("{place}: {} depends on tokio-wheel, so on the tree there are two copies, each with a driver, metrics and an Elapsed of its own: use tokio::wheel, or depend on tokio-wheel-whole-tree", named(package))
    });
    told.collect()
}

const DEPENDENCIES: &[&str] =
    &["dependencies", "dev-dependencies", "build-dependencies", "target", "workspace"];

/// Returns a manifest, with the line on which it names a package in one of the tables, or below them.
pub(crate) fn place(manifest: &Path, package: &str, tables: &[&str]) -> String {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    let document = Document::parse(text.as_str()).ok();
    let tables = document
        .iter()
        .flat_map(|document| tables.iter().filter_map(|name| document.get(name)?.as_table_like()));
    let offset = tables.filter_map(|table| offset(table, package)).next();
    let line = offset.map(|offset| format!(":{}", 1 + text[..offset].matches('\n').count()));
    shown(&PathBuf::from(manifest)) + &line.unwrap_or_default()
}

fn offset(table: &dyn TableLike, package: &str) -> Option<usize> {
    let found = table.get_key_value(package).and_then(|(key, _)| key.span());
    let mut below = table.iter().filter_map(|(_, item)| {
        let is_renamed = item.get("package").and_then(|item| item.as_str()) == Some(package);
        match is_renamed {
            true => item.span().map(|span| span.start),
            false => offset(item.as_table_like()?, package),
        }
    });
    found.map(|span| span.start).or_else(|| below.next())
}
