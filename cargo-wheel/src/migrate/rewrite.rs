//! Finds what moves in a file, and lists what is left alone.

use std::collections::BTreeSet;
use std::ops::Range;

use super::imports::Tree;
use super::moves::{CHECK, Direction, Moved};
use super::tokens::{Cursor, Kind, Token, tokens};

/// Without its feature `stream`, a `DelayQueue` has `next` and `poll_expired`, but is no `Stream`.
const STREAMS: [&str; 7] = [
    "FusedStream",
    "Stream",
    "StreamExt",
    "StreamMap",
    "TryStreamExt",
    "poll_next",
    "poll_next_unpin",
];

/// Functions that ask for the type of an error.
const CASTS: [&str; 5] = ["downcast", "downcast_mut", "downcast_ref", "is", "of"];

#[derive(Default)]
pub(crate) struct File<'a> {
    pub(crate) source: &'a str,
    direction: Direction,
    /// Byte ranges to replace, in order, and their new text.
    pub(crate) edits: Vec<(Range<usize>, String)>,
    /// Lines that are left alone, with the reason or with advice.
    pub(crate) left: Vec<(usize, String)>,
    /// Whether the file uses tokio-wheel after the edits.
    pub(crate) uses_wheel: bool,
    /// The features of tokio-wheel that the file needs, or on the way back the packages.
    pub(crate) needs: BTreeSet<&'static str>,
    /// Whether the file names streams.
    has_streams: bool,
    /// The names of errors called `Elapsed` in this file.
    errors: Vec<&'a str>,
}

impl<'a> File<'a> {
    /// Finds what moves in a file.
    pub(crate) fn read(source: &'a str, direction: Direction) -> Self {
        let mut file = File { source, direction, ..File::default() };
        match tokens(source) {
            Ok(tokens) => {
                let mut names = tokens.iter().filter(|token| token.kind == Kind::Name);
                file.has_streams = names.any(|name| STREAMS.contains(&name.text));
                let renamed = tokens
                    .windows(3)
                    .filter(|three| three[0].text == "Elapsed" && three[1].text == "as");
                file.errors = renamed.map(|three| three[2].text).chain(["Elapsed"]).collect();
                file.walk(Cursor { tokens: &tokens, at: 0 });
            }
            Err(error) => {
                let line = error.span().start().line;
                file.left.push((line, "the file is not valid Rust from here on".to_owned()));
            }
        }
        file
    }

    /// Returns the text with the edits applied.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let mut end = 0;
        for (range, new) in &self.edits {
            // Two removed neighbours may both claim the comma between them.
            text += &self.source[end..range.start.max(end)];
            text += new;
            end = range.end;
        }
        text + &self.source[end..]
    }

    fn walk(&mut self, mut cursor: Cursor<'_>) {
        while let Some(token) = cursor.token() {
            let at = cursor.at;
            if token.kind == Kind::Name && token.text != "use" {
                let path = cursor.take_path();
                self.list_cast(&cursor.tokens[..at], &path);
                self.path(&path);
                continue;
            }
            cursor.at += 1;
            let old = self.direction.old_path();
            if token.kind == Kind::Literal && token.text.contains(old) {
                self.leave(token.range.start, old, "this is in a string or a doc comment");
            } else if token.text == "use" {
                match Tree::parse(&mut cursor) {
                    Some(tree) => self.import(&tree, start(&cursor.tokens[..=at])),
                    None => cursor.at = at + 1,
                }
            }
        }
    }

    /// Moves a path that is written out, in an expression, a type or a macro.
    fn path(&mut self, path: &[&Token<'_>]) {
        let names: Vec<&str> = path.iter().map(|name| name.text).collect();
        if let Some(moved) = self.moves(&names) {
            let range = path[0].range.start..path[moved.count - 1].range.end;
            self.edits.push((range, moved.module.to_owned()));
        } else {
            self.list(path[0].range.start, &names);
        }
    }

    /// Lists a path that is the type in `error.is::<Elapsed>()`. No compiler notices if the error is
    /// another crate's.
    fn list_cast(&mut self, before: &[Token<'_>], path: &[&Token<'_>]) {
        let is_error = path.last().is_some_and(|name| self.errors.contains(&name.text));
        let before = match before {
            [before @ .., a, b] if a.text == ":" && b.text == ":" => before,
            before => before,
        };
        let [.., cast, _, colon, bracket] = before else {
            return;
        };
        if is_error && colon.text == ":" && bracket.text == "<" && CASTS.contains(&cast.text) {
            let what = format!("{}::<Elapsed>", cast.text);
            self.leave(path[0].range.start, &what, CHECK);
        }
    }

    /// Returns the new module of a path that moves, and records what that needs.
    pub(crate) fn moves(&mut self, path: &[&str]) -> Option<Moved> {
        let moved = self.direction.moves(path)?;
        // tokio-util's trait has methods for cancellation tokens too.
        if moved.module == "wheel::ext" && self.source.contains(".with_cancellation_token") {
            return None;
        }
        let is_queue = self.direction == Direction::Forth && moved.module == "wheel";
        if self.has_streams || !is_queue {
            self.needs.extend(moved.need);
        }
        self.uses_wheel |= self.direction == Direction::Forth;
        Some(moved)
    }

    /// Lists a path that stays, if it has to do with timers.
    pub(crate) fn list(&mut self, at: usize, path: &[&str]) {
        let is_wheel = path.len() > 1 && path[0] == "wheel";
        self.uses_wheel |= is_wheel && self.direction == Direction::Back;
        if let Some(advice) = self.direction.advice(path) {
            self.leave(at, &path.join("::"), advice);
        }
    }

    fn leave(&mut self, at: usize, what: &str, why: &str) {
        let line = 1 + self.source[..at].matches('\n').count();
        self.left.push((line, format!("`{what}`: {why}")));
    }
}

/// Returns where a statement begins, with its attributes and visibility. The last token is its
/// `use`.
fn start(tokens: &[Token<'_>]) -> usize {
    let mut start = 0;
    for (at, token) in tokens.iter().enumerate() {
        let is_end = matches!(token.text, ";" | "{" | "}") || token.text.starts_with('/');
        // An attribute of the whole file, such as `#![allow(…)]`, ends in a bracket.
        let is_inner = token.text == "]" && tokens[start..at].iter().any(|token| token.text == "!");
        if is_end || is_inner {
            start = at + 1;
        }
    }
    tokens[start].range.start
}
