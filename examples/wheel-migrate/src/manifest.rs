//! The dependency, where tokio's stands.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use crate::moves::Names;
use crate::rewrite::Needs;

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
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PackageNeeds {
    pub(crate) library: Option<Needs>,
    pub(crate) tests: Option<Needs>,
    pub(crate) build: Option<Needs>,
}

impl PackageNeeds {
    pub(crate) fn is_empty(&self) -> bool {
        self.library.is_none() && self.tests.is_none() && self.build.is_none()
    }
}

pub(crate) struct Manifest {
    pub(crate) path: PathBuf,
    before: String,
    document: DocumentMut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Normal,
    Dev,
    Build,
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
        let of = |kind| places.iter().any(|place| place.kind == kind);
        let (mut normal, mut dev, build) = (needs.library, needs.tests, needs.build);
        // Paused clocks are for tests.
        if let Some(library) = normal.as_mut().filter(|library| library.test_util) {
            library.test_util = false;
            dev.get_or_insert_default().test_util = true;
        }
        // tokio is there for the tests alone.
        if !of(Kind::Normal) && of(Kind::Dev) {
            if let Some(library) = normal.take() {
                dev.get_or_insert_default().stream |= library.stream;
            }
        }
        // What the package has its tests have too.
        let has = there.iter().any(|place| place.kind == Kind::Normal);
        let is_enough =
            normal.is_some() && dev.is_some_and(|dev| !dev.test_util && !more_stream(dev, normal));
        if has || is_enough {
            dev = None;
        }
        let mut inherited = false;
        for (kind, needs) in [
            (Kind::Normal, normal),
            (Kind::Dev, dev),
            (Kind::Build, build),
        ] {
            let Some(needs) = needs else { continue };
            if there.iter().any(|place| place.kind == kind) {
                continue;
            }
            let mut beside: Vec<&Place> =
                places.iter().filter(|place| place.kind == kind).collect();
            let new = Place::new(kind);
            if beside.is_empty() {
                beside.push(&new);
            }
            for place in beside {
                inherited |= self.insert(place, needs, from, workspace.is_some());
            }
        }
        inherited
    }

    /// `true` if what was inserted is inherited from the workspace.
    fn insert(&mut self, beside: &Place, needs: Needs, from: &Source, has_workspace: bool) -> bool {
        let is_set = |key| {
            let value = beside.get(key).and_then(Item::as_bool);
            value == Some(true)
        };
        let inherited = has_workspace && is_set("workspace");
        let mut entry = match inherited {
            true => InlineTable::from_iter([("workspace", true)]),
            false => self.entry(from),
        };
        let features = [(needs.stream, "stream"), (needs.test_util, "test-util")];
        let features: Array = features
            .into_iter()
            .filter_map(|(needed, feature)| needed.then_some(feature))
            .collect();
        if !features.is_empty() {
            entry.insert("features", features.into());
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
            self.insert(&beside, Needs::default(), from, false);
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

fn more_stream(dev: Needs, normal: Option<Needs>) -> bool {
    dev.stream && !normal.is_some_and(|normal| normal.stream)
}

fn kinds<'a>(
    table: &'a dyn TableLike,
    path: &[&str],
) -> Vec<(Kind, Vec<String>, &'a dyn TableLike)> {
    let named = [
        (Kind::Normal, "dependencies"),
        (Kind::Dev, "dev-dependencies"),
        (Kind::Build, "build-dependencies"),
    ];
    let found = named.into_iter().filter_map(|(kind, name)| {
        let path = path.iter().chain([&name]).map(|name| name.to_string());
        Some((kind, path.collect(), table.get(name)?.as_table_like()?))
    });
    found.collect()
}

impl Place {
    /// Where a package has no tokio of its own.
    fn new(kind: Kind) -> Self {
        let table = match kind {
            Kind::Normal => "dependencies",
            Kind::Dev => "dev-dependencies",
            Kind::Build => "build-dependencies",
        };
        Place {
            kind,
            table: vec![table.to_owned()],
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

impl fmt::Debug for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Manifest").field(&self.path).finish()
    }
}

#[cfg(test)]
mod tests;
