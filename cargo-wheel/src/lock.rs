//! What a lock file says.

use anyhow::{Context as _, Result};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value, value};

pub(crate) const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The tree's packages beside tokio.
const OURS: [&str; 2] = ["tokio-wheel-whole-tree", "tokio-wheel-guard"];

/// What the version of the tree's tokio ends in.
pub(crate) const MARK: &str = "+wheel";

pub(crate) struct Lock(DocumentMut);

impl Lock {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        text.parse().map(Lock).context("this is no lock file")
    }

    fn packages(&self) -> impl Iterator<Item = &Table> {
        let packages = self.0.get("package").and_then(|item| item.as_array_of_tables());
        packages.into_iter().flat_map(ArrayOfTables::iter)
    }

    /// Returns `true` if every crate has the tree's tokio.
    pub(crate) fn is_on_tree(&self) -> bool {
        let unused =
            self.0.get("patch").and_then(|patch| patch.get("unused")?.as_array_of_tables());
        let mut unused = unused.into_iter().flat_map(ArrayOfTables::iter);
        self.packages().any(is_facade) && !unused.any(is_facade)
    }

    /// Returns the version of the registry's tokio 1.
    pub(crate) fn tokio(&self) -> Option<&str> {
        let tokios = self.packages().filter(|package| text(package, "name") == "tokio");
        tokios
            .map(|package| text(package, "version"))
            .find(|version| version.starts_with("1.") && !version.ends_with(MARK))
    }

    /// Returns the same lock file with the real tokio as the registry's, without the package in its
    /// place and without this crate. Cargo removes what only this crate depends on when it uses the
    /// file, and shortens names.
    pub(crate) fn without_the_tree(mut self) -> String {
        if self.packages().any(is_facade)
            && let Some(packages) = self.0["package"].as_array_of_tables_mut()
        {
            packages
                .retain(|package| !is_facade(package) && !OURS.contains(&text(package, "name")));
            packages.iter_mut().for_each(take_off);
        }
        self.0.as_table_mut().remove("patch");
        self.0.to_string()
    }
}

fn take_off(package: &mut Table) {
    if text(package, "name") == "tokio" && !text(package, "source").starts_with("registry") {
        package["source"] = value(REGISTRY);
    }
    if let Some(names) = package.get_mut("dependencies").and_then(Item::as_array_mut) {
        let others = names.iter().filter_map(Value::as_str).filter(|name| !OURS.contains(name));
        *names = others.map(|name| Value::from(name.replace(MARK, ""))).collect();
    }
}

fn text<'a>(package: &'a Table, key: &str) -> &'a str {
    package.get(key).and_then(|item| item.as_str()).unwrap_or_default()
}

fn is_facade(package: &Table) -> bool {
    text(package, "name") == "tokio" && text(package, "version").ends_with(MARK)
}
