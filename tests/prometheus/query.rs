//! As much of PromQL as the queries use, evaluated over successive scrapes.

use std::collections::BTreeMap;
use std::time::Duration;

use promql_parser::parser::{self, Expr, LabelModifier, VectorSelector};

pub(crate) type Labels = BTreeMap<String, String>;

/// When, and each sample's name, labels and value.
pub(crate) struct Scrape {
    at: Duration,
    samples: Vec<(String, Labels, f64)>,
}

impl Scrape {
    /// Reads the text format.
    pub(crate) fn read(at: Duration, page: &str) -> Self {
        let is_sample = |line: &&str| !line.is_empty() && !line.starts_with('#');
        let samples = page.lines().filter(is_sample).map(sample).collect();
        Scrape { at, samples }
    }
}

fn sample(line: &str) -> (String, Labels, f64) {
    let (series, value) = line.rsplit_once(' ').expect("a value");
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    let labels = labels.strip_suffix('}').expect("a brace").split(',');
    let pair = |label: &str| {
        let (key, value) = label.split_once('=').expect("a label");
        (key.to_owned(), value.trim_matches('"').to_owned())
    };
    let labels = labels.filter(|label| !label.is_empty());
    let mut labels: Labels = labels.map(pair).collect();
    // The server's label on every sample of a scrape.
    labels.insert("instance".to_owned(), "service:9000".to_owned());
    (name.to_owned(), labels, value.parse().expect("a number"))
}

/// Labels and values; a scalar is a single value without labels.
pub(crate) type Vector = Vec<(Labels, f64)>;

/// The only value there is.
pub(crate) fn only(all: &Vector) -> f64 {
    match all[..] {
        [(_, value)] => value,
        _ => panic!("not one value: {all:?}"),
    }
}

/// A query's value at the time of the last scrape.
pub(crate) fn query(scrapes: &[Scrape], query: &str) -> Vector {
    let expr = parser::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    evaluate(scrapes, &expr)
}

fn evaluate(scrapes: &[Scrape], expr: &Expr) -> Vector {
    let scalar = |value| vec![(Labels::new(), value)];
    match expr {
        Expr::NumberLiteral(number) => scalar(number.val),
        Expr::Paren(inner) => evaluate(scrapes, &inner.expr),
        Expr::VectorSelector(selector) => select(scrapes.last().expect("a scrape"), selector),
        Expr::Call(call) => match (call.func.name, &call.args.args[..]) {
            ("rate", [range]) => rate(scrapes, range),
            ("histogram_quantile", [quantile, buckets]) => {
                let quantile = only(&evaluate(scrapes, quantile));
                scalar(histogram_quantile(quantile, evaluate(scrapes, buckets)))
            }
            (other, _) => panic!("the function {other} is not known here"),
        },
        Expr::Aggregate(aggregate) => {
            assert_eq!(aggregate.op.to_string(), "sum");
            let by = match &aggregate.modifier {
                None => Vec::new(),
                Some(LabelModifier::Include(labels)) => labels.labels.clone(),
                Some(other) => panic!("{other:?} is not known here"),
            };
            sum(evaluate(scrapes, &aggregate.expr), &by)
        }
        Expr::Binary(binary) => {
            let [left, right] = [&binary.lhs, &binary.rhs].map(|side| evaluate(scrapes, side));
            combine(&binary.op.to_string(), &left, &right)
        }
        other => panic!("{other:?} is not known here"),
    }
}

fn select(scrape: &Scrape, selector: &VectorSelector) -> Vector {
    let wanted = |name: &str, labels: &Labels| {
        let label = |name| labels.get(name).map_or("", String::as_str);
        let mut matchers = selector.matchers.matchers.iter();
        Some(name) == selector.name.as_deref()
            && matchers.all(|matcher| matcher.is_match(label(matcher.name.as_str())))
    };
    let samples = scrape.samples.iter();
    let found = samples.filter(|(name, labels, _)| wanted(name, labels));
    let found: Vec<_> = found
        .map(|(_, labels, value)| (labels.clone(), *value))
        .collect();
    assert!(!found.is_empty(), "there is nothing like {selector:?}");
    found
}

/// Per second, from the first scrape in the range to the last. A server also extrapolates to the
/// ends of the range, by the same factor for all.
fn rate(scrapes: &[Scrape], range: &Expr) -> Vector {
    let Expr::MatrixSelector(range) = range else {
        panic!("a range, not {range:?}")
    };
    let last = scrapes.last().expect("a scrape");
    let inside = |scrape: &&Scrape| last.at - scrape.at <= range.range;
    let first = scrapes.iter().find(inside).expect("a scrape");
    let seconds = (last.at - first.at).as_secs_f64();
    let (before, now) = (select(first, &range.vs), select(last, &range.vs));
    let increase = |(labels, value): (Labels, f64)| {
        let before = before.iter().find(|(other, _)| *other == labels);
        let before = before.map_or(0.0, |(_, value)| *value);
        assert!(before <= value, "a counter goes down: {labels:?}");
        (labels, (value - before) / seconds)
    };
    now.into_iter().map(increase).collect()
}

fn sum(all: Vector, by: &[String]) -> Vector {
    let mut sums: BTreeMap<Labels, f64> = BTreeMap::new();
    for (mut labels, value) in all {
        labels.retain(|name, _| by.contains(name));
        *sums.entry(labels).or_default() += value;
    }
    sums.into_iter().collect()
}

/// As the server does: linear inside the bucket.
fn histogram_quantile(quantile: f64, buckets: Vector) -> f64 {
    let end = |labels: &Labels| match labels["le"].as_str() {
        "+Inf" => f64::INFINITY,
        end => end.parse().expect("a number"),
    };
    let buckets = buckets.iter().map(|(labels, value)| (end(labels), *value));
    let mut buckets: Vec<(f64, f64)> = buckets.collect();
    buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
    let rank = quantile * buckets.last().expect("buckets").1;
    let reaches = |&(_, count): &(f64, f64)| count >= rank;
    let index = buckets.iter().position(reaches).expect("the last at least");
    let before = index.checked_sub(1);
    let (start, below) = before.map_or((0.0, 0.0), |index| buckets[index]);
    let (end, upto) = buckets[index];
    if end.is_infinite() {
        return start;
    }
    start + (end - start) * (rank - below) / (upto - below)
}

/// Values of the same labels, or each value with the scalar on the other side.
fn combine(op: &str, left: &Vector, right: &Vector) -> Vector {
    let compute = |left: f64, right: f64| match op {
        "-" => Some(left - right),
        "/" => Some(left / right),
        // A comparison keeps the samples for which the comparison holds.
        ">" => (left > right).then_some(left),
        _ => panic!("the operator {op} is not known here"),
    };
    let is_scalar = |side: &Vector| side.len() == 1 && side[0].0.is_empty();
    let value = |side: &Vector, labels: &Labels| {
        let mut all = side.iter();
        let found = all.find(|(other, _)| other == labels || is_scalar(side));
        Some(found?.1)
    };
    let labels = if is_scalar(left) { right } else { left }.iter();
    let combined = labels.filter_map(|(labels, _)| {
        let value = compute(value(left, labels)?, value(right, labels)?)?;
        Some((labels.clone(), value))
    });
    combined.collect()
}
