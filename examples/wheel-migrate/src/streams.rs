//! Calls of tokio-stream's methods that have timers.

use crate::tokens::{Kind, Token, closing, opening};

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// The first token of the receiver, the dot before the method, the call's closing bracket.
    Stream {
        start: usize,
        dot: usize,
        close: usize,
    },
    /// A `timeout` of a stream, or of something else.
    Unclear { at: usize },
}

/// No other type in wide use has methods of these names.
const CERTAIN: [&str; 3] = ["chunks_timeout", "throttle", "timeout_repeating"];

/// What is called on streams. `timeout` is a method of builders and of requests too.
const STREAMS: &str = "all any chain chunks_timeout collect filter filter_map fold fuse map map_while merge next \
    peekable poll_next skip skip_while take take_while then throttle timeout_repeating try_next";

fn is_a_streams(method: &str) -> bool {
    STREAMS.split_whitespace().any(|known| known == method)
}

pub(crate) fn calls(tokens: &[Token]) -> Vec<Call> {
    let dots = tokens
        .windows(3)
        .enumerate()
        .filter(|(_, three)| three[0].kind == Kind::Punct('.') && three[2].kind == Kind::Open('('));
    dots.filter_map(|(dot, three)| call(tokens, dot, three[1].ident()?))
        .collect()
}

fn call(tokens: &[Token], dot: usize, method: &str) -> Option<Call> {
    let close = closing(tokens, dot + 2);
    let is_stream = match method {
        _ if close == dot + 3 => Some(false),
        _ if CERTAIN.contains(&method) => Some(true),
        "timeout" => is_streams(tokens, dot, close),
        _ => Some(false),
    };
    match (is_stream, receiver(tokens, dot)) {
        (Some(false), _) => None,
        (Some(true), Some(start)) => Some(Call::Stream { start, dot, close }),
        _ => Some(Call::Unclear { at: dot + 1 }),
    }
}

/// By what is called on the result: `None` if nothing is seen of that.
fn is_streams(tokens: &[Token], dot: usize, close: usize) -> Option<bool> {
    if let Some(next) = method_after(tokens, close) {
        return Some(is_a_streams(next));
    }
    if tokens.get(close + 1)?.kind != Kind::Punct(';') {
        return None;
    }
    let name = variable(tokens, receiver(tokens, dot)?)?;
    let mut uses = (close..tokens.len()).filter(|&at| tokens[at].is_ident(name));
    uses.find_map(|at| method_after(tokens, at).map(is_a_streams))
}

/// The method that is called on what ends at a token.
fn method_after(tokens: &[Token], end: usize) -> Option<&str> {
    let dot = tokens.get(end + 1)?;
    tokens
        .get(end + 2)?
        .ident()
        .filter(|_| dot.kind == Kind::Punct('.'))
}

/// The name in `let name = …` or `let mut name = …`.
fn variable(tokens: &[Token], start: usize) -> Option<&str> {
    let equals = start.checked_sub(1)?;
    let name = tokens.get(equals.checked_sub(1)?)?.ident()?;
    let before = tokens.get(equals.checked_sub(2)?)?;
    let is_let = before.is_ident("let") || before.is_ident("mut");
    (tokens[equals].kind == Kind::Punct('=') && is_let).then_some(name)
}

/// The first token of what a method is called on: names, calls, indices and `?`, to the front.
fn receiver(tokens: &[Token], dot: usize) -> Option<usize> {
    let mut at = dot.checked_sub(1)?;
    loop {
        at = match &tokens[at].kind {
            Kind::Punct('?') => at.checked_sub(1)?,
            Kind::Close(bracket @ (')' | ']')) => {
                let open = opening(tokens, at);
                match before(tokens, open)? {
                    Before::Callee(end) => end,
                    Before::Nothing => return Some(open),
                    // `match (a) {}` cannot be told from a call.
                    Before::Keyword if *bracket == ')' => return Some(open),
                    Before::Keyword => return None,
                }
            }
            Kind::Ident(_) | Kind::Literal => {
                let start = path_to(tokens, at)?;
                let is_dot = |at: usize| tokens[at].kind == Kind::Punct('.');
                if start < 2 || !is_dot(start - 1) || is_dot(start - 2) {
                    return Some(start);
                }
                start - 2
            }
            _ => return None,
        };
    }
}

