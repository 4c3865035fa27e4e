//! Finds what moves in a file, and lists what is left alone.
//!
//! A token knows its place in the text. So an edit replaces a few names, and comments, strings and
//! the formatting around them stay byte for byte. Macros need no rule of their own, because their
//! bodies are tokens like all others.

use std::collections::BTreeSet;
use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};
use regex_lite::Regex;

use super::moves::{CHECK, Direction, Moved};

/// Without its feature `stream`, a `DelayQueue` has `next` and `poll_expired`, but is no `Stream`.
/// Code that needs that names one of these.
const STREAMS: [&str; 5] = ["IntervalStream", "Stream", "StreamExt", "StreamMap", "TryStreamExt"];

#[derive(Default)]
pub(crate) struct File<'a> {
    pub(crate) source: &'a str,
    direction: Direction,
    /// Byte ranges to replace, in order, and their new text.
    pub(crate) edits: Vec<(Range<usize>, String)>,
    /// Lines that are left alone, with the reason or with advice.
    pub(crate) left: Vec<(usize, String)>,
    /// Whether an edit names tokio-wheel, or the file still uses it.
    pub(crate) uses_wheel: bool,
    /// The features of tokio-wheel that the file needs, or on the way back the packages.
    pub(crate) needs: BTreeSet<&'static str>,
    /// The line of a module `wheel`, whose paths look like tokio-wheel's.
    pub(crate) module: Option<usize>,
    has_streams: bool,
}

