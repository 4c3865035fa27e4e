//! What becomes of a file, and what is left alone in it.

use std::collections::BTreeSet;
use std::ops::Range;

use syn::{ItemUse, UseTree, Visibility};

use crate::moves::{Direction, Names, TOWERS_TIMEOUT, stays};
use crate::scope::{self, Scope, leaves};
use crate::streams::{self, is_of_stream};
use crate::syntax::{Path, Syntax, range};

#[derive(Default)]
pub(crate) struct Rewritten {
    pub(crate) text: String,
    /// What is not moved, for the user to look at.
    pub(crate) left: Vec<String>,
    /// Public signatures whose types change. Each note begins with its line.
    pub(crate) public: Vec<String>,
    pub(crate) needs: Features,
}

/// What a file needs of tokio-wheel: `stream`, and for paused clocks `test-util`.
pub(crate) type Features = BTreeSet<&'static str>;

pub(crate) fn rewrite(
    source: &str,
    direction: Direction,
    names: &Names,
) -> Result<Rewritten, String> {
    let syntax = Syntax::read(source)?;
    let mut file = File {
        source,
        direction,
        scope: Scope::new(source, &syntax, direction, names),
        edits: Vec::new(),
        found: Rewritten::default(),
    };
    syntax.imports.iter().for_each(|each| file.import(each));
    syntax.paths.iter().for_each(|each| file.path(each));
    if direction == Direction::Forth && file.scope.has_tokio_streams() {
        file.streams(&syntax);
    }
    file.public_signatures(&syntax);
    // Edits do not overlap. Of two insertions in one place the earlier is the outer call's.
    file.edits
        .sort_by_key(|(range, _)| (range.start, range.end));
    let mut text = source.to_owned();
    for (range, with) in file.edits.into_iter().rev() {
        text.replace_range(range, &with);
    }
    Ok(Rewritten { text, ..file.found })
}

struct File<'a> {
    source: &'a str,
    direction: Direction,
    scope: Scope<'a>,
    /// What to replace, and by what.
    edits: Vec<(Range<usize>, String)>,
    /// All but the text.
    found: Rewritten,
}

