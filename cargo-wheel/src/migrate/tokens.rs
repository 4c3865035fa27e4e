//! The tokens of a Rust file, in one list.
//!
//! A token knows its place in the text. So an edit replaces a few names, and comments, strings and
//! the formatting around them stay byte for byte. Macros need no rule of their own, because their
//! bodies are tokens like all others.

use std::ops::Range;

use proc_macro2::{LexError, TokenStream, TokenTree};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Name,
    /// A string, a number, or a doc comment.
    Literal,
    /// A character of punctuation, or a bracket.
    Sign,
}

pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) range: Range<usize>,
}

/// Returns the tokens of `source`, with brackets among them.
///
/// # Errors
///
/// Returns [`LexError`] if these are no tokens of Rust.
pub(crate) fn tokens(source: &str) -> Result<Vec<Token<'_>>, LexError> {
    // The places of the tokens leave a byte order mark out, and three spaces are as long.
    let text = source.replace('\u{feff}', "   ");
    let mut tokens = Vec::new();
    flatten(text.parse()?, source, &mut tokens);
    Ok(tokens)
}

fn flatten<'a>(stream: TokenStream, source: &'a str, tokens: &mut Vec<Token<'a>>) {
    let token = |kind, range: Range<usize>| {
        let text = &source[range.clone()];
        Token { kind, text, range }
    };
    for tree in stream {
        let range = tree.span().byte_range();
        let kind = match &tree {
            TokenTree::Ident(_) => Kind::Name,
            TokenTree::Literal(_) => Kind::Literal,
            // A doc comment is read as `#[doc = "…"]`, whose parts are places in the comment.
            TokenTree::Group(_) if source[range.clone()].starts_with('/') => Kind::Literal,
            TokenTree::Punct(_) => Kind::Sign,
            TokenTree::Group(group) => {
                tokens.push(token(Kind::Sign, group.span_open().byte_range()));
                flatten(group.stream(), source, tokens);
                tokens.push(token(Kind::Sign, group.span_close().byte_range()));
                continue;
            }
        };
        tokens.push(token(kind, range));
    }
}

/// A place in a list of tokens.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    pub(crate) tokens: &'a [Token<'a>],
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn token(self) -> Option<&'a Token<'a>> {
        self.tokens.get(self.at)
    }

    pub(crate) fn is(self, text: &str) -> bool {
        self.token().is_some_and(|token| token.text == text)
    }

    /// Takes the next token if it is `text`.
    pub(crate) fn take(&mut self, text: &str) -> bool {
        let is_next = self.is(text);
        self.at += usize::from(is_next);
        is_next
    }

    /// Takes the next token if it is a name.
    pub(crate) fn take_name(&mut self) -> Option<&'a Token<'a>> {
        let name = self.token().filter(|token| token.kind == Kind::Name)?;
        self.at += 1;
        Some(name)
    }

    /// Takes `::`, which is two tokens.
    pub(crate) fn take_colons(&mut self) -> bool {
        let is_next = match &self.tokens[self.at.min(self.tokens.len())..] {
            [a, b, ..] => a.text == ":" && b.text == ":",
            _ => false,
        };
        self.at += 2 * usize::from(is_next);
        is_next
    }

    /// Takes the names of a path such as `tokio::time::sleep`, of which the first is next.
    pub(crate) fn take_path(&mut self) -> Vec<&'a Token<'a>> {
        let mut names = Vec::new();
        while let Some(name) = self.take_name() {
            names.push(name);
            let mut after = *self;
            if !(after.take_colons() && after.token().is_some_and(|next| next.kind == Kind::Name)) {
                break;
            }
            *self = after;
        }
        names
    }
}
