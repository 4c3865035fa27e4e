//! What the rounds of all sides say.

use std::cmp::Ordering;

/// One measure: in each round, its value on each side.
pub(crate) struct Measure {
    pub(crate) name: String,
    pub(crate) rounds: Vec<Vec<f64>>,
    /// Whether more is better, if the verdict depends on this measure.
    pub(crate) more_is_better: Option<bool>,
    /// Smaller differences do not count.
    pub(crate) least: f64,
}

/// Less may come from the layout of the binaries alone. `SMALL` is a share, `TINY` in seconds.
const SMALL: f64 = 0.03;
pub(crate) const TINY: f64 = 0.02;

/// What chance does more often is no difference.
const CHANCE: f64 = 0.05;

/// With fewer rounds, not even all of them exclude [`CHANCE`].
const ROUNDS: usize = 6;

/// A median, with minimum and maximum.
#[derive(Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Spread {
    fn of(numbers: impl Iterator<Item = f64>) -> Self {
        let mut numbers: Vec<f64> = numbers.collect();
        numbers.sort_by(f64::total_cmp);
        let (middle, last) = (numbers.len() / 2, numbers.len() - 1);
        let median = (numbers[middle] + numbers[last - middle]) / 2.0;
        Spread { median, least: numbers[0], most: numbers[last] }
    }
}

impl Measure {
    pub(crate) fn side(&self, side: usize) -> Spread {
        Spread::of(self.rounds.iter().map(|round| round[side]))
    }

    /// One side's value as a multiple of another's, round by round.
    pub(crate) fn ratio(&self, [base, side]: [usize; 2]) -> Spread {
        let ratio = |round: &Vec<f64>| match (round[base], round[side]) {
            (base, side) if base == side => 1.0,
            (base, side) => side / base,
        };
        Spread::of(self.rounds.iter().map(ratio))
    }

    /// Returns whether the second side is better, if the rounds differ by enough, and not by chance.
    fn is_better(&self, sides: [usize; 2]) -> Option<bool> {
        let [base, side] = sides.map(|side| self.side(side));
        let is_small = (self.ratio(sides).median - 1.0).abs() < SMALL;
        let is_tiny = (base.median - side.median).abs() < self.least;
        let [less, more] =
            [Ordering::Less, Ordering::Greater].map(|order| self.count(sides, order));
        let is_by_chance = by_chance(less.max(more), self.rounds.len()) > CHANCE;
        let is_better = self.more_is_better? == (more > less);
        (!is_by_chance && !is_small && !is_tiny).then_some(is_better)
    }

    /// Returns in how many rounds the second side's value is less, or greater, than the first one's.
    fn count(&self, [base, side]: [usize; 2], order: Ordering) -> usize {
        self.rounds.iter().filter(|round| round[side].total_cmp(&round[base]) == order).count()
    }
}

/// Returns how probable it is that one of two equal programs has the greater value in at least so many rounds of all.
fn by_chance(rounds: usize, all: usize) -> f64 {
    let mut ways = 1.0;
    let mut sum = 0.0;
    // `ways` is how many choices of `missed` rounds there are.
    for missed in 0..=all - rounds {
        sum += ways;
        ways *= (all - missed) as f64 / (missed + 1) as f64;
    }
    2.0 * sum / 2_f64.powi(all as i32)
}

/// Returns a sentence about two sides, and whether the second is slower. The first measure that
/// differs decides.
pub(crate) fn verdict(
    measures: &[Measure],
    sides: [usize; 2],
    [base, side]: [&str; 2],
) -> (String, bool) {
    let judged = measures.iter().find(|measure| measure.more_is_better.is_some());
    let Some(judged) = judged else {
        return ("No verdict: a load may take a fixed time. Name a number by --metric or --less, or use --seconds if the load is a fixed amount of work.".to_owned(), false);
    };
    if judged.rounds.len() < ROUNDS {
        return (format!("No verdict: that takes {ROUNDS} rounds or more."), false);
    }
    let told = |is_better: bool| {
        let those = measures.iter().filter(|measure| measure.is_better(sides) == Some(is_better));
        let told =
            those.map(|one| format!("{:.2} times the {}", one.ratio(sides).median, one.name));
        told.collect::<Vec<_>>().join(", ")
    };
    let (word, told, but) = match measures.iter().find_map(|one| one.is_better(sides)) {
        None => return (format!("No clear difference between {base} and {side}."), false),
        Some(true) => ("faster", told(true), told(false)),
        Some(false) => ("slower", told(false), told(true)),
    };
    let but = if but.is_empty() { but } else { format!("; but {but}") };
    (format!("{side} is {word} than {base}: {told}{but}."), word == "slower")
}
