//! The dependency, where tokio's stands.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use crate::moves::Names;
use crate::rewrite::Features;

const WHEEL: &str = "tokio-wheel";

/// Where the dependency is from: the registry, if nothing else is said.
#[derive(Args, Default)]
pub(crate) struct Source {
    /// Depend on tokio-wheel in this directory, not on a published one
    #[arg(long, value_name = "CRATE", conflicts_with = "git", value_parser = tokio_wheel)]
    path: Option<PathBuf>,
    /// Depend on tokio-wheel in this repository
    #[arg(long, value_name = "URL")]
    git: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Normal,
    Dev,
    Build,
    /// What the packages of a workspace inherit.
    Workspace,
}

/// A dependency's place: its table, and its name there.
struct Place {
    kind: Kind,
    table: Vec<String>,
    key: String,
    item: Item,
}

const TABLES: [(Kind, &[&str]); 4] = [
    (Kind::Normal, &["dependencies"]),
    (Kind::Dev, &["dev-dependencies"]),
    (Kind::Build, &["build-dependencies"]),
    (Kind::Workspace, &["workspace", "dependencies"]),
];

#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) path: PathBuf,
    pub(crate) before: String,
    document: DocumentMut,
    /// What the dependencies of the workspace are called there, and their packages. `None` where
    /// there is no workspace.
    pub(crate) inherited: Option<BTreeMap<String, String>>,
    /// What the package's files need, by what cargo builds them for.
    needs: BTreeMap<Kind, Features>,
    /// On the way back: something stays that only tokio-wheel has.
    pub(crate) keeps_wheel: bool,
}

impl Manifest {
    pub(crate) fn parse(path: PathBuf, text: String) -> Result<Self, toml_edit::TomlError> {
        Ok(Manifest {
            path,
            document: text.parse()?,
            before: text,
            inherited: None,
            needs: BTreeMap::new(),
            keeps_wheel: false,
        })
    }

    pub(crate) fn is_package(&self) -> bool {
        self.document.contains_key("package")
    }

    pub(crate) fn is_workspace(&self) -> bool {
        self.document.contains_key("workspace")
    }

    /// Whether what is public in a file is part of a library's interface.
    pub(crate) fn publishes(&self, file: &Path) -> bool {
        let sources = self.path.with_file_name("src");
        let mut programs = [sources.join("main.rs"), sources.join("bin")].into_iter();
        let has_library = self.document.contains_key("lib") || sources.join("lib.rs").is_file();
        let is_program = programs.any(|program| file.starts_with(program));
        has_library && !is_program && self.kind_of(file) == Kind::Normal
    }

    /// What cargo builds a file for.
    pub(crate) fn kind_of(&self, file: &Path) -> Kind {
        let is_in = |name: &&str| file.starts_with(self.path.with_file_name(name));
        match ["tests", "examples", "benches"].iter().any(is_in) {
            true => Kind::Dev,
            false if file == self.path.with_file_name("build.rs") => Kind::Build,
            false => Kind::Normal,
        }
    }

    /// Notes what a file needs.
    pub(crate) fn need(&mut self, kind: Kind, features: &Features, has_changed: bool) {
        if has_changed {
            self.needs.entry(kind).or_default().extend(features);
        } else if features.contains("test-util") && !self.needs.is_empty() {
            // A paused clock in a file that names no timer is for those of other files.
            self.needs.entry(Kind::Dev).or_default().insert("test-util");
        }
    }

    /// With the line ends that it had.
    pub(crate) fn text(&self) -> String {
        let text = self.document.to_string();
        match self.before.contains("\r\n") {
            true => text.replace("\r\n", "\n").replace('\n', "\r\n"),
            false => text,
        }
    }

    /// What this package calls tokio, its companions and tokio-wheel.
    pub(crate) fn names(&self) -> Names {
        let mut names = Names::default();
        for place in self.places() {
            let library = match self.package(&place) {
                WHEEL => "wheel".to_owned(),
                package @ ("tokio" | "tokio-stream" | "tokio-util") => package.replace('-', "_"),
                _ => continue,
            };
            if place.key != self.package(&place) {
                names.add(&place.key.replace('-', "_"), &library);
            }
        }
        names
    }

