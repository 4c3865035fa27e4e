//! What a lock file says.

use anyhow::{Context as _, Result};
use toml_edit::{ArrayOfTables, DocumentMut, Table, value};

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

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
        let is_unused = self.0.get("patch").is_some_and(|patch| patch.get("unused").is_some());
        self.packages().any(is_facade) && !is_unused
    }

    /// Returns the version of the registry's tokio 1.
    pub(crate) fn tokio(&self) -> Option<&str> {
        let tokios = self.packages().filter(|package| text(package, "name") == "tokio");
        tokios
            .map(|package| text(package, "version"))
            .find(|version| version.starts_with("1.") && !version.ends_with(MARK))
    }

    /// Returns the same lock file with the real tokio as the registry's, without the package in its
    /// place and without this crate. What this crate depends on stays: Cargo removes it when it uses
    /// the file.
    pub(crate) fn without_the_tree(mut self) -> String {
        self.0.as_table_mut().remove("patch");
        if !self.packages().any(is_facade) {
            return self.0.to_string();
        }
        let ours = ["tokio-wheel-whole-tree", "tokio-wheel-guard"];
        if let Some(packages) = self.0["package"].as_array_of_tables_mut() {
            packages
                .retain(|package| !is_facade(package) && !ours.contains(&text(package, "name")));
            for package in packages.iter_mut() {
                if text(package, "name") == "tokio"
                    && !text(package, "source").starts_with("registry")
                {
                    package["source"] = value(REGISTRY);
                }
                let Some(names) =
                    package.get_mut("dependencies").and_then(|item| item.as_array_mut())
                else {
                    continue;
                };
                names.retain(|name| !ours.contains(&name.as_str().unwrap_or_default()));
                for name in names.iter_mut() {
                    // With one tokio 1 left, Cargo itself shortens the name where it can.
                    let old = name.as_str().unwrap_or_default();
                    let new = toml_edit::Value::from(old.replace(MARK, ""));
                    let decor = name.decor().clone();
                    *name = new;
                    *name.decor_mut() = decor;
                }
            }
        }
        self.0.to_string()
    }
}

fn text<'a>(package: &'a Table, key: &str) -> &'a str {
    package.get(key).and_then(|item| item.as_str()).unwrap_or_default()
}

fn is_facade(package: &Table) -> bool {
    text(package, "name") == "tokio" && text(package, "version").ends_with(MARK)
}
