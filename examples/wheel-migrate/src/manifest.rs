//! A `Cargo.toml`: the dependency goes where tokio's stands, and going back tokio's companions go
//! where tokio-wheel stands.

use std::collections::BTreeSet;
use std::path::{MAIN_SEPARATOR, PathBuf};

use toml_edit::{Array, DocumentMut, InlineTable, Item, TableLike, Value};

use crate::Source;
use crate::moves::{COMPANIONS, Names, WHEEL};

pub(crate) struct Manifest {
    pub(crate) path: PathBuf,
    pub(crate) before: String,
    document: DocumentMut,
    /// Whether it has come to depend on a published tokio-wheel.
    pub(crate) takes_published: bool,
}

/// A table of dependencies, by the names that lead to it.
type Table = Vec<String>;

impl Manifest {
    pub(crate) fn parse(path: PathBuf, text: String) -> anyhow::Result<Self> {
        let document = text.parse()?;
        Ok(Manifest {
            path,
            before: text,
            document,
            takes_published: false,
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

    pub(crate) fn has(&self, section: &str) -> bool {
        self.document.contains_key(section)
    }

    /// What this package calls tokio, its companions and tokio-wheel.
    pub(crate) fn names(&self) -> Names {
        let mut names = Names::default();
        for table in self.tables() {
            for (key, item) in self.table(&table).into_iter().flat_map(TableLike::iter) {
                let is_known = |name: &str| COMPANIONS.iter().any(|(package, _)| *package == name);
                match package(key, item) {
                    package if package == key => {}
                    WHEEL => names.add(&key.replace('-', "_"), "wheel"),
                    package if is_known(package) => {
                        names.add(&key.replace('-', "_"), &package.replace('-', "_"));
                    }
                    _ => {}
                }
            }
        }
        names
    }

    /// Adds tokio-wheel beside tokio, or beside its companions if tokio is none of the
    /// dependencies, and turns on `features`. Returns `false` if there is no place for it.
    pub(crate) fn add_wheel(&mut self, features: &BTreeSet<&str>, source: &Source) -> bool {
        let present = self.places(WHEEL);
        for (table, key) in &present {
            turn_on(self.item(table, key), features);
        }
        let packages = COMPANIONS.iter().map(|(package, _)| self.places(package));
        let beside = packages.into_iter().find(|places| !places.is_empty());
        for (table, key) in beside.iter().flatten().filter(|_| present.is_empty()) {
            let beside = self.item(table, key).clone();
            let mut new = match is_set(&beside, "workspace") {
                true => InlineTable::from_iter([("workspace", true)]),
                false => self.dependency(source),
            };
            let mut features = features.clone();
            features.extend(Some("test-util").filter(|paused| has_feature(&beside, paused)));
            if is_set(&beside, "optional") {
                new.insert("optional", true.into());
                self.turn_on_with(key);
            }
            let mut new = value(new);
            turn_on(&mut new, &features);
            if beside.as_table().is_some_and(|table| !table.is_dotted()) {
                new = new.into_table().map_or_else(|new| new, Item::Table);
            }
            self.insert(table, WHEEL, new);
        }
        !present.is_empty() || beside.is_some()
    }

    /// Adds tokio-wheel to what the packages of this workspace inherit.
    pub(crate) fn add_wheel_to_workspace(&mut self, source: &Source) {
        let table = ["workspace", "dependencies"].map(str::to_owned).to_vec();
        if self
            .table(&table)
            .is_some_and(|table| !table.contains_key(WHEEL))
        {
            let new = value(self.dependency(source));
            self.insert(&table, WHEEL, new);
        }
    }

    /// Takes tokio-wheel out, and puts in its place the packages that the files need.
    pub(crate) fn remove_wheel(&mut self, packages: &BTreeSet<&str>, workspace: Option<&Manifest>) {
        for (table, key) in self.places(WHEEL) {
            let wheel = self.table_mut(&table).remove(&key).expect("it has a place");
            let time = packages.get("tokio").map(|_| "time");
            let paused = Some("test-util").filter(|paused| has_feature(&wheel, paused));
            let features: BTreeSet<&str> = time.into_iter().chain(paused).collect();
            if !features.is_empty() {
                self.need("tokio", &features, &table, workspace);
            }
            for package in packages.iter().filter(|package| **package != "tokio") {
                let place = self.places(package).into_iter().next();
                let table = place.map_or(table.clone(), |(table, _)| table);
                self.need(package, &BTreeSet::from(["time"]), &table, workspace);
            }
        }
        self.forget_feature();
    }

    /// Turns on features of a package in a table, and adds the package if it is not there.
    fn need(
        &mut self,
        package: &str,
        features: &BTreeSet<&str>,
        table: &Table,
        workspace: Option<&Manifest>,
    ) {
        let places = self.places(package);
        if let Some((table, key)) = places.iter().find(|place| place.0 == *table) {
            let inherited = workspace.and_then(|workspace| workspace.inherited(key));
            let item = self.item(table, key);
            let inherited = inherited.filter(|_| is_set(item, "workspace"));
            let has =
                |feature: &str| inherited.is_some_and(|inherited| has_feature(inherited, feature));
            let features = features.iter().copied().filter(|feature| !has(feature));
            turn_on(item, &features.collect());
        } else {
            let elsewhere = places
                .first()
                .map(|(table, key)| self.item(table, key).clone());
            let (_, version) = COMPANIONS
                .iter()
                .find(|row| row.0 == package)
                .expect("a companion");
            let mut new = elsewhere.map_or(value(*version), |item| same_source(&item));
            turn_on(&mut new, features);
            self.insert(table, package, new);
        }
    }

    fn inherited(&self, key: &str) -> Option<&Item> {
        self.document
            .get("workspace")?
            .get("dependencies")?
            .get(key)
    }

    /// Returns `true` if one of its tables inherits tokio-wheel from the workspace.
    pub(crate) fn inherits_wheel(&self) -> bool {
        let mut places = self.places(WHEEL).into_iter();
        places.any(|(table, key)| {
            let item = self.table(&table).and_then(|table| table.get(&key));
            item.is_some_and(|item| is_set(item, "workspace"))
        })
    }

    /// Every table of dependencies.
    fn tables(&self) -> Vec<Table> {
        let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
        let targets = self.document.get("target").and_then(Item::as_table_like);
        let targets = targets.into_iter().flat_map(TableLike::iter);
        let mut above = vec![vec![], vec!["workspace"]];
        above.extend(targets.map(|(target, _)| vec!["target", target]));
        let tables = above
            .iter()
            .flat_map(|above| kinds.map(|kind| [&above[..], &[kind]].concat()));
        let owned = tables.map(|table| table.into_iter().map(str::to_owned).collect());
        owned.filter(|table| self.table(table).is_some()).collect()
    }

    fn table(&self, table: &Table) -> Option<&dyn TableLike> {
        let mut names = table.iter();
        let item = names.try_fold(self.document.as_item(), |item, name| item.get(name));
        item?.as_table_like()
    }

    fn table_mut(&mut self, table: &Table) -> &mut dyn TableLike {
        let document = self.document.as_item_mut();
        let item = table.iter().fold(document, |item, name| &mut item[name]);
        item.as_table_like_mut().expect("`tables` has seen it")
    }

    fn item(&mut self, table: &Table, key: &str) -> &mut Item {
        self.table_mut(table)
            .get_mut(key)
            .expect("`places` has seen it")
    }

    /// The tables that have a package, and its key there.
    fn places(&self, wanted: &str) -> Vec<(Table, String)> {
        let mut places = Vec::new();
        for table in self.tables() {
            let items = self.table(&table).into_iter().flat_map(TableLike::iter);
            let key = items
                .filter(|(key, item)| package(key, item) == wanted)
                .map(|(key, _)| key);
            let key = key.map(str::to_owned).next();
            places.extend(key.map(|key| (table, key)));
        }
        places
    }

    /// Inserts a dependency, and keeps a sorted table sorted.
    fn insert(&mut self, table: &Table, key: &str, item: Item) {
        let table = self.table_mut(table);
        let is_sorted = table.iter().map(|(key, _)| key).is_sorted();
        table.insert(key, item);
        if is_sorted {
            table.sort_values();
        }
    }

    /// The dependency on tokio-wheel. A path is relative to this manifest.
    fn dependency(&mut self, source: &Source) -> InlineTable {
        let here = self.path.parent().expect("a manifest is in a directory");
        let relative = |to: &PathBuf| {
            let relative = pathdiff::diff_paths(to, here).unwrap_or_else(|| to.clone());
            relative.display().to_string().replace(MAIN_SEPARATOR, "/")
        };
        let entry = match (&source.path, &source.git) {
            (Some(to), _) => ("path", relative(to)),
            (_, Some(git)) => ("git", git.clone()),
            _ => ("version", "0.1".to_owned()),
        };
        self.takes_published |= entry.0 == "version";
        InlineTable::from_iter([entry])
    }

    /// Turns an optional tokio-wheel on with the features that turn on `key`.
    fn turn_on_with(&mut self, key: &str) {
        let all = self
            .document
            .entry("features")
            .or_insert_with(toml_edit::table);
        let Some(all) = all.as_table_like_mut() else {
            return;
        };
        let names = [format!("dep:{key}"), key.to_owned()];
        let turns_on = |value: &Value| {
            let value = value.as_str().unwrap_or_default();
            names.iter().any(|name| name == value) || value.starts_with(&format!("{key}/"))
        };
        let mut is_named = false;
        for (_, feature) in all.iter_mut() {
            let array = feature
                .as_array_mut()
                .filter(|array| array.iter().any(turns_on));
            is_named |= array
                .map(|array| array.push(format!("dep:{WHEEL}")))
                .is_some();
        }
        // Without a feature that names it, cargo makes one that has its name.
        if !is_named {
            let both = [format!("dep:{key}"), format!("dep:{WHEEL}")];
            all.insert(key, value(Array::from_iter(both)));
        }
    }

    /// Takes tokio-wheel out of the features.
    fn forget_feature(&mut self) {
        let features = self
            .document
            .get_mut("features")
            .and_then(Item::as_table_like_mut);
        for (_, feature) in features.into_iter().flat_map(TableLike::iter_mut) {
            let is_wheels = |value: &Value| {
                let value = value.as_str().unwrap_or_default();
                let package = value.trim_start_matches("dep:").split(['?', '/']).next();
                package == Some(WHEEL)
            };
            if let Some(array) = feature.as_array_mut() {
                array.retain(|value| !is_wheels(value));
            }
        }
    }
}

fn value(value: impl Into<Value>) -> Item {
    Item::Value(value.into())
}

/// The package of a dependency, which may have another name as its key.
fn package<'a>(key: &'a str, item: &'a Item) -> &'a str {
    item.get("package").and_then(Item::as_str).unwrap_or(key)
}

fn is_set(item: &Item, key: &str) -> bool {
    item.get(key).and_then(Item::as_bool) == Some(true)
}

/// Returns `true` if a dependency turns a feature on. `full` and tokio's `test-util` have `time`.
fn has_feature(item: &Item, wanted: &str) -> bool {
    let features = item.get("features").and_then(Item::as_array);
    let mut features = features.into_iter().flatten().filter_map(Value::as_str);
    features.any(|feature| {
        feature == wanted || wanted == "time" && ["full", "test-util"].contains(&feature)
    })
}

fn turn_on(item: &mut Item, features: &BTreeSet<&str>) {
    let missing: Vec<&str> = features
        .iter()
        .copied()
        .filter(|feature| !has_feature(item, feature))
        .collect();
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

/// Where a dependency is from, without its features.
fn same_source(item: &Item) -> Item {
    let mut item = item.clone();
    if let Some(table) = item.as_table_like_mut() {
        for key in ["default-features", "features", "optional"] {
            table.remove(key);
        }
    }
    item
}