    /// For the packages of the workspace that this is the root of.
    pub(crate) fn renamed(&self) -> BTreeMap<String, String> {
        let places = self.places().into_iter();
        let inherited = places.filter(|place| place.kind == Kind::Workspace);
        inherited
            .map(|place| (place.key.clone(), self.package(&place).to_owned()))
            .collect()
    }

    /// Every dependency.
    fn places(&self) -> Vec<Place> {
        let targets = self.document.get("target").and_then(Item::as_table_like);
        let targets = targets.into_iter().flat_map(|all| all.iter());
        let mut above = vec![vec![]];
        above.extend(targets.map(|(target, _)| vec!["target", target]));
        let tables = above
            .iter()
            .flat_map(|above| TABLES.map(|(kind, table)| (kind, [&above[..], table].concat())));
        let places = tables.flat_map(|(kind, table)| {
            let mut path = table.iter();
            let item = path.try_fold(self.document.as_item(), |item, name| item.get(name));
            let entries = item.and_then(Item::as_table_like).into_iter();
            entries
                .flat_map(TableLike::iter)
                .map(move |(key, item)| Place {
                    key: key.to_owned(),
                    item: item.clone(),
                    ..Place::new(kind, &table)
                })
        });
        places.collect()
    }

    /// The package that is depended on, which may have another name here.
    fn package<'a>(&'a self, place: &'a Place) -> &'a str {
        let inherited = || match place.is_set("workspace") {
            true => Some(self.inherited.as_ref()?.get(&place.key)?.as_str()),
            false => None,
        };
        let named = place.get("package").and_then(Item::as_str);
        named.or_else(inherited).unwrap_or(&place.key)
    }

    fn places_of(&self, package: &str) -> Vec<Place> {
        let mut places = self.places();
        places.retain(|place| self.package(place) == package);
        places
    }

    /// Adds the dependency in each place where a package has tokio for what needs it. With a
    /// dependency that is there already its features are settled. `true` if it is inherited from
    /// the workspace.
    pub(crate) fn add(&mut self, from: &Source) -> bool {
        let tokio = self.places_of("tokio");
        let mut inherited = false;
        for (kind, features) in self.settled_needs(&tokio) {
            let mut beside: Vec<_> = tokio.iter().filter(|place| place.kind == kind).collect();
            let new = Place::first(kind);
            if beside.is_empty() {
                beside.push(&new);
            }
            for place in beside {
                inherited |= self.insert(place, &features, from);
            }
        }
        inherited
    }

    /// Adds the dependency to what the packages of the workspace inherit.
    pub(crate) fn add_to_workspace(&mut self, from: &Source) {
        let there = self.places_of(WHEEL);
        if there.iter().all(|place| place.kind != Kind::Workspace) {
            self.insert(&Place::first(Kind::Workspace), &Features::new(), from);
        }
    }

    /// The dependencies that are missing, each with its features.
    fn settled_needs(&self, tokio: &[Place]) -> BTreeMap<Kind, Features> {
        let mut needs = self.needs.clone();
        let there = self.places_of(WHEEL);
        let has = |places: &[Place], kind| places.iter().any(|place| place.kind == kind);
        // Paused clocks are for tests.
        let normal = needs.get_mut(&Kind::Normal);
        if normal.is_some_and(|features| features.remove("test-util")) {
            needs.entry(Kind::Dev).or_default().insert("test-util");
        }
        // tokio is there for the tests alone.
        if !has(tokio, Kind::Normal) && has(tokio, Kind::Dev) {
            if let Some(features) = needs.remove(&Kind::Normal) {
                needs.entry(Kind::Dev).or_default().extend(features);
            }
        }
        // What the package has its tests have too.
        let normal = needs.get(&Kind::Normal);
        let is_enough = |dev: &Features| normal.is_some_and(|normal| dev.is_subset(normal));
        if has(&there, Kind::Normal) || needs.get(&Kind::Dev).is_some_and(is_enough) {
            needs.remove(&Kind::Dev);
        }
        needs.retain(|kind, _| !has(&there, *kind));
        needs
    }

