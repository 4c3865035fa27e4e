//! A manifest: its dependencies, and what the package's files need of them.

mod change;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use toml_edit::{DocumentMut, InlineTable, Item, TableLike, Value};

use crate::moves::{COMPANIONS, Names, WHEEL};
use crate::rewrite::Needs;

/// Where the dependency is from: the registry, if nothing else is said.
#[derive(Args, Default, PartialEq)]
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

type Features = BTreeSet<String>;

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
    /// What the dependencies of the workspace are called there, their packages and their features.
    /// `None` where there is no workspace.
    pub(crate) inherited: Option<BTreeMap<String, (String, Features)>>,
    /// What the package's files need, by what cargo builds them for.
    needs: BTreeMap<Kind, Needs>,
    /// On the way back: something stays that only tokio-wheel has.
    pub(crate) keeps_wheel: bool,
    /// Has come to depend on a published tokio-wheel.
    pub(crate) takes_published: bool,
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
            takes_published: false,
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
    pub(crate) fn need(&mut self, kind: Kind, needs: &Needs) {
        self.needs.entry(kind).or_default().extend(needs);
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
            let is_known = |package: &str| COMPANIONS.iter().any(|(known, _)| *known == package);
            let library = match self.package(&place) {
                WHEEL => "wheel".to_owned(),
                package if is_known(package) => package.replace('-', "_"),
                _ => continue,
            };
            if place.key != self.package(&place) {
                names.add(&place.key.replace('-', "_"), &library);
            }
        }
        names
    }

    /// For the packages of the workspace that this is the root of.
    pub(crate) fn inheritance(&self) -> BTreeMap<String, (String, Features)> {
        let places = self.places().into_iter();
        let inherited = places.filter(|place| place.kind == Kind::Workspace);
        let dependency = |place: Place| {
            let package = self.package(&place).to_owned();
            let features = self.features(&place);
            (place.key, (package, features))
        };
        inherited.map(dependency).collect()
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
        let inherited = || Some(self.inherited_by(place)?.0.as_str());
        let named = place.get("package").and_then(Item::as_str);
        named.or_else(inherited).unwrap_or(&place.key)
    }

    fn inherited_by(&self, place: &Place) -> Option<&(String, Features)> {
        let inherited = self.inherited.as_ref()?.get(&place.key);
        inherited.filter(|_| place.is_set("workspace"))
    }

    /// What is turned on, the workspace's choice included.
    fn features(&self, place: &Place) -> Features {
        let own = place.get("features").and_then(Item::as_array);
        let own = own.into_iter().flatten().filter_map(Value::as_str);
        let inherited = self
            .inherited_by(place)
            .map(|(_, features)| features.iter());
        let inherited = inherited.into_iter().flatten();
        own.map(str::to_owned).chain(inherited.cloned()).collect()
    }

    fn places_of(&self, package: &str) -> Vec<Place> {
        let mut places = self.places();
        places.retain(|place| self.package(place) == package);
        places
    }
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

    /// Where it is from, and by which name.
    fn source(&self) -> InlineTable {
        const SOURCE: [&str; 9] = [
            "branch",
            "git",
            "package",
            "path",
            "registry",
            "rev",
            "tag",
            "version",
            "workspace",
        ];
        let mut source = InlineTable::new();
        if let Some(version) = self.item.as_str() {
            source.insert("version", version.into());
        }
        for (key, value) in self
            .item
            .as_table_like()
            .into_iter()
            .flat_map(|table| table.iter())
        {
            if let Some(value) = value.as_value().filter(|_| SOURCE.contains(&key)) {
                source.insert(key, value.clone());
            }
        }
        source.fmt();
        source
    }

    fn is_set(&self, key: &str) -> bool {
        self.get(key).and_then(Item::as_bool) == Some(true)
    }
}

#[cfg(test)]
mod tests;
