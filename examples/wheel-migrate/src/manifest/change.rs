//! What is added to a manifest and taken out of it: this crate where tokio stands, and going back
//! what takes its place.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{MAIN_SEPARATOR, Path};

use toml_edit::{Array, InlineTable, Item, Table, TableLike, Value};

use super::{Features, Kind, Manifest, Place, Source};
use crate::moves::{COMPANIONS, Need, WHEEL};
use crate::rewrite::Needs;

impl Manifest {
    /// Adds what the files need, beside this package, and turns the features on. Returns the
    /// packages that are inherited from the workspace.
    pub(crate) fn add(&mut self, beside: &str, from: &Source) -> BTreeSet<&'static str> {
        let beside = self.places_of(beside);
        let mut inherited = BTreeSet::new();
        for (kind, needs) in self.settled_needs(&beside) {
            let packages: BTreeSet<&str> = needs.iter().map(|(package, _)| *package).collect();
            for package in packages {
                let features = needs
                    .iter()
                    .filter(|need| need.0 == package && !need.1.is_empty());
                let features: Vec<&str> = features.map(|(_, feature)| *feature).collect();
                if self.turn_on(package, kind, &features) {
                    continue;
                }
                let there = beside.iter().filter(|place| place.kind == kind);
                let mut places: Vec<&Place> = there.collect();
                let new = Place::first(kind);
                if places.is_empty() {
                    places.push(&new);
                }
                for place in places {
                    if self.insert(package, &features, place, from) {
                        inherited.insert(package);
                    }
                }
            }
        }
        inherited
    }

    /// Adds a package to what the packages of the workspace inherit.
    pub(crate) fn add_to_workspace(&mut self, package: &str, from: &Source) {
        let there = self.places_of(package);
        if there.iter().all(|place| place.kind != Kind::Workspace) {
            self.insert(package, &[], &Place::first(Kind::Workspace), from);
        }
    }

    /// What is needed of which kind of dependency.
    fn settled_needs(&self, beside: &[Place]) -> BTreeMap<Kind, Needs> {
        let mut needs = self.needs.clone();
        let has = |kind| beside.iter().any(|place| place.kind == kind);
        // Tasks and paused clocks of a package that names no timer are no reason to change it.
        let is_reason = |(_, feature): &Need| !["rt", "test-util"].contains(feature);
        if !needs.values().flatten().any(is_reason) {
            needs.clear();
        }
        if self.has_tasks() {
            let is_other = |need: &Need| *need != ("tokio", "rt");
            needs.values_mut().for_each(|needs| needs.retain(is_other));
        }
        // Paused clocks are for tests, if nothing else is said.
        let is_paused = |place: &Place| self.features(place).contains("test-util");
        let mut normal = needs.remove(&Kind::Normal).unwrap_or_default();
        if !beside
            .iter()
            .any(|place| place.kind == Kind::Normal && is_paused(place))
        {
            let paused: Needs;
            (paused, normal) = normal.into_iter().partition(|need| need.1 == "test-util");
            needs.entry(Kind::Dev).or_default().extend(paused);
        }
        // It is there for the tests alone.
        let is_for_tests = !has(Kind::Normal) && has(Kind::Dev);
        let kind = if is_for_tests {
            Kind::Dev
        } else {
            Kind::Normal
        };
        needs.entry(kind).or_default().extend(normal);
        needs
    }

    /// Whether tokio's `rt` is turned on somewhere: in that case it need not have come with
    /// tokio-wheel.
    fn has_tasks(&self) -> bool {
        let tokio = self.places_of("tokio");
        let features = self.document.get("features").and_then(Item::as_table_like);
        let features = features.into_iter().flat_map(TableLike::iter);
        let mut names = features.filter_map(|(_, list)| list.as_array()).flatten();
        let is_rt = |name: &str| name.starts_with("tokio/rt") || name.starts_with("tokio?/rt");
        tokio
            .iter()
            .any(|place| is_on("tokio", "rt", &self.features(place), place))
            || names.any(|name| name.as_str().is_some_and(is_rt))
    }

    /// `false` if a package is not among the dependencies of this kind. Tests have those of the
    /// package, too.
    fn turn_on(&mut self, package: &str, kind: Kind, features: &[&str]) -> bool {
        let there = self.places_of(package);
        let lacks = |place: &Place| {
            let on = self.features(place);
            let is_off = |feature: &&str| !is_on(package, feature, &on, place);
            features.iter().copied().filter(is_off).collect::<Vec<_>>()
        };
        let normal = there.iter().filter(|place| place.kind == Kind::Normal);
        if kind == Kind::Dev && normal.clone().any(|place| lacks(place).is_empty()) {
            return true;
        }
        let places = there.iter().filter(|place| place.kind == kind);
        let lacking: Vec<_> = places.map(|place| (place, lacks(place))).collect();
        for (place, features) in &lacking {
            if !features.is_empty() {
                let item = self.table(&place.table).get_mut(&place.key);
                add_features(item.expect("is one of the places"), features);
            }
        }
        !lacking.is_empty()
    }

    /// `true` if the package is inherited from the workspace.
    fn insert(&mut self, package: &str, features: &[&str], beside: &Place, from: &Source) -> bool {
        let there = self.places_of(package);
        let normal = there.into_iter().find(|place| place.kind == Kind::Normal);
        let inherited = self.inherited.is_some() && beside.is_set("workspace");
        let (name, mut entry) = match &normal {
            Some(normal) => (&*normal.key, normal.source()),
            None if inherited => (package, InlineTable::from_iter([("workspace", true)])),
            None => {
                self.takes_published |= package == WHEEL && *from == Source::default();
                (package, self.source(package, from))
            }
        };
        if !features.is_empty() {
            entry.insert(
                "features",
                Array::from_iter(features.iter().copied()).into(),
            );
        }
        if beside.is_set("optional") && beside.kind == Kind::Normal {
            entry.insert("optional", true.into());
            self.enable_with(&beside.key, name);
        }
        let section = beside.item.as_table().filter(|table| !table.is_dotted());
        let item = match section {
            Some(_) => Item::Table(entry.into_table()),
            None => entry.into(),
        };
        let table = self.table(&beside.table);
        let is_sorted = table.iter().map(|(key, _)| key).is_sorted();
        table.insert(name, item);
        if is_sorted {
            table.sort_values();
        }
        inherited && normal.is_none()
    }

    /// Where a package that is not there yet is from.
    fn source(&self, package: &str, from: &Source) -> InlineTable {
        let version = COMPANIONS.iter().find(|(known, _)| *known == package);
        let (key, value): (_, Value) = match (version, from) {
            (Some((_, version)), _) => ("version", (*version).into()),
            (
                _,
                Source {
                    path: Some(path), ..
                },
            ) => ("path", self.relative(path).into()),
            (_, Source { git: Some(url), .. }) => ("git", url.into()),
            _ => ("version", env!("CARGO_PKG_VERSION").into()),
        };
        InlineTable::from_iter([(key, value)])
    }

    /// As it was given if that is absolute, and with `/` on every system.
    pub(super) fn relative(&self, path: &Path) -> String {
        let directory = self.path.parent().unwrap_or(Path::new(""));
        let absolute = dunce::canonicalize(path).ok();
        let absolute = absolute.filter(|_| path.is_relative());
        let relative = absolute.and_then(|path| pathdiff::diff_paths(path, directory));
        let path = relative.unwrap_or_else(|| path.to_owned());
        path.to_string_lossy().replace(MAIN_SEPARATOR, "/")
    }

    /// An optional tokio is turned on by features: this has to come with it.
    fn enable_with(&mut self, tokio: &str, new: &str) {
        let (ours, theirs) = (format!("dep:{new}"), format!("dep:{tokio}"));
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
        for Place { table, key, .. } in self.places_of(WHEEL) {
            self.table(&table).remove(&key);
            if let Some(features) = self.document.get_mut("features") {
                let features = features.as_table_like_mut().into_iter();
                features
                    .flat_map(arrays)
                    .for_each(|list| take_out(&key, list));
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

/// Takes a dependency that has gone out of a feature's list. The feature that turns it on by its
/// own name stays, as others may.
fn take_out(key: &str, list: &mut Array) {
    let (dep, of) = (format!("dep:{key}"), format!("{key}/"));
    let of_optional = format!("{key}?/");
    list.retain(|name| {
        let name = name.as_str().unwrap_or_default();
        name != dep && !name.starts_with(&of) && !name.starts_with(&of_optional)
    });
}

/// Whether a feature is among these, or comes with one of them.
fn is_on(package: &str, feature: &str, on: &Features, place: &Place) -> bool {
    let with: &[&str] = match (package, feature) {
        // By default.
        ("tokio-stream", "time") if place.get("default-features").is_none() => return true,
        ("tokio", "test-util") => &[],
        ("tokio", "rt") => &["full", "rt-multi-thread"],
        (WHEEL, "test-util") => &[],
        _ => &["full"],
    };
    on.contains(feature) || with.iter().any(|with| on.contains(*with))
}

fn add_features(item: &mut Item, features: &[&str]) {
    if let Some(version) = item.as_str() {
        let table = InlineTable::from_iter([("version", version)]);
        *item = table.into();
    }
    let table = item
        .as_table_like_mut()
        .expect("cargo takes a text or a table");
    let list = table
        .entry("features")
        .or_insert_with(|| Array::new().into());
    if let Some(list) = list.as_array_mut() {
        features.iter().for_each(|feature| list.push(*feature));
    }
    if let Some(table) = item.as_inline_table_mut() {
        // Without it a space before the comma.
        table.fmt();
    }
}
