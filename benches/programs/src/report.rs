//! The tables, one for each measure: a row per program, and columns for Tokio, its alternative timer and tokio-wheel. Where
//! the processors are changes the results, and the host of a virtual machine moves them, so each place has its own tables.

use common::conditions::mark;
use common::median;
use common::table::{Cell, Table, Unit, about_bold, markdown, number};

use crate::program::Program;
use crate::rounds::Run;
use crate::side::{ALL, Side};

const LEGEND: &str = "\
1.31 × (1.30–1.31): 1.31 times Tokio's value of the same round, as the median of the rounds (lowest–highest).
A round in which the processors moved is in no table.";

/// Where the processors are: a name, and whether a cache line takes so many nanoseconds from one to the other.
type Place = (&'static str, fn(f64) -> bool);

const PLACES: [Place; 4] = [
    ("far processors", |line| line >= 85.0),
    ("processors in between", |line| (50.0..85.0).contains(&line)),
    ("near processors", |line| line < 50.0),
    ("processors at an unknown place", f64::is_nan),
];

/// A program, and its runs on each side.
type Row<'a> = (&'a Program, Vec<(Side, Vec<Run>)>);

/// What a table compares.
struct Measure {
    title: &'static str,
    unit: Unit,
    of: fn(&Run) -> f64,
    /// A fixed rate is no result of a program, and at full load, the processor time would only say the rate again.
    is_result_of: fn(&Program) -> bool,
}

const MEASURES: [Measure; 3] = [
    Measure {
        title: "operations per second (more is better)",
        unit: Unit::PerSecond,
        of: |run| run.rate,
        is_result_of: |program| program.binary().1.is_none(),
    },
    Measure {
        title: "CPU time per operation (less is better)",
        unit: Unit::Nanos,
        of: |run| run.cpu,
        is_result_of: |program| program.binary().1.is_some(),
    },
    Measure {
        title: "time of an operation, 99th percentile (less is better)",
        unit: Unit::Nanos,
        of: |run| run.p99,
        is_result_of: |_| true,
    },
];

/// Prints the tables.
pub(crate) fn print(rows: &[Row<'_>]) {
    let ran = |side: &Side| {
        let mut all = rows.iter().flat_map(|(_, sides)| sides);
        all.any(|(one, _)| one == side)
    };
    let shown: Vec<_> = ALL.into_iter().filter(ran).collect();
    let mut tables = String::new();
    for (place, is_there) in PLACES {
        let rows: Vec<_> = rows.iter().filter_map(|row| at(row, is_there)).collect();
        for measure in &MEASURES {
            let rows: Vec<_> = rows.iter().filter(|row| measure.has_result(row)).collect();
            if !rows.is_empty() {
                let title = format!("{}, {place}", measure.title);
                tables += &format!("{}\n\n", measure.table(title, &rows, &shown));
            }
        }
    }
    println!("{tables}{LEGEND}{}", about_bold(&tables));
}

/// Keeps the rounds in which the processors were at a place in each run.
fn at<'a>((program, sides): &Row<'a>, is_there: fn(f64) -> bool) -> Option<Row<'a>> {
    let mut rounds: Vec<_> = (0..sides[0].1.len()).collect();
    rounds.retain(|&round| sides.iter().all(|(_, runs)| is_there(runs[round].line)));
    let kept = |(side, runs): &(Side, Vec<Run>)| {
        (*side, rounds.iter().map(|&round| runs[round]).collect())
    };
    (!rounds.is_empty()).then(|| (*program, sides.iter().map(kept).collect()))
}

impl Measure {
    /// Returns whether the program has a result, which it does not if it timed no operation.
    fn has_result(&self, (program, sides): &Row<'_>) -> bool {
        let is_timed = sides.iter().any(|(_, runs)| !self.values(runs)[0].is_nan());
        is_timed && (self.is_result_of)(program)
    }

    fn table(&self, title: String, rows: &[&Row<'_>], shown: &[Side]) -> Table {
        let mut header = vec![title, "rounds".to_owned()];
        header.extend(shown.iter().map(|side| column(*side).to_owned()));
        let mut table = markdown(header);
        for (program, sides) in rows {
            let mut row = vec![Cell::new(format!("`{}`", program.name))];
            row.push(number(sides[0].1.len().to_string()));
            row.extend(shown.iter().map(|side| number(self.cell(*side, sides))));
            table.add_row(row);
        }
        table
    }

    /// Formats what was measured on a side. Changes for tokio-wheel are compared with the other implementations, but not
    /// with each other, and nothing is compared with calls without timeouts.
    fn cell(&self, side: Side, sides: &[(Side, Vec<Run>)]) -> String {
        let mut compared: Vec<_> = sides.iter().collect();
        let differs = |one: Side| one != Side::Bare && !(one.is_wheel() && side.is_wheel());
        compared.retain(|(one, _)| *one == side || differs(*one));
        let Some(at) = compared.iter().position(|(one, _)| *one == side) else {
            return "–".to_owned();
        };
        let others: Vec<_> = compared[at].1.iter().map(|run| run.others).collect();
        let values: Vec<_> = compared.iter().map(|(_, runs)| self.values(runs)).collect();
        self.unit.cell_with_ratio(&values, at) + mark(median(&others))
    }

    fn values(&self, runs: &[Run]) -> Vec<f64> {
        runs.iter().map(self.of).collect()
    }
}

/// Returns the title of a column: the implementation, and what is changed for tokio-wheel.
fn column(side: Side) -> &'static str {
    match side {
        Side::Tokio => "Tokio",
        Side::Bare => "no timeouts",
        Side::Alt => "alternative timer",
        Side::Import => "tokio-wheel, import changed",
        Side::Tree => "tokio-wheel, every crate changed",
        Side::Other => "other checkout, every crate changed",
    }
}
