//! `use` statements: which parts of a tree move, and the text that replaces them.

use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::TokenTree;

use super::rewrite::{File, is};

/// A tree such as `tokio::{net, time::{self, sleep}}`, by its places in the text. A glob is a name.
struct Tree {
    names: Vec<Range<usize>>,
    children: Vec<Tree>,
    range: Range<usize>,
}

impl Tree {
    fn parse(trees: &[TokenTree]) -> Self {
        let place = |tree: &TokenTree| tree.span().byte_range();
        let path = trees.iter().take_while(|tree| tree.to_string() != "as");
        let names = path.filter(|tree| matches!(tree, TokenTree::Ident(_)) || is(tree, '*'));
        let children = match trees.last() {
            Some(TokenTree::Group(group)) => {
                let inner: Vec<_> = group.stream().into_iter().collect();
                let parts = inner.split(|tree| is(tree, ','));
                parts.filter(|part| !part.is_empty()).map(Tree::parse).collect()
            }
            _ => Vec::new(),
        };
        let range = place(&trees[0]).start..place(&trees[trees.len() - 1]).end;
        Tree { names: names.map(place).collect(), children, range }
    }
}

/// What moves out of a group.
#[derive(Default)]
struct Split {
    /// The items, by their new modules.
    moved: BTreeMap<&'static str, Vec<String>>,
    removed: Vec<Range<usize>>,
}

impl File<'_> {
    /// Moves what a statement imports. Returns how many tokens it has.
    pub(crate) fn import(&mut self, trees: &[TokenTree], at: usize) -> usize {
        let statement = trees[at + 1..].split(|tree| is(tree, ';')).next().unwrap_or_default();
        // `use<'a>` in a type is no statement.
        if statement.first().is_none_or(|first| is(first, '<')) {
            return 1;
        }
        let tree = Tree::parse(statement);
        let mut split = Split::default();
        let is_empty = self.split(&tree, &[], &mut split);
        // Each module gets a statement of its own, with the same indentation, attributes and visibility.
        let between = self.between(self.start(trees, at), tree.range.start);
        let is_absolute = self.source[tree.range.start..].starts_with("::");
        let colons = if is_absolute { "::" } else { "" };
        let paths = split.moved.iter().map(|(module, items)| match &items[..] {
            [item] => format!("{colons}{module}::{item}"),
            items => format!("{colons}{module}::{{{}}}", items.join(", ")),
        });
        let new = paths.collect::<Vec<_>>().join(&between);
        if is_empty {
            self.edits.push((tree.range, new));
        } else if !new.is_empty() {
            split.removed.sort_by_key(|range| range.start);
            self.edits.extend(split.removed.into_iter().map(|range| (range, String::new())));
            self.edits.push((tree.range.end..tree.range.end, between + &new));
        }
        1 + statement.len()
    }

    /// Returns where a statement begins, with its attributes and visibility.
    fn start(&self, trees: &[TokenTree], at: usize) -> usize {
        let text = |tree| self.text_of(tree);
        let mut before = &trees[..at];
        loop {
            before = match before {
                [rest @ .., hash, list] if text(hash) == "#" && text(list).starts_with('[') => rest,
                [rest @ .., word, scope] if text(word) == "pub" && text(scope).starts_with('(') => {
                    rest
                }
                [rest @ .., word] if text(word) == "pub" => rest,
                _ => return trees[before.len()].span().byte_range().start,
            };
        }
    }

    /// Returns what separates two statements, of which the first is at `start` and its tree at `tree`.
    fn between(&self, start: usize, tree: usize) -> String {
        let before = &self.source[..start];
        let indent = &before[before.trim_end_matches(' ').len()..];
        let end = if self.source.contains("\r\n") { "\r\n" } else { "\n" };
        format!(";{end}{indent}{}", &self.source[start..tree])
    }

    /// Splits a tree below a path. Returns `true` if nothing of the tree stays.
    fn split(&mut self, tree: &Tree, above: &[&str], split: &mut Split) -> bool {
        let source = self.source;
        let names = tree.names.iter().map(|name| &source[name.clone()]);
        let path: Vec<&str> = above.iter().copied().chain(names).collect();
        if let Some(moved) = self.moves(&path) {
            let item = tree.names[moved.count - above.len()].start;
            let item = source[item..tree.range.end].to_owned();
            split.moved.entry(moved.module).or_default().push(item);
            return true;
        }
        if tree.children.is_empty() {
            self.list(tree.range.start, &path);
            return false;
        }
        let children = tree.children.iter();
        let gone: Vec<_> = children.filter(|child| self.split(child, &path, split)).collect();
        if gone.len() < tree.children.len() {
            split.removed.extend(gone.iter().map(|child| self.with_comma(&child.range)));
        }
        gone.len() == tree.children.len()
    }

    /// Extends a range by the comma and the space that follow it, or else by the comma before.
    fn with_comma(&self, range: &Range<usize>) -> Range<usize> {
        let (before, after) = (&self.source[..range.start], &self.source[range.end..]);
        if let Some(after) = after.trim_start().strip_prefix(',') {
            return range.start..self.source.len() - after.trim_start().len();
        }
        let before = before.trim_end().strip_suffix(',').unwrap_or(before);
        before.len()..range.end
    }
}