impl File<'_> {
    /// A path that is written out, in an expression, a type or a macro.
    fn path(&mut self, path: &Path) {
        let start = path.ranges[0].start;
        self.note_needs(&path.names);
        if let Some((count, to)) = self.scope.moves(&path.names) {
            self.edits.push((start..path.ranges[count - 1].end, to));
        } else if path.names.len() > 1 {
            self.look_at(start, &path.names);
        }
    }

    fn import(&mut self, import: &ItemUse) {
        let whole = range(import);
        let start = range(&import.use_token).start;
        let mut stays = false;
        let above = scope::above(import);
        for leaf in leaves(&import.tree, &above) {
            self.note_needs(&leaf.path);
            if self.scope.moves(&leaf.path).is_none() {
                stays = true;
                self.look_at(start, &leaf.path);
            }
        }
        let mut pieces = Vec::new();
        self.pieces(&import.tree, &above, &mut pieces);
        if pieces.is_empty() {
            return;
        }
        let declarations = self.declarations(import, &pieces);
        if stays {
            self.cut(&import.tree, &above, range(&import.tree));
            self.edits.push((whole.end..whole.end, declarations));
        } else {
            let declarations = declarations.trim_start().to_owned();
            self.edits.push((whole, declarations));
        }
    }

    /// One for each of these trees, on a line of its own, with the attributes and the visibility
    /// of the declaration that they were in.
    fn declarations(&self, import: &ItemUse, pieces: &[String]) -> String {
        let (start, end) = (range(import).start, range(&import.use_token).start);
        let before = &self.source[start..end];
        let indent = self.indent(start);
        let declarations = pieces
            .iter()
            .map(|piece| format!("\n{indent}{before}use {piece};"));
        declarations.collect()
    }

    /// Takes out of a tree what moves. `whole` is its text and the comma after it.
    fn cut(&mut self, tree: &UseTree, prefix: &[String], whole: Range<usize>) {
        let path = scope::path(tree, prefix);
        let mut leaves = leaves(tree, prefix).into_iter();
        if leaves.all(|leaf| self.scope.moves(&leaf.path).is_some()) {
            let space = self.source[whole.end..].trim_start();
            let end = self.source.len() - space.len();
            self.edits.push((whole.start..end, String::new()));
        } else if let UseTree::Path(node) = tree {
            self.cut(&node.tree, &path, whole);
        } else if let UseTree::Group(group) = tree {
            for node in group.items.pairs() {
                self.cut(node.value(), &path, range(&node));
            }
        }
    }

    /// What takes the place of what moves of a tree: as it stands, from where the replaced names end.
    fn pieces(&self, tree: &UseTree, prefix: &[String], pieces: &mut Vec<String>) {
        let path = scope::path(tree, prefix);
        match (tree, scope::name(tree), self.scope.moves(&path)) {
            (_, Some(name), Some((_, to))) => {
                let rest = &self.source[range(name).end..range(tree).end];
                pieces.push(format!("{to}{rest}"));
            }
            (UseTree::Path(node), ..) => self.pieces(&node.tree, &path, pieces),
            (UseTree::Group(group), ..) => {
                let nodes = group.items.iter();
                nodes.for_each(|node| self.pieces(node, &path, pieces));
            }
            _ => {}
        }
    }

    fn indent(&self, start: usize) -> &str {
        let line = self.source[..start].rfind('\n').map_or(0, |end| end + 1);
        let before = &self.source[line..start];
        if before.trim().is_empty() { before } else { "" }
    }

    /// Methods of streams that have a timer of tokio's become calls of the trait here. The import
    /// of tokio-stream's trait stays, for `next` and all its other methods.
    fn streams(&mut self, syntax: &Syntax) {
        let trait_here = self.scope.names.localize("wheel::ext::StreamExt");
        // The outer call of two first.
        for call in syntax.calls.iter().rev() {
            let is_of_stream = is_of_stream(call, self.source, &syntax.uses);
            match &call.receiver {
                _ if is_of_stream == Some(false) => {}
                Some(receiver) if is_of_stream == Some(true) => {
                    let start = receiver.start..receiver.start;
                    let name = format!("{trait_here}::{}(", call.method);
                    self.edits.push((start, name));
                    self.edits.push((call.opening.clone(), ", ".to_owned()));
                    self.found.needs.insert("stream");
                }
                _ => self.leave(call.opening.start, streams::UNCLEAR),
            }
        }
    }

    fn note_needs(&mut self, path: &[String]) {
        const STREAMS: [&str; 4] = ["stream::", "::StreamExt", "DelayQueue", "delay_queue"];
        const PAUSED: [&str; 4] = [
            "start_paused",
            "tokio::time::advance",
            "tokio::time::pause",
            "tokio::time::resume",
        ];
        let has = |to: &str| STREAMS.iter().any(|name| to.contains(name));
        if self.scope.moves(path).is_some_and(|(_, to)| has(&to)) {
            self.found.needs.insert("stream");
        }
        if PAUSED.contains(&self.scope.resolve(path).join("::").as_str()) {
            self.found.needs.insert("test-util");
        }
    }

    /// Notes what has timers and stays.
    fn look_at(&mut self, at: usize, path: &[String]) {
        let path = self.scope.names.by_library(path);
        let is_heres = path.starts_with(&["wheel".to_owned()]) && !self.scope.has_module("wheel");
        let is_moved_elsewhere =
            || (1..path.len()).any(|from| self.direction.moves(&path[from..]).is_some());
        let why = match (self.direction, stays(&path)) {
            (Direction::Back, _) if is_heres => " has nothing like it in tokio::time",
            (Direction::Back, _) => return,
            (_, Some(TOWERS_TIMEOUT)) if !self.source.contains(".timeout(") => return,
            (_, Some(instead)) => &format!("; here: {instead}"),
            // Another crate's re-export, say.
            _ if is_moved_elsewhere() => " is part of a longer path",
            _ => return,
        };
        self.leave(at, &format!("`{}`{why}", path.join("::")));
    }

    fn public_signatures(&mut self, syntax: &Syntax) {
        let exports = syntax.imports.iter().filter(|import| {
            let is_public = matches!(import.vis, Visibility::Public(_));
            is_public && self.scope.exports_own_type(import)
        });
        let own_types = syntax
            .paths
            .iter()
            .filter(|path| self.scope.is_own_type(&path.names));
        let own_types: Vec<usize> = own_types.map(|path| path.ranges[0].start).collect();
        let items = syntax
            .public
            .iter()
            .filter(|item| own_types.iter().any(|at| item.contains(at)));
        let found = exports.map(range).chain(items.cloned());
        let notes = found.map(|item| self.note(item.start, &shortened(&self.source[item])));
        self.found.public = notes.collect();
    }

    fn leave(&mut self, at: usize, what: &str) {
        let note = self.note(at, what);
        self.found.left.push(note);
    }

    fn note(&self, at: usize, what: &str) -> String {
        let line = 1 + self.source[..at].matches('\n').count();
        format!("{line}: {what}")
    }
}

/// On one line, and of what is long the beginning.
fn shortened(text: &str) -> String {
    const MOST: usize = 90;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests;
