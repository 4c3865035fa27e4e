//! A `Cargo.toml`: tokio-wheel goes where tokio stands, and going back tokio's companions go where
//! tokio-wheel stands.

use std::collections::BTreeSet;
use std::path::{MAIN_SEPARATOR, PathBuf};

use toml_edit::{Array, DocumentMut, InlineTable, Item, TableLike, Value};

use crate::Source;
use crate::moves::{COMPANIONS, WHEEL};

pub(crate) struct Manifest {
    pub(crate) path: PathBuf,
    pub(crate) before: String,
    pub(crate) document: DocumentMut,
    /// What `workspace = true` inherits.
    pub(crate) inherited: Item,
}

/// A table of dependencies by the names that lead to it, and a key there.
type Place = (Vec<String>, String);

impl Manifest {
    pub(crate) fn parse(path: PathBuf, before: String) -> anyhow::Result<Self> {
        Ok(Manifest {
            path,
            document: before.parse()?,
            before,
            inherited: Item::None,
        })
    }

    /// The text as it is now, with the line ends that the file had.
    pub(crate) fn text(&self) -> String {
        let text = self.document.to_string();
        match self.before.contains("\r\n") {
            true => text.replace("\r\n", "\n").replace('\n', "\r\n"),
            false => text,
        }
    }

    /// Returns what the packages of this workspace inherit.
    pub(crate) fn inherited_by_members(&self) -> Item {
        let dependencies = self.document["workspace"].get("dependencies");
        dependencies.cloned().unwrap_or_default()
    }

    /// Adds tokio-wheel beside tokio, or beside a companion if tokio is none of the dependencies.
    pub(crate) fn add_wheel(&mut self, features: &BTreeSet<&str>, source: &Source) {
        let present = self.places(WHEEL);
        for place in &present {
            turn_on(self.item(place), features);
        }
        let beside = COMPANIONS.iter().map(|(package, _)| self.places(package));
        let beside = beside.into_iter().find(|places| !places.is_empty());
        for place in beside.unwrap_or_default() {
            if present.is_empty() {
                let mut features = features.clone();
                features
                    .extend(Some("test-util").filter(|paused| self.has_feature(&place, paused)));
                let mut new = self.dependency(source);
                turn_on(&mut new, &features);
                self.insert(&place.0, WHEEL, new);
            }
        }
    }

    /// Takes tokio-wheel out, and puts in its place the packages that the files need.
    pub(crate) fn remove_wheel(&mut self, packages: &BTreeSet<&'static str>) {
        for place in self.places(WHEEL) {
            let is_paused = self.has_feature(&place, "test-util");
            self.table_mut(&place.0).remove(&place.1);
            for package in packages {
                self.need(package, "time", &place.0);
            }
            if is_paused {
                self.need("tokio", "test-util", &place.0);
            }
        }
    }

    /// Turns a feature of a package on, and adds the package to a table if it is in none.
    fn need(&mut self, package: &str, feature: &'static str, table: &[String]) {
        let places = self.places(package);
        let here = places.iter().find(|place| place.0 == table);
        let place = here.or(places.first().filter(|_| feature == "time"));
        if let Some(place) = place {
            if !self.has_feature(place, feature) {
                turn_on(self.item(place), &BTreeSet::from([feature]));
            }
            return;
        }
        let mut new = match places.first() {
            Some(elsewhere) => self.item(elsewhere).clone(),
            None => value(
                COMPANIONS
                    .iter()
                    .find(|row| row.0 == package)
                    .map_or("*", |row| row.1),
            ),
        };
        turn_on(&mut new, &BTreeSet::from([feature]));
        self.insert(table, package, new);
    }

