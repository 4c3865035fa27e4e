//! Edits a `Cargo.toml`: adds tokio-wheel beside tokio, and on the way back replaces it by the packages
//! that the files need.

use std::collections::BTreeSet;
use std::mem;

use anyhow::Result;
use toml_edit::{Array, DocumentMut, InlineTable, Item, TableLike, Value, value};

use super::moves::{COMPANIONS, WHEEL};

/// Edits a text, and keeps the line ends that it has.
pub(crate) fn edited(before: &str, edit: impl FnOnce(&mut DocumentMut)) -> Result<String> {
    let mut manifest = before.parse()?;
    edit(&mut manifest);
    let text = manifest.to_string();
    Ok(match before.contains("\r\n") {
        true => text.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => text,
    })
}

type Names<'a> = BTreeSet<&'a str>;

/// Adds tokio-wheel beside tokio, or beside a companion if tokio is none of the dependencies.
/// `inherited` has the dependencies of the workspace, where a feature may be enabled too.
pub(crate) fn add_wheel(toml: &mut DocumentMut, features: &Names, new: &Item, inherited: &Item) {
    let tables = tables(toml.as_table_mut());
    let has = |package: &&str| tables.iter().any(|(_, table)| find(*table, package).is_some());
    let companions = COMPANIONS.iter().map(|(package, _)| *package);
    let beside = [WHEEL].into_iter().chain(companions).find(has).unwrap_or(WHEEL);
    let mut is_there = false;
    for (is_dev, table) in tables {
        let Some((key, item)) = find(table, beside) else {
            continue;
        };
        // What tests need beyond the dependencies.
        let is_paused = is_enabled(&item, inherited.get(&key), "test-util");
        let is_repeated = is_dev && is_there;
        if is_repeated && !is_paused {
            continue;
        }
        is_there = true;
        let is_present = beside == WHEEL;
        let (key, mut wheel) = if is_present { (&*key, item) } else { (WHEEL, new.clone()) };
        let features = features.iter().copied().filter(|_| !is_repeated);
        for feature in features.chain(is_paused.then_some("test-util")) {
            enable(&mut wheel, feature);
        }
        set(table, key, wheel);
    }
}

/// Replaces tokio-wheel by the packages that the files need.
pub(crate) fn remove_wheel(toml: &mut DocumentMut, mut packages: Names, inherited: &Item) {
    for (_, table) in tables(toml.as_table_mut()) {
        let Some((key, wheel)) = find(table, WHEEL) else {
            continue;
        };
        table.remove(&key);
        let timed = mem::take(&mut packages).into_iter().map(|package| (package, "time"));
        let paused = has_feature(&wheel, "test-util").then_some(("tokio", "test-util"));
        for (package, feature) in timed.chain(paused) {
            let version = COMPANIONS.iter().find(|row| row.0 == package).map_or("*", |row| row.1);
            let new = || (package.to_owned(), value(version));
            let (key, mut item) = find(table, package).unwrap_or_else(new);
            if !is_enabled(&item, inherited.get(&key), feature) {
                enable(&mut item, feature);
            }
            set(table, &key, item);
        }
    }
}

/// Returns every table of dependencies, including those of targets, but not the workspace's. Those of
/// tests are marked, and last.
fn tables(above: &mut dyn TableLike) -> Vec<(bool, &mut dyn TableLike)> {
    let mut tables = Vec::new();
    for (name, item) in above.iter_mut() {
        match (name.get(), item.as_table_like_mut()) {
            ("workspace", _) | (_, None) => {}
            ("dependencies" | "build-dependencies", Some(table)) => tables.push((false, table)),
            ("dev-dependencies", Some(table)) => tables.push((true, table)),
            (_, Some(table)) => tables.extend(self::tables(table)),
        }
    }
    tables.sort_by_key(|(is_dev, _)| *is_dev);
    tables
}

/// Finds a package in a table, which may have another name as its key.
fn find(table: &dyn TableLike, wanted: &str) -> Option<(String, Item)> {
    let is_it = |(key, item): &(&str, &Item)| match item.get("package") {
        Some(package) => package.as_str() == Some(wanted),
        None => *key == wanted,
    };
    table.iter().find(is_it).map(|(key, item)| (key.to_owned(), item.clone()))
}

/// Sets a dependency, and keeps a sorted table sorted.
fn set(table: &mut dyn TableLike, key: &str, item: Item) {
    let is_sorted = table.iter().map(|(key, _)| key).is_sorted();
    match table.get_mut(key) {
        Some(old) => *old = item,
        None => _ = table.insert(key, item),
    }
    if is_sorted {
        table.sort_values();
    }
}

/// Returns `true` if a feature is enabled, in the item or in what it inherits.
fn is_enabled(item: &Item, inherited: Option<&Item>, feature: &str) -> bool {
    let inherited = inherited.filter(|_| item.get("workspace").is_some());
    has_feature(item, feature) || inherited.is_some_and(|item| has_feature(item, feature))
}

/// Returns `true` if an item enables a feature. `full` and tokio's `test-util` enable `time` too.
fn has_feature(item: &Item, wanted: &str) -> bool {
    let features = item.get("features").and_then(Item::as_array);
    let mut features = features.into_iter().flatten().filter_map(Value::as_str);
    let has_time = |feature| wanted == "time" && ["full", "test-util"].contains(&feature);
    features.any(|feature| feature == wanted || has_time(feature))
}

fn enable(item: &mut Item, feature: &str) {
    if has_feature(item, feature) {
        return;
    }
    if let Some(version) = item.as_str() {
        *item = value(InlineTable::from_iter([("version", version)]));
    }
    if let Some(features) = item["features"].or_insert(value(Array::new())).as_array_mut() {
        features.push(feature);
    }
    if let Some(table) = item.as_inline_table_mut() {
        table.fmt();
    }
}
