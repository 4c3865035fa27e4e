//! A figure: contenders that do the same work, round after round in turn, and what they are compared by.

use std::time::Duration;

use crate::outcome::{Goal, Outcome, Row};
use crate::peer::{Bare, Peer as _};
use crate::process::undisturbed;

/// How much of a workload to run.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) quick: bool,
}

impl Scale {
    /// `count`, or a fifth of it when in a hurry.
    pub(crate) fn of(self, count: usize) -> usize {
        if self.quick { count / 5 } else { count }
    }

    pub(crate) fn time(self, time: Duration) -> Duration {
        if self.quick { time / 4 } else { time }
    }
}

/// What a side did; both sides of a round must have done the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Did {
    pub(crate) armed: u64,
    pub(crate) moved: u64,
    pub(crate) fired: u64,
    pub(crate) cancelled: u64,
}

impl Did {
    /// `count` timers armed, and all of them cancelled.
    pub(crate) fn cancelled(count: u64) -> Self {
        Self {
            armed: count,
            cancelled: count,
            ..Self::default()
        }
    }

    /// `count` timers armed, and all of them fired.
    pub(crate) fn fired(count: u64) -> Self {
        Self {
            armed: count,
            fired: count,
            ..Self::default()
        }
    }
}

/// What one side measured in one round: a value for each line of the figure.
pub(crate) struct Measured {
    pub(crate) values: Vec<f64>,
    pub(crate) did: Did,
}

impl Measured {
    pub(crate) fn new(values: impl Into<Vec<f64>>, did: Did) -> Self {
        Self {
            values: values.into(),
            did,
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Unit {
    Nanos,
    Bytes,
    Times,
    Count,
}

/// One value of a figure.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    pub(crate) what: &'static str,
    pub(crate) unit: Unit,
    pub(crate) larger_is_better: bool,
    /// The ratio to reach against `tokio::time`.
    pub(crate) ratio: Option<f64>,
    /// The ratio to reach against `tokio::time` when the work without a timer is taken off both.
    pub(crate) own: Option<f64>,
    /// What our value may be at most.
    pub(crate) at_most: Option<f64>,
}

/// A line in nanoseconds.
pub(crate) const fn nanos(what: &'static str) -> Line {
    Line::new(what, Unit::Nanos)
}

impl Line {
    pub(crate) const fn new(what: &'static str, unit: Unit) -> Self {
        Self {
            what,
            unit,
            larger_is_better: false,
            ratio: None,
            own: None,
            at_most: None,
        }
    }

    pub(crate) const fn larger_is_better(self) -> Self {
        Self {
            larger_is_better: true,
            ..self
        }
    }

    pub(crate) const fn ratio(self, goal: f64) -> Self {
        Self {
            ratio: Some(goal),
            ..self
        }
    }

    pub(crate) const fn at_most(self, goal: f64) -> Self {
        Self {
            at_most: Some(goal),
            ..self
        }
    }

    /// How many times better than the peer's our value is.
    pub(crate) fn compare(&self, peer: f64, ours: f64) -> f64 {
        match (peer == ours, self.larger_is_better) {
            (true, _) => 1.0,
            (_, true) => ours / peer,
            (_, false) => peer / ours,
        }
    }
}

type Run = Box<dyn Fn(Scale) -> Measured>;

struct Contender {
    name: &'static str,
    run: Run,
    goals: Goals,
}

/// What is to be reached against a contender.
#[derive(Clone, Copy)]
pub(crate) enum Goals {
    /// What the lines say.
    Lines,
    /// This ratio in each line.
    Ratio(f64),
    /// This ratio in each line when the work without a timer is taken off both.
    Own(f64),
    None,
}

impl Goals {
    fn ratio(self, line: &Line) -> Goal {
        match self {
            Self::Lines => Goal {
                ratio: line.ratio,
                at_most: line.at_most,
            },
            Self::Ratio(ratio) => Goal::ratio(Some(ratio)),
            Self::Own(_) | Self::None => Goal::default(),
        }
    }

    fn own(self, line: &Line) -> Goal {
        match self {
            Self::Lines => Goal::ratio(line.own),
            Self::Own(ratio) => Goal::ratio(Some(ratio)),
            Self::Ratio(_) | Self::None => Goal::default(),
        }
    }
}

/// A named comparison of ours with its peers.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) lines: Vec<Line>,
    rounds: usize,
    ours: Run,
    peers: Vec<Contender>,
    /// Which of the peers is the same work without a timer.
    bare: Option<usize>,
}

impl Figure {
    /// A figure without peers yet.
    pub(crate) fn new(
        name: &'static str,
        about: &'static str,
        ours: impl Fn(Scale) -> Measured + 'static,
    ) -> Self {
        Self {
            name,
            about,
            lines: Vec::new(),
            rounds: 7,
            ours: Box::new(ours),
            peers: Vec::new(),
            bare: None,
        }
    }

