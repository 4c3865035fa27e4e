//! What Linux says of this process, elsewhere every answer is `None`; and threads that keep processors busy beside it.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A tick in `/proc/*/stat`: Linux shows programs 100 a second, whatever the kernel's own clock.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// The processor time of the whole process so far, user and system, threads that ended included.
#[must_use]
pub fn cpu_time() -> Option<Duration> {
    times(2)
}

/// The first so many of this process's user and system time and of the same of processes that it has waited for, added up.
pub(crate) fn times(count: usize) -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may hold spaces, so fields are counted from behind it.
    let (_, fields) = stat.rsplit_once(')')?;
    let times = fields.split_whitespace().skip(11).take(count);
    let ticks: Option<u32> = times.map(|time| time.parse::<u32>().ok()).sum();
    Some(TICK * ticks?)
}

/// What stands behind a name and a colon, in a file of `/proc`.
pub fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(called, _)| called.trim() == name)?;
    Some(value.trim())
}

/// The threads of this name, of which the kernel keeps 15 bytes; all of this process without one.
#[must_use]
pub fn threads(name: Option<&str>) -> Vec<PathBuf> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let paths = threads.filter_map(|thread| Some(thread.ok()?.path()));
    let is_so_called = |path: &PathBuf| {
        let called = fs::read_to_string(path.join("comm"));
        name.is_none_or(|name| called.is_ok_and(|called| called.trim_end() == name))
    };
    paths.filter(is_so_called).collect()
}

/// The processor time of these threads so far, exactly; of those that live.
#[must_use]
pub fn cpu_of_threads(name: Option<&str>) -> Option<Duration> {
    let of = |thread: PathBuf| {
        let statistics = fs::read_to_string(thread.join("schedstat")).ok()?;
        let nanos = statistics.split(' ').next()?.parse().ok()?;
        Some(Duration::from_nanos(nanos))
    };
    fs::metadata("/proc/self/schedstat").ok()?;
    // A thread that ends meanwhile is gone.
    Some(threads(name).into_iter().filter_map(of).sum())
}

/// Memory in use, in KiB.
#[must_use]
pub fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let memory = field(&status, "VmRSS")?;
    memory.split_whitespace().next()?.parse().ok()
}

/// Threads that do nothing but compute, until this is dropped: other work for the machine beside what is measured.
#[derive(Debug)]
pub struct Busy(Arc<AtomicBool>);

impl Busy {
    /// So many.
    #[must_use]
    pub fn start(threads: usize) -> Self {
        let busy = Busy(Arc::new(AtomicBool::new(true)));
        for _ in 0..threads {
            let goes_on = Arc::clone(&busy.0);
            thread::spawn(move || while goes_on.load(Ordering::Relaxed) {});
        }
        busy
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
