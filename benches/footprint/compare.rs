//! New counts against those in the table.

use crate::plan::{Row, Rows};
use crate::table::{HEADER, Table};

/// By so much a count may rise.
const MOST: f64 = 1.03;

/// Or by so much, where the share above is less: where the heap and the stacks begin moves up to two lines.
const SLACK: f64 = 2.5;

/// Prints what differs from the table by more than it may, of operations that are in both. Whether something is more.
pub(crate) fn is_more(table: &Table, rows: &Rows, by_share: bool) -> bool {
    let mut is_more = false;
    for (operation, now) in rows {
        let Some(then) = table.rows.get(operation) else {
            continue;
        };
        for (what, (then, now)) in HEADER[5..].iter().zip(ours(then, now, by_share)) {
            let (less, more) = (then.min(now), then.max(now));
            if more <= (less * MOST).max(less + SLACK) {
                continue;
            }
            is_more |= now > then;
            let verdict = if now > then { "MORE" } else { "less" };
            let percent = (now / then - 1.0) * 100.0;
            let [runtime, shape] = operation.names();
            common::println!(
                "{verdict}: {shape}, {runtime}: {what} {then:.1} → {now:.1} ({percent:+.1} %)"
            );
        }
    }
    is_more
}

/// What our counts would be if nothing had changed but versions, and what they are. By share, another compiler or another
/// tokio moves both sides.
fn ours(then: &Row, now: &Row, by_share: bool) -> [(f64, f64); 3] {
    [0, 1, 2].map(|index| {
        let (tokio_then, tokio_now) = (then[index], now[index]);
        let moved = if by_share {
            tokio_now / tokio_then
        } else {
            1.0
        };
        (then[3 + index] * moved, now[3 + index])
    })
}
