//! A benchmark: implementations that do the same work, round after round and in alternating order.

use common::conditions::Conditions;

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

#[derive(Clone, Copy)]
pub(crate) enum Unit {
    Nanos,
    Bytes,
    /// Fewer are better.
    Count,
    /// More are better only of this unit.
    PerSecond,
}

/// A measured value.
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
    /// tokio-wheel first.
    pub(crate) implementations: Vec<Implementation>,
}

impl Benchmark {
    /// Runs all implementations, in reverse order every second time. Returns what each measured, round by round.
    pub(crate) fn run(&self, rounds: Option<u32>, conditions: &Conditions) -> Vec<Vec<Measured>> {
        let rounds = 0..rounds.unwrap_or(self.rounds);
        let round = |number| {
            conditions.sample();
            self.round(number)
        };
        rounds.map(round).collect()
    }

    fn round(&self, number: u32) -> Vec<Measured> {
        let mut order: Vec<_> = self.implementations.iter().enumerate().collect();
        if number % 2 == 0 {
            order.reverse();
        }
        let measure = |(at, (_, measure)): (usize, &Implementation)| (at, measure());
        let mut measured: Vec<_> = order.into_iter().map(measure).collect();
        measured.sort_by_key(|(at, _)| *at);
        for (at, one) in &measured {
            let (benchmark, name) = (self.name, self.implementations[*at].0);
            assert_eq!(
                one.did, measured[0].1.did,
                "{benchmark}: {name} (left) and {} did different work",
                self.implementations[0].0
            );
        }
        measured.into_iter().map(|(_, one)| one).collect()
    }
}
