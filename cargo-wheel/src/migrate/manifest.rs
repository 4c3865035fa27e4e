//! Edits a `Cargo.toml`: adds tokio-wheel beside tokio, and on the way back replaces it by the packages
//! that the files need.

use std::collections::BTreeSet;
use std::path::{MAIN_SEPARATOR, PathBuf};
use std::{iter, mem};

use toml_edit::{Array, DocumentMut, InlineTable, Item, KeyMut, TableLike, Value};

use super::Options;
use super::moves::{COMPANIONS, WHEEL};
use crate::tree;

pub(crate) struct Manifest {
    pub(crate) path: PathBuf,
    pub(crate) before: String,
    pub(crate) document: DocumentMut,
}

impl Manifest {
    pub(crate) fn parse(path: PathBuf, before: String) -> anyhow::Result<Self> {
        Ok(Manifest { path, document: before.parse()?, before })
    }

    /// Returns the edited text, with the line ends that the file had.
    pub(crate) fn text(&self) -> String {
        let text = self.document.to_string();
        match self.before.contains("\r\n") {
            true => text.replace("\r\n", "\n").replace('\n', "\r\n"),
            false => text,
        }
    }

    /// Adds tokio-wheel beside tokio, or beside a companion if tokio is none of the dependencies.
    /// `inherited` has the dependencies of the workspace, where a feature may be enabled too.
    pub(crate) fn add_wheel(
        &mut self,
        features: &BTreeSet<&str>,
        options: &Options,
        inherited: &Item,
    ) {
        let new = self.dependency(options);
        let mut tables = tables(self.document.as_table_mut());
        let companions = COMPANIONS.iter().map(|(package, _)| *package);
        let mut packages = iter::once(WHEEL).chain(companions);
        let mut has =
            |package: &str| tables.iter_mut().any(|(_, table)| find(*table, package).is_some());
        let package = packages.find(|package| has(package));
        let mut is_there = false;
        for (is_dev, table) in tables {
            let Some((key, item)) = package.and_then(|package| find(&mut *table, package)) else {
                continue;
            };
            let is_paused = is_enabled(item, inherited.get(key.get()), "test-util");
            let is_present = package == Some(WHEEL);
            // What tests need beyond the dependencies.
            let is_repeated = is_dev && is_there;
            if is_repeated && !is_paused {
                continue;
            }
            is_there = true;
            let mut wheel = if is_present { item.clone() } else { new.clone() };
            let features = features.iter().copied().filter(|_| !is_repeated);
            for feature in features.chain(is_paused.then_some("test-util")) {
                enable(&mut wheel, feature);
            }
            match is_present {
                true => *item = wheel,
                false => insert(table, WHEEL, wheel),
            }
        }
    }

    /// Replaces tokio-wheel by the packages that the files need.
    pub(crate) fn remove_wheel(&mut self, mut packages: BTreeSet<&str>, inherited: &Item) {
        let tables = tables(self.document.as_table_mut()).into_iter();
        let mut tables: Vec<_> = tables.map(|(_, table)| table).collect();
        for at in 0..tables.len() {
            let Some((key, item)) = find(tables[at], WHEEL) else {
                continue;
            };
            let (key, is_paused) = (key.to_string(), has_feature(item, "test-util"));
            tables[at].remove(&key);
            for package in mem::take(&mut packages) {
                need(&mut tables, at, package, "time", inherited);
            }
            if is_paused {
                need(&mut tables, at, "tokio", "test-util", inherited);
            }
        }
    }

    /// Returns the dependency on tokio-wheel. A path is relative to this manifest.
    fn dependency(&self, options: &Options) -> Item {
        let here = self.path.parent().unwrap_or(&self.path);
        let relative = |to: &PathBuf| {
            let relative = pathdiff::diff_paths(to, here).unwrap_or_else(|| to.clone());
            relative.display().to_string().replace(MAIN_SEPARATOR, "/")
        };
        let entry = match (&options.path, &options.git) {
            (Some(to), _) => ("path", relative(to)),
            (_, Some(git)) => ("git", git.clone()),
            _ if tree::clone().is_some() => ("path", "<--path, or --git>".to_owned()),
            _ => ("version", env!("CARGO_PKG_VERSION").to_owned()),
        };
        value(InlineTable::from_iter([entry]))
    }
}

/// Returns every table of dependencies, including those of targets, but not the workspace's. Those of
/// tests are marked, and last.
fn tables(above: &mut dyn TableLike) -> Vec<(bool, &mut dyn TableLike)> {
    let tables = above.iter_mut().flat_map(|(name, item)| {
        let table = item.as_table_like_mut();
        match name.get() {
            "dependencies" | "build-dependencies" => {
                table.map(|table| (false, table)).into_iter().collect()
            }
            "dev-dependencies" => table.map(|table| (true, table)).into_iter().collect(),
            "workspace" => Vec::new(),
            _ => table.map(tables).unwrap_or_default(),
        }
    });
    let mut tables: Vec<_> = tables.collect();
    tables.sort_by_key(|(is_dev, _)| *is_dev);
    tables
}

/// Finds a package in a table, which may have another name as its key.
fn find<'a>(table: &'a mut dyn TableLike, package: &str) -> Option<(KeyMut<'a>, &'a mut Item)> {
    table.iter_mut().find(|(key, item)| {
        let renamed = item.get("package").and_then(Item::as_str);
        renamed.unwrap_or(key) == package
    })
}

/// Inserts a dependency, and keeps a sorted table sorted.
fn insert(table: &mut dyn TableLike, key: &str, item: Item) {
    let is_sorted = table.iter().map(|(key, _)| key).is_sorted();
    table.insert(key, item);
    if is_sorted {
        table.sort_values();
    }
}

/// Enables a feature of a package in one table. A package that is missing there is added, as another
/// table has it if possible.
fn need(
    tables: &mut [&mut dyn TableLike],
    at: usize,
    package: &str,
    feature: &str,
    inherited: &Item,
) {
    if find(tables[at], package).is_none() {
        let mut elsewhere = tables.iter_mut().filter_map(|table| find(*table, package));
        let version = COMPANIONS.iter().find(|row| row.0 == package);
        let new = match elsewhere.next() {
            Some((_, item)) => item.clone(),
            None => value(version.map_or("*", |row| row.1)),
        };
        insert(tables[at], package, new);
    }
    if let Some((key, item)) = find(tables[at], package)
        && !is_enabled(item, inherited.get(key.get()), feature)
    {
        enable(item, feature);
    }
}

/// Returns `true` if a feature is enabled, in the item or in what it inherits.
fn is_enabled(item: &Item, inherited: Option<&Item>, feature: &str) -> bool {
    let inherited = inherited.filter(|_| item.get("workspace").is_some());
    let mut items = iter::once(item).chain(inherited);
    items.any(|item| has_feature(item, feature))
}

fn value(value: impl Into<Value>) -> Item {
    Item::Value(value.into())
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
    let features = &mut item["features"];
    if features.is_none() {
        *features = value(Array::new());
    }
    if let Some(array) = features.as_array_mut() {
        array.push(feature);
    }
    if let Some(table) = item.as_inline_table_mut() {
        table.fmt();
    }
}
