//! `use` statements: which parts move, and the text that replaces them.

use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::TokenTree;

use super::rewrite::{File, is};

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
        let tree = range_of(statement);
        let mut split = Split::default();
        let is_empty = self.split(statement, &[], &mut split);
        // Each module gets a statement of its own, with the same indentation, attributes and
        // visibility.
        let start = self.start(trees, at);
        let indent = &self.source[self.source[..start].trim_end_matches(' ').len()..start];
        let end = if self.source.contains("\r\n") { "\r\n" } else { "\n" };
        let between = format!(";{end}{indent}{}", &self.source[start..tree.start]);
        let is_absolute = self.source[tree.start..].starts_with("::");
        let colons = if is_absolute { "::" } else { "" };
        let paths = split.moved.iter().map(|(module, items)| match &items[..] {
            [item] => format!("{colons}{module}::{item}"),
            items => format!("{colons}{module}::{{{}}}", items.join(", ")),
        });
        let new = paths.collect::<Vec<_>>().join(&between);
        if is_empty {
            self.edits.push((tree, new));
        } else if !new.is_empty() {
            split.removed.sort_by_key(|range| range.start);
            self.edits.extend(split.removed.into_iter().map(|range| (range, String::new())));
            self.edits.push((tree.end..tree.end, between + &new));
        }
        1 + statement.len()
    }

    /// Returns where a statement begins, with its attributes and visibility.
    fn start(&self, trees: &[TokenTree], at: usize) -> usize {
        let begins = |tree, start| self.text_of(tree).starts_with(start);
        let mut before = &trees[..at];
        loop {
            before = match before {
                [rest @ .., a, b] if begins(a, "#") && begins(b, "[") => rest,
                [rest @ .., a, b] if begins(a, "pub") && begins(b, "(") => rest,
                [rest @ .., a] if begins(a, "pub") => rest,
                _ => return trees[before.len()].span().byte_range().start,
            };
        }
    }

    /// Splits a tree such as `tokio::{net, time::{self, sleep}}`, below a path. Returns `true` if
    /// nothing of it stays.
    fn split(&mut self, tree: &[TokenTree], above: &[&str], split: &mut Split) -> bool {
        let range = range_of(tree);
        let names = tree.iter().take_while(|tree| self.text_of(tree) != "as");
        // A glob is a name.
        let names = names.filter(|tree| matches!(tree, TokenTree::Ident(_)) || is(tree, '*'));
        let names: Vec<_> = names.collect();
        let texts = names.iter().map(|name| self.text_of(name));
        let path: Vec<&str> = above.iter().copied().chain(texts).collect();
        if let Some(moved) = self.moves(&path) {
            let item = names[moved.count - above.len()].span().byte_range().start;
            let item = self.source[item..range.end].to_owned();
            split.moved.entry(moved.module).or_default().push(item);
            return true;
        }
        let Some(TokenTree::Group(group)) = tree.last() else {
            self.list(range.start, &path);
            return false;
        };
        let inner: Vec<_> = group.stream().into_iter().collect();
        let children = inner.split(|tree| is(tree, ',')).enumerate();
        let children = children.filter(|(_, child)| !child.is_empty());
        let (gone, stay): (Vec<_>, Vec<_>) =
            children.partition(|(_, child)| self.split(child, &path, split));
        if !stay.is_empty() {
            let commas: Vec<_> = inner.iter().filter(|tree| is(tree, ',')).collect();
            for (at, child) in &gone {
                // The comma after it, or else the one before.
                let comma = commas.get(*at).or(commas.last());
                split.removed.extend(comma.map(|comma| self.with_space(comma)));
                split.removed.push(range_of(child));
            }
        }
        stay.is_empty() && !gone.is_empty()
    }

    /// Returns the range of a token, with the space after it.
    fn with_space(&self, tree: &TokenTree) -> Range<usize> {
        let range = tree.span().byte_range();
        range.start..self.source.len() - self.source[range.end..].trim_start().len()
    }
}

fn range_of(trees: &[TokenTree]) -> Range<usize> {
    let place = |at: usize| trees[at].span().byte_range();
    place(0).start..place(trees.len() - 1).end
}
