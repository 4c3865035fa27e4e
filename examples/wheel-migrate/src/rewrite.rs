//! What becomes of a file, and what is left alone in it.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::imports::{End, Import, Node};
use crate::moves::{Direction, Names, is_future_ext, stays};
use crate::scope::Scope;
use crate::streams::{self, Call};
use crate::tokens::{Kind, Token, one_line, opening, path_from, shortened, tokens};

#[derive(Default)]
pub(crate) struct Rewritten {
    pub(crate) text: String,
    pub(crate) changes: Vec<Change>,
    /// What is not moved, for the user to look at.
    pub(crate) left: Vec<Note>,
    /// Public signatures whose types change.
    pub(crate) public: Vec<Note>,
    pub(crate) needs: Features,
    /// On the way back: something stays that only tokio-wheel has.
    pub(crate) keeps_wheel: bool,
}

/// What a file needs of tokio-wheel: `stream`, and for paused clocks `test-util`.
pub(crate) type Features = BTreeSet<&'static str>;

pub(crate) struct Change {
    pub(crate) line: usize,
    pub(crate) before: String,
    pub(crate) after: String,
}

pub(crate) struct Note {
    pub(crate) line: usize,
    pub(crate) what: String,
}

impl Note {
    pub(crate) fn say(&self, file: &str) -> String {
        format!("{file}:{}: {}", self.line, self.what)
    }
}

pub(crate) fn rewrite(
    source: &str,
    direction: Direction,
    names: &Names,
) -> Result<Rewritten, String> {
    let tokens = tokens(source)?;
    let scope = Scope::read(&tokens, names);
    let mut file = File {
        source,
        direction,
        tokens: &tokens,
        scope: &scope,
        edits: Vec::new(),
        found: Rewritten::default(),
    };
    file.go_through();
    file.streams();
    let public = scope.public_signatures(&tokens).into_iter().map(|item| {
        let text = tokens[item.start].range.start..tokens[item.end - 1].range.end;
        file.note(item.start, shortened(&source[text]))
    });
    let public = public.collect();
    // Edits do not overlap. Of two insertions in one place the later is the outer call's.
    file.edits
        .sort_by_key(|(range, _)| (range.start, range.end));
    let mut text = source.to_owned();
    for (range, with) in file.edits.into_iter().rev() {
        text.replace_range(range, &with);
    }
    Ok(Rewritten {
        text,
        public,
        ..file.found
    })
}

struct File<'a> {
    source: &'a str,
    direction: Direction,
    tokens: &'a [Token],
    scope: &'a Scope,
    /// What to replace, and by what.
    edits: Vec<(Range<usize>, String)>,
    /// All but the text and the public signatures.
    found: Rewritten,
}

