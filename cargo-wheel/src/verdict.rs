//! What the rounds of both sides say.

/// One measure: its value in each round, on tokio and on the tree.
pub(crate) struct Measure {
    pub(crate) name: String,
    pub(crate) rounds: Vec<[f64; 2]>,
    /// Whether more is better, if the verdict depends on this measure.
    pub(crate) more_is_better: Option<bool>,
    /// Smaller differences do not count.
    pub(crate) least: f64,
}

/// Less may come from the layout of the binaries alone. `SMALL` is a share, `TINY` in seconds.
const SMALL: f64 = 0.03;
pub(crate) const TINY: f64 = 0.02;

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

    /// The tree's value as a multiple of tokio's, round by round.
    pub(crate) fn ratio(&self) -> Spread {
        let ratio = |[tokio, tree]: &[f64; 2]| if tokio == tree { 1.0 } else { tree / tokio };
        Spread::of(self.rounds.iter().map(ratio))
    }

    /// Returns whether the tree is better, if the sides' rounds do not overlap and differ by enough.
    fn is_better(&self) -> Option<bool> {
        let [tokio, tree] = [0, 1].map(|side| self.side(side));
        let is_apart = tokio.most < tree.least || tree.most < tokio.least;
        let is_small = (self.ratio().median - 1.0).abs() < SMALL;
        let is_tiny = (tokio.median - tree.median).abs() < self.least;
        let is_better = self.more_is_better? == (tree.median > tokio.median);
        (is_apart && !is_small && !is_tiny).then_some(is_better)
    }
}

/// Returns the sentence, and whether the service is slower. The first measure that differs decides.
pub(crate) fn verdict(measures: &[Measure]) -> (String, bool) {
    let told = |is_better: bool| {
        let those = measures.iter().filter(|measure| measure.is_better() == Some(is_better));
        let told = those.map(|one| format!("{:.2} times the {}", one.ratio().median, one.name));
        told.collect::<Vec<_>>().join(", ")
    };
    let (word, told, but) = match measures.iter().find_map(Measure::is_better) {
        None => return ("No difference beyond the spread of the rounds.".to_owned(), false),
        Some(true) => ("Faster", told(true), told(false)),
        Some(false) => ("Slower", told(false), told(true)),
    };
    let but = if but.is_empty() { but } else { format!("; but {but}") };
    (format!("{word} on tokio-wheel: {told}{but}."), word == "Slower")
}
