//! What else the machine does while figures are taken.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::time::Instant;

use crate::machine::Circumstances;

/// What other processes take of this machine while figures are measured; known on Linux only.
#[derive(Debug)]
pub struct Neighbours {
    machine: f64,
    ours: f64,
    since: Instant,
}

impl Neighbours {
    /// Linux reports both in hundredths of a second.
    const PER_SECOND: f64 = 100.0;

    /// From now on; `None` where the system does not tell.
    pub fn watch() -> Option<Self> {
        Some(Self {
            machine: machine_busy()?,
            ours: own_busy()?,
            since: Instant::now(),
        })
    }

    /// In processors, on average since the watch began.
    pub fn busy(&self) -> f64 {
        let Some((machine, ours)) = machine_busy().zip(own_busy()) else {
            return 0.0;
        };
        let others = (machine - self.machine) - (ours - self.ours);
        (others / Self::PER_SECOND / self.since.elapsed().as_secs_f64()).max(0.0)
    }
}

/// Where and with what figures were taken, and what others did meanwhile: the line below a table or a picture.
pub fn note(neighbours: Option<Neighbours>) -> String {
    let others = neighbours.map_or(String::new(), |neighbours| neighbours.to_string());
    format!("{}. {others}", Circumstances::new())
}

impl Display for Neighbours {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Others kept {:.2} processors busy meanwhile.",
            self.busy()
        )
    }
}

/// Time of all processors in user, nice, system, interrupts and stolen: all but idle and waiting.
fn machine_busy() -> Option<f64> {
    let statistics = fs::read_to_string("/proc/stat").ok()?;
    let fields = numbers(statistics.lines().next()?);
    let busy = [1, 2, 3, 6, 7, 8];
    Some(busy.iter().filter_map(|&field| fields.get(field)).sum())
}

/// User and system time of this process and of those that it has waited for; its name, in parentheses, has no space.
fn own_busy() -> Option<f64> {
    let fields = numbers(&fs::read_to_string("/proc/self/stat").ok()?);
    Some(fields.get(13..17)?.iter().sum())
}

fn numbers(line: &str) -> Vec<f64> {
    let words = line.split_whitespace();
    words.map(|word| word.parse().unwrap_or(0.0)).collect()
}
