//! What names mean in a file, as far as its imports say.

use proc_macro2::Ident;
use syn::{ItemUse, UseTree, Visibility};

use crate::moves::{Direction, Moved, Names, has_own_type, is_own_type, starts_with};
use crate::syntax::Syntax;

pub(crate) struct Scope<'a> {
    pub(crate) names: &'a Names,
    direction: Direction,
    syntax: &'a Syntax,
    imports: Vec<Leaf>,
}

/// What a declaration imports: one of its names.
pub(crate) struct Leaf {
    /// From the crate on. `self` is not part of it.
    pub(crate) path: Vec<String>,
    /// The name that it has in the module; a glob has none.
    name: Option<String>,
    /// Whether other modules may have it from here.
    is_public: bool,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(syntax: &'a Syntax, direction: Direction, names: &'a Names) -> Self {
        Scope {
            names,
            direction,
            syntax,
            imports: syntax.imports.iter().flat_map(all_leaves).collect(),
        }
    }

    /// What is replaced of a path, and by what here. What an import has moved along with itself is
    /// not, but for its name.
    pub(crate) fn moves(&self, path: &[String]) -> Option<Moved> {
        path.first()?;
        self.meanings(path).find_map(|(whole, imported)| {
            let takes = |theirs: &str| self.takes(theirs);
            let mut moved = self.direction.moves(&whole, takes)?;
            if moved.count <= imported {
                let is_renamed = moved.count == imported && self.is_renamed(&path[0], &moved.to);
                moved.to = last(&moved.to).to_owned();
                return is_renamed.then_some(Moved { count: 1, ..moved });
            }
            moved.to = self.names.localize(&moved.to);
            // A module of the file may have the crate's name.
            let is_absolute = path[0].is_empty() || self.has_module(&moved.to);
            moved.to.insert_str(0, if is_absolute { "::" } else { "" });
            moved.count = moved.count + path.len() - whole.len();
            Some(moved)
        })
    }

    /// Whether an import brings a name that it will not have once it has moved.
    fn is_renamed(&self, name: &str, to: &str) -> bool {
        let is_it = |leaf: &&Leaf| leaf.name.as_deref() == Some(name);
        let leaf = self.imports.iter().find(is_it);
        let keeps_its_own = |leaf: &Leaf| leaf.path.last().is_some_and(|last| last == name);
        leaf.is_some_and(|leaf| keeps_its_own(leaf) && !leaf.is_public) && name != last(to)
    }

    /// What two crates have, or one of them has more of, is told apart by what the file calls.
    fn takes(&self, theirs: &str) -> bool {
        let is_forth = self.direction == Direction::Forth;
        let calls = |function| self.calls(&["Timeout", "TimeoutLayer"], function);
        match theirs {
            "tokio_util::future::FutureExt" | "tokio_util::time::FutureExt" => {
                !is_forth || !self.calls(&[], "with_cancellation_token")
            }
            "tokio_util::time::DelayQueue" => !self.calls(&["DelayQueue"], "with_wheel"),
            "tower::timeout::Timeout" | "tower::timeout::TimeoutLayer" => {
                is_forth || !calls("with_status_code")
            }
            "tower_http::timeout::Timeout" | "tower_http::timeout::TimeoutLayer" => {
                calls("with_status_code") && !calls("new")
            }
            _ => true,
        }
    }

    /// Whether the file has a function of one of these types or, without types, a method whose name
    /// begins so.
    fn calls(&self, types: &[&str], function: &str) -> bool {
        let mut paths = self.syntax.paths.iter().map(|path| &path.names[..]);
        paths.any(|path| match path {
            [.., of, name] => types.contains(&of.as_str()) && name == function,
            [name] => types.is_empty() && name.starts_with(function),
            [] => false,
        })
    }

    /// The paths from a library on that a path may stand for, and how many names of each are of
    /// the path's first name or of a glob.
    fn meanings(&self, path: &[String]) -> impl Iterator<Item = (Vec<String>, usize)> {
        let whole = self.resolve(path);
        let is_open = path.first().is_some_and(|first| !self.has_module(first));
        // A variable is not what a glob brings.
        let is_variable = matches!(path, [name] if name.starts_with(char::is_lowercase));
        let globs = self.imports.iter().filter(|leaf| leaf.name.is_none());
        let by_globs = globs.map(|glob| {
            let module = self.names.by_library(&glob.path);
            ([&module[..], path].concat(), module.len())
        });
        let by_globs = by_globs.take_while(move |_| is_open && !is_variable);
        let imported = whole.len() + 1 - path.len();
        [(whole, imported)].into_iter().chain(by_globs)
    }

    /// The path from the library on.
    pub(crate) fn resolve(&self, path: &[String]) -> Vec<String> {
        const MOST_ALIASES: usize = 3;
        let mut whole = path.to_vec();
        for _ in 0..MOST_ALIASES {
            let named = |leaf: &&Leaf| leaf.name.is_some() && leaf.name.as_ref() == whole.first();
            match self.imports.iter().find(named) {
                Some(leaf) => whole = [&leaf.path[..], &whole[1..]].concat(),
                None => break,
            }
        }
        self.names.by_library(&whole)
    }

    /// Whether the file has, or imports, a module of the name that a path begins with.
    pub(crate) fn has_module(&self, path: &str) -> bool {
        let first = path.split("::").next().unwrap_or(path);
        let mut imports = self.imports.iter();
        let is_imported = |leaf: &Leaf| leaf.name.as_deref() == Some(first) && leaf.path != [first];
        let mut modules = self.syntax.modules.iter();
        modules.any(|module| module == first) || imports.any(is_imported)
    }

