//! What is in a file: imports, paths, calls of methods and public items, each with its place in the text.

use std::ops::Range;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ItemUse};

use crate::moves::METHODS;

#[derive(Default)]
pub(crate) struct Syntax {
    pub(crate) imports: Vec<ItemUse>,
    /// All that is written out elsewhere: in expressions, types and macros.
    pub(crate) paths: Vec<Path>,
    pub(crate) calls: Vec<Call>,
    /// What is called on names: where, the name, the method.
    pub(crate) uses: Vec<(usize, String, String)>,
    pub(crate) modules: Vec<String>,
    /// Signatures, fields and implementations, as far as they are public.
    pub(crate) public: Vec<Range<usize>>,
}

/// Names with `::` between them. Where it begins with `::` the first name is empty.
pub(crate) struct Path {
    pub(crate) names: Vec<String>,
    /// The bytes of each name.
    pub(crate) ranges: Vec<Range<usize>>,
}

/// The call of a method that tokio-stream's trait has, too.
pub(crate) struct Call {
    pub(crate) method: String,
    /// What it is called on, if that is seen.
    pub(crate) receiver: Option<Range<usize>>,
    /// From the dot to the opening bracket.
    pub(crate) opening: Range<usize>,
    pub(crate) end: usize,
    pub(crate) has_arguments: bool,
    /// The method that is called on the result.
    pub(crate) next: Option<String>,
    /// Whether a semicolon follows.
    pub(crate) is_statement: bool,
}

impl Syntax {
    pub(crate) fn read(source: &str) -> Result<Self, String> {
        let stream = source.parse::<TokenStream>();
        let mut syntax = Syntax::default();
        syntax.row(stream.map_err(|error| format!("is not Rust: {error}"))?);
        Ok(syntax)
    }

    /// What is between two brackets, or a whole file.
    fn row(&mut self, stream: TokenStream) {
        let row: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while at < row.len() {
            self.public.extend(public_item(&row, at));
            at = match &row[at] {
                TokenTree::Group(group) => {
                    self.row(group.stream());
                    at + 1
                }
                TokenTree::Ident(name) if name == "use" => self.import(&row, at),
                TokenTree::Ident(_) => self.path(&row, at),
                _ => at + 1,
            };
        }
    }

    /// `at` is a `use`, which is no declaration in `use<'a>`.
    fn import(&mut self, row: &[TokenTree], at: usize) -> usize {
        let ends_item = |tree: &TokenTree| is_punct(tree, ';') || is_group(tree, Delimiter::Brace);
        let start = row[..at].iter().rposition(ends_item);
        let semicolon = find(row, at, |tree| is_punct(tree, ';'));
        let next = semicolon.map_or(row.len(), |at| at + 1);
        // What is before it in a macro need not be Rust.
        let starts = [start.map_or(0, |end| end + 1), at];
        let mut parsed = starts
            .iter()
            .filter_map(|start| declaration.parse2(stream(&row[*start..next])).ok());
        let Some(import) = parsed.next() else {
            return at + 1;
        };
        self.imports.push(import);
        next
    }

    fn path(&mut self, row: &[TokenTree], at: usize) -> usize {
        let mut path = Path {
            names: Vec::new(),
            ranges: Vec::new(),
        };
        if at > 1 && follows_colon(row, at - 1) {
            path.names.push(String::new());
            path.ranges.push(range(&row[at - 2]));
        }
        let mut next = at;
        while let Some(name) = ident(row, next) {
            path.names.push(name.to_string());
            path.ranges.push(range(name));
            next += 1;
            if !follows_colon(row, next + 1) || ident(row, next + 2).is_none() {
                break;
            }
            next += 2;
        }
        if path.names[0] == "mod" {
            self.modules
                .extend(ident(row, next).map(ToString::to_string));
        }
        self.method(row, next, &path);
        self.paths.push(path);
        next
    }

    /// What is called on a name, or a name that is called on something.
    fn method(&mut self, row: &[TokenTree], after: usize, path: &Path) {
        let [name] = &path.names[..] else {
            return;
        };
        if let Some(method) = method_at(row, after) {
            let at = path.ranges[0].start;
            self.uses.push((at, name.clone(), method.to_string()));
        }
        let is_call = after >= 2 && is_punct(&row[after - 2], '.');
        if is_call && METHODS.contains(&name.as_str()) {
            self.calls.extend(call(row, after - 2));
        }
    }
}

/// The dot is followed by a name, and the call's arguments come next.
fn call(row: &[TokenTree], dot: usize) -> Option<Call> {
    let TokenTree::Group(arguments) = row.get(dot + 2)? else {
        return None;
    };
    let start = range(&row[dot]).start;
    Some(Call {
        method: row[dot + 1].to_string(),
        receiver: receiver(row, dot).map(|first| range(&row[first]).start..start),
        opening: start..arguments.span_open().byte_range().end,
        end: range(arguments).end,
        has_arguments: !arguments.stream().is_empty(),
        next: method_at(row, dot + 3).map(ToString::to_string),
        is_statement: row.get(dot + 3).is_some_and(|tree| is_punct(tree, ';')),
    })
}