    fn insert(&mut self, beside: &Place, features: &Features, from: &Source) -> bool {
        let inherited = self.inherited.is_some() && beside.is_set("workspace");
        let (key, value): (_, Value) = match from {
            _ if inherited => ("workspace", true.into()),
            Source {
                path: Some(path), ..
            } => ("path", self.relative(path).into()),
            Source { git: Some(url), .. } => ("git", url.into()),
            _ => ("version", env!("CARGO_PKG_VERSION").into()),
        };
        let mut entry = InlineTable::from_iter([(key, value)]);
        if !features.is_empty() {
            entry.insert(
                "features",
                Array::from_iter(features.iter().copied()).into(),
            );
        }
        if beside.is_set("optional") && beside.kind == Kind::Normal {
            entry.insert("optional", true.into());
            self.enable_with(&beside.key);
        }
        let section = beside.item.as_table().filter(|table| !table.is_dotted());
        let item = match section {
            Some(_) => Item::Table(entry.into_table()),
            None => entry.into(),
        };
        let table = self.table(&beside.table);
        let is_sorted = table.iter().map(|(key, _)| key).is_sorted();
        table.insert(WHEEL, item);
        if is_sorted {
            table.sort_values();
        }
        inherited
    }

    /// As it was given if that is absolute.
    fn relative(&self, path: &Path) -> String {
        let directory = self.path.parent().unwrap_or(Path::new(""));
        let absolute = path.canonicalize().ok().filter(|_| path.is_relative());
        let relative = absolute.and_then(|path| pathdiff::diff_paths(path, directory));
        let path = relative.unwrap_or_else(|| path.to_owned());
        path.to_string_lossy().replace('\\', "/")
    }

    /// An optional tokio is turned on by features: this has to come with it.
    fn enable_with(&mut self, tokio: &str) {
        let (ours, theirs) = (format!("dep:{WHEEL}"), format!("dep:{tokio}"));
        let below = format!("{tokio}/");
        let features = self.table(&["features".to_owned()]);
        let mut is_implicit = true;
        for list in arrays(features) {
            let names: BTreeSet<&str> = list.iter().filter_map(Value::as_str).collect();
            let is_named = names.contains(theirs.as_str());
            let is_turned_on = is_named || names.iter().any(|name| name.starts_with(&below));
            is_implicit &= !is_named;
            if is_turned_on && !names.contains(ours.as_str()) {
                list.push(&ours);
            }
        }
        if is_implicit {
            // The feature that cargo makes of the dependency.
            let both = Array::from_iter([theirs, ours]);
            features.insert(tokio, Item::Value(both.into()));
        }
    }

    /// Takes the dependency out, wherever it is.
    pub(crate) fn remove(&mut self) {
        for place in self.places_of(WHEEL) {
            self.table(&place.table).remove(&place.key);
        }
        if let Some(features) = self.document.get_mut("features") {
            let ours = format!("dep:{WHEEL}");
            for list in features.as_table_like_mut().into_iter().flat_map(arrays) {
                list.retain(|name| name.as_str() != Some(&ours));
            }
        }
    }

    /// A table, which is made if there is none.
    fn table(&mut self, path: &[String]) -> &mut dyn TableLike {
        let (last, above) = path.split_last().expect("no place is without a table");
        let above = above
            .iter()
            .fold(self.document.as_item_mut(), |item, name| &mut item[name]);
        let above = above.as_table_like_mut().expect("has been read");
        let item = above
            .entry(last)
            .or_insert_with(|| Item::Table(Table::new()));
        item.as_table_like_mut().expect("cargo takes tables alone")
    }
}

fn arrays(table: &mut dyn TableLike) -> impl Iterator<Item = &mut Array> {
    table.iter_mut().filter_map(|(_, item)| item.as_array_mut())
}

/// A directory that is given by `--path`.
fn tokio_wheel(given: &str) -> Result<PathBuf, String> {
    match fs::read_to_string(Path::new(given).join("Cargo.toml")) {
        Ok(text) if text.contains("name = \"tokio-wheel\"") => Ok(given.into()),
        Ok(_) => Err("is not tokio-wheel".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

impl Place {
    /// Where there is no tokio to go beside.
    fn first(kind: Kind) -> Self {
        let (_, table) = TABLES[kind as usize];
        Place::new(kind, table)
    }

    fn new(kind: Kind, table: &[&str]) -> Self {
        Place {
            kind,
            table: table.iter().map(ToString::to_string).collect(),
            key: "tokio".to_owned(),
            item: Item::None,
        }
    }

    fn get(&self, key: &str) -> Option<&Item> {
        self.item.as_table_like()?.get(key)
    }

    fn is_set(&self, key: &str) -> bool {
        self.get(key).and_then(Item::as_bool) == Some(true)
    }
}

#[cfg(test)]
mod tests;
