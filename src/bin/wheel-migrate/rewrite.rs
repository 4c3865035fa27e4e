//! What becomes of a file, and what is left alone in it.

use std::ops::Range;

use crate::imports::{End, Import, Leaf, Node};
use crate::manifest::Needs;
use crate::places::{is_moved, moved, render, stays};
use crate::tokens::{Kind, Token, tokens};

pub(crate) struct Rewritten {
    pub(crate) text: String,
    pub(crate) changes: Vec<Change>,
    pub(crate) left: Vec<Left>,
    pub(crate) needs: Needs,
}

pub(crate) struct Change {
    pub(crate) line: usize,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// What somebody has to look at.
pub(crate) struct Left {
    pub(crate) line: usize,
    pub(crate) what: String,
}

pub(crate) fn rewrite(source: &str) -> Result<Rewritten, String> {
    let mut file = File {
        source,
        tokens: tokens(source)?,
        edits: Vec::new(),
        changes: Vec::new(),
        left: Vec::new(),
        needs: Needs::default(),
    };
    file.go_through();
    let mut text = source.to_owned();
    file.edits
        .sort_by_key(|(range, _)| (range.start, range.end));
    for (range, with) in file.edits.iter().rev() {
        text.replace_range(range.clone(), with);
    }
    Ok(Rewritten {
        text,
        changes: file.changes,
        left: file.left,
        needs: file.needs,
    })
}

struct File<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    /// What to replace, and by what. They do not overlap.
    edits: Vec<(Range<usize>, String)>,
    changes: Vec<Change>,
    left: Vec<Left>,
    needs: Needs,
}

