//! What becomes of a file, and what is left alone in it.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::imports::Tree;
use crate::moves::{Direction, Moved};
use crate::tokens::{Cursor, Kind, Token, tokens};

pub(crate) struct File<'a> {
    pub(crate) source: &'a str,
    direction: Direction,
    /// What to replace, in order, and by what.
    pub(crate) edits: Vec<(Range<usize>, String)>,
    /// Lines that are left alone, and why.
    pub(crate) left: Vec<(usize, String)>,
    /// Whether something stays that only tokio-wheel has.
    pub(crate) keeps_wheel: bool,
    /// What the file needs: features of tokio-wheel, or going back packages.
    pub(crate) needs: BTreeSet<&'static str>,
}

impl<'a> File<'a> {
    /// Finds what moves in a file.
    pub(crate) fn read(source: &'a str, direction: Direction) -> Self {
        let mut file = File {
            source,
            direction,
            edits: Vec::new(),
            left: Vec::new(),
            keeps_wheel: false,
            needs: BTreeSet::new(),
        };
        match tokens(source) {
            Ok(tokens) => file.walk(Cursor {
                tokens: &tokens,
                at: 0,
            }),
            Err(error) => {
                let line = error.span().start().line;
                file.left
                    .push((line, "the file is not valid Rust from here on".to_owned()));
            }
        }
        file
    }

    /// The text with the edits.
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
            let (at, place) = (cursor.at, token.range.start);
            cursor.at += 1;
            match token.kind {
                Kind::Name if token.text == "use" => match Tree::parse(&mut cursor) {
                    Some(tree) => self.import(&tree, start(&cursor.tokens[..at], place)),
                    None => cursor.at = at + 1,
                },
                Kind::Name if at > 0 && cursor.tokens[at - 1].text == "." => {
                    let advice = self.direction.advice_on_call(token.text, self.source);
                    self.leave(place, token.text, advice);
                }
                Kind::Name => {
                    cursor.at = at;
                    self.path(&cursor.take_path());
                }
                Kind::Literal if token.text.contains(self.direction.old_path()) => {
                    let advice = " is in a string or a doc comment".to_owned();
                    self.leave(place, self.direction.old_path(), Some(advice));
                }
                Kind::Literal | Kind::Sign => {}
            }
        }
    }

    /// Moves a path that is written out, in an expression, a type or a macro.
    fn path(&mut self, path: &[&Token<'_>]) {
        if !self.moved(path) {
            let names: Vec<&str> = path.iter().map(|name| name.text).collect();
            self.look_at(path[0].range.start, &names);
        }
    }

    /// Replaces the beginning of a path. Returns `false` if the path stays.
    pub(crate) fn moved(&mut self, path: &[&Token<'_>]) -> bool {
        let names: Vec<&str> = path.iter().map(|name| name.text).collect();
        let moved = self.moves(&names);
        self.edits.extend(moved.iter().map(|moved| {
            let range = path[0].range.start..path[moved.count - 1].range.end;
            (range, format!("{}::{}", moved.module, moved.item))
        }));
        moved.is_some()
    }

    /// Returns where a path moves, and notes what that needs.
    pub(crate) fn moves(&mut self, path: &[&str]) -> Option<Moved> {
        let moved = self.direction.moves(path)?;
        // tokio-util's trait has methods for cancellation tokens too.
        if moved.module == "wheel::ext" && self.source.contains(".with_cancellation_token") {
            return None;
        }
        self.needs.extend(moved.need);
        Some(moved)
    }

    /// Notes a path that stays if it has to do with timers.
    pub(crate) fn look_at(&mut self, at: usize, path: &[&str]) {
        self.keeps_wheel |= path.len() > 1 && path[0] == "wheel";
        self.leave(at, &path.join("::"), self.direction.advice(path));
    }

    fn leave(&mut self, at: usize, what: &str, advice: Option<String>) {
        if let Some(advice) = advice {
            let line = 1 + self.source[..at].matches('\n').count();
            self.left.push((line, format!("`{what}`{advice}")));
        }
    }
}

/// Returns where a statement begins, with its attributes and visibility. Its `use` is at `place`,
/// and `before` are the tokens before that.
fn start(before: &[Token<'_>], place: usize) -> usize {
    let is_end =
        |token: &Token<'_>| matches!(token.text, ";" | "{" | "}") || token.text.starts_with('/');
    let mut start = before.iter().rposition(is_end).map_or(0, |end| end + 1);
    // An attribute of the whole file, such as `#![allow(…)]`.
    if let Some(inner) = before[start..].iter().rposition(|token| token.text == "!") {
        let mut rest = before[start + inner..].iter();
        start += inner
            + rest
                .position(|token| token.text == "]")
                .map_or(0, |end| end + 1);
    }
    before.get(start).map_or(place, |first| first.range.start)
}