    /// The dependency on tokio-wheel. A path is relative to this manifest.
    fn dependency(&self, source: &Source) -> Item {
        let here = self.path.parent().unwrap_or(&self.path);
        let relative = |to: &PathBuf| {
            let relative = pathdiff::diff_paths(to, here).unwrap_or_else(|| to.clone());
            relative.display().to_string().replace(MAIN_SEPARATOR, "/")
        };
        let entry = match (&source.path, &source.git) {
            (Some(to), _) => ("path", relative(to)),
            (_, Some(git)) => ("git", git.clone()),
            _ => ("version", "0.1".to_owned()),
        };
        value(InlineTable::from_iter([entry]))
    }

    /// Every table of dependencies.
    fn tables(&self) -> Vec<Vec<String>> {
        let targets = self.document.get("target").and_then(Item::as_table_like);
        let targets = targets.into_iter().flat_map(TableLike::iter);
        let mut above = vec![vec![]];
        above.extend(targets.map(|(target, _)| vec!["target", target]));
        let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
        let tables = above
            .iter()
            .flat_map(|above| kinds.map(|kind| [&above[..], &[kind]].concat()));
        tables
            .map(|table| table.into_iter().map(str::to_owned).collect())
            .collect()
    }

    /// The places of a package, which may have another name as its key.
    fn places(&self, package: &str) -> Vec<Place> {
        let is_wanted = |(key, item): &(&str, &Item)| {
            let renamed = item.get("package").and_then(Item::as_str);
            renamed.unwrap_or(key) == package
        };
        let places = self.tables().into_iter().filter_map(|table| {
            let mut names = table.iter();
            let item = names.try_fold(self.document.as_item(), |item, name| item.get(name));
            let (key, _) = item?.as_table_like()?.iter().find(is_wanted)?;
            Some((table, key.to_owned()))
        });
        places.collect()
    }

    fn table_mut(&mut self, table: &[String]) -> &mut dyn TableLike {
        let document = self.document.as_item_mut();
        let item = table.iter().fold(document, |item, name| &mut item[name]);
        item.as_table_like_mut().expect("`places` has seen it")
    }

    fn item(&mut self, place: &Place) -> &mut Item {
        self.table_mut(&place.0)
            .get_mut(&place.1)
            .expect("`places` has seen it")
    }

    /// Inserts a dependency, and keeps a sorted table sorted.
    fn insert(&mut self, table: &[String], key: &str, item: Item) {
        let table = self.table_mut(table);
        let is_sorted = table.iter().map(|(key, _)| key).is_sorted();
        table.insert(key, item);
        if is_sorted {
            table.sort_values();
        }
    }

    /// Returns `true` if a feature is turned on, here or by the workspace.
    fn has_feature(&mut self, place: &Place, feature: &str) -> bool {
        let inherited = self
            .inherited
            .get(&place.1)
            .is_some_and(|item| has_feature(item, feature));
        let item = self.item(place);
        let inherits = item.get("workspace").and_then(Item::as_bool) == Some(true);
        has_feature(item, feature) || inherits && inherited
    }
}

fn value(value: impl Into<Value>) -> Item {
    Item::Value(value.into())
}

/// `full` and tokio's `test-util` turn `time` on too.
fn has_feature(item: &Item, wanted: &str) -> bool {
    let features = item.get("features").and_then(Item::as_array);
    let mut features = features.into_iter().flatten().filter_map(Value::as_str);
    let has_time = |feature| wanted == "time" && ["full", "test-util"].contains(&feature);
    features.any(|feature| feature == wanted || has_time(feature))
}

fn turn_on(item: &mut Item, features: &BTreeSet<&str>) {
    let missing = features
        .iter()
        .copied()
        .filter(|feature| !has_feature(item, feature));
    let missing: Vec<&str> = missing.collect();
    if missing.is_empty() {
        return;
    }
    if let Some(version) = item.as_str() {
        *item = value(InlineTable::from_iter([("version", version)]));
    }
    let table = item
        .as_table_like_mut()
        .expect("a dependency is a version or a table");
    let array = table.entry("features").or_insert(value(Array::new()));
    if let Some(array) = array.as_array_mut() {
        array.extend(missing);
    }
    if let Some(table) = item.as_inline_table_mut() {
        table.fmt();
    }
}