/// The first token of the path that ends here. `None` below a type in angle brackets.
fn path_to(tokens: &[Token], mut at: usize) -> Option<usize> {
    while at > 0 && tokens[at - 1].kind == Kind::PathSep {
        match at.checked_sub(2).map(|before| &tokens[before].kind) {
            Some(Kind::Ident(_)) => at -= 2,
            Some(Kind::Punct('>')) => return None,
            // An absolute path.
            _ => return Some(at - 1),
        }
    }
    Some(at)
}

enum Before {
    /// The last token of what is called or indexed.
    Callee(usize),
    Keyword,
    Nothing,
}

const KEYWORDS: [&str; 8] = ["as", "else", "if", "in", "let", "match", "return", "while"];

fn before(tokens: &[Token], open: usize) -> Option<Before> {
    let Some(at) = open.checked_sub(1) else {
        return Some(Before::Nothing);
    };
    Some(match &tokens[at].kind {
        Kind::Ident(name) if KEYWORDS.contains(&name.as_str()) => Before::Keyword,
        Kind::Ident(_) | Kind::Close(')' | ']') | Kind::Punct('?') => Before::Callee(at),
        // A macro.
        Kind::Punct('!') if at > 0 && tokens[at - 1].ident().is_some() => Before::Callee(at - 1),
        // `collect::<Vec<_>>()`: the name before the brackets. A comparison ends here too.
        Kind::Punct('>') => Before::Callee(generic(tokens, at)?),
        Kind::Close(_) => return None,
        _ => Before::Nothing,
    })
}

/// The name before `::<…>`, whose last bracket is at `close`.
fn generic(tokens: &[Token], close: usize) -> Option<usize> {
    let mut depth = 0;
    for at in (0..=close).rev() {
        match tokens[at].kind {
            Kind::Punct('>') => depth += 1,
            Kind::Punct('<') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let name = at.checked_sub(2)?;
            let is_turbofish = tokens[at - 1].kind == Kind::PathSep;
            return (is_turbofish && tokens[name].ident().is_some()).then_some(name);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Call, calls};
    use crate::tokens::tokens;

    /// The text of each receiver, or `?`.
    fn receivers(source: &str) -> Vec<&str> {
        let tokens = tokens(source).unwrap();
        let text = |call| match call {
            Call::Stream { start, dot, .. } => {
                &source[tokens[start].range.start..tokens[dot].range.start]
            }
            Call::Unclear { .. } => "?",
        };
        calls(&tokens).into_iter().map(text).collect()
    }

    #[test]
    fn the_receiver_is_found() {
        for (source, receiver) in [
            ("let a = b.throttle(d);", "b"),
            ("self.0.throttle(d)", "self.0"),
            ("&mut a.b[1].throttle(d)", "a.b[1]"),
            (
                "m::iter(vec![1]).map(|n| n).throttle(d)",
                "m::iter(vec![1]).map(|n| n)",
            ),
            ("f(x)?.g::<Vec<_>>().throttle(d)", "f(x)?.g::<Vec<_>>()"),
            ("return (a).throttle(d)", "(a)"),
            ("stream!(a).throttle(d)", "stream!(a)"),
            ("::m::iter(a).throttle(d)", "::m::iter(a)"),
            ("a().await.throttle(d)", "a().await"),
            ("(0..a.throttle(d))", "a"),
            ("<T>::new().throttle(d)", "?"),
            ("if a { b } else { c }.throttle(d)", "?"),
        ] {
            assert_eq!(receivers(source), [receiver], "of {source}");
        }
        assert_eq!(
            receivers("a.throttle(d).chunks_timeout(2, d)"),
            ["a", "a.throttle(d)"]
        );
    }

    #[test]
    fn a_timeout_is_a_streams_if_the_result_is_used_as_one() {
        for (source, found) in [
            ("s.timeout(d).next().await", &["s"][..]),
            ("let mut t = s.timeout(d); pin!(t); t.next()", &["s"]),
            ("client.get(u).timeout(d).send()", &[]),
            ("f.timeout(d).await", &[]),
            ("let b = c.timeout(d); b.build()", &[]),
            ("let t = s.timeout(d); run(t)", &["?"]),
            ("run(s.timeout(d))", &["?"]),
            ("settings.timeout()", &[]),
        ] {
            assert_eq!(receivers(source), found, "of {source}");
        }
    }
}
