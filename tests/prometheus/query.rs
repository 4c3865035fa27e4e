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
        let lines = page
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let samples = lines.map(sample).collect();
        Scrape { at, samples }
    }
}

fn sample(line: &str) -> (String, Labels, f64) {
    let (series, value) = line.rsplit_once(' ').expect("a value");
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    let labels = labels
        .strip_suffix('}')
        .expect("a brace")
        .split(',')
        .filter(|l| !l.is_empty());
    let mut labels: Labels = labels
        .map(|label| {
            let (key, value) = label.split_once('=').expect("a label");
            (key.to_owned(), value.trim_matches('"').to_owned())
        })
        .collect();
    // The server's label on every sample of a scrape.
    labels.insert("instance".to_owned(), "service:9000".to_owned());
    (name.to_owned(), labels, value.parse().expect("a number"))
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Scalar(f64),
    Vector(Vec<(Labels, f64)>),
}

impl Value {
    /// The only value there is.
    pub(crate) fn only(&self) -> f64 {
        match self {
            Value::Scalar(value) => *value,
            Value::Vector(all) => match &all[..] {
                [(_, value)] => *value,
                _ => panic!("not one value: {all:?}"),
            },
        }
    }

    fn vector(self) -> Vec<(Labels, f64)> {
        match self {
            Value::Vector(all) => all,
            Value::Scalar(value) => panic!("a vector, not {value}"),
        }
    }
}

/// A query's value at the time of the last scrape.
pub(crate) fn query(scrapes: &[Scrape], query: &str) -> Value {
    evaluate(
        scrapes,
        &parser::parse(query).unwrap_or_else(|error| panic!("{query}: {error}")),
    )
}

fn evaluate(scrapes: &[Scrape], expr: &Expr) -> Value {
    match expr {
        Expr::NumberLiteral(number) => Value::Scalar(number.val),
        Expr::Paren(inner) => evaluate(scrapes, &inner.expr),
        Expr::VectorSelector(selector) => {
            Value::Vector(select(scrapes.last().expect("a scrape"), selector))
        }
        Expr::Call(call) => match (call.func.name, &call.args.args[..]) {
            ("rate", [range]) => Value::Vector(rate(scrapes, range)),
            ("histogram_quantile", [quantile, buckets]) => {
                let quantile = evaluate(scrapes, quantile).only();
                let value = histogram_quantile(quantile, evaluate(scrapes, buckets).vector());
                Value::Vector(vec![(Labels::new(), value)])
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
            Value::Vector(sum(evaluate(scrapes, &aggregate.expr).vector(), &by))
        }
        Expr::Binary(binary) => {
            let (left, right) = (
                evaluate(scrapes, &binary.lhs),
                evaluate(scrapes, &binary.rhs),
            );
            combine(&binary.op.to_string(), left, right)
        }
        other => panic!("{other:?} is not known here"),
    }
}

fn select(scrape: &Scrape, selector: &VectorSelector) -> Vec<(Labels, f64)> {
    let wanted = |name: &str, labels: &Labels| {
        let label = |name| labels.get(name).map_or("", String::as_str);
        let matchers = &selector.matchers.matchers;
        Some(name) == selector.name.as_deref()
            && matchers
                .iter()
                .all(|matcher| matcher.is_match(label(matcher.name.as_str())))
    };
    let samples = scrape
        .samples
        .iter()
        .filter(|(name, labels, _)| wanted(name, labels));
    let found: Vec<_> = samples
        .map(|(_, labels, value)| (labels.clone(), *value))
        .collect();
    assert!(!found.is_empty(), "there is nothing like {selector:?}");
    found
}

/// Per second, from the first scrape in the range to the last. A server also extrapolates to the
/// ends of the range, by the same factor for all.
fn rate(scrapes: &[Scrape], range: &Expr) -> Vec<(Labels, f64)> {
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

fn sum(all: Vec<(Labels, f64)>, by: &[String]) -> Vec<(Labels, f64)> {
    let mut sums: BTreeMap<Labels, f64> = BTreeMap::new();
    for (mut labels, value) in all {
        labels.retain(|name, _| by.contains(name));
        *sums.entry(labels).or_default() += value;
    }
    sums.into_iter().collect()
}

/// As the server does: linear inside the bucket.
fn histogram_quantile(quantile: f64, buckets: Vec<(Labels, f64)>) -> f64 {
    let end = |labels: &Labels| match labels["le"].as_str() {
        "+Inf" => f64::INFINITY,
        end => end.parse().expect("a number"),
    };
    let mut buckets: Vec<(f64, f64)> = buckets
        .iter()
        .map(|(labels, value)| (end(labels), *value))
        .collect();
    buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
    let rank = quantile * buckets.last().expect("buckets").1;
    let index = buckets
        .iter()
        .position(|&(_, count)| count >= rank)
        .expect("the last at least");
    let (start, below) = index
        .checked_sub(1)
        .map_or((0.0, 0.0), |index| buckets[index]);
    let (end, upto) = buckets[index];
    if end.is_infinite() {
        return start;
    }
    start + (end - start) * (rank - below) / (upto - below)
}

fn combine(op: &str, left: Value, right: Value) -> Value {
    let compute = |left: f64, right: f64| match op {
        "-" => Some(left - right),
        "/" => Some(left / right),
        // A comparison keeps the samples for which the comparison holds.
        ">" => (left > right).then_some(left),
        _ => panic!("the operator {op} is not known here"),
    };
    let of_all = |all: Vec<(Labels, f64)>, compute: &dyn Fn(&Labels, f64) -> Option<f64>| {
        let all = all.into_iter();
        Value::Vector(
            all.filter_map(|(labels, value)| compute(&labels, value).map(|value| (labels, value)))
                .collect(),
        )
    };
    match (left, right) {
        (Value::Scalar(left), Value::Scalar(right)) => {
            Value::Scalar(compute(left, right).expect("arithmetic"))
        }
        (Value::Vector(left), Value::Scalar(right)) => {
            of_all(left, &|_, left| compute(left, right))
        }
        (Value::Scalar(left), Value::Vector(right)) => {
            of_all(right, &|_, right| compute(left, right))
        }
        (Value::Vector(left), Value::Vector(right)) => of_all(left, &|labels, left| {
            let (_, right) = right.iter().find(|(other, _)| other == labels)?;
            compute(left, *right)
        }),
    }
}
