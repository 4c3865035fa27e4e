//! What names mean in a file, as far as its imports say.

use std::ops::Range;

use crate::imports::{Import, Leaf};
use crate::moves::{Names, is_own_type, own_types_in};
use crate::tokens::{Kind, Token, closing, path_from};

pub(crate) struct Scope {
    /// Of the package, and what the file calls tokio itself.
    pub(crate) names: Names,
    /// All that is imported, by the libraries' names.
    imports: Vec<Leaf>,
    modules: Vec<String>,
    /// Methods of tokio-util's `FutureExt` that are not about time are called.
    pub(crate) cancels: bool,
    pub(crate) calls_timeout: bool,
    /// A path begins with `time`, which no import of that name explains.
    pub(crate) says_time: bool,
    /// tokio-stream's trait is in scope.
    pub(crate) has_tokio_streams: bool,
}

impl Scope {
    pub(crate) fn read(tokens: &[Token], names: &Names) -> Self {
        let mut names = names.clone();
        let leaves = Import::all(tokens).flat_map(|import| import.root.leaves(&[]));
        let mut imports: Vec<Leaf> = leaves.collect();
        for leaf in &imports {
            if let (Some(here), [library]) = (&leaf.rename, &leaf.path[..]) {
                if names.library(library) == "tokio" {
                    names.add(here, "tokio");
                }
            }
        }
        for leaf in &mut imports {
            leaf.path = by_library(&names, &leaf.path);
        }
        let says = |what: &str| tokens.iter().any(|token| token.is_ident(what));
        let follows = |what: &str, kind: Kind| {
            let mut pairs = tokens.windows(2);
            pairs.any(|pair| pair[0].is_ident(what) && pair[1].kind == kind)
        };
        let modules = tokens.windows(2).filter(|pair| pair[0].is_ident("mod"));
        Scope {
            cancels: says("with_cancellation_token") || says("with_cancellation_token_owned"),
            calls_timeout: follows("timeout", Kind::Open('(')),
            says_time: follows("time", Kind::PathSep)
                && !imports
                    .iter()
                    .any(|leaf| leaf.name().is_some_and(|name| name == "time")),
            has_tokio_streams: imports.iter().any(|leaf| {
                let path = leaf.path.join("::");
                path == "tokio_stream::StreamExt" || path == "tokio_stream" && leaf.is_glob
            }),
            modules: modules
                .filter_map(|pair| pair[1].ident().map(str::to_owned))
                .collect(),
            imports,
            names,
        }
    }

    pub(crate) fn by_library(&self, path: &[String]) -> Vec<String> {
        by_library(&self.names, path)
    }

    /// Whether the file has a module of the name that a path begins with.
    pub(crate) fn has_module(&self, path: &str) -> bool {
        let first = path.split("::").next().unwrap_or(path);
        self.modules.iter().any(|module| module == first)
    }

    /// The import that a path begins with, if its first name is one.
    pub(crate) fn import_of(&self, path: &[String]) -> Option<&Leaf> {
        let first = path.first()?;
        self.imports.iter().find(|leaf| leaf.name() == Some(first))
    }

    /// Where a path leads, from its library on.
    fn resolve(&self, path: &[String]) -> Vec<String> {
        match self.import_of(path) {
            Some(leaf) => [&leaf.path[..], &path[1..]].concat(),
            None => self.by_library(path),
        }
    }

    fn is_own_type(&self, path: &[String]) -> bool {
        let [only] = path else {
            return is_own_type(&self.resolve(path));
        };
        let mut globs = self.imports.iter().filter(|leaf| leaf.is_glob);
        is_own_type(&self.resolve(path))
            || globs.any(|glob| own_types_in(&glob.path).any(|name| name == only))
    }

    /// Signatures, fields and implementations, as far as they are public, that name a type of
    /// tokio's of which there is another here: the tokens of each.
    pub(crate) fn public_signatures(&self, tokens: &[Token]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for at in 0..tokens.len() {
            let Some(end) = public_item(tokens, at) else {
                continue;
            };
            let is_concerned = match (at..end).find(|&at| tokens[at].is_ident("use")) {
                Some(at) => self.exports_own_types(tokens, at),
                None => (at..end).any(|at| {
                    let (path, _) = path_from(tokens, at);
                    let begins = at == 0 || tokens[at - 1].kind != Kind::PathSep;
                    begins && !path.is_empty() && self.is_own_type(&path)
                }),
            };
            if is_concerned {
                found.push(at..end);
            }
        }
        found
    }

