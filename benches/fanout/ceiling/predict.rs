//! What counts and the time of a line predict. The counts are those that the guide prints, by `benches/transfers`.
//!
//! A timer that is armed and cancelled costs what it costs on one worker, and each line that goes between workers takes its
//! time. Lines that go while tokio's lock is held go one after the other, whatever the number of workers, so they limit
//! all workers together.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};

/// The service whose lines are counted, and which is measured.
const SERVICE: &str = "conns";
/// Nanoseconds in a second.
const SECOND: f64 = 1e9;

/// Lines per timer, by the name of the column and by workers.
#[derive(Debug)]
pub(crate) struct Counts(BTreeMap<String, Vec<(f64, f64)>>);

impl Counts {
    /// Those of the guide's page with all figures.
    pub(crate) fn printed() -> Result<Self> {
        Self::parse(include_str!("../../../src/docs/benchmarks.md"))
    }

    fn parse(page: &str) -> Result<Self> {
        let mut rows = page.lines().map(cells);
        let header = rows.find(|row| row.first() == Some(&"transfers"));
        let header = header.context("no table of transfers")?;
        let mut columns: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for row in rows.take_while(|row| row.len() == header.len()) {
            if row[0] != SERVICE {
                continue;
            }
            for (name, cell) in header.iter().zip(&row).skip(2) {
                let point = (row[1].parse()?, cell.parse()?);
                columns.entry((*name).to_owned()).or_default().push(point);
            }
        }
        Ok(Self(columns))
    }

    /// What a timer of this peer moves in all; `None` where that is not counted.
    pub(crate) fn own(&self, peer: &str, workers: usize) -> Option<f64> {
        self.lines(&format!("own: {peer}"), workers)
    }

    /// What it moves while the lock of all timers is held; `None` where there is none.
    pub(crate) fn in_lock(&self, peer: &str, workers: usize) -> Option<f64> {
        self.lines(&format!("in lock: {peer}"), workers)
    }

    /// None on one worker; between two counts in proportion to the logarithm; from the last count on as there.
    fn lines(&self, column: &str, workers: usize) -> Option<f64> {
        let (mut below, mut lines) = (1.0, 0.0);
        for &(at, counted) in self.0.get(column)? {
            if workers as f64 <= at {
                let part = (workers as f64 / below).log2() / (at / below).log2();
                return Some(lines + part * (counted - lines));
            }
            (below, lines) = (at, counted);
        }
        Some(lines)
    }
}

fn cells(line: &str) -> Vec<&str> {
    let cells = line.trim().trim_matches('|').split('|');
    cells.map(str::trim).collect()
}

/// The most timers per second that can go through the lock, where each takes so many lines there.
pub(crate) fn ceiling(lines_in_lock: f64, nanos_per_line: f64) -> f64 {
    SECOND / (lines_in_lock * nanos_per_line)
}

/// Timers per second on so many processors, each timer with all that is done around it taking so long, and of all together
/// at most `ceiling`.
pub(crate) fn rate(processors: usize, nanos: f64, ceiling: f64) -> f64 {
    (processors as f64 * SECOND / nanos).min(ceiling)
}

/// The time of a processor that each operation takes at this rate.
pub(crate) fn nanos(processors: usize, rate: f64) -> f64 {
    processors as f64 * SECOND / rate
}

#[cfg(test)]
mod tests {
    use super::{Counts, ceiling, nanos, rate};

    const PAGE: &str = "\
| workers | lines |
|---------|-------|
| 2       | 99    |

| transfers | workers | own: tokio | own: wheel | in lock: tokio |
|-----------|---------|------------|------------|----------------|
| conns     |       2 |        8.0 |        0.1 |            6.0 |
| conns     |       8 |       18.0 |        0.5 |           14.0 |
| calls     |       2 |       28.3 |        0.1 |           20.0 |

| transfers | workers |
| conns     | 64      |
";

    fn counts() -> Counts {
        Counts::parse(PAGE).expect("a table")
    }

    #[test]
    fn counts_come_from_the_rows_of_the_service() {
        let counts = counts();
        assert_eq!(counts.own("tokio", 2), Some(8.0));
        assert_eq!(counts.own("wheel", 8), Some(0.5));
        assert_eq!(counts.in_lock("tokio", 8), Some(14.0));
        assert_eq!(counts.own("bare", 8), None);
        assert_eq!(counts.in_lock("wheel", 8), None);
        assert!(Counts::parse("no table").is_err());
    }

    #[test]
    fn between_counts_lines_grow_with_the_logarithm() {
        let counts = counts();
        assert_eq!(counts.own("tokio", 1), Some(0.0));
        assert_eq!(counts.own("tokio", 4), Some(13.0));
        assert_eq!(counts.own("tokio", 100), Some(18.0));
    }

    #[test]
    fn the_guide_has_the_columns() {
        let counts = Counts::printed().expect("a table");
        for peer in ["tokio", "tokio-alt"] {
            assert!(counts.own(peer, 64) > Some(0.0), "{peer}");
        }
        // It may move none.
        assert!(counts.own("wheel", 64).is_some());
        let held = counts.in_lock("tokio", 16);
        assert!(held > Some(0.0) && held < counts.own("tokio", 16));
    }

    #[test]
    fn the_lock_limits_all_workers_together() {
        let most = ceiling(10.0, 50.0);
        assert_eq!(most, 2e6);
        assert_eq!(rate(1, 1000.0, most), 1e6);
        assert_eq!(rate(64, 1000.0, most), 2e6);
        assert_eq!(nanos(2, rate(2, 1000.0, f64::INFINITY)), 1000.0);
    }
}
