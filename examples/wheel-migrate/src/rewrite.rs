//! What becomes of a file, and what is left alone in it.

use std::collections::BTreeSet;
use std::ops::Range;

use syn::Visibility;

use crate::moves::{Direction, METHODS, Names, Need, TOWERS_TIMEOUT, WHEEL, only_here, stays};
use crate::scope::Scope;
use crate::streams::is_of_stream;
use crate::syntax::{Path, Syntax, range};

#[derive(Default)]
pub(crate) struct Rewritten {
    pub(crate) text: String,
    /// What is not moved, for the user to look at.
    pub(crate) left: Vec<Note>,
    /// What does not compile where it has been moved to.
    pub(crate) by_hand: Vec<Note>,
    /// Public signatures whose types change.
    pub(crate) public: Vec<Note>,
    pub(crate) needs: Needs,
}

/// What files need: packages, and their features.
pub(crate) type Needs = BTreeSet<Need>;

/// What to tell of a place.
pub(crate) struct Note {
    /// In the file as it was.
    pub(crate) line: usize,
    /// In the file as it will be.
    pub(crate) new_line: usize,
    pub(crate) what: String,
}

impl Note {
    pub(crate) fn of_line(line: usize, what: String) -> Self {
        let new_line = line;
        Note {
            line,
            new_line,
            what,
        }
    }
}

pub(crate) fn rewrite(
    source: &str,
    direction: Direction,
    names: &Names,
) -> Result<Rewritten, String> {
    let syntax = Syntax::read(source)?;
    let mut file = File {
        source,
        syntax: &syntax,
        direction,
        scope: Scope::new(&syntax, direction, names),
        edits: Vec::new(),
        found: Found::default(),
    };
    file.imports();
    syntax.paths.iter().for_each(|each| file.path(each));
    if file.scope.names_streams() {
        file.streams();
    }
    if direction == Direction::Back {
        file.only_here();
    }
    file.public_signatures();
    Ok(file.rewritten())
}

pub(crate) struct File<'a> {
    pub(crate) source: &'a str,
    pub(crate) syntax: &'a Syntax,
    direction: Direction,
    pub(crate) scope: Scope<'a>,
    /// What to replace, and by what.
    pub(crate) edits: Vec<(Range<usize>, String)>,
    pub(crate) found: Found,
}

/// Each with its place.
#[derive(Default)]
pub(crate) struct Found {
    left: Vec<(usize, String)>,
    pub(crate) by_hand: Vec<(usize, String)>,
    public: Vec<(usize, String)>,
    needs: Needs,
}