    /// The paths that a path may stand for, by the names that tokio and its companions have.
    pub(crate) fn theirs(&self, path: &[String]) -> impl Iterator<Item = Vec<String>> {
        self.meanings(path).map(|(whole, _)| match self.direction {
            Direction::Forth => whole,
            Direction::Back => match self.direction.moves(&whole, |theirs| self.takes(theirs)) {
                Some(moved) => {
                    let names = moved.to.split("::").map(str::to_owned);
                    names.chain(whole[moved.count..].iter().cloned()).collect()
                }
                None => whole,
            },
        })
    }

    /// Whether a path names this, or something of it.
    pub(crate) fn is_below(&self, path: &[String], theirs: &str) -> bool {
        self.theirs(path).any(|path| starts_with(&path, theirs))
    }

    pub(crate) fn is_any(&self, path: &[String], theirs: &[&str]) -> bool {
        self.theirs(path)
            .any(|path| theirs.contains(&path.join("::").as_str()))
    }

    /// Whether a path names a type of tokio's of which there is another here, and that it moves.
    pub(crate) fn is_own_type(&self, path: &[String]) -> bool {
        self.changes(path) && self.theirs(path).any(|path| is_own_type(&path))
    }

    /// What is tokio's going back stays tokio's.
    pub(crate) fn changes(&self, path: &[String]) -> bool {
        self.direction == Direction::Forth || self.is_heres(&self.resolve(path))
    }

    /// The same for what a declaration makes public.
    pub(crate) fn exports_own_type(&self, import: &ItemUse) -> bool {
        let leaves = leaves(&import.tree, &above(import));
        let leaves = leaves.iter().filter(|leaf| self.changes(&leaf.path));
        let mut paths = leaves.flat_map(|leaf| self.theirs(&leaf.path));
        paths.any(|path| has_own_type(&path))
    }

    /// Whether the trait is in scope whose methods become calls by the name of another trait: going
    /// forth tokio-stream's, which stays for its other methods. Going back the one here, if the file
    /// has one for all other methods, which would be ambiguous beside tokio-stream's.
    pub(crate) fn names_streams(&self) -> bool {
        match self.direction {
            Direction::Forth => self.imports.iter().any(|leaf| {
                let path = self.names.by_library(&leaf.path).join("::");
                path == "tokio_stream::StreamExt" || path == "tokio_stream" && leaf.name.is_none()
            }),
            Direction::Back => self.has_streams() && self.has_other_streams(),
        }
    }

    /// Whether the trait here is in scope.
    pub(crate) fn has_streams(&self) -> bool {
        let is_here = |leaf: &Leaf| is_stream_ext(&leaf.path) && self.is_heres(&leaf.path);
        self.imports.iter().any(is_here)
    }

    /// Whether a trait for streams is in scope that is not from here.
    pub(crate) fn has_other_streams(&self) -> bool {
        let is_prelude = |path: &[String]| path.last().is_some_and(|last| last == "prelude");
        let mut imports = self
            .imports
            .iter()
            .filter(|leaf| !self.is_heres(&leaf.path));
        imports
            .any(|leaf| is_stream_ext(&leaf.path) || leaf.name.is_none() && is_prelude(&leaf.path))
    }

    pub(crate) fn is_heres(&self, path: &[String]) -> bool {
        let path = self.names.by_library(path);
        path.first().is_some_and(|name| name == "wheel") && !self.has_module("wheel")
    }

    /// Whether an import goes, and nothing takes its place.
    pub(crate) fn drops(&self, path: &[String]) -> bool {
        self.direction == Direction::Back
            && is_stream_ext(path)
            && self.is_heres(path)
            && self.has_other_streams()
    }
}

fn is_stream_ext(path: &[String]) -> bool {
    path.last().is_some_and(|last| last == "StreamExt")
}

fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

fn all_leaves(import: &ItemUse) -> Vec<Leaf> {
    let mut leaves = leaves(&import.tree, &above(import));
    for leaf in &mut leaves {
        leaf.is_public = !matches!(import.vis, Visibility::Inherited);
    }
    leaves
}

/// What the names of a declaration are below: an empty one, if it begins with `::`.
pub(crate) fn above(import: &ItemUse) -> Vec<String> {
    let colons = import.leading_colon.iter();
    colons.map(|_| String::new()).collect()
}

/// All that is imported below `prefix`.
pub(crate) fn leaves(tree: &UseTree, prefix: &[String]) -> Vec<Leaf> {
    let path = path(tree, prefix);
    let name = match tree {
        UseTree::Path(node) => return leaves(&node.tree, &path),
        UseTree::Group(group) => {
            let nodes = group.items.iter();
            return nodes.flat_map(|node| leaves(node, &path)).collect();
        }
        UseTree::Name(_) => path.last().cloned(),
        UseTree::Rename(node) => Some(node.rename.to_string()),
        _ => None,
    };
    let is_public = false;
    vec![Leaf {
        path,
        name,
        is_public,
    }]
}

/// `prefix`, and the name of this node.
pub(crate) fn path(tree: &UseTree, prefix: &[String]) -> Vec<String> {
    let name = name(tree).filter(|name| *name != "self" || prefix.is_empty());
    let mut path = prefix.to_vec();
    path.extend(name.map(ToString::to_string));
    path
}

/// A glob and a group have none.
pub(crate) fn name(tree: &UseTree) -> Option<&Ident> {
    match tree {
        UseTree::Path(node) => Some(&node.ident),
        UseTree::Name(node) => Some(&node.ident),
        UseTree::Rename(node) => Some(&node.ident),
        _ => None,
    }
}
