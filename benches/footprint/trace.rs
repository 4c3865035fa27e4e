//! Reads the trace of a program: every instruction and every memory access, and which of them are between the marks.
//!
//! ```text
//! marks 4c6f40 4c6f48           where the program says that the marks are
//! I  001d0b10,4                 an instruction and its size
//!  L 1ffefff4c8,8               a load
//!  S 1ffefff4c0,8               a store
//!  M 004c6f40,8                 both
//! operations 128                how many operations were between marks
//! ```

use std::collections::{BTreeSet, HashSet};
use std::io::BufRead;
use std::ops::RangeInclusive;

use anyhow::{Context as _, Result, ensure};

/// What operations cost: instructions; different lines that are executed (an average, see [`Window::code_lines`]);
/// different lines that are read or written.
pub(crate) type Counts = [f64; 3];

/// Reads a trace to its end. The counts are per operation.
pub(crate) fn read(mut trace: impl BufRead) -> Result<Counts> {
    let (mut reader, mut line) = (Reader::default(), String::new());
    while trace.read_line(&mut line)? > 0 {
        reader.line(&line)?;
        line.clear();
    }
    let other = reader.other;
    ensure!(reader.operations > 0.0, "no end:\n{other}");
    Ok(reader.sum.map(|sum| sum / reader.operations))
}

#[derive(Default)]
struct Reader {
    /// The addresses of the marks. No mark is at 0.
    marks: [u64; 2],
    /// What was counted since the window began.
    open: Option<Window>,
    sum: Counts,
    operations: f64,
    /// What was printed besides the number of operations.
    other: String,
}

/// One operation, or a part of it.
#[derive(Default)]
struct Window {
    instructions: u64,
    /// In units of [`ALIGNMENT`].
    code: BTreeSet<u64>,
    /// In cache lines.
    data: HashSet<u64>,
}

const LINE: u64 = 64;

/// Alignment of functions, in bytes.
const ALIGNMENT: u64 = 16;

impl Window {
    /// A function may begin at each quarter of a line, and a change elsewhere may move it. The average over all four places is
    /// counted, so that a change to one function does not change the count of others.
    fn code_lines(&self) -> f64 {
        const PLACES: u64 = LINE / ALIGNMENT;
        let lines = |shift| {
            let lines = self.code.iter().map(|unit| (unit + shift) / PLACES);
            lines.collect::<BTreeSet<_>>().len() as f64
        };
        (0..PLACES).map(lines).sum::<f64>() / PLACES as f64
    }
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<()> {
        match (line.get(..3), &mut self.open) {
            (Some("I  "), None) => {}
            (Some("I  "), Some(window)) => {
                window.instructions += 1;
                window.code.extend(units::<ALIGNMENT>(&line[3..])?.1);
            }
            (Some(" L " | " S " | " M "), _) => self.access(&line[3..])?,
            _ => self.said(line)?,
        }
        Ok(())
    }

    fn access(&mut self, place: &str) -> Result<()> {
        let [begin, end] = self.marks;
        let (address, lines) = units::<LINE>(place)?;
        match &mut self.open {
            _ if address == begin => self.open = Some(Window::default()),
            Some(window) if address != end => window.data.extend(lines),
            // The store to a mark is a load as well, so the end may be seen twice.
            Some(_) => self.close(),
            None => {}
        }
        Ok(())
    }

    fn close(&mut self) {
        if let Some(window) = self.open.take() {
            self.sum[0] += window.instructions as f64;
            self.sum[1] += window.code_lines();
            self.sum[2] += window.data.len() as f64;
        }
    }

    fn said(&mut self, line: &str) -> Result<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words.as_slice() {
            ["marks", begin, end] => {
                let address = |text| u64::from_str_radix(text, 16);
                self.marks = [address(begin)?, address(end)?];
            }
            ["operations", number] => self.operations = number.parse()?,
            _ => self.other.push_str(line),
        }
        Ok(())
    }
}

/// Parses `ADDRESS,SIZE`. Returns the address, and the numbers of the units of `BYTES` bytes that the access touches.
fn units<const BYTES: u64>(place: &str) -> Result<(u64, RangeInclusive<u64>)> {
    let numbers = place.trim_end().split_once(',');
    let (address, size) = numbers.context("an address without a size")?;
    let address = u64::from_str_radix(address, 16)?;
    let last = address + size.parse::<u64>()?.max(1) - 1;
    Ok((address, address / BYTES..=last / BYTES))
}
