//! What names mean in a file, as far as its imports say.

use proc_macro2::Ident;
use syn::{ItemUse, UseTree};

use crate::moves::{BESIDE_TOKENS, Direction, Names, has_own_type, is_own_type, stays};
use crate::syntax::Syntax;

pub(crate) struct Scope<'a> {
    pub(crate) names: &'a Names,
    direction: Direction,
    imports: Vec<Leaf>,
    modules: &'a [String],
    /// Methods of tokio-util's `FutureExt` that are not about time are called.
    cancels: bool,
}

/// What a declaration imports: one of its names.
pub(crate) struct Leaf {
    /// From the crate on. `self` is not part of it.
    pub(crate) path: Vec<String>,
    /// The name that it has in the module; a glob has none.
    name: Option<String>,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(
        source: &str,
        syntax: &'a Syntax,
        direction: Direction,
        names: &'a Names,
    ) -> Self {
        let imports = syntax.imports.iter();
        Scope {
            names,
            direction,
            imports: imports
                .flat_map(|import| leaves(&import.tree, &above(import)))
                .collect(),
            modules: &syntax.modules,
            cancels: source.contains("with_cancellation_token"),
        }
    }

    /// How many names of a path are replaced, and by what here. What an import has moved along
    /// with itself is not.
    pub(crate) fn moves(&self, path: &[String]) -> Option<(usize, String)> {
        path.first()?;
        self.meanings(path).find_map(|(whole, imported)| {
            let (count, to) = self.direction.moves(&whole)?;
            if count <= imported || self.cancels && stays(&whole) == Some(BESIDE_TOKENS) {
                return None;
            }
            let to = self.names.localize(&to);
            // A module of the file may have the crate's name.
            let is_absolute = path[0].is_empty() || self.has_module(&to);
            let colons = if is_absolute { "::" } else { "" };
            let replaced = count + path.len() - whole.len();
            Some((replaced, format!("{colons}{to}")))
        })
    }

    /// The paths from a library on that a path may stand for, and how many names of each are of
    /// the path's first name or of a glob.
    fn meanings(&self, path: &[String]) -> impl Iterator<Item = (Vec<String>, usize)> {
        let whole = self.resolve(path);
        let is_open = !self.has_module(&path[0]);
        // A variable is not what a glob brings.
        let is_variable = path.len() == 1 && path[0].starts_with(char::is_lowercase);
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
        self.modules.iter().any(|module| module == first) || imports.any(is_imported)
    }

    /// Whether a path names a type of tokio's of which there is another here.
    pub(crate) fn is_own_type(&self, path: &[String]) -> bool {
        self.meanings(path).any(|(whole, _)| is_own_type(&whole))
    }

    /// The same for what a declaration makes public.
    pub(crate) fn exports_own_type(&self, import: &ItemUse) -> bool {
        let mut leaves = leaves(&import.tree, &above(import)).into_iter();
        leaves.any(|leaf| has_own_type(&self.resolve(&leaf.path)))
    }

    /// Whether tokio-stream's trait is in scope.
    pub(crate) fn has_tokio_streams(&self) -> bool {
        self.imports.iter().any(|leaf| {
            let path = self.names.by_library(&leaf.path).join("::");
            path == "tokio_stream::StreamExt" || path == "tokio_stream" && leaf.name.is_none()
        })
    }
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
    vec![Leaf { path, name }]
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
