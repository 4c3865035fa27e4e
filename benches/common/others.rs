//! What else the machine does while figures are taken.

use std::fs;
use std::time::Instant;

use crate::machine::Circumstances;
use crate::process::{TICK, times};

/// Processors that others may keep busy before figures are in doubt.
pub const QUIET: f64 = 0.2;

/// What other processes take of this machine while figures are measured; known on Linux only.
#[derive(Debug)]
pub struct Neighbours {
    before: f64,
    since: Instant,
}

impl Neighbours {
    /// From now on; `None` where the system does not tell.
    pub fn watch() -> Option<Self> {
        let (before, since) = (others()?, Instant::now());
        Some(Self { before, since })
    }

    /// In processors, on average since the watch began.
    pub fn busy(&self) -> f64 {
        let spent = others().map_or(0.0, |now| now - self.before);
        (spent / self.since.elapsed().as_secs_f64()).max(0.0)
    }

    /// The same in words, which are loud where figures are in doubt.
    pub fn line(&self) -> String {
        let busy = self.busy();
        if busy < QUIET {
            format!("Others kept {busy:.2} processors busy meanwhile.")
        } else {
            format!("OTHER PROGRAMS KEPT {busy:.2} PROCESSORS BUSY: these figures may be wrong.")
        }
    }

    /// What marks each figure of a table: nothing where others were quiet.
    pub fn mark(&self) -> &'static str {
        if self.busy() < QUIET { "" } else { " !" }
    }
}

/// One loud line above a table whose figures have the [mark](Neighbours::mark); nothing where others were quiet.
pub fn warn(neighbours: Option<&Neighbours>) {
    let Some(neighbours) = neighbours.filter(|neighbours| !neighbours.mark().is_empty()) else {
        return;
    };
    let line = neighbours.line();
    crate::println!(
        "!!! {line} Stop them and run this again. Such figures are marked with \"!\". !!!"
    );
}

/// Where and with what figures were taken, and what others did meanwhile: the line below a table or a picture.
pub fn note(neighbours: Option<Neighbours>) -> String {
    let others = neighbours.map_or(String::new(), |neighbours| neighbours.line());
    format!("{}. {others}", Circumstances::look())
}

/// Seconds of all processors in user, nice, system, interrupts and stolen, which is all but idle and waiting, less those of
/// this process and of the processes that it has waited for.
fn others() -> Option<f64> {
    let statistics = fs::read_to_string("/proc/stat").ok()?;
    let fields: Vec<_> = statistics.lines().next()?.split_whitespace().collect();
    let busy = [1, 2, 3, 6, 7, 8].into_iter();
    let ticks: u32 = busy
        .map(|field| fields.get(field)?.parse::<u32>().ok())
        .sum::<Option<_>>()?;
    Some((TICK * ticks).as_secs_f64() - times(4)?.as_secs_f64())
}
