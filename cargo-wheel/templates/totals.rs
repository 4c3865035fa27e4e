//! The drivers' own counts, for `cargo wheel compare`: counting costs what it always does.

pub(crate) use super::original::Operation;

pub(super) fn text(drivers: &[crate::Metrics]) -> String {
    let counts = drivers.iter().map(|driver| {
        let now = driver.snapshot();
        format!("{}\t{}\t{}\t0\t\n", now.armed, now.cancelled, now.fired)
    });
    counts.collect()
}
