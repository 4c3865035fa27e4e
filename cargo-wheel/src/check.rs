//! Whose timers move, and what is in the way.

use std::fs;
use std::path::Path;

use anyhow::Result;
use cargo_metadata::semver::Version;
use cargo_metadata::{Metadata, Package};
use toml_edit::{Document, TableLike};
use walkdir::WalkDir;

use crate::migrate::{is_source, shown};
use crate::process::Saved;
use crate::service::{Service, timer_users};
use crate::tree::TOKIO;

/// Packages with timers of their own, which neither way moves.
#[rustfmt::skip]
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
    let saved = Saved::of([service.lock()]);
    let metadata = service.metadata(arguments)?;
    drop(saved);
    let users = timer_users(&metadata);
    let own = |package: &&&Package| metadata.workspace_members.contains(&package.id);
    list("On tokio's timers", users.iter().map(named));
    list("moved by changed imports (cargo wheel migrate)", users.iter().filter(own).map(named));
    let others = users.iter().filter(|package| !own(package)).map(named);
    list("moved only by the patched tree (cargo wheel try, cargo wheel patch)", others);
    let stay = metadata.packages.iter().filter_map(|package| {
        let row = OWN_TIMERS.iter().find(|row| *package.name == *row.0)?;
        Some(format!("{}: {}", named(&package), row.1))
    });
    list("not moved, because they have timers of their own", stay);
    let obstacles = [requirements, old_tokios, alternative_timers, second_copies];
    let obstacles = obstacles.iter().flat_map(|find| find(&metadata)).collect::<Vec<_>>();
    list("In the way", obstacles.iter().cloned());
    println!(
        "{}",
        match obstacles.is_empty() {
            _ if users.is_empty() =>
                "No package asks for tokio's timers, so there is nothing to gain.",
            true =>
                "Nothing is in the way. Next, for example: cargo wheel compare -- run --release",
            false => "Remove what is in the way, and check again.",
        }
    );
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
    let on = metadata.packages.iter().flat_map(|package| {
        let tokios = package.dependencies.iter().filter(|on| on.name == "tokio");
        tokios.map(move |on| (package, &on.req))
    });
    let excluding = on.filter(|(_, wanted)| {
        !wanted.matches(&ours) && tokios(metadata).any(|tokio| wanted.matches(tokio))
    });
    let mut told: Vec<_> = excluding
        .map(|(package, wanted)| {
            let remedy = match package.source {
                Some(_) => {
                    format!("cargo update {}@{}, or use another", package.name, package.version)
                }
                None => format!("require \"{}.{}\" there", ours.major, ours.minor),
            };
            let (place, name) = (depends(package, "tokio"), named(&package));
            format!("{place}: {name} requires tokio {wanted}, and the tree has {TOKIO}: {remedy}")
        })
        .collect();
    told.dedup();
    told
}

fn old_tokios(metadata: &Metadata) -> Vec<String> {
    let old = tokios(metadata).filter(|version| version.minor < 54);
    let told = old.map(|old| format!("Cargo.lock has tokio {old}, and 1.54 is the first that works: cargo update --recursive tokio@{old}"));
    told.collect()
}

/// Calls of `enable_alt_timer`, in the packages that depend on tokio.
fn alternative_timers(metadata: &Metadata) -> Vec<String> {
    let users = metadata.packages.iter().filter(|package| {
        !package.name.starts_with("tokio")
            && package.dependencies.iter().any(|on| on.name == "tokio")
    });
    let folders = users.map(|package| package.manifest_path.with_file_name(""));
    let files = folders.flat_map(|folder| WalkDir::new(folder).into_iter().filter_entry(is_source));
    let files = files
        .filter_map(Result::ok)
        .filter(|file| file.path().extension().is_some_and(|ending| ending == "rs"));
    let mut told: Vec<_> = files
        .flat_map(|file| {
            let text = fs::read_to_string(file.path()).unwrap_or_default();
            let calls =
                text.lines().zip(1..).filter(|(line, _)| line.contains(".enable_alt_timer()"));
            let told = calls.map(|(_, line)| {
                format!("{}:{line}: enable_alt_timer: remove this call", shown(file.path()))
            });
            told.collect::<Vec<_>>()
        })
        .collect();
    told.sort();
    told.dedup();
    told
}

/// What depends on this crate itself, beside the tree.
pub(crate) fn second_copies(metadata: &Metadata) -> Vec<String> {
    let users = metadata
        .packages
        .iter()
        .filter(|package| package.dependencies.iter().any(|on| on.name == "tokio-wheel"));
    let told = users.map(|package| {
        let (place, name) = (depends(package, "tokio-wheel"), named(&package));
        format!("{place}: {name} depends on tokio-wheel. On the tree that is a second copy, with a driver, metrics and an Elapsed of its own: use tokio::wheel there, or depend on tokio-wheel-whole-tree")
    });
    told.collect()
}

/// Returns where a package depends on another.
fn depends(package: &Package, on: &str) -> String {
    let tables = ["dependencies", "dev-dependencies", "build-dependencies", "target", "workspace"];
    place(package.manifest_path.as_std_path(), on, &tables)
}

/// Returns a manifest, and the line on which it names a package in one of the tables or below.
pub(crate) fn place(manifest: &Path, package: &str, tables: &[&str]) -> String {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    let document =
        Document::parse(text.as_str()).unwrap_or_else(|_| Document::parse("").expect("nothing"));
    let mut tables = tables.iter().filter_map(|name| document.get(name)?.as_table_like());
    let line = tables
        .find_map(|table| offset(table, package))
        .map(|offset| 1 + text[..offset].matches('\n').count());
    line.map_or(shown(manifest), |line| format!("{}:{line}", shown(manifest)))
}

fn offset(table: &dyn TableLike, package: &str) -> Option<usize> {
    table.iter().find_map(|(name, item)| {
        let is_it = item.get("package").map_or(Some(name), |item| item.as_str()) == Some(package);
        let (key, _) = table.get_key_value(name)?;
        let here = is_it.then(|| Some(key.span()?.start)).flatten();
        here.or_else(|| offset(item.as_table_like()?, package))
    })
}
