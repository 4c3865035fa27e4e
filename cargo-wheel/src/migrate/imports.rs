//! `use` statements: which parts of a tree move, and the text that replaces them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::rewrite::File;
use super::tokens::{Cursor, Token};

/// A tree such as `tokio::{net, time::{self, sleep}}`. A glob is a name.
pub(crate) struct Tree<'a> {
    names: Vec<&'a Token<'a>>,
    children: Vec<Tree<'a>>,
    range: Range<usize>,
}

impl<'a> Tree<'a> {
    /// Parses the tree at the cursor. Returns `None` for anything else, such as a macro's `$path`.
    pub(crate) fn parse(cursor: &mut Cursor<'a>) -> Option<Self> {
        let start = cursor.token()?.range.start;
        cursor.take_colons();
        let mut names = cursor.take_path();
        let mut children = Vec::new();
        if names.is_empty() || cursor.take_colons() {
            if cursor.is("*") {
                names.extend(cursor.token());
                cursor.at += 1;
            } else if cursor.take("{") {
                while !cursor.take("}") {
                    children.push(Tree::parse(cursor)?);
                    cursor.take(",");
                }
            } else {
                return None;
            }
        }
        if cursor.take("as") {
            cursor.take_name();
        }
        let range = start..cursor.tokens[cursor.at - 1].range.end;
        Some(Tree { names, children, range })
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
    /// Moves what a statement imports. `start` is where its attributes begin.
    pub(crate) fn import(&mut self, tree: &Tree<'_>, start: usize) {
        let mut split = Split::default();
        let is_empty = self.split(tree, &[], &mut split);
        let is_absolute = self.source[tree.range.start..].starts_with("::");
        let colons = if is_absolute { "::" } else { "" };
        // Each module gets a statement of its own, with the same indentation, attributes and visibility.
        let head = &self.source[start..tree.range.start];
        let before = &self.source[..start];
        let indent = &before[before.trim_end_matches(' ').len()..];
        let is_crlf = self.source.contains("\r\n");
        let end = if is_crlf { "\r\n" } else { "\n" };
        let between = format!(";{end}{indent}{head}");
        let paths = split.moved.iter().map(|(module, items)| match &items[..] {
            [item] => format!("{colons}{module}::{item}"),
            items => format!("{colons}{module}::{{{}}}", items.join(", ")),
        });
        let new = paths.collect::<Vec<_>>().join(&between);
        if is_empty {
            self.edits.push((tree.range.clone(), new));
        } else if !new.is_empty() {
            split.removed.sort_by_key(|range| range.start);
            let removed = split.removed.into_iter();
            self.edits.extend(removed.map(|range| (range, String::new())));
            self.edits.push((tree.range.end..tree.range.end, between + &new));
        }
    }

    /// Splits a tree below a path. Returns `true` if nothing of the tree stays.
    fn split(&mut self, tree: &Tree<'_>, above: &[&str], split: &mut Split) -> bool {
        let names = tree.names.iter().map(|name| name.text);
        let path: Vec<&str> = above.iter().copied().chain(names).collect();
        if let Some(moved) = self.moves(&path) {
            let item = tree.names[moved.count - above.len()].range.start;
            let item = self.source[item..tree.range.end].to_owned();
            split.moved.entry(moved.module).or_default().push(item);
            return true;
        }
        if tree.children.is_empty() {
            self.list(tree.range.start, &path);
            return false;
        }
        let children = tree.children.iter();
        let gone = children.filter(|child| self.split(child, &path, split));
        let gone: Vec<&Tree<'_>> = gone.collect();
        if gone.len() < tree.children.len() {
            let ranges = gone.iter().map(|child| self.with_comma(child.range.clone()));
            split.removed.extend(ranges);
        }
        gone.len() == tree.children.len()
    }

    /// Extends a range by the comma and the space that follow it, or else by the comma before.
    fn with_comma(&self, range: Range<usize>) -> Range<usize> {
        let (before, after) = (&self.source[..range.start], &self.source[range.end..]);
        if let Some(after) = after.trim_start().strip_prefix(',') {
            return range.start..self.source.len() - after.trim_start().len();
        }
        let before = before.trim_end().strip_suffix(',').unwrap_or(before);
        before.len()..range.end
    }
}
