//! What becomes of a file, and what is left alone in it.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::imports::Tree;
use crate::moves::{Direction, Moved, Names};
use crate::tokens::{Cursor, Kind, Token, tokens};

pub(crate) struct Rewritten {
    pub(crate) text: String,
    /// Lines that are left alone, and why.
    pub(crate) left: Vec<(usize, String)>,
    /// Whether something stays that only tokio-wheel has.
    pub(crate) keeps_wheel: bool,
    /// What the file needs: features of tokio-wheel, or going back packages.
    pub(crate) needs: BTreeSet<&'static str>,
}

/// Moves a file. `names` are what its package calls the crates.
pub(crate) fn rewrite(source: &str, direction: Direction, names: &Names) -> Rewritten {
    const BYTE_ORDER_MARK: char = '\u{feff}';
    // The tokens' places leave it out.
    if let Some(rest) = source.strip_prefix(BYTE_ORDER_MARK) {
        let mut rewritten = rewrite(rest, direction, names);
        rewritten.text.insert(0, BYTE_ORDER_MARK);
        return rewritten;
    }
    let mut file = File {
        source,
        direction,
        names: names.clone(),
        edits: Vec::new(),
        left: Vec::new(),
        keeps_wheel: false,
        needs: BTreeSet::new(),
    };
    match tokens(source) {
        Ok(tokens) => {
            let cursor = Cursor {
                tokens: &tokens,
                at: 0,
            };
            file.aliases(cursor);
            file.walk(cursor);
        }
        Err(error) => {
            let line = error.span().start().line;
            file.left
                .push((line, "the file is not valid Rust from here on".to_owned()));
        }
    }
    file.rewritten()
}

pub(crate) struct File<'a> {
    pub(crate) source: &'a str,
    direction: Direction,
    names: Names,
    /// What to replace, in order, and by what.
    pub(crate) edits: Vec<(Range<usize>, String)>,
    left: Vec<(usize, String)>,
    keeps_wheel: bool,
    needs: BTreeSet<&'static str>,
}

impl File<'_> {
    /// Notes the crates that `use … as …` gives another name, for the whole file.
    fn aliases(&mut self, mut cursor: Cursor<'_>) {
        while cursor.token().is_some() {
            if cursor.take("use")
                && let Some(tree) = Tree::parse(&mut cursor)
            {
                tree.aliases(&mut |library, alias| self.names.add_alias(alias, library));
            } else {
                cursor.at += 1;
            }
        }
    }

    fn walk(&mut self, mut cursor: Cursor<'_>) {
        while let Some(token) = cursor.token() {
            let at = cursor.at;
            match token.kind {
                Kind::Name if cursor.take("use") => match Tree::parse(&mut cursor) {
                    Some(tree) => self.import(&tree, start(cursor.tokens, at)),
                    None => cursor.at = at + 1,
                },
                Kind::Name if cursor.follows(".") => {
                    let advice = self.direction.advice_on_call(token.text, self.source);
                    self.leave(token.range.start, token.text, advice.as_deref());
                    cursor.at += 1;
                }
                Kind::Name => self.path(&mut cursor),
                Kind::Literal if token.text.contains(self.direction.old_path()) => {
                    let advice = Some(" is in a string or a doc comment");
                    self.leave(token.range.start, self.direction.old_path(), advice);
                    cursor.at += 1;
                }
                Kind::Literal | Kind::Sign => cursor.at += 1,
            }
        }
    }

    /// Moves a path that is written out, in an expression, a type or a macro.
    fn path(&mut self, cursor: &mut Cursor<'_>) {
        let tokens = cursor.take_path();
        let names: Vec<&str> = tokens.iter().map(|name| name.text).collect();
        match self.moves(&names) {
            Some(moved) => {
                let range = tokens[0].range.start..tokens[moved.count - 1].range.end;
                self.edits
                    .push((range, format!("{}::{}", moved.module, moved.item)));
            }
            None => self.look_at(tokens[0].range.start, &names),
        }
    }

    /// Returns where a path moves, by the names of this file, and notes what that needs.
    pub(crate) fn moves(&mut self, path: &[&str]) -> Option<Moved> {
        let mut moved = self.direction.moves(&self.names.resolve(path))?;
        // tokio-util's trait has methods for cancellation tokens too.
        if moved.module == "wheel::ext" && self.source.contains(".with_cancellation_token") {
            return None;
        }
        self.needs.extend(moved.need);
        moved.module = self.names.localize(&moved.module);
        Some(moved)
    }

    /// Notes a path that stays if it has to do with timers.
    pub(crate) fn look_at(&mut self, at: usize, path: &[&str]) {
        let resolved = self.names.resolve(path);
        self.keeps_wheel |= resolved.len() > 1 && resolved[0] == "wheel";
        let advice = self.direction.advice(&resolved);
        self.leave(at, &path.join("::"), advice.as_deref());
    }

    fn leave(&mut self, at: usize, what: &str, advice: Option<&str>) {
        if let Some(advice) = advice {
            let line = 1 + self.source[..at].matches('\n').count();
            self.left.push((line, format!("`{what}`{advice}")));
        }
    }

    fn rewritten(self) -> Rewritten {
        let mut text = String::new();
        let mut end = 0;
        for (range, new) in self.edits {
            // Two removed neighbours may both claim the comma between them.
            text += &self.source[end..range.start.max(end)];
            text += &new;
            end = range.end;
        }
        text += &self.source[end..];
        Rewritten {
            text,
            left: self.left,
            keeps_wheel: self.keeps_wheel,
            needs: self.needs,
        }
    }
}

/// Returns where the statement of a `use` begins, with its visibility and its attributes.
fn start(tokens: &[Token<'_>], mut at: usize) -> usize {
    let is = |at: usize, text: &str| tokens[at].text == text;
    let visibility = match at.checked_sub(1) {
        Some(before) if is(before, ")") => opening(tokens, before).checked_sub(1),
        before => before,
    };
    at = visibility.filter(|at| is(*at, "pub")).unwrap_or(at);
    while at > 0 && is(at - 1, "]") {
        match opening(tokens, at - 1).checked_sub(1) {
            Some(attribute) if is(attribute, "#") => at = attribute,
            _ => break,
        }
    }
    tokens[at].range.start
}

/// Returns the place of the bracket that the one at `close` closes.
fn opening(tokens: &[Token<'_>], close: usize) -> usize {
    let mut depth = 0;
    let is_opening = |at: &usize| {
        match tokens[*at].text {
            "(" | "[" | "{" => depth -= 1,
            ")" | "]" | "}" => depth += 1,
            _ => {}
        }
        depth == 0
    };
    (0..=close).rev().find(is_opening).unwrap_or(0)
}
