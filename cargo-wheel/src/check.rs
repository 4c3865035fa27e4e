//! Whose timers move, and the obstacles.

use std::fs;

use anyhow::Result;
use cargo_metadata::{Metadata, Package, Source};

use crate::migrate;
use crate::packages::{dependents, named, place, requirements, second_copies, shown, sources};
use crate::packages::{timer_users, tokios};
use crate::service::Service;
use crate::tree::{self, TOKIO};

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
    ("tokio-timer", "those of tokio 0.1"),
    ("tokio-timerfd", "a timer of the system for each"),
];

pub(crate) fn check(service: &Service, arguments: &[String]) -> Result<u8> {
    let copy = service.copy("check")?;
    let metadata = copy.metadata(arguments)?;
    let patch = place(&service.manifest(), "tokio", &["patch"]);
    if copy.lock().exists() && tree::is_patched(&copy.read_lock()?) {
        let place = patch.unwrap_or_else(|| shown(&service.manifest()));
        println!("{place}: patched: all crates use tokio-wheel's timers until `patch --undo`");
        return Ok(0);
    }
    let users = timer_users(&metadata);
    let is_own = |package: &&&Package| metadata.workspace_members.contains(&package.id);
    let (own, others): (Vec<_>, Vec<_>) = users.iter().partition(is_own);
    list("Use Tokio's timers, and move if their imports change", own.into_iter().map(named));
    list("Use Tokio's timers, and move only if the tree is patched", others.into_iter().map(named));
    let stay = metadata.packages.iter().filter_map(|package| {
        let row = OWN_TIMERS.iter().find(|row| *package.name == *row.0)?;
        Some(format!("{}: {}", named(&package), row.1))
    });
    list("Have timers of their own, and never move", stay);
    list("Notes", old_tokios(&metadata).into_iter().chain(second_copies(&metadata)));
    let patch = patch.map(|place| format!("{place} patches tokio: remove that"));
    let patch = patch.or_else(|| other_tokio(&metadata));
    let obstacles = patch.into_iter().chain(requirements(&metadata, TOKIO));
    let obstacles: Vec<_> = obstacles.chain(alternative_timers(&metadata)).collect();
    list("Obstacles", obstacles.iter().cloned());
    let next = match (users.is_empty(), obstacles.is_empty()) {
        (true, _) => "No package asks for Tokio's timers, so there is nothing to gain.",
        (_, true) => {
            "No obstacles. Next: cargo wheel compare -- run --release (a server also needs --load COMMAND)"
        }
        (_, false) => "Remove the obstacles, and check again.",
    };
    println!("{next}");
    Ok(u8::from(!obstacles.is_empty()))
}

/// Prints a list, unless it is empty.
fn list(title: &str, rows: impl Iterator<Item = String>) {
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        println!("{title}:\n  {}\n", rows.join("\n  "));
    }
}

fn old_tokios(metadata: &Metadata) -> Vec<String> {
    let old = tokios(metadata).filter(|version| version.minor < 54);
    let told = old.map(|old| format!("Cargo.lock has tokio {old}. compare and try use {TOKIO}, without changing the file. Before migrating: cargo update --recursive tokio@{old}"));
    told.collect()
}

/// A tokio that no patch replaces. Cargo's configuration may name it, too.
fn other_tokio(metadata: &Metadata) -> Option<String> {
    let is_other = |package: &&Package| {
        let is_published = package.source.as_ref().is_some_and(Source::is_crates_io);
        package.name == "tokio" && package.version.major == 1 && !is_published
    };
    let id = &metadata.packages.iter().find(is_other)?.id;
    Some(format!(
        "{id} is not the tokio of crates.io: remove the patch or dependency that names it"
    ))
}

/// Calls of `enable_alt_timer`, in the packages that depend on Tokio.
fn alternative_timers(metadata: &Metadata) -> Vec<String> {
    let mut told = Vec::new();
    for file in dependents(metadata, "tokio").flat_map(|(package, _)| sources(package)) {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let (place, lines) = (shown(&file), migrate::alternative_timers(&text).into_iter());
        told.extend(
            lines.map(|line| format!("{place}:{line}: enable_alt_timer: remove this call")),
        );
    }
    told.sort();
    told.dedup();
    told
}
