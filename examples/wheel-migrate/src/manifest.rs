//! The dependency, where tokio's stands.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use crate::moves::Names;
use crate::rewrite::Features;

const WHEEL: &str = "tokio-wheel";

/// Where the dependency is from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Registry,
    /// Absolute, and as it was given.
    Path(PathBuf, PathBuf),
    Git(String),
}

/// What a package's files need, by what cargo builds them for.
pub(crate) type PackageNeeds = BTreeMap<Kind, Features>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Normal,
    Dev,
    Build,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Normal, Kind::Dev, Kind::Build];

    fn table(self) -> &'static str {
        match self {
            Kind::Normal => "dependencies",
            Kind::Dev => "dev-dependencies",
            Kind::Build => "build-dependencies",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Manifest {
    pub(crate) path: PathBuf,
    before: String,
    document: DocumentMut,
}

/// A dependency's place: its table, and its name there.
struct Place {
    kind: Kind,
    table: Vec<String>,
    key: String,
    item: Item,
}

impl Manifest {
    pub(crate) fn parse(path: PathBuf, text: String) -> Result<Self, String> {
        let document = text.parse().map_err(|error| format!("{error}"))?;
        Ok(Manifest {
            path,
            before: text,
            document,
        })
    }

    pub(crate) fn is_package(&self) -> bool {
        self.document.contains_key("package")
    }

    pub(crate) fn is_workspace(&self) -> bool {
        self.document.contains_key("workspace")
    }

    pub(crate) fn has_library(&self) -> bool {
        let beside = self.path.with_file_name("src").join("lib.rs");
        self.document.contains_key("lib") || beside.is_file()
    }

    pub(crate) fn has_changed(&self) -> bool {
        self.text() != self.before
    }

    /// With the line ends that it had.
    pub(crate) fn text(&self) -> String {
        let text = self.document.to_string();
        match self.before.contains("\r\n") {
            true => text.replace("\r\n", "\n").replace('\n', "\r\n"),
            false => text,
        }
    }

    /// The lines that have gone and come.
    pub(crate) fn difference(&self) -> Vec<String> {
        let after = self.text();
        let only = |these: &str, those: &str, sign: &str| {
            let mut those: Vec<&str> = those.lines().collect();
            let mut only = Vec::new();
            for line in these.lines().filter(|line| !line.trim().is_empty()) {
                match those.iter().position(|other| *other == line) {
                    Some(at) => drop(those.remove(at)),
                    None => only.push(format!("{sign} {}", line.trim())),
                }
            }
            only
        };
        let mut lines = only(&self.before, &after, "-");
        lines.extend(only(&after, &self.before, "+"));
        lines
    }

    /// What this package calls tokio, its companions and tokio-wheel.
    pub(crate) fn names(&self, workspace: Option<&Manifest>) -> Names {
        const LIBRARIES: [(&str, &str); 4] = [
            ("tokio", "tokio"),
            ("tokio-stream", "tokio_stream"),
            ("tokio-util", "tokio_util"),
            (WHEEL, "wheel"),
        ];
        let mut names = Names::default();
        for (package, library) in LIBRARIES {
            for place in self.places(package, workspace) {
                if place.key != package {
                    names.add(&place.key.replace('-', "_"), library);
                }
            }
        }
        names
    }

    /// Every place where a package is depended on.
    fn places(&self, package: &str, workspace: Option<&Manifest>) -> Vec<Place> {
        let root = self.document.as_table();
        let mut tables = kinds(root, &[]);
        if let Some(targets) = root.get("target").and_then(Item::as_table_like) {
            for (target, item) in targets.iter() {
                if let Some(table) = item.as_table_like() {
                    tables.extend(kinds(table, &["target", target]));
                }
            }
        }
        let entries = tables.into_iter().flat_map(|(kind, path, table)| {
            table.iter().map(move |(key, item)| Place {
                kind,
                table: path.clone(),
                key: key.to_owned(),
                item: item.clone(),
            })
        });
        entries
            .filter(|place| place.package(workspace) == package)
            .collect()
    }

    /// Adds the dependency in each place where a package has tokio for what needs it. With a
    /// dependency that is there already its features are settled. `true` if it is inherited from
    /// the workspace.
    pub(crate) fn add(
        &mut self,
        needs: &PackageNeeds,
        from: &Source,
        workspace: Option<&Manifest>,
    ) -> bool {
        let places = self.places("tokio", workspace);
        let there = self.places(WHEEL, workspace);
        let mut inherited = false;
        for (kind, features) in settled(needs.clone(), &places, &there) {
            let new = Place::new(kind);
            let mut beside: Vec<_> = places.iter().filter(|place| place.kind == kind).collect();
            if beside.is_empty() {
                beside.push(&new);
            }
            for place in beside {
                inherited |= self.insert(place, &features, from, workspace.is_some());
            }
        }
        inherited
    }

    /// `true` if what was inserted is inherited from the workspace.
    fn insert(
        &mut self,
        beside: &Place,
        features: &Features,
        from: &Source,
        has_workspace: bool,
    ) -> bool {
        let is_set = |key| beside.get(key).and_then(Item::as_bool) == Some(true);
        let inherited = has_workspace && is_set("workspace");
        let mut entry = match inherited {
            true => InlineTable::from_iter([("workspace", true)]),
            false => self.entry(from),
        };
        if !features.is_empty() {
            entry.insert(
                "features",
                Array::from_iter(features.iter().copied()).into(),
            );
        }
        if is_set("optional") && beside.kind == Kind::Normal {
            entry.insert("optional", true.into());
            self.enable_with(&beside.key);
        }
        entry.fmt();
        let table = self.table(&beside.table);
        let ranks: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
        let is_section = beside
            .item
            .as_table()
            .is_some_and(|table| !table.is_dotted());
        let item = match is_section {
            true => Item::Table(entry.into_table()),
            false => Item::Value(Value::InlineTable(entry)),
        };
        table.insert(WHEEL, item);
        if !is_section {
            // Below tokio's line.
            let rank = |key: &str| match key {
                WHEEL => ranks.iter().position(|other| *other == beside.key),
                _ => ranks.iter().position(|other| other == key),
            };
            table.sort_values_by(|one, _, other, _| {
                (rank(one), *one == WHEEL).cmp(&(rank(other), *other == WHEEL))
            });
        }
        inherited
    }

    /// Adds the dependency to `[workspace.dependencies]`.
    pub(crate) fn add_to_workspace(&mut self, from: &Source) {
        let beside = Place {
            table: vec!["workspace".to_owned(), "dependencies".to_owned()],
            ..Place::new(Kind::Normal)
        };
        let inherited = self.table(&beside.table);
        if !inherited.contains_key(WHEEL) {
            self.insert(&beside, &Features::new(), from, false);
        }
    }

    fn entry(&self, from: &Source) -> InlineTable {
        let (key, value) = match from {
            Source::Registry => ("version", env!("CARGO_PKG_VERSION").to_owned()),
            Source::Git(url) => ("git", url.clone()),
            Source::Path(absolute, given) => {
                let directory = self.path.parent().unwrap_or(Path::new(""));
                let path = match given.is_absolute() {
                    true => given.clone(),
                    false => relative(directory, absolute),
                };
                ("path", path.to_string_lossy().replace('\\', "/"))
            }
        };
        InlineTable::from_iter([(key, value)])
    }

    /// An optional tokio is turned on by features: this has to come with it.
    fn enable_with(&mut self, tokio: &str) {
        let (ours, theirs) = (format!("dep:{WHEEL}"), format!("dep:{tokio}"));
        let below = format!("{tokio}/");
        let table = self.table(&["features".to_owned()]);
        let mut is_implicit = true;
        for (_, item) in table.iter_mut() {
            let Some(list) = item.as_array_mut() else {
                continue;
            };
            let names = |test: &dyn Fn(&str) -> bool| {
                let mut names = list.iter().filter_map(Value::as_str);
                names.any(test)
            };
            let is_named = names(&|name| name == theirs);
            is_implicit &= !is_named;
            if (is_named || names(&|name| name.starts_with(&below))) && !names(&|name| name == ours)
            {
                push_as_the_last(list, &ours);
            }
        }
        if is_implicit {
            // The feature that cargo makes of the dependency.
            let both: Array = [theirs, ours].into_iter().collect();
            table.insert(tokio, Item::Value(both.into()));
        }
    }

    /// Takes the dependency out, wherever it is.
    pub(crate) fn remove(&mut self, workspace: Option<&Manifest>) {
        for place in self.places(WHEEL, workspace) {
            self.table(&place.table).remove(&place.key);
        }
        let workspace = self.document.get_mut("workspace");
        let inherited = workspace.and_then(|all| all.as_table_like_mut()?.get_mut("dependencies"));
        if let Some(inherited) = inherited.and_then(Item::as_table_like_mut) {
            inherited.remove(WHEEL);
        }
        if let Some(features) = self.document.get_mut("features") {
            let ours = format!("dep:{WHEEL}");
            let lists = features.as_table_like_mut().into_iter();
            for (_, item) in lists.flat_map(TableLike::iter_mut) {
                if let Some(list) = item.as_array_mut() {
                    list.retain(|name| name.as_str() != Some(&ours));
                }
            }
        }
    }

    /// A table, which is made if there is none.
    fn table(&mut self, path: &[String]) -> &mut Table {
        let (last, above) = path.split_last().expect("no place is without a table");
        let mut table = self.document.as_table_mut();
        for name in above {
            let item = table.entry(name).or_insert_with(|| {
                let mut implicit = Table::new();
                implicit.set_implicit(true);
                Item::Table(implicit)
            });
            table = as_table(item);
        }
        as_table(table.entry(last).or_insert_with(toml_edit::table))
    }
}

/// `dependencies = { … }` becomes a section, too.
fn as_table(item: &mut Item) -> &mut Table {
    if !item.is_table() {
        let table = std::mem::take(item).into_table().unwrap_or_default();
        *item = Item::Table(table);
    }
    item.as_table_mut().expect("made one above")
}

/// On a line of its own, where the others are.
fn push_as_the_last(list: &mut Array, name: &str) {
    let last = list.iter().last();
    let line = last
        .and_then(|last| last.decor().prefix()?.as_str())
        .filter(|prefix| prefix.contains('\n'))
        .map(str::to_owned);
    match line {
        Some(line) => list.push_formatted(Value::from(name).decorated(line, "")),
        None => list.push(name),
    }
}

/// The dependencies that are missing, each with its features.
fn settled(mut needs: PackageNeeds, tokio: &[Place], there: &[Place]) -> PackageNeeds {
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
    let is_enough = match (needs.get(&Kind::Normal), needs.get(&Kind::Dev)) {
        (Some(normal), Some(dev)) => dev.is_subset(normal),
        _ => false,
    };
    if is_enough || has(there, Kind::Normal) {
        needs.remove(&Kind::Dev);
    }
    needs.retain(|kind, _| !has(there, *kind));
    needs
}

/// The tables of dependencies in a table, and what each is called below `path`.
fn kinds<'a>(
    table: &'a dyn TableLike,
    path: &[&str],
) -> Vec<(Kind, Vec<String>, &'a dyn TableLike)> {
    let found = Kind::ALL.into_iter().filter_map(|kind| {
        let dependencies = table.get(kind.table())?.as_table_like()?;
        let path = [path, &[kind.table()]].concat();
        Some((
            kind,
            path.into_iter().map(str::to_owned).collect(),
            dependencies,
        ))
    });
    found.collect()
}

impl Place {
    /// Where a package has no tokio of its own.
    fn new(kind: Kind) -> Self {
        Place {
            kind,
            table: vec![kind.table().to_owned()],
            key: "tokio".to_owned(),
            item: Item::None,
        }
    }

    fn get(&self, key: &str) -> Option<&Item> {
        self.item.as_table_like()?.get(key)
    }

    /// The package that is depended on, which may have another name here.
    fn package<'a>(&'a self, workspace: Option<&'a Manifest>) -> &'a str {
        let inherited = || {
            self.get("workspace")?;
            let all = workspace?.document.get("workspace")?.get("dependencies")?;
            all.get(&self.key)?.get("package")?.as_str()
        };
        let named = self.get("package").and_then(Item::as_str);
        named.or_else(inherited).unwrap_or(&self.key)
    }
}

/// From one directory to another; both are absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to): (Vec<Component<'_>>, Vec<_>) =
        (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other);
    let common = common.count();
    let up = from[common..].iter().map(|_| Component::ParentDir);
    up.chain(to[common..].iter().copied()).collect()
}

#[cfg(test)]
mod tests;