    pub(crate) fn line(mut self, line: Line) -> Self {
        self.lines.push(line);
        self
    }

    pub(crate) fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// Whose goals are those of the lines.
    pub(crate) fn peer(
        self,
        name: &'static str,
        run: impl Fn(Scale) -> Measured + 'static,
    ) -> Self {
        self.contender(name, run, Goals::Lines)
    }

    /// The same work without a timer, to be taken off all sides.
    pub(crate) fn bare(mut self, run: impl Fn(Scale) -> Measured + 'static) -> Self {
        self.bare = Some(self.peers.len());
        self.contender(Bare::NAME, run, Goals::None)
    }

    pub(crate) fn contender(
        mut self,
        name: &'static str,
        run: impl Fn(Scale) -> Measured + 'static,
        goals: Goals,
    ) -> Self {
        self.peers.push(Contender {
            name,
            run: Box::new(run),
            goals,
        });
        self
    }

    /// Sets what is to be reached against a contender.
    pub(crate) fn goals(mut self, name: &str, goals: Goals) -> Self {
        let named = self.peers.iter_mut().filter(|peer| peer.name == name);
        named.for_each(|peer| peer.goals = goals);
        self
    }

    /// Lets all sides run in turn, the other way round every second time.
    pub(crate) fn run(&self, scale: Scale, rounds: Option<usize>, patient: bool) -> Outcome {
        let rounds = rounds.unwrap_or(if scale.quick { 3 } else { self.rounds });
        let mut taken: Vec<Vec<Vec<f64>>> = vec![Vec::new(); 1 + self.peers.len()];
        for round in 0..rounds {
            let measured = if patient {
                undisturbed(|| self.round(round, scale))
            } else {
                self.round(round, scale)
            };
            for (side, measured) in measured.into_iter().enumerate() {
                taken[side].push(measured.values);
            }
        }
        self.outcome(&taken)
    }

    /// One round; the results are ordered ours first, then the peers.
    fn round(&self, round: usize, scale: Scale) -> Vec<Measured> {
        let sides: Vec<&Run> = std::iter::once(&self.ours)
            .chain(self.peers.iter().map(|peer| &peer.run))
            .collect();
        let mut measured: Vec<Option<Measured>> = sides.iter().map(|_| None).collect();
        for step in 0..sides.len() {
            let side = if round % 2 == 0 {
                sides.len() - 1 - step
            } else {
                step
            };
            measured[side] = Some(sides[side](scale));
        }
        let measured: Vec<Measured> = measured.into_iter().flatten().collect();
        self.check(&measured);
        measured
    }

    /// The same work on every side, or there is nothing to compare.
    fn check(&self, measured: &[Measured]) {
        let ours = &measured[0];
        for (theirs, peer) in measured[1..].iter().zip(&self.peers) {
            assert_eq!(
                theirs.did, ours.did,
                "{}: {} (left) and ours did different work",
                self.name, peer.name
            );
        }
        for side in measured {
            assert_eq!(
                side.values.len(),
                self.lines.len(),
                "{}: a value for every line",
                self.name
            );
        }
    }

    fn outcome(&self, taken: &[Vec<Vec<f64>>]) -> Outcome {
        let mut rows = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            let column = |side: usize| {
                taken[side]
                    .iter()
                    .map(|values| values[index])
                    .collect::<Vec<f64>>()
            };
            for (side, peer) in self.peers.iter().enumerate() {
                let (theirs, ours) = (column(side + 1), column(0));
                let goal = peer.goals.ratio(line);
                rows.push(Row::whole(*line, peer.name, theirs, ours, goal));
            }
            let Some(bare) = self.bare else { continue };
            for (side, peer) in self
                .peers
                .iter()
                .enumerate()
                .filter(|&(side, _)| side != bare)
            {
                let (theirs, ours) = (column(side + 1), column(0));
                let goal = peer.goals.own(line);
                rows.push(Row::own(
                    *line,
                    peer.name,
                    theirs,
                    ours,
                    &column(bare + 1),
                    goal,
                ));
            }
        }
        Outcome {
            name: self.name,
            rows,
        }
    }
}
