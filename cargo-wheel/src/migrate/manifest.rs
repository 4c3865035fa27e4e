//! How cargo changes a manifest: it adds tokio-wheel beside tokio, and on the way back removes it,
//! and adds what the files need instead.

use std::collections::BTreeSet;

use cargo_metadata::{Dependency, DependencyKind, Package};

pub(super) const WHEEL: &str = "tokio-wheel";

/// tokio-wheel is added beside the first of these.
const BESIDE: [&str; 4] = [WHEEL, "tokio", "tokio-util", "tokio-stream"];

/// The arguments of cargo.
type Command = Vec<String>;

/// Adds tokio-wheel to each table that has tokio, or else a companion (to a later one only if it
/// needs other features). `source` is its name, and what says where it comes from. If it is there,
/// it gets the features that it lacks.
pub(crate) fn forth(package: &Package, needs: &BTreeSet<&str>, source: &[String]) -> Vec<Command> {
    let beside = BESIDE.into_iter().find(|name| dependencies(package, name).next().is_some());
    let mut tables: Vec<_> = dependencies(package, beside.unwrap_or(WHEEL)).collect();
    tables.sort_by_key(|on| on.kind == DependencyKind::Development);
    let mut commands = Vec::new();
    for (at, on) in tables.into_iter().enumerate() {
        let is_present = on.name == WHEEL;
        // Tests have what the package has.
        let is_repeated = at > 0 && on.kind == DependencyKind::Development;
        let needs = needs.iter().copied().filter(|_| !is_repeated);
        let needs = needs.chain(has(on, "test-util").then_some("test-util"));
        let lacks = needs.filter(|need| !is_present || !has(on, need));
        let features: Vec<_> = lacks.map(|feature| format!("--features={feature}")).collect();
        if !features.is_empty() || !is_present && !is_repeated {
            let rename = on.rename.iter().map(|name| format!("--rename={name}"));
            let there: Vec<_> = [WHEEL.to_owned()].into_iter().chain(rename).collect();
            let source = if is_present { &there } else { source };
            commands.push(command(package, "add", on, &[source, &features].concat()));
        }
    }
    commands
}

/// Removes tokio-wheel, and adds the packages that the files need, with their timers.
pub(crate) fn back(package: &Package, needs: &BTreeSet<&str>) -> Vec<Command> {
    let wheels: Vec<_> = dependencies(package, WHEEL).collect();
    let removed = wheels.iter().map(|on| {
        let name = on.rename.clone().unwrap_or(WHEEL.to_owned());
        command(package, "remove", on, &[name])
    });
    let timed = wheels.iter().take(1).flat_map(|on| needs.iter().map(|name| (*on, *name, "time")));
    let paused = wheels.iter().filter(|on| has(on, "test-util"));
    let paused = paused.map(|on| (*on, "tokio", "test-util"));
    let lacks = timed.chain(paused).filter(|(on, name, feature)| {
        let kinds = [on.kind, DependencyKind::Normal];
        let mut there = dependencies(package, name).filter(|there| kinds.contains(&there.kind));
        !there.any(|there| has(there, feature))
    });
    let added = lacks.map(|(on, name, feature)| {
        command(package, "add", on, &[name.to_owned(), format!("--features={feature}")])
    });
    // A table that would be empty in between would lose its place.
    added.chain(removed).collect()
}

fn dependencies<'a>(package: &'a Package, name: &str) -> impl Iterator<Item = &'a Dependency> {
    package.dependencies.iter().filter(move |on| on.name == name)
}

/// Returns `true` if a feature is on. `full` and tokio's `test-util` turn `time` on, too.
fn has(on: &Dependency, wanted: &str) -> bool {
    let has_time = |feature: &str| wanted == "time" && ["full", "test-util"].contains(&feature);
    on.features.iter().any(|feature| feature == wanted || has_time(feature))
}

/// A command about the table that has a dependency.
fn command(package: &Package, verb: &str, on: &Dependency, others: &[String]) -> Command {
    let kind = match on.kind {
        DependencyKind::Development => Some("--dev".to_owned()),
        DependencyKind::Build => Some("--build".to_owned()),
        _ => None,
    };
    let target = on.target.as_ref().map(|target| format!("--target={target}"));
    let table = kind.into_iter().chain(target).chain(others.iter().cloned());
    let manifest = format!("--manifest-path={}", package.manifest_path);
    [verb.to_owned(), manifest].into_iter().chain(table).collect()
}
