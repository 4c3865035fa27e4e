//! What results depend on besides the code: the machine, the versions, other programs, and how long a cache-line transfer
//! takes.

use std::cell::RefCell;
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::time::Instant;

use crate::machine::Circumstances;
use crate::process::{TICK, times};
use crate::{line, median, range};

/// How many processors other programs may use before results are marked as doubtful.
const QUIET: f64 = 0.2;

/// Observes the machine while a benchmark runs. Print its text below every table.
#[derive(Debug)]
pub struct Conditions {
    others: Option<f64>,
    since: Instant,
    lines: RefCell<Vec<f64>>,
}

impl Conditions {
    /// Starts to observe.
    #[must_use]
    pub fn watch() -> Self {
        let this = Self {
            others: others(),
            since: Instant::now(),
            lines: RefCell::default(),
        };
        this.sample();
        this
    }

    /// Measures a cache-line transfer again. Call this between rounds, because on a virtual machine its time changes.
    pub fn sample(&self) {
        self.lines.borrow_mut().extend(line::nanos());
    }

    /// Returns how many processors other programs used on average, if the system reports that.
    pub fn busy(&self) -> Option<f64> {
        let spent = others()? - self.others?;
        Some((spent / self.since.elapsed().as_secs_f64()).max(0.0))
    }

    /// Returns the median time of a cache-line transfer, in nanoseconds, if it could be measured.
    pub fn line(&self) -> Option<f64> {
        let lines = self.lines.borrow();
        (!lines.is_empty()).then(|| median(&lines))
    }

    /// Returns the mark for each cell of a table, which is empty if no other programs were busy.
    pub fn mark(&self) -> &'static str {
        mark(self.busy().unwrap_or(0.0))
    }

    /// Prints a warning if other programs were busy. Call this before a table whose cells have the [mark](Self::mark).
    pub fn warn(&self) {
        if let Some(busy) = self.busy().filter(|&busy| busy >= QUIET) {
            crate::println!(
                "warning: other programs used {busy:.2} processors during this run; results marked `!` may be unreliable.\n         \
                 Stop those programs and run again."
            );
        }
    }
}

impl Display for Conditions {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}. ", Circumstances::look())?;
        if let Some(busy) = self.busy() {
            write!(
                f,
                "Other programs used {busy:.2} processors during this run. "
            )?;
        }
        let Some(middle) = self.line() else {
            return write!(f, "The time of a cache line could not be measured.");
        };
        let (least, most) = range(&self.lines.borrow());
        write!(
            f,
            "A cache line took {middle:.0} ns ({least:.0}–{most:.0}) from one processor to another."
        )
    }
}

/// Returns the mark for what was measured while other programs used this many processors.
pub fn mark(busy: f64) -> &'static str {
    if busy < QUIET { "" } else { " !" }
}

/// Returns the seconds that other processes, interrupts and the host's other guests used: the time of all processors
/// except idle and waiting, less the time of this process and of the processes that it has waited for.
fn others() -> Option<f64> {
    let statistics = fs::read_to_string("/proc/stat").ok()?;
    let fields: Vec<_> = statistics.lines().next()?.split_whitespace().collect();
    let busy = [1, 2, 3, 6, 7, 8].into_iter();
    let ticks: u32 = busy
        .map(|field| fields.get(field)?.parse::<u32>().ok())
        .sum::<Option<_>>()?;
    Some((TICK * ticks).as_secs_f64() - times(4)?.as_secs_f64())
}
