//! `use` statements: which parts of a tree move, and the text that takes their place.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::rewrite::File;
use crate::tokens::{Cursor, Token};

/// A tree such as `tokio::{net, time::{self, sleep}}`. A glob is a name.
pub(crate) struct Tree<'a> {
    names: Vec<&'a Token<'a>>,
    children: Vec<Tree<'a>>,
    /// The name after `as`.
    alias: Option<&'a str>,
    range: Range<usize>,
}

impl<'a> Tree<'a> {
    /// Parses the tree at the cursor. Returns `None` for anything else, such as a macro's `$path`.
    pub(crate) fn parse(cursor: &mut Cursor<'a>) -> Option<Self> {
        let start = cursor.token()?.range.start;
        cursor.take_colons();
        let mut names = cursor.take_path();
        let is_open = names.is_empty() || cursor.take_colons();
        let mut children = Vec::new();
        if is_open && cursor.is("*") {
            names.push(cursor.token()?);
            cursor.at += 1;
        } else if is_open && cursor.take("{") {
            while !cursor.take("}") {
                children.push(Tree::parse(cursor)?);
                cursor.take(",");
            }
        } else if is_open {
            return None;
        }
        let alias = if cursor.take("as") {
            cursor.take_name()
        } else {
            None
        };
        let end = cursor.tokens[cursor.at - 1].range.end;
        Some(Tree {
            names,
            children,
            alias: alias.map(|name| name.text),
            range: start..end,
        })
    }

    /// Calls `found` with each crate that the statement gives another name, and that name.
    pub(crate) fn aliases(&self, found: &mut impl FnMut(&'a str, &'a str)) {
        if let ([library], [], Some(alias)) = (&self.names[..], &self.children[..], self.alias) {
            found(library.text, alias);
        }
        for child in &self.children {
            match (&self.names[..], &child.names[..], child.alias) {
                ([], ..) => child.aliases(found),
                ([library], [own], Some(alias)) if own.text == "self" => found(library.text, alias),
                _ => {}
            }
        }
    }
}

/// What becomes of a tree in which a group is split.
#[derive(Default)]
struct Split {
    /// The moved items by their new modules.
    moved: BTreeMap<String, Vec<String>>,
    removed: Vec<Range<usize>>,
    /// Whether nothing of the tree stays.
    is_empty: bool,
}

impl File<'_> {
    /// Moves what a statement imports. `start` is where its attributes begin.
    pub(crate) fn import(&mut self, tree: &Tree<'_>, start: usize) {
        let path: Vec<&str> = tree.names.iter().map(|name| name.text).collect();
        if let Some(moved) = self.moves(&path) {
            let range = tree.names[0].range.start..tree.names[moved.count - 1].range.end;
            self.edits
                .push((range, format!("{}::{}", moved.module, moved.item)));
            return;
        }
        let split = self.split(tree, &[]);
        if split.moved.is_empty() {
            return;
        }
        let colons = if self.source[tree.range.clone()].starts_with("::") {
            "::"
        } else {
            ""
        };
        let paths = split.moved.iter().map(|(module, items)| match &items[..] {
            [item] => format!("{colons}{module}::{item}"),
            items => format!("{colons}{module}::{{{}}}", items.join(", ")),
        });
        let head = &self.source[start..tree.range.start];
        let between = format!(";{}{head}", self.line_start(start));
        let new = paths.collect::<Vec<_>>().join(&between);
        if split.is_empty {
            self.edits.push((tree.range.clone(), new));
        } else {
            self.edits.extend(
                split
                    .removed
                    .into_iter()
                    .map(|range| (range, String::new())),
            );
            self.edits
                .push((tree.range.end..tree.range.end, between + &new));
        }
    }

    fn split(&mut self, tree: &Tree<'_>, above: &[&str]) -> Split {
        let names = tree.names.iter().map(|name| name.text);
        let path: Vec<&str> = above.iter().copied().chain(names).collect();
        if let Some(moved) = self.moves(&path) {
            let end = tree.names[moved.count - above.len() - 1].range.end;
            let item = moved.item + &self.source[end..tree.range.end];
            return Split {
                moved: [(moved.module, vec![item])].into(),
                removed: vec![tree.range.clone()],
                is_empty: true,
            };
        }
        if tree.children.is_empty() {
            self.look_at(tree.range.start, &path);
            return Split::default();
        }
        let parts = tree
            .children
            .iter()
            .map(|child| self.split(child, &path))
            .collect();
        self.join(tree, parts)
    }

    fn join(&self, tree: &Tree<'_>, parts: Vec<Split>) -> Split {
        let mut whole = Split {
            is_empty: parts.iter().all(|part| part.is_empty),
            ..Split::default()
        };
        for part in parts {
            for (module, items) in part.moved {
                whole.moved.entry(module).or_default().extend(items);
            }
            let removed = part.removed.into_iter();
            whole
                .removed
                .extend(removed.map(|range| match part.is_empty {
                    true => self.with_comma(range),
                    false => range,
                }));
        }
        if whole.is_empty {
            whole.removed = vec![tree.range.clone()];
        }
        whole
    }

    /// Extends a range in a group by a comma and the space that follows, or else by the comma before.
    fn with_comma(&self, range: Range<usize>) -> Range<usize> {
        let (before, after) = (&self.source[..range.start], &self.source[range.end..]);
        if let Some(after) = after.trim_start().strip_prefix(',') {
            return range.start..self.source.len() - after.trim_start().len();
        }
        let before = before.trim_end().strip_suffix(',').unwrap_or(before);
        before.len()..range.end
    }

    /// A line's end, and the indentation of the line on which a statement begins.
    fn line_start(&self, statement: usize) -> String {
        let before = &self.source[..statement];
        let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
        let indent = if line.trim().is_empty() { line } else { "" };
        let end = if self.source.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        format!("{end}{indent}")
    }
}