impl File<'_> {
    fn go_through(&mut self) {
        let mut at = 0;
        while at < self.tokens.len() {
            let import = self.tokens[at]
                .is_ident("use")
                .then(|| Import::read(&self.tokens, at + 1));
            if let Some(Some(import)) = import {
                self.import(at, &import);
                at = import.next;
            } else {
                at = self.path(at);
            }
        }
    }

    /// A path that is written out, in an expression, a type or a macro.
    fn path(&mut self, at: usize) -> usize {
        let Some(first) = self.tokens[at].ident() else {
            return at + 1;
        };
        if first == "start_paused" {
            self.needs.test_util = true;
        }
        let (path, next) = self.path_from(at);
        match moved(&path) {
            Some((from, to)) if self.begins_path(at) => {
                let range = self.tokens[at].range.start..self.tokens[at + 2 * (from - 1)].range.end;
                self.note_needs(&path);
                let whole = range.start..self.tokens[next - 1].range.end;
                self.change(&whole, &[(range, to.join("::"))]);
            }
            _ => self.look_at(at, &path),
        }
        next
    }

    /// Whether nothing stands before a name, but perhaps a `::` of its own.
    fn begins_path(&self, at: usize) -> bool {
        let kind = |back| Some(&self.tokens.get(at.checked_sub(back)?)?.kind);
        if kind(1) != Some(&Kind::PathSep) {
            return true;
        }
        match kind(2) {
            // A type's closing bracket, and not an arrow's.
            Some(Kind::Punct('>')) => {
                matches!(kind(3), Some(Kind::Punct('-' | '=')))
            }
            Some(Kind::Ident(name)) => {
                ["in", "return", "as", "impl", "dyn"].contains(&name.as_str())
            }
            _ => true,
        }
    }

    /// The names that follow one another with `::` between them, and the token after them.
    fn path_from(&self, mut at: usize) -> (Vec<String>, usize) {
        let mut path = Vec::new();
        while let Some(name) = self.tokens.get(at).and_then(Token::ident) {
            path.push(name.to_owned());
            at += 1;
            let goes_on = self
                .tokens
                .get(at)
                .is_some_and(|token| token.kind == Kind::PathSep)
                && self
                    .tokens
                    .get(at + 1)
                    .is_some_and(|token| token.ident().is_some());
            if !goes_on {
                break;
            }
            at += 1;
        }
        (path, at)
    }

    /// `at` is the `use`.
    fn import(&mut self, at: usize, import: &Import) {
        let leaves = import.root.leaves(&[]);
        for leaf in &leaves {
            let is_tokio = leaf.path == ["tokio"];
            if is_tokio && leaf.is_glob {
                self.leave(at, "`tokio::*` takes `time` along".to_owned());
            } else if let (true, Some(name)) = (is_tokio, &leaf.rename) {
                self.leave(
                    at,
                    format!("`tokio` is called `{name}` here, and so `{name}::time` is not moved"),
                );
            }
            if !is_moved(leaf) {
                self.look_at(at, &leaf.path);
            }
        }
        let moving: Vec<Leaf> = leaves
            .iter()
            .filter(|leaf| is_moved(leaf))
            .cloned()
            .collect();
        if moving.is_empty() {
            return;
        }
        for leaf in &moving {
            self.note_needs(&leaf.path);
        }
        let colons = if import.is_absolute { "::" } else { "" };
        let wanted = format!("{colons}{}", render(&moving));
        let declaration = self.tokens[at].range.start..import.end;
        if moving.len() == leaves.len() {
            let mut tree = import.root.range.clone();
            tree.start -= if import.is_absolute {
                self.colons_before(tree.start)
            } else {
                0
            };
            return self.change(&declaration, &[(tree, wanted)]);
        }
        let mut edits = Vec::new();
        self.cut(&import.root, &[], &mut edits);
        let start = self.start_of_item(at);
        let before = &self.source[start..declaration.start];
        let indent = self.indent(start);
        edits.push((
            import.end..import.end,
            format!("\n{indent}{before}use {wanted};"),
        ));
        self.change(&declaration, &edits);
    }

    /// How far before the first name its `::` begins.
    fn colons_before(&self, start: usize) -> usize {
        start - self.source[..start].rfind("::").unwrap_or(start)
    }

    /// Takes out of the groups below what moves.
    fn cut(&self, node: &Node, prefix: &[String], edits: &mut Vec<(Range<usize>, String)>) {
        let End::Group(nodes) = &node.end else { return };
        let mut path = prefix.to_vec();
        path.extend(node.segments.iter().cloned());
        for below in nodes {
            let leaves = below.leaves(&path);
            if leaves.iter().all(is_moved) {
                edits.push((self.with_comma(below.range.clone()), String::new()));
            } else {
                self.cut(below, &path, edits);
            }
        }
    }

    /// With the comma after it, and the space after that.
    fn with_comma(&self, range: Range<usize>) -> Range<usize> {
        let after = &self.source[range.end..];
        let Some(rest) = after.trim_start().strip_prefix(',') else {
            return range;
        };
        range.start..self.source.len() - rest.trim_start().len()
    }

    /// Where the attributes and the visibility of a declaration begin.
    fn start_of_item(&self, mut at: usize) -> usize {
        let kind = |at: usize| &self.tokens[at].kind;
        if at > 0 && *kind(at - 1) == Kind::Close(')') {
            let open = self.opening(at - 1);
            if open > 0 && self.tokens[open - 1].is_ident("pub") {
                at = open - 1;
            }
        } else if at > 0 && self.tokens[at - 1].is_ident("pub") {
            at -= 1;
        }
        while at > 0 && *kind(at - 1) == Kind::Close(']') {
            let open = self.opening(at - 1);
            if open == 0 || *kind(open - 1) != Kind::Punct('#') {
                break;
            }
            at = open - 1;
        }
        self.tokens[at].range.start
    }

    /// The token that opens what `close` closes.
    fn opening(&self, close: usize) -> usize {
        let mut depth = 0;
        for at in (0..=close).rev() {
            match self.tokens[at].kind {
                Kind::Close(_) => depth += 1,
                Kind::Open(_) => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at;
            }
        }
        0
    }

    fn indent(&self, start: usize) -> &str {
        let line = self.source[..start]
            .rfind('\n')
            .map_or(0, |newline| newline + 1);
        let before = &self.source[line..start];
        if before.trim().is_empty() { before } else { "" }
    }

    fn note_needs(&mut self, path: &[String]) {
        let mut names = path.iter().map(String::as_str);
        self.needs.stream |= names.clone().any(|name| name == "IntervalStream");
        self.needs.test_util |= names
            .next_back()
            .is_some_and(|name| ["pause", "advance", "resume"].contains(&name));
    }

    /// Notes what has timers and stays.
    fn look_at(&mut self, at: usize, path: &[String]) {
        let whole = path.join("::");
        if let Some(instead) = stays(path) {
            self.leave(at, format!("`{whole}`; here: {instead}"));
        // Another crate's re-export, say.
        } else if (0..path.len()).any(|from| moved(&path[from..]).is_some()) {
            self.leave(at, format!("`{whole}` is part of a longer path"));
        }
    }

    fn leave(&mut self, at: usize, what: String) {
        let line = self.line(self.tokens[at].range.start);
        self.left.push(Left { line, what });
    }

    fn line(&self, at: usize) -> usize {
        1 + self.source[..at].matches('\n').count()
    }

    /// `shown` is what is told of it: the declaration or the path.
    fn change(&mut self, shown: &Range<usize>, edits: &[(Range<usize>, String)]) {
        let mut after = self.source[shown.clone()].to_owned();
        for (range, with) in edits.iter().rev() {
            after.replace_range(range.start - shown.start..range.end - shown.start, with);
        }
        self.changes.push(Change {
            line: self.line(shown.start),
            before: one_line(&self.source[shown.clone()]),
            after: one_line(&after),
        });
        self.edits.extend_from_slice(edits);
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
