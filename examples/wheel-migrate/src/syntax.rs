//! What is in a file: imports, paths, calls of methods and public items, each with its place in the text.

use std::ops::Range;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ItemUse};

use crate::moves::METHODS;

/// Methods that types of this crate have, and tokio's do not.
const HERES: [&str; 2] = ["next", "reset_unpin"];

#[derive(Default)]
pub(crate) struct Syntax {
    pub(crate) imports: Vec<ItemUse>,
    /// All that is written out elsewhere: in expressions, types and macros.
    pub(crate) paths: Vec<Path>,
    pub(crate) calls: Vec<Call>,
    /// What is called on names: where, the name, the method.
    pub(crate) uses: Vec<(usize, String, String)>,
    pub(crate) modules: Vec<String>,
    /// Signatures, fields, variants and implementations, as far as they are public.
    pub(crate) public: Vec<Public>,
    /// What is made and kept in a variable that changes.
    pub(crate) variables: Vec<Variable>,
}

pub(crate) struct Public {
    pub(crate) range: Range<usize>,
    /// The enumeration or the trait that it is part of.
    pub(crate) of: Option<String>,
}

/// `let mut name = path(…);`
pub(crate) struct Variable {
    pub(crate) name: String,
    /// The call.
    pub(crate) value: Range<usize>,
}

/// Names with `::` between them. Where it begins with `::` the first name is empty.
pub(crate) struct Path {
    pub(crate) names: Vec<String>,
    /// The bytes of each name.
    pub(crate) ranges: Vec<Range<usize>>,
    /// Whether it is a value, as far as that is seen, and not a type.
    pub(crate) is_value: bool,
}

/// The call of a method that tokio-stream's trait has, too, or that tokio's types do not have.
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

impl Call {
    pub(crate) fn awaits(&self) -> bool {
        self.next.as_deref() == Some("await")
    }
}

impl Syntax {
    pub(crate) fn read(source: &str) -> Result<Self, String> {
        let stream = source.parse::<TokenStream>();
        let mut syntax = Syntax::default();
        let stream = stream.map_err(|error| format!("is not Rust: {error}"))?;
        syntax.row(stream, None);
        Ok(syntax)
    }

    /// What is between two brackets, of an expression if they are named, or a whole file.
    fn row(&mut self, stream: TokenStream, brackets: Option<Delimiter>) {
        let row: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while at < row.len() {
            public_item(&row, at, &mut self.public);
            at = match &row[at] {
                TokenTree::Group(group) => {
                    let brackets = (!is_declared(&row, at)).then_some(group.delimiter());
                    self.row(group.stream(), brackets);
                    at + 1
                }
                TokenTree::Ident(name) if name == "use" => self.import(&row, at),
                TokenTree::Ident(_) => self.path(&row, at, brackets),
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

    fn path(&mut self, row: &[TokenTree], at: usize, brackets: Option<Delimiter>) -> usize {
        let mut path = Path {
            names: Vec::new(),
            ranges: Vec::new(),
            is_value: is_value(row, at, brackets),
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
        self.variables.extend(variable(row, at));
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
        if is_call && (METHODS.contains(&name.as_str()) || HERES.contains(&name.as_str())) {
            self.calls.extend(call(row, after - 2));
        }
    }
}

/// Whether a path that begins here is a value: an argument, a field's, or what a variable is made
/// of. `brackets` are those of an expression around it.
fn is_value(row: &[TokenTree], at: usize, brackets: Option<Delimiter>) -> bool {
    let is = |char| at > 0 && is_punct(&row[at - 1], char);
    match brackets {
        _ if is('=') => !row[..at].iter().any(|tree| is_ident(tree, &["type"])),
        Some(Delimiter::Parenthesis) => at == 0 || is(','),
        // A field's name and a colon are before it.
        Some(Delimiter::Brace) if is(':') => at == 2 || at > 2 && is_punct(&row[at - 3], ','),
        _ => false,
    }
}

/// Whether these are the brackets of a struct, and what is between them are types.
fn is_declared(row: &[TokenTree], group: usize) -> bool {
    let ends_item = |tree: &&TokenTree| is_punct(tree, ';') || is_group(tree, Delimiter::Brace);
    let mut item = row[..group]
        .iter()
        .rev()
        .take_while(|tree| !ends_item(tree));
    item.any(|tree| is_ident(tree, &["struct"]))
}

/// `at` is the `let`.
fn variable(row: &[TokenTree], at: usize) -> Option<Variable> {
    if !is_ident(&row[at], &["let"]) || !is_ident(row.get(at + 1)?, &["mut"]) {
        return None;
    }
    let name = ident(row, at + 2)?;
    let end = find(row, at, |tree| is_punct(tree, ';'))?;
    let is_made = is_punct(&row[at + 3], '=') && is_group(&row[end - 1], Delimiter::Parenthesis);
    let path = &row.get(at + 4..end - 1)?;
    let is_path = |tree: &TokenTree| matches!(tree, TokenTree::Ident(_)) || is_punct(tree, ':');
    let is_call = is_made && !path.is_empty() && path.iter().all(is_path);
    is_call.then(|| Variable {
        name: name.to_string(),
        value: range(&path[0]).start..range(&row[end - 1]).end,
    })
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
fn public_item(row: &[TokenTree], at: usize, public: &mut Vec<Public>) {
    let is_first = || match at.checked_sub(1).map(|before| &row[before]) {
        None | Some(TokenTree::Group(_)) => true,
        Some(before) => is_punct(before, ';'),
    };
    let end = if is_ident(&row[at], &["pub"]) {
        end_of_public(row, at + 1)
    } else if is_ident(&row[at], &["impl"]) && is_first() {
        // Of a trait, for a type: `From<Elapsed>`.
        let body = find(row, at, |tree| is_group(tree, Delimiter::Brace));
        body.filter(|body| row[at..*body].iter().any(|tree| is_ident(tree, &["for"])))
    } else {
        None
    };
    let Some(end) = end else { return };
    let range = range(&row[at]).start..range(&row[end - 1]).end;
    public.push(Public { range, of: None });
    let kind = find(&row[..end], at, |tree| is_ident(tree, &["enum", "trait"]));
    if let (Some(kind), Some(TokenTree::Group(body))) = (kind, row.get(end)) {
        let of = format!("{} {}", row[kind], row[kind + 1]);
        members(&body.stream(), &of, public);
    }
}

/// The variants of an enumeration, or the items of a trait.
fn members(body: &TokenStream, of: &str, public: &mut Vec<Public>) {
    let row: Vec<TokenTree> = body.clone().into_iter().collect();
    let mut at = 0;
    while at < row.len() {
        let is_attribute = is_punct(&row[at], '#');
        let end = match of.starts_with("enum") {
            _ if is_attribute => at + 2,
            true => end_of_field(&row, at),
            false => end_of_public(&row, at).unwrap_or(row.len()),
        };
        if !is_attribute && end > at {
            let range = range(&row[at]).start..range(&row[end - 1]).end;
            let of = Some(of.to_owned());
            public.push(Public { range, of });
        }
        // The comma, the semicolon, or the body.
        at = end + usize::from(!is_attribute);
    }
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
        find(row, item, is_body)
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