impl<'a> File<'a> {
    /// Finds what moves in a file.
    pub(crate) fn read(source: &'a str, direction: Direction) -> Self {
        let mut file = File { source, direction, ..File::default() };
        file.list_casts();
        // Spans leave a byte order mark out; three spaces are as long.
        match source.replace('\u{feff}', "   ").parse::<TokenStream>() {
            Ok(stream) => file.walk(stream),
            Err(error) => {
                let line = error.span().start().line;
                file.left.push((line, "the file is not valid Rust from here on".to_owned()));
            }
        }
        file.left.sort_by_key(|(line, _)| *line);
        if !file.has_streams {
            file.needs.remove("stream");
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

    pub(crate) fn text_of(&self, tree: &TokenTree) -> &'a str {
        &self.source[tree.span().byte_range()]
    }

    /// Lists where the type of an error is asked for, as by `error.is::<Elapsed>()`. No compiler
    /// notices if the error is another crate's.
    fn list_casts(&mut self) {
        let renamed = regex(r"\bElapsed\s+as\s+(\w+)");
        let renamed = renamed.captures_iter(self.source).map(|found| found.extract().1);
        let names: Vec<_> = renamed.map(|[name]| name).chain(["Elapsed"]).collect();
        let names = names.join("|");
        let asked = format!(r"::<\s*(?:[\w:]*:)?(?:{names})\s*,?\s*>");
        let casts = regex(&(r"\b(downcast|downcast_mut|downcast_ref|is|of)".to_owned() + &asked));
        for cast in casts.captures_iter(self.source).filter_map(|found| found.get(1)) {
            self.leave(cast.start(), &format!("{}::<Elapsed>", cast.as_str()), CHECK);
        }
    }

    /// Lists what users of the package notice: public items that contain a type that changes, and
    /// exported macros.
    pub(crate) fn list_public(&mut self) {
        let types = regex(r"\b(Elapsed|Interval|Sleep)\b");
        // An item ends before its body, or with it if it is a type's.
        let item = r"(?m)^[ \t]*pub (?:(?:struct|enum|trait)\b[^;{]*(?:\{(?:[^}]|\}[^\n])*\n[ \t]*\}|;)|[^;{]*)";
        for found in regex(item).find_iter(self.source) {
            if let Some(name) = types.find(found.as_str()) {
                let item = found.as_str().trim_start().lines().next().unwrap_or_default();
                let why = "this is public, so a type changes for users of this package";
                self.leave(found.start() + name.start(), item.trim_end_matches(" {"), why);
            }
        }
        for found in regex(r"#\[macro_export\b").find_iter(self.source) {
            let why = "if this macro names wheel, its users need a path to tokio-wheel";
            self.leave(found.start(), "#[macro_export]", why);
        }
        self.left.sort_by_key(|(line, _)| *line);
    }

    fn walk(&mut self, stream: TokenStream) {
        let trees: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while let Some(tree) = trees.get(at) {
            at += match tree {
                TokenTree::Ident(word) if word == "use" => self.import(&trees, at),
                TokenTree::Ident(word) if word == "mod" => {
                    if trees.get(at + 1).is_some_and(|name| self.text_of(name) == "wheel") {
                        self.module = Some(word.span().start().line);
                    }
                    1
                }
                TokenTree::Ident(_) => self.path(&trees, at),
                TokenTree::Punct(_) => 1,
                // A doc comment is read as `#[doc = "…"]`, at the place of the comment.
                TokenTree::Group(group) if !self.text_of(tree).starts_with('/') => {
                    self.walk(group.stream());
                    1
                }
                TokenTree::Group(_) | TokenTree::Literal(_) => {
                    let (old, text) = (self.direction.old_path(), self.text_of(tree));
                    let imports = text.contains("use tokio::{") && text.contains("time");
                    if text.contains(old) || imports && self.direction == Direction::Forth {
                        let start = tree.span().byte_range().start;
                        self.leave(start, old, "this is in a string or a doc comment");
                    }
                    1
                }
            };
        }
    }

    /// Moves a path that is written out, in an expression, a type or a macro. Returns how many tokens
    /// it has.
    fn path(&mut self, trees: &[TokenTree], at: usize) -> usize {
        let mut names = vec![&trees[at]];
        let mut rest = &trees[at + 1..];
        while let [a, b, name @ TokenTree::Ident(_), after @ ..] = rest
            && is(a, ':')
            && is(b, ':')
        {
            names.push(name);
            rest = after;
        }
        let start = names[0].span().byte_range().start;
        let texts: Vec<&str> = names.iter().map(|name| self.text_of(name)).collect();
        match self.moves(&texts) {
            Some(moved) => {
                let end = names[moved.count - 1].span().byte_range().end;
                self.edits.push((start..end, moved.module.to_owned()));
            }
            None => self.list(start, &texts),
        }
        3 * names.len() - 2
    }

    /// Returns the new module of a path that moves, and records what that needs.
    pub(crate) fn moves(&mut self, path: &[&str]) -> Option<Moved> {
        self.has_streams |= path.iter().any(|name| STREAMS.contains(name));
        let moved = self.direction.moves(path)?;
        // tokio-util's trait has methods for cancellation tokens too.
        if moved.module == "wheel::ext" && self.source.contains(".with_cancellation_token") {
            return None;
        }
        self.needs.extend(moved.need);
        self.uses_wheel |= self.direction == Direction::Forth;
        Some(moved)
    }

    /// Lists a path that stays, if it has to do with timers.
    pub(crate) fn list(&mut self, at: usize, path: &[&str]) {
        // On the way forth, what has moved before may still lack its dependency.
        let is_wheel = path.len() > 1 && path[0] == "wheel";
        let is_moved = Direction::Back.moves(path).is_some();
        self.uses_wheel |= is_wheel && (self.direction == Direction::Back || is_moved);
        if let Some(advice) = self.direction.advice(path) {
            self.leave(at, &path.join("::"), advice);
        }
    }

    fn leave(&mut self, at: usize, what: &str, why: &str) {
        let line = 1 + self.source[..at].matches('\n').count();
        self.left.push((line, format!("`{what}`: {why}")));
    }
}

pub(crate) fn is(tree: &TokenTree, sign: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == sign)
}

fn regex(text: &str) -> Regex {
    Regex::new(text).expect("a regular expression")
}
