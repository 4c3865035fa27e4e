//! The drivers' own counts, for `cargo wheel compare`: counting costs what it always does.

pub(crate) use super::original::Operation;

pub(super) fn text(drivers: &[crate::Metrics]) -> String {
    let counts = drivers.iter().map(|driver| {
        let now = driver.snapshot();
        let (armed, cancelled, fired) = (now.registered, now.cancelled, now.fired);
        format!("{armed}\t{cancelled}\t{fired}\t{}\t0\t\n", now.reset)
    });
    counts.collect()
}
