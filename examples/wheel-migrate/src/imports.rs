//! What becomes of declarations of imports.

use std::ops::Range;

use syn::{ItemUse, UseTree, Visibility};

use crate::rewrite::File;
use crate::scope::{self, leaves};
use crate::syntax::range;

/// What takes the place of what moves of a tree: the module it is in then, and the rest as it
/// stands.
struct Piece {
    module: String,
    rest: String,
}

impl File<'_> {
    pub(crate) fn imports(&mut self) {
        let all = &self.syntax.imports;
        for (at, import) in all.iter().enumerate() {
            self.import(import, at, all);
        }
    }

    fn import(&mut self, import: &ItemUse, at: usize, all: &[ItemUse]) {
        let above = scope::above(import);
        let mut stays = false;
        for leaf in leaves(&import.tree, &above) {
            self.note_needs(&leaf.path);
            if !self.goes(&leaf.path) {
                stays = true;
                self.look_at(range(&import.use_token).start, &leaf.path);
            }
        }
        if !leaves(&import.tree, &above)
            .iter()
            .any(|leaf| self.goes(&leaf.path))
        {
            return;
        }
        let mut pieces = Vec::new();
        let is_public = !matches!(import.vis, Visibility::Inherited);
        self.pieces(&import.tree, &above, is_public, &mut pieces);
        let pieces = joined(pieces);
        let pieces = self.join(pieces, at, all);
        let declarations = self.declarations(import, &pieces);
        let whole = range(import);
        if stays {
            self.cut(&import.tree, &above);
            self.edits.push((whole.end..whole.end, declarations));
        } else if declarations.is_empty() {
            self.edits.push((self.with_line_end(whole), declarations));
        } else {
            self.edits
                .push((whole, declarations.trim_start().to_owned()));
        }
    }

    /// Whether an import does not stay as it is.
    fn goes(&self, path: &[String]) -> bool {
        self.scope.moves(path).is_some() || self.scope.drops(path)
    }

    /// One for each of these trees, on a line of its own, with the attributes and the visibility
    /// of the declaration that they were in.
    fn declarations(&self, import: &ItemUse, pieces: &[String]) -> String {
        let before = self.before(import);
        let indent = self.indent(range(import).start);
        let declarations = pieces
            .iter()
            .map(|piece| format!("\n{indent}{before}use {piece};"));
        declarations.collect()
    }

    /// Its attributes and its visibility.
    fn before(&self, import: &ItemUse) -> &str {
        &self.source[range(import).start..range(&import.use_token).start]
    }

    fn indent(&self, start: usize) -> &str {
        let line = self.source[..start].rfind('\n').map_or(0, |end| end + 1);
        let before = &self.source[line..start];
        if before.trim().is_empty() { before } else { "" }
    }

    /// And the rest of its line; of the last line the end of the one before.
    fn with_line_end(&self, whole: Range<usize>) -> Range<usize> {
        let start = whole.start - self.indent(whole.start).len();
        let rest = &self.source[whole.end..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\r']).len();
        match rest[blank..].starts_with('\n') {
            true => start..whole.end + blank + 1,
            false if rest.is_empty() => self.source[..start].trim_end().len()..whole.end,
            false => start..whole.end + blank,
        }
    }

    /// Takes out of a tree what moves.
    fn cut(&mut self, tree: &UseTree, prefix: &[String]) {
        let path = scope::path(tree, prefix);
        let nodes: Vec<&UseTree> = match tree {
            UseTree::Path(node) => return self.cut(&node.tree, &path),
            UseTree::Group(group) => group.items.iter().collect(),
            _ => return,
        };
        let last = nodes.iter().rposition(|node| !self.all_go(node, &path));
        for (at, node) in nodes.iter().enumerate() {
            if !self.all_go(node, &path) {
                self.cut(node, &path);
                continue;
            }
            let cut = match nodes.get(at + 1) {
                // With the comma behind it.
                Some(next) if Some(at) < last => range(*node).start..range(*next).start,
                // With the comma before it.
                _ => range(nodes[at - 1]).end..range(*node).end,
            };
            self.edits.push((cut, String::new()));
        }
    }

    fn all_go(&self, tree: &UseTree, prefix: &[String]) -> bool {
        leaves(tree, prefix)
            .iter()
            .all(|leaf| self.goes(&leaf.path))
    }

    fn pieces(&self, tree: &UseTree, prefix: &[String], is_public: bool, pieces: &mut Vec<Piece>) {
        let path = scope::path(tree, prefix);
        match (tree, scope::name(tree), self.scope.moves(&path)) {
            _ if self.scope.drops(&path) => {}
            (_, Some(name), Some(moved)) => {
                let rest = &self.source[range(name).end..range(tree).end];
                let (module, new) = moved.to.rsplit_once("::").unwrap_or(("", &moved.to));
                // Other modules know it by the name that it had.
                let is_renamed = is_public && matches!(tree, UseTree::Name(_)) && name != new;
                let alias = if is_renamed {
                    format!(" as {name}")
                } else {
                    String::new()
                };
                let module = module.to_owned();
                let rest = format!("{new}{rest}{alias}");
                pieces.push(Piece { module, rest });
            }
            (UseTree::Path(node), ..) => self.pieces(&node.tree, &path, is_public, pieces),
            (UseTree::Group(group), ..) => {
                let nodes = group.items.iter();
                nodes.for_each(|node| self.pieces(node, &path, is_public, pieces));
            }
            _ => {}
        }
    }

    /// Puts pieces into a group of their module's in the same paragraph, `use tokio::{…}`, and
    /// returns the others. A declaration that was split is one again.
    fn join(&mut self, mut pieces: Vec<String>, at: usize, all: &[ItemUse]) -> Vec<String> {
        let mut first = at;
        while first > 0 && self.are_neighbours(&all[first - 1], &all[first]) {
            first -= 1;
        }
        let count = all[first..]
            .windows(2)
            .take_while(|two| self.are_neighbours(&two[0], &two[1]));
        let paragraph = &all[first..=first + count.count()];
        let alike = |other: &&ItemUse| self.before(other) == self.before(&all[at]);
        let groups = paragraph.iter().filter(alike).filter_map(|other| {
            let prefix = scope::above(other);
            self.end_of_group(&other.tree, &prefix)
        });
        for (module, end, between) in groups.collect::<Vec<_>>() {
            pieces.retain(|piece| {
                let below = piece.strip_prefix(&module);
                let insert = below.map(|piece| (end..end, format!(",{between}{piece}")));
                self.edits.extend(insert.clone());
                insert.is_none()
            });
        }
        pieces
    }

    /// Nothing is between them.
    fn are_neighbours(&self, one: &ItemUse, other: &ItemUse) -> bool {
        let between = self.source.get(range(one).end..range(other).start);
        between.is_some_and(|between| between.trim().is_empty())
    }

    /// The module of a group and the colons, where the last of what stays in the group ends, and
    /// what is between two of the group.
    fn end_of_group(&self, tree: &UseTree, prefix: &[String]) -> Option<(String, usize, String)> {
        let group = match tree {
            UseTree::Path(node) => {
                return self.end_of_group(&node.tree, &scope::path(tree, prefix));
            }
            UseTree::Group(group) if !prefix.is_empty() => group,
            _ => return None,
        };
        let start = group.brace_token.span.open().byte_range().end;
        let space = &self.source[start..range(group.items.first()?).start];
        let mut nodes = group.items.iter();
        let last = nodes.rfind(|node| !self.all_go(node, prefix))?;
        let between = if space.contains('\n') { space } else { " " };
        let module = format!("{}::", prefix.join("::"));
        Some((module, range(last).end, between.to_owned()))
    }
}

/// A tree for each module.
fn joined(pieces: Vec<Piece>) -> Vec<String> {
    let same = pieces.chunk_by(|one, other| one.module == other.module);
    let trees = same.map(|pieces| match pieces {
        [Piece { module, rest }] => format!("{module}::{rest}"),
        _ => {
            let rest: Vec<&str> = pieces.iter().map(|piece| &*piece.rest).collect();
            format!("{}::{{{}}}", pieces[0].module, rest.join(", "))
        }
    });
    trees.collect()
}
