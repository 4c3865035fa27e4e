//! A file as a row of tokens that know where they are in the text.

use std::ops::Range;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Ident(String),
    /// `::` is one.
    PathSep,
    Punct(char),
    Open(char),
    Close(char),
    Literal,
}

#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// Bytes of the text.
    pub(crate) range: Range<usize>,
}

impl Token {
    pub(crate) fn is_ident(&self, name: &str) -> bool {
        matches!(&self.kind, Kind::Ident(ident) if ident == name)
    }

    pub(crate) fn ident(&self) -> Option<&str> {
        match &self.kind {
            Kind::Ident(ident) => Some(ident),
            _ => None,
        }
    }
}

/// The tokens of a file. Groups are flattened: an opening token, what is inside, a closing token.
pub(crate) fn tokens(source: &str) -> Result<Vec<Token>, String> {
    let stream: TokenStream = source
        .parse()
        .map_err(|error| format!("is not Rust: {error}"))?;
    let mut tokens = Vec::new();
    flatten(stream, &mut tokens);
    Ok(tokens)
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let range = tree.span().byte_range();
        let mut push = |kind, range| tokens.push(Token { kind, range });
        match tree {
            TokenTree::Ident(ident) => push(Kind::Ident(ident.to_string()), range),
            TokenTree::Literal(_) => push(Kind::Literal, range),
            TokenTree::Punct(colon)
                if colon.as_char() == ':' && colon.spacing() == Spacing::Joint =>
            {
                match trees
                    .next_if(|next| matches!(next, TokenTree::Punct(next) if next.as_char() == ':'))
                {
                    Some(next) => push(Kind::PathSep, range.start..next.span().byte_range().end),
                    None => push(Kind::Punct(':'), range),
                }
            }
            TokenTree::Punct(punct) => push(Kind::Punct(punct.as_char()), range),
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ('(', ')'),
                    Delimiter::Brace => ('{', '}'),
                    Delimiter::Bracket => ('[', ']'),
                    Delimiter::None => (' ', ' '),
                };
                push(Kind::Open(open), group.span_open().byte_range());
                flatten(group.stream(), tokens);
                let range = group.span_close().byte_range();
                tokens.push(Token {
                    kind: Kind::Close(close),
                    range,
                });
            }
        }
    }
}

/// The token that opens what `close` closes.
pub(crate) fn opening(tokens: &[Token], close: usize) -> usize {
    let mut depth = 0;
    for at in (0..=close).rev() {
        match tokens[at].kind {
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

/// The token that closes what `open` opens.
pub(crate) fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            Kind::Open(_) => depth += 1,
            Kind::Close(_) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len() - 1
}

/// The names that follow one another with `::` between them, and the token after them.
pub(crate) fn path_from(tokens: &[Token], mut at: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    while let Some(name) = tokens.get(at).and_then(Token::ident) {
        path.push(name.to_owned());
        at += 1;
        let goes_on = tokens
            .get(at)
            .is_some_and(|token| token.kind == Kind::PathSep)
            && tokens
                .get(at + 1)
                .is_some_and(|token| token.ident().is_some());
        if !goes_on {
            break;
        }
        at += 1;
    }
    (path, at)
}

pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// On one line, and of what is long the beginning.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 90;
    let text = one_line(text);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