pub(crate) fn range(of: &impl Spanned) -> Range<usize> {
    of.span().byte_range()
}

fn declaration(input: ParseStream<'_>) -> syn::Result<ItemUse> {
    // Those of the module stand before its first item.
    Attribute::parse_inner(input)?;
    input.parse()
}

/// Where the expression begins that a method is called on. With fewer tokens it is another one:
/// that of `a + b.c()` begins at `b`, and that of `a.b.c()` at `a`.
fn receiver(row: &[TokenTree], dot: usize) -> Option<usize> {
    let semicolon = row[..dot].iter().rposition(|tree| is_punct(tree, ';'));
    let is_call = |start: &usize| {
        let parsed = syn::parse2(stream(&row[*start..dot + 3]));
        matches!(parsed, Ok(Expr::MethodCall(_)))
    };
    let start = (semicolon.map_or(0, |end| end + 1)..dot).find(is_call)?;
    // Of a macro's variable the name is no expression.
    let is_variable = start > 0 && is_punct(&row[start - 1], '$');
    (!is_variable).then_some(start)
}

/// What is public of an item that begins here.
fn public_item(row: &[TokenTree], at: usize) -> Option<Range<usize>> {
    let name = ident(row, at)?;
    let is_first = || match at.checked_sub(1).map(|before| &row[before]) {
        None | Some(TokenTree::Group(_)) => true,
        Some(before) => is_punct(before, ';'),
    };
    let end = if name == "pub" {
        end_of_public(row, at + 1)?
    } else if name == "impl" && is_first() {
        // Of a trait, for a type: `From<Elapsed>`.
        let body = find(row, at, |tree| is_group(tree, Delimiter::Brace))?;
        find(&row[..body], at, |tree| is_ident(tree, &["for"]))?;
        body
    } else {
        return None;
    };
    Some(range(&row[at]).start..range(&row[end - 1]).end)
}

/// `at` is behind the `pub`.
fn end_of_public(row: &[TokenTree], at: usize) -> Option<usize> {
    if is_group(row.get(at)?, Delimiter::Parenthesis) {
        return None;
    }
    let is_body = |tree: &TokenTree| is_group(tree, Delimiter::Brace);
    let item = find(row, at, |tree| {
        !is_ident(tree, &["async", "const", "extern", "unsafe"])
            && !matches!(tree, TokenTree::Literal(_))
    })?;
    if is_ident(&row[item], &["fn"]) {
        find(row, item, |tree| is_body(tree) || is_punct(tree, ';'))
    } else if is_ident(&row[item], &["enum", "trait"]) {
        find(row, item, is_body).map(|body| body + 1)
    } else if is_ident(&row[item], &["macro", "mod", "struct", "union", "use"]) {
        None
    } else {
        Some(end_of_field(row, item))
    }
}

/// The comma or semicolon after a type, and not one between its parameters.
fn end_of_field(row: &[TokenTree], from: usize) -> usize {
    let mut angles = 0;
    let end = find(row, from, |tree| {
        angles += i32::from(is_punct(tree, '<')) - i32::from(is_punct(tree, '>'));
        angles <= 0 && is_punct(tree, ',') || is_punct(tree, ';')
    });
    end.unwrap_or(row.len())
}

fn find(row: &[TokenTree], from: usize, test: impl FnMut(&TokenTree) -> bool) -> Option<usize> {
    let length = row.get(from..)?.iter().position(test);
    length.map(|length| from + length)
}

fn stream(row: &[TokenTree]) -> TokenStream {
    row.iter().cloned().collect()
}

fn ident(row: &[TokenTree], at: usize) -> Option<&Ident> {
    match row.get(at)? {
        TokenTree::Ident(ident) => Some(ident),
        _ => None,
    }
}

/// The name after a dot.
fn method_at(row: &[TokenTree], dot: usize) -> Option<&Ident> {
    let is_dot = is_punct(row.get(dot)?, '.');
    ident(row, dot + 1).filter(|_| is_dot)
}

/// Whether this is the second colon of two.
fn follows_colon(row: &[TokenTree], at: usize) -> bool {
    let colons = at.checked_sub(1).and_then(|first| row.get(first..=at));
    colons.is_some_and(|colons| colons.iter().all(|tree| is_punct(tree, ':')))
}

fn is_ident(tree: &TokenTree, names: &[&str]) -> bool {
    matches!(tree, TokenTree::Ident(ident) if names.iter().any(|name| ident == name))
}

fn is_punct(tree: &TokenTree, char: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == char)
}

fn is_group(tree: &TokenTree, delimiter: Delimiter) -> bool {
    matches!(tree, TokenTree::Group(group) if group.delimiter() == delimiter)
}