    /// `at` is the `use` of a public declaration.
    fn exports_own_types(&self, tokens: &[Token], at: usize) -> bool {
        let Some(import) = Import::read(tokens, at + 1) else {
            return false;
        };
        let leaves = import.root.leaves(&[]);
        leaves.iter().any(|leaf| {
            let path = self.by_library(&leaf.path);
            is_own_type(&path) || own_types_in(&path).next().is_some()
        })
    }
}

fn by_library(names: &Names, path: &[String]) -> Vec<String> {
    let mut path = path.to_vec();
    if let Some(first) = path.first_mut() {
        *first = names.library(first).to_owned();
    }
    path
}

/// The end of what is public of an item that begins here.
fn public_item(tokens: &[Token], at: usize) -> Option<usize> {
    let starts_item = at == 0
        || matches!(
            tokens[at - 1].kind,
            Kind::Punct(';') | Kind::Open('{') | Kind::Close('}' | ']')
        );
    if tokens[at].is_ident("impl") && starts_item {
        // Of a trait, for a type: `From<Elapsed>`.
        let end = end_of(tokens, at, &['{'])?;
        let is_of_trait = tokens[at..end].iter().any(|token| token.is_ident("for"));
        return is_of_trait.then_some(end);
    }
    if !tokens[at].is_ident("pub") || tokens.get(at + 1)?.kind == Kind::Open('(') {
        return None;
    }
    let mut item = at + 1;
    while ["async", "const", "extern", "unsafe"]
        .iter()
        .any(|word| tokens[item].is_ident(word))
        || tokens[item].kind == Kind::Literal
    {
        item += 1;
    }
    match tokens[item].ident()? {
        "fn" => end_of(tokens, item, &['{', ';']),
        "type" | "static" | "use" => end_of(tokens, item, &[';']),
        "enum" | "trait" => Some(closing(tokens, end_of(tokens, item, &['{'])?)),
        "struct" | "union" | "mod" | "macro" => None,
        _ => end_of(tokens, item, &[',', ';']),
    }
}

/// The next of these outside of brackets; a bracket that closes what is around ends it too.
fn end_of(tokens: &[Token], from: usize, ends: &[char]) -> Option<usize> {
    let (mut at, mut angles) = (from, 0_usize);
    loop {
        match tokens.get(at)?.kind {
            Kind::Open(c) | Kind::Punct(c) if ends.contains(&c) && (c != ',' || angles == 0) => {
                return Some(at);
            }
            Kind::Open(_) => at = closing(tokens, at),
            Kind::Close(_) => return Some(at),
            Kind::Punct('<') => angles += 1,
            Kind::Punct('>') if !is_arrow(tokens, at) => angles = angles.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
}

fn is_arrow(tokens: &[Token], at: usize) -> bool {
    at > 0 && matches!(tokens[at - 1].kind, Kind::Punct('-' | '='))
}

#[cfg(test)]
mod tests {
    use super::Scope;
    use crate::moves::Names;
    use crate::tokens::tokens;

    fn is_public(source: &str) -> bool {
        let tokens = tokens(source).unwrap();
        let scope = Scope::read(&tokens, &Names::default());
        !scope.public_signatures(&tokens).is_empty()
    }

    #[test]
    fn public_signatures_that_name_tokios_types_are_found() {
        for source in [
            "pub fn f() -> tokio::time::Sleep {}",
            "use tokio::time::error::Elapsed; pub async fn f() -> Result<(), Elapsed> {}",
            "use tokio::time::*; pub fn f(i: &mut Interval) {}",
            "use tokio::time as t; pub type T = t::Timeout<()>;",
            "use tokio::time; pub struct A { pub a: Map<u8, time::Sleep>, b: u8 }",
            "use tokio::time::error::Elapsed; pub enum E { Late(Elapsed) }",
            "use tokio::time::error::Elapsed; impl From<Elapsed> for E { }",
            "pub use tokio::time::Sleep;",
            "pub use tokio::{spawn, time::Sleep};",
            "pub use tokio::{spawn, time};",
        ] {
            assert!(is_public(source), "{source}");
        }
    }

    #[test]
    fn what_is_not_public_or_of_one_type_on_both_sides_is_not() {
        for source in [
            "use tokio::time; pub struct A { a: time::Sleep, pub b: u8 }",
            "pub use tokio::spawn;",
            "pub fn f() -> tokio::time::Instant {}",
            "pub(crate) fn f() -> tokio::time::Sleep {}",
            "pub fn f() { tokio::time::sleep(d); let s: tokio::time::Sleep; }",
            "fn f() -> tokio::time::Sleep {}",
        ] {
            assert!(!is_public(source), "{source}");
        }
    }
}
