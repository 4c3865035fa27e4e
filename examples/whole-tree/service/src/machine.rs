//! What the system says of this process; Linux only, elsewhere the answer is `None`.

use std::time::Duration;

/// A tick in `/proc/*/stat`: Linux shows programs 100 a second, whatever the kernel's own clock.
const TICK: Duration = Duration::from_millis(10);

/// The processor time of the whole process so far, user and system.
pub(crate) fn cpu_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may hold spaces, so fields are counted from behind it.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: u32 = fields.next()?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    Some(TICK * (user + system))
}
