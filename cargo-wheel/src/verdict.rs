//! What the rounds of both sides say.

/// One measure: its value in each round, on tokio and on the tree.
pub(crate) struct Measure {
    pub(crate) name: String,
    pub(crate) rounds: Vec<[f64; 2]>,
    /// Of which more is better, or less; `None` is only shown.
    pub(crate) more_is_better: Option<bool>,
}

/// A difference of this share or less may come from the layout of the binaries alone.
const SMALL: f64 = 0.03;

/// So much of an hour is nobody's time: in seconds.
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
        let middle = numbers.len() / 2;
        let median = match numbers.len() % 2 {
            0 => (numbers[middle - 1] + numbers[middle]) / 2.0,
            _ => numbers[middle],
        };
        Spread { median, least: numbers[0], most: numbers[numbers.len() - 1] }
    }
}

impl Measure {
    pub(crate) fn side(&self, side: usize) -> Spread {
        Spread::of(self.rounds.iter().map(|round| round[side]))
    }

    /// The tree's value as a multiple of tokio's, round by round.
    pub(crate) fn ratio(&self) -> Spread {
        Spread::of(
            self.rounds.iter().map(|[tokio, tree]| if tokio == tree { 1.0 } else { tree / tokio }),
        )
    }

    /// Returns whether the tree is better, if no round of one side is as good as one of the other.
    fn is_better(&self) -> Option<bool> {
        let [tokio, tree] = [0, 1].map(|side| self.side(side));
        let is_apart = tokio.most < tree.least || tree.most < tokio.least;
        let is_notable =
            (self.ratio().median - 1.0).abs() > SMALL && (tokio.median - tree.median).abs() > TINY;
        let is_more = tokio.median < tree.median;
        self.more_is_better
            .filter(|_| is_apart && is_notable)
            .map(|more_is_better| is_more == more_is_better)
    }
}

/// Returns the sentence, and whether the service is slower. The first measure that differs decides.
pub(crate) fn verdict(measures: &[Measure]) -> (String, bool) {
    let differ: Vec<_> =
        measures.iter().filter_map(|measure| Some((measure.is_better()?, measure))).collect();
    let Some((is_faster, _)) = differ.first() else {
        return ("No difference beyond the spread of the rounds.".to_owned(), false);
    };
    let told = |wanted: bool| {
        let measures = differ.iter().filter(|(is_better, _)| *is_better == wanted);
        let told: Vec<_> = measures
            .map(|(_, measure)| format!("{:.2} times the {}", measure.ratio().median, measure.name))
            .collect();
        told.join(", ")
    };
    let (word, other) = if *is_faster { ("Faster", "worse") } else { ("Slower", "better") };
    let but = told(!is_faster);
    let but = if but.is_empty() { but } else { format!("; {other}: {but}") };
    (format!("{word} on tokio-wheel: {}{but}.", told(*is_faster)), !is_faster)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(name: &str, more_is_better: Option<bool>, rounds: &[[f64; 2]]) -> Measure {
        Measure { name: name.to_owned(), rounds: rounds.to_vec(), more_is_better }
    }

    #[test]
    fn each_sentence() {
        let same = measure("wall time", Some(false), &[[1.0, 1.2], [1.3, 1.1], [1.2, 1.25]]);
        let less = measure("CPU time", Some(false), &[[2.0, 1.0], [2.2, 1.1], [2.4, 1.2]]);
        let more = measure("calls", Some(true), &[[5.0, 15.0], [5.0, 16.0], [5.0, 14.0]]);
        let worse = measure("latency", Some(false), &[[1.0, 2.0], [1.1, 2.2]]);
        let shown = measure("memory", None, &[[1.0, 2.0], [1.1, 2.2]]);
        let slight = measure("CPU time", Some(false), &[[2.0, 1.96], [2.0, 1.96]]);
        let tiny = measure("CPU time", Some(false), &[[0.002, 0.004], [0.002, 0.004]]);
        let sentence = |measures: &[Measure]| verdict(measures).0;
        let none = "No difference beyond the spread of the rounds.";
        assert_eq!(sentence(&[shown, slight, tiny]), none);
        assert_eq!(
            verdict(&[worse]),
            ("Slower on tokio-wheel: 2.00 times the latency.".to_owned(), true)
        );
        assert_eq!(
            sentence(&[same, less, more]),
            "Faster on tokio-wheel: 0.50 times the CPU time, 3.00 times the calls."
        );
        let worse = measure("latency", Some(false), &[[1.0, 2.0], [1.1, 2.2]]);
        let less = measure("CPU time", Some(false), &[[2.0, 1.0], [2.2, 1.1], [2.4, 1.2]]);
        assert_eq!(
            verdict(&[less, worse]),
            (
                "Faster on tokio-wheel: 0.50 times the CPU time; worse: 2.00 times the latency."
                    .to_owned(),
                false
            )
        );
    }
}
