//! A `use` declaration as a tree.

use std::ops::Range;

use crate::tokens::{Kind, Token};

/// `a::b::{c, d as e, f::*}` is a node `a::b` with three below it.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) segments: Vec<Segment>,
    pub(crate) end: End,
    /// Bytes of the text.
    pub(crate) range: Range<usize>,
}

#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) name: String,
    /// Where it ends in the text.
    pub(crate) end: usize,
}

#[derive(Debug)]
pub(crate) enum End {
    /// With the name it is imported under, if that is another.
    Name(Option<String>),
    Glob,
    Group(Vec<Node>),
}

/// What a declaration imports: one of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// From the crate on. `self` is not part of it.
    pub(crate) path: Vec<String>,
    pub(crate) rename: Option<String>,
    pub(crate) is_glob: bool,
}

/// A whole declaration, from `use` to the semicolon.
#[derive(Debug)]
pub(crate) struct Import {
    /// Whether it begins with `::`.
    pub(crate) is_absolute: bool,
    pub(crate) root: Node,
    /// The index of the token after the semicolon.
    pub(crate) next: usize,
    /// Where the semicolon ends.
    pub(crate) end: usize,
}

impl Import {
    /// Reads the declaration whose `use` is the token before `at`. `None` if it is none, such as
    /// `use<'a>` in a type, or the pattern of a macro.
    pub(crate) fn read(tokens: &[Token], at: usize) -> Option<Self> {
        let mut cursor = Cursor { tokens, at };
        let is_absolute = cursor.eat(&Kind::PathSep).is_some();
        let root = cursor.node()?;
        let end = cursor.eat(&Kind::Punct(';'))?.range.end;
        Some(Import {
            is_absolute,
            root,
            next: cursor.at,
            end,
        })
    }

    /// Every declaration of a file.
    pub(crate) fn all(tokens: &[Token]) -> impl Iterator<Item = Import> {
        let uses = tokens.iter().enumerate();
        uses.filter(|(_, token)| token.is_ident("use"))
            .filter_map(|(at, _)| Import::read(tokens, at + 1))
    }
}

impl Leaf {
    /// The name that it has in the module, if it is one name.
    pub(crate) fn name(&self) -> Option<&String> {
        let name = self.rename.as_ref().or(self.path.last());
        name.filter(|_| !self.is_glob)
    }
}

impl Node {
    /// `prefix`, and the names of this node.
    pub(crate) fn path(&self, prefix: &[String]) -> Vec<String> {
        let mut path = prefix.to_vec();
        let names = self.segments.iter().map(|segment| &segment.name);
        path.extend(
            names
                .filter(|name| *name != "self" || prefix.is_empty())
                .cloned(),
        );
        path
    }

    /// All that is imported below `prefix`.
    pub(crate) fn leaves(&self, prefix: &[String]) -> Vec<Leaf> {
        let path = self.path(prefix);
        let leaf = |path, rename, is_glob| Leaf {
            path,
            rename,
            is_glob,
        };
        match &self.end {
            End::Name(rename) => vec![leaf(path, rename.clone(), false)],
            End::Glob => vec![leaf(path, None, true)],
            End::Group(nodes) => nodes.iter().flat_map(|node| node.leaves(&path)).collect(),
        }
    }
}

struct Cursor<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn eat(&mut self, kind: &Kind) -> Option<&'a Token> {
        let token = self
            .tokens
            .get(self.at)
            .filter(|token| token.kind == *kind)?;
        self.at += 1;
        Some(token)
    }

    fn name(&mut self) -> Option<&'a Token> {
        let token = self
            .tokens
            .get(self.at)
            .filter(|token| token.ident().is_some())?;
        self.at += 1;
        Some(token)
    }

    fn node(&mut self) -> Option<Node> {
        let start = self.tokens.get(self.at)?.range.start;
        let mut segments = Vec::new();
        let (end, close) = loop {
            if let Some(star) = self.eat(&Kind::Punct('*')) {
                break (End::Glob, star.range.end);
            }
            if self.eat(&Kind::Open('{')).is_some() {
                break self.group()?;
            }
            let name = self.name()?;
            segments.push(Segment {
                name: name.ident()?.to_owned(),
                end: name.range.end,
            });
            if self.eat(&Kind::PathSep).is_none() {
                break self.rename(name)?;
            }
        };
        Some(Node {
            segments,
            end,
            range: start..close,
        })
    }

    fn rename(&mut self, last: &Token) -> Option<(End, usize)> {
        if !self.tokens.get(self.at)?.is_ident("as") {
            return Some((End::Name(None), last.range.end));
        }
        self.at += 1;
        let name = self.name()?;
        Some((End::Name(Some(name.ident()?.to_owned())), name.range.end))
    }

    fn group(&mut self) -> Option<(End, usize)> {
        let mut nodes = Vec::new();
        loop {
            if let Some(close) = self.eat(&Kind::Close('}')) {
                return Some((End::Group(nodes), close.range.end));
            }
            nodes.push(self.node()?);
            self.eat(&Kind::Punct(','));
        }
    }
}
