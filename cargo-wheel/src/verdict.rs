//! What the rounds of both sides say.

/// One measure: its value in each round, on tokio and on the tree.
pub(crate) struct Measure {
    pub(crate) name: String,
    pub(crate) rounds: Vec<[f64; 2]>,
    /// Whether more is better, if the verdict depends on this measure.
    pub(crate) more_is_better: Option<bool>,
}

/// A smaller difference may come from the layout of the binaries alone: a share, and in seconds.
const SMALL: f64 = 0.03;
const TINY: f64 = 0.02;

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
        Spread::of(self.rounds.iter().map(|[tokio, tree]| match tokio == tree {
            true => 1.0,
            false => tree / tokio,
        }))
    }

    /// Returns whether the tree is better, if no round of one side is as good as one of the other.
    fn is_better(&self) -> Option<bool> {
        let [tokio, tree] = [0, 1].map(|side| self.side(side));
        let is_apart = tokio.most < tree.least || tree.most < tokio.least;
        let is_small = (self.ratio().median - 1.0).abs() < SMALL;
        let is_tiny = (tokio.median - tree.median).abs() < TINY;
        let is_better = self.more_is_better? == (tree.median > tokio.median);
        (is_apart && !is_small && !is_tiny).then_some(is_better)
    }
}

/// Returns the sentence, and whether the service is slower. The first measure that differs decides.
pub(crate) fn verdict(measures: &[Measure]) -> (String, bool) {
    let differing = measures.iter().filter_map(|measure| {
        let told = format!("{:.2} times the {}", measure.ratio().median, measure.name);
        Some((measure.is_better()?, told))
    });
    let (better, worse): (Vec<_>, Vec<_>) =
        differing.clone().partition(|(is_better, _)| *is_better);
    let join = |told: Vec<(bool, String)>| {
        told.into_iter().map(|(_, told)| told).collect::<Vec<_>>().join(", ")
    };
    let (word, told, but) = match differing.clone().next() {
        None => return ("No difference beyond the spread of the rounds.".to_owned(), false),
        Some((true, _)) => ("Faster", better, worse),
        Some((false, _)) => ("Slower", worse, better),
    };
    let but = if but.is_empty() { String::new() } else { format!("; but {}", join(but)) };
    (format!("{word} on tokio-wheel: {}{but}.", join(told)), word == "Slower")
}
