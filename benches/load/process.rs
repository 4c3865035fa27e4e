//! What the kernel counts for this process, and programs that keep processors busy beside it.

use std::env;
use std::fs;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

/// CPU time of all threads of this process that live; `None` where the system does not tell.
pub(crate) fn cpu() -> Option<Duration> {
    let mut nanos = 0;
    for thread in fs::read_dir("/proc/self/task").ok()? {
        let statistics = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        let first = statistics.split(' ').next()?;
        nanos += first.parse::<u64>().ok()?;
    }
    Some(Duration::from_nanos(nanos))
}

/// This thread's number, as the kernel's tools take it.
pub(crate) fn thread_number() -> Option<String> {
    let link = fs::read_link("/proc/thread-self").ok()?;
    Some(link.file_name()?.to_str()?.to_owned())
}

/// Programs that do nothing but compute. They end with this one.
pub(crate) struct Busy(Vec<Child>);

impl Busy {
    pub(crate) fn start(programs: usize) -> Result<Self> {
        let mut busy = Busy(Vec::new());
        for _ in 0..programs {
            let program = Command::new(env::current_exe()?)
                .arg("spin")
                .stdin(Stdio::piped())
                .spawn();
            busy.0.push(program.context("starting a busy program")?);
        }
        Ok(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for program in &mut self.0 {
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}

/// Keeps a processor busy until standard input ends: with the program that started this one.
pub(crate) fn spin() {
    thread::spawn(|| {
        loop {
            std::hint::spin_loop();
        }
    });
    let _ = std::io::stdin().read(&mut [0]);
}
