//! A process for one test alone, and what the system says of a process.

use std::env;
use std::process::Command;
use std::thread;

/// Set in such a process.
const CHILD: &str = "WHEEL_TEST_CHILD";

/// Runs the test that calls this once more, in a process that it has for itself, and may abort.
/// `true` in the process that only waits for the other.
#[track_caller]
pub fn in_a_process_of_its_own() -> bool {
    runs_elsewhere(|| Command::new(env::current_exe().unwrap()))
}

/// The same, of a shell that has done this first, say with `ulimit`.
#[track_caller]
pub fn in_a_process_with(first: &str) -> bool {
    runs_elsewhere(|| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{first} && exec \"$0\" \"$@\"")]);
        shell.arg(env::current_exe().unwrap());
        shell
    })
}

#[track_caller]
fn runs_elsewhere(command: impl FnOnce() -> Command) -> bool {
    if env::var_os(CHILD).is_some() {
        return false;
    }
    let current = thread::current();
    let name = current.name().expect("a test has a name");
    let child = command()
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let [said, errors] = [&child.stdout, &child.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(child.status.success(), "{}: {errors}", child.status);
    assert!(
        said.contains("1 passed"),
        "no test is called {name}: {said}"
    );
    true
}

/// Memory in use by this process, where the system tells.
pub fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}
