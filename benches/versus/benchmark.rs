//! A benchmark: implementations that do the same work, round after round and in alternating order.

use common::alternate;
use common::conditions::Conditions;
use common::table::{Unit, title};

/// How many timers were reset, fired and cancelled.
type Did = [u64; 3];

/// What one implementation measured in one round.
pub(crate) struct Measured {
    pub(crate) values: Vec<Value>,
    /// The same with all implementations.
    did: Did,
}

impl Measured {
    pub(crate) fn new(values: impl Into<Vec<Value>>, did: Did) -> Self {
        let values = values.into();
        Self { values, did }
    }

    pub(crate) fn cancelled(values: impl Into<Vec<Value>>, count: usize) -> Self {
        Self::new(values, [0, 0, count as u64])
    }

    pub(crate) fn fired(values: impl Into<Vec<Value>>, count: u64) -> Self {
        Self::new(values, [0, count, 0])
    }
}

/// A measured value. Less is always better.
pub(crate) struct Value {
    pub(crate) what: String,
    pub(crate) amount: f64,
    pub(crate) unit: Unit,
}

impl Value {
    pub(crate) fn new(what: impl Into<String>, amount: f64, unit: Unit) -> Self {
        let what = what.into();
        Self { what, amount, unit }
    }

    pub(crate) fn nanos(what: impl Into<String>, amount: f64) -> Self {
        Self::new(what, amount, Unit::Nanos)
    }
}

/// The name of an implementation, and the function that measures it once.
type Implementation = (&'static str, fn() -> Measured);

/// A benchmark in the catalogue.
pub(crate) struct Benchmark {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) rounds: u32,
    /// Tokio first.
    pub(crate) implementations: Vec<Implementation>,
}

impl Benchmark {
    /// Returns the name, and what it measures.
    pub(crate) fn heading(&self) -> String {
        format!("`{}`: {}", self.name, self.about)
    }

    /// Returns the titles of the implementations.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.implementations.iter().map(|(name, _)| title(name))
    }

    /// Runs all implementations in each round. Returns what each measured, round by round.
    pub(crate) fn run(&self, rounds: Option<u32>, conditions: &Conditions) -> Vec<Vec<Measured>> {
        let implementations = &self.implementations;
        let mut all: Vec<_> = implementations.iter().map(|_| Vec::new()).collect();
        let rounds = rounds.unwrap_or(self.rounds) as usize;
        for (round, at) in alternate(rounds, implementations.len()) {
            conditions.sample();
            let (name, measure) = implementations[at];
            let measured = measure();
            let raw = measured.values.iter().map(|value| value.amount);
            let raw = raw.collect::<Vec<_>>();
            eprintln!("{} on {name}, round {}: {raw:?}", self.name, round + 1);
            all[at].push(measured);
        }
        for ((name, _), measured) in implementations.iter().zip(&all) {
            let did = |rounds: &[Measured]| rounds.iter().map(|one| one.did).collect::<Vec<_>>();
            assert_eq!(
                did(measured),
                did(&all[0]),
                "{}: {name} (left) and {} did different work",
                self.name,
                implementations[0].0
            );
        }
        all
    }
}