impl File<'_> {
    fn rewritten(mut self) -> Rewritten {
        // Edits do not overlap. Of two insertions in one place the earlier is the outer call's.
        self.edits
            .sort_by_key(|(range, _)| (range.start, range.end));
        let mut text = self.source.to_owned();
        for (range, with) in self.edits.iter().rev() {
            text.replace_range(range.clone(), with);
        }
        let notes = |found: &[(usize, String)]| {
            let notes = found.iter().map(|(at, what)| self.note(*at, what));
            notes.collect()
        };
        Rewritten {
            text,
            left: notes(&self.found.left),
            by_hand: notes(&self.found.by_hand),
            public: notes(&self.found.public),
            needs: self.found.needs,
        }
    }

    fn note(&self, at: usize, what: &str) -> Note {
        let lines = |text: &str| text.matches('\n').count();
        let line = 1 + lines(&self.source[..at]);
        let mut new_line = line;
        for (range, with) in self.edits.iter().filter(|(range, _)| range.start < at) {
            new_line += if range.end <= at { lines(with) } else { 0 };
            new_line -= lines(&self.source[range.start..range.end.min(at)]);
        }
        Note {
            new_line,
            ..Note::of_line(line, what.to_owned())
        }
    }

    /// A path that is written out, in an expression, a type or a macro.
    fn path(&mut self, path: &Path) {
        let start = path.ranges[0].start;
        self.note_needs(&path.names);
        if let Some(moved) = self.scope.moves(&path.names) {
            let end = path.ranges[moved.count - 1].end;
            self.edits.push((start..end, moved.to));
        } else if path.names.len() > 1 {
            self.look_at(start, &path.names);
        }
    }

    /// Methods of streams that have a timer become calls of the other trait. Going forth the import
    /// of tokio-stream's trait stays, for `next` and all its other methods.
    fn streams(&mut self) {
        let (to, need) = match self.direction {
            Direction::Forth => ("wheel::ext::StreamExt", (WHEEL, "stream")),
            Direction::Back => ("tokio_stream::StreamExt", ("tokio-stream", "time")),
        };
        let to = self.scope.names.localize(to);
        // The outer call of two first.
        for call in self.syntax.calls.iter().rev() {
            let is_of_stream = match METHODS.contains(&&*call.method) {
                true => is_of_stream(call, self.source, &self.syntax.uses),
                false => Some(false),
            };
            match &call.receiver {
                _ if is_of_stream == Some(false) => {}
                Some(receiver) if is_of_stream == Some(true) => {
                    let start = receiver.start..receiver.start;
                    self.edits.push((start, format!("{to}::{}(", call.method)));
                    self.edits.push((call.opening.clone(), ", ".to_owned()));
                    self.found.needs.insert(need);
                }
                _ => {
                    let unclear = format!("if this is a stream's: {to}::timeout(stream, …)");
                    let list = match self.direction {
                        Direction::Forth => &mut self.found.left,
                        // The import of the trait has gone.
                        Direction::Back => &mut self.found.by_hand,
                    };
                    list.push((call.opening.start, unclear));
                }
            }
        }
    }

    pub(crate) fn note_needs(&mut self, path: &[String]) {
        const PAUSED: [&str; 4] = [
            "start_paused",
            "tokio::time::advance",
            "tokio::time::pause",
            "tokio::time::resume",
        ];
        const TASKS: [&str; 5] = ["main", "runtime", "spawn", "task", "test"];
        let moved = self.scope.moves(path);
        self.found.needs.extend(moved.map(|moved| moved.need));
        let package = match self.direction {
            Direction::Forth => WHEEL,
            Direction::Back => "tokio",
        };
        if self.scope.is_any(path, &PAUSED) {
            self.found.needs.insert((package, "test-util"));
        }
        // tokio-wheel has turned this on.
        let has_tasks =
            |path: &[String]| path.len() > 1 && path[0] == "tokio" && TASKS.contains(&&*path[1]);
        if package == "tokio" && has_tasks(&self.scope.resolve(path)) {
            self.found.needs.insert((package, "rt"));
        }
    }

    /// Notes what has timers and stays.
    pub(crate) fn look_at(&mut self, at: usize, path: &[String]) {
        let whole = self.scope.names.by_library(path);
        let any = |_: &str| true;
        let is_moved_elsewhere =
            || (1..whole.len()).any(|from| self.direction.moves(&whole[from..], any).is_some());
        let why = match (self.direction, stays(&whole)) {
            (Direction::Back, _) => match only_here(&whole) {
                Some(instead) if self.scope.is_heres(path) => &format!(": {instead}"),
                _ => return,
            },
            (_, Some(TOWERS_TIMEOUT)) if !self.source.contains(".timeout(") => return,
            (_, Some(instead)) => &format!("; here: {instead}"),
            // Another crate's re-export, say.
            _ if is_moved_elsewhere() => " is part of a longer path",
            _ => return,
        };
        let what = format!("`{}`{why}", whole.join("::"));
        self.found.left.push((at, what));
    }

    fn public_signatures(&mut self) {
        let exports = self.syntax.imports.iter().filter(|import| {
            let is_public = matches!(import.vis, Visibility::Public(_));
            is_public && self.scope.exports_own_type(import)
        });
        let paths = self.syntax.paths.iter();
        let own_types = paths.filter(|path| self.scope.is_own_type(&path.names));
        let own_types: Vec<usize> = own_types.map(|path| path.ranges[0].start).collect();
        let items = self.syntax.public.iter().filter(|item| {
            let mut own_types = own_types.iter();
            own_types.any(|at| item.range.contains(at))
        });
        let exports = exports.map(|import| (range(import), None));
        let found = exports.chain(items.map(|item| (item.range.clone(), item.of.as_ref())));
        let notes = found.map(|(range, of)| {
            let of = of.map_or(String::new(), |of| format!("{of}: "));
            (range.start, of + &shortened(&self.source[range]))
        });
        self.found.public = notes.collect();
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