impl File<'_> {
    fn go_through(&mut self) {
        let mut at = 0;
        while at < self.tokens.len() {
            let import = self.tokens[at]
                .is_ident("use")
                .then(|| Import::read(self.tokens, at + 1));
            if let Some(Some(import)) = import {
                self.import(at, &import);
                at = import.next;
            } else {
                at = self.path(at);
            }
        }
    }

    /// How many names of a path are replaced, and by what here.
    fn moves(&self, path: &[String]) -> Option<(usize, String)> {
        let path = self.scope.by_library(path);
        if is_future_ext(&path) && self.scope.cancels {
            return None;
        }
        let (count, to) = self.direction.moves(&path)?;
        let to = self.scope.names.localize(&to);
        // A module of the file may have the crate's name.
        let colons = if self.scope.has_module(&to) { "::" } else { "" };
        Some((count, format!("{colons}{to}")))
    }

    /// The same for a path whose first name may be an import that stays, such as `wrappers`.
    fn moves_from_here(&self, path: &[String]) -> Option<(usize, String)> {
        if let Some(moves) = self.moves(path) {
            return Some(moves);
        }
        let leaf = self.scope.import_of(path)?;
        if path.len() == 1 || self.moves(&leaf.path).is_some() {
            return None;
        }
        let (count, to) = self.moves(&[&leaf.path[..], &path[1..]].concat())?;
        Some((count + 1 - leaf.path.len(), to))
    }

    /// A path that is written out, in an expression, a type or a macro.
    fn path(&mut self, at: usize) -> usize {
        let Some(first) = self.tokens[at].ident() else {
            return at + 1;
        };
        if first == "start_paused" {
            self.found.needs.insert("test-util");
        }
        let (path, next) = path_from(self.tokens, at);
        match self.moves_from_here(&path) {
            Some((count, to)) if self.begins_path(at) => {
                let range =
                    self.tokens[at].range.start..self.tokens[at + 2 * (count - 1)].range.end;
                self.note_needs(&path, &to);
                let whole = range.start..self.tokens[next - 1].range.end;
                let to = match self.follows_colons(at) {
                    true => to.trim_start_matches(':').to_owned(),
                    false => to,
                };
                self.change(&whole, &[(range, to)]);
            }
            _ if path.len() > 1 => self.look_at(at, &path),
            _ => {}
        }
        next
    }

    fn follows_colons(&self, at: usize) -> bool {
        at > 0 && self.tokens[at - 1].kind == Kind::PathSep
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

    /// `at` is the `use`.
    fn import(&mut self, at: usize, import: &Import) {
        let leaves = import.root.leaves(&[]);
        let time = ["tokio".to_owned(), "time".to_owned()];
        let mut added = Vec::new();
        for leaf in &leaves {
            let path = self.scope.by_library(&leaf.path);
            if let Some((_, to)) = self.moves(&leaf.path) {
                self.note_needs(&leaf.path, &to);
            } else if path == ["tokio"] && leaf.is_glob && self.scope.says_time {
                // What is written out goes before what a glob brings.
                added.extend(self.moves(&time).map(|(_, to)| to));
            } else {
                self.look_at(at, &leaf.path);
            }
        }
        let mut cuts = Cuts::default();
        self.cut(&import.root, &[], &mut cuts);
        added.extend(cuts.pieces);
        if added.is_empty() {
            return;
        }
        let colons = if import.is_absolute { "::" } else { "" };
        let wanted = format!("{colons}{}", tree(&added));
        let declaration = self.tokens[at].range.start..import.end;
        if cuts.leaves == leaves.len() {
            let start = self.tokens[at + 1].range.start;
            let tree = start..import.root.range.end;
            return self.change(&declaration, &[(tree, wanted)]);
        }
        let start = self.start_of_item(at);
        let before = &self.source[start..declaration.start];
        let indent = self.indent(start);
        let mut edits = cuts.ranges;
        edits.push((
            import.end..import.end,
            format!("\n{indent}{before}use {wanted};"),
        ));
        self.change(&declaration, &edits);
    }

    /// Takes out of a tree what moves.
    fn cut(&self, node: &Node, prefix: &[String], cuts: &mut Cuts) {
        let leaves = node.leaves(prefix);
        let moving = leaves
            .iter()
            .filter(|leaf| self.moves(&leaf.path).is_some());
        let moving = moving.count();
        if moving == leaves.len() {
            cuts.leaves += moving;
            cuts.ranges
                .push((self.with_comma(node.range.clone()), String::new()));
            self.pieces(node, prefix, &mut cuts.pieces);
        } else if let End::Group(nodes) = &node.end {
            let path = node.path(prefix);
            nodes.iter().for_each(|below| self.cut(below, &path, cuts));
        }
    }

    /// What takes the place of a node that moves: as it stands, from where the replaced names end.
    fn pieces(&self, node: &Node, prefix: &[String], pieces: &mut Vec<String>) {
        let path = node.path(prefix);
        if let Some((count, to)) = self.moves(&path) {
            let ends = node.segments[count - prefix.len() - 1].end;
            pieces.push(format!("{to}{}", &self.source[ends..node.range.end]));
        } else if let End::Group(nodes) = &node.end {
            nodes
                .iter()
                .for_each(|below| self.pieces(below, &path, pieces));
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
            let open = opening(self.tokens, at - 1);
            if open > 0 && self.tokens[open - 1].is_ident("pub") {
                at = open - 1;
            }
        } else if at > 0 && self.tokens[at - 1].is_ident("pub") {
            at -= 1;
        }
        while at > 0 && *kind(at - 1) == Kind::Close(']') {
            let open = opening(self.tokens, at - 1);
            if open == 0 || *kind(open - 1) != Kind::Punct('#') {
                break;
            }
            at = open - 1;
        }
        self.tokens[at].range.start
    }

    fn indent(&self, start: usize) -> &str {
        let line = self.source[..start]
            .rfind('\n')
            .map_or(0, |newline| newline + 1);
        let before = &self.source[line..start];
        if before.trim().is_empty() { before } else { "" }
    }

    /// Methods of streams that have a timer of tokio's become calls of the trait here. The import
    /// of tokio-stream's trait stays, for `next` and all its other methods.
    fn streams(&mut self) {
        if self.direction == Direction::Back || !self.scope.has_tokio_streams {
            return;
        }
        let trait_here = self.scope.names.localize("wheel::ext::StreamExt");
        for call in streams::calls(self.tokens) {
            match call {
                Call::Stream { start, dot, close } => {
                    let method = self.tokens[dot + 1].ident().unwrap_or_default();
                    let start = self.tokens[start].range.start;
                    let open = self.tokens[dot + 2].range.clone();
                    let edits = [
                        (start..start, format!("{trait_here}::{method}(")),
                        (self.tokens[dot].range.start..open.end, ", ".to_owned()),
                    ];
                    self.found.needs.insert("stream");
                    let whole = start..self.tokens[close].range.end;
                    self.change(&whole, &edits);
                }
                Call::Unclear { at } => self.leave(
                    at,
                    "if this is a stream's: wheel::ext::StreamExt::timeout(stream, …)".to_owned(),
                ),
            }
        }
    }

    fn note_needs(&mut self, path: &[String], to: &str) {
        const STREAMS: [&str; 4] = ["stream::", "::StreamExt", "DelayQueue", "delay_queue"];
        const PAUSED: [&str; 3] = ["pause", "advance", "resume"];
        if STREAMS.iter().any(|name| to.contains(name)) {
            self.found.needs.insert("stream");
        }
        if path
            .last()
            .is_some_and(|name| PAUSED.contains(&name.as_str()))
        {
            self.found.needs.insert("test-util");
        }
    }

    /// Notes what has timers and stays.
    fn look_at(&mut self, at: usize, path: &[String]) {
        let path = self.scope.by_library(path);
        let whole = path.join("::");
        let is_longer =
            || (1..path.len()).any(|from| self.direction.moves(&path[from..]).is_some());
        if self.direction == Direction::Back {
            if path[0] == "wheel" && !self.scope.has_module("wheel") {
                self.found.keeps_wheel = true;
                self.leave(at, format!("`{whole}` has nothing like it in tokio::time"));
            }
        } else if let Some(instead) = stays(&path) {
            self.leave(at, format!("`{whole}`; here: {instead}"));
        } else if whole == "tower::ServiceBuilder" && self.scope.calls_timeout {
            let instead = "for its timeout() wheel::ext::tower::TimeoutLayer";
            self.leave(at, format!("`{whole}`; here: {instead}"));
        // Another crate's re-export, say.
        } else if is_longer() {
            self.leave(at, format!("`{whole}` is part of a longer path"));
        }
    }

    fn leave(&mut self, at: usize, what: String) {
        let note = self.note(at, what);
        self.found.left.push(note);
    }

    fn note(&self, at: usize, what: String) -> Note {
        let line = self.line(self.tokens[at].range.start);
        Note { line, what }
    }

    fn line(&self, at: usize) -> usize {
        1 + self.source[..at].matches('\n').count()
    }

    /// `shown` is what is told of it: the declaration, the path or the call.
    fn change(&mut self, shown: &Range<usize>, edits: &[(Range<usize>, String)]) {
        let mut after = self.source[shown.clone()].to_owned();
        for (range, with) in edits.iter().rev() {
            after.replace_range(range.start - shown.start..range.end - shown.start, with);
        }
        self.found.changes.push(Change {
            line: self.line(shown.start),
            before: one_line(&self.source[shown.clone()]),
            after: one_line(&after),
        });
        self.edits.splice(0..0, edits.iter().cloned());
    }
}

/// What is taken out of a declaration.
#[derive(Default)]
struct Cuts {
    ranges: Vec<(Range<usize>, String)>,
    leaves: usize,
    pieces: Vec<String>,
}

/// The tree of a declaration that imports all of these.
fn tree(pieces: &[String]) -> String {
    let first = pieces[0].split("::").next().unwrap_or_default();
    let below = |piece: &String| Some(piece.strip_prefix(first)?.strip_prefix("::")?.to_owned());
    let all: Option<Vec<String>> = pieces.iter().map(below).collect();
    match (pieces, all) {
        ([only], _) => only.clone(),
        (_, Some(all)) if !first.is_empty() => format!("{first}::{{{}}}", all.join(", ")),
        _ => format!("{{{}}}", pieces.join(", ")),
    }
}

#[cfg(test)]
mod tests;
