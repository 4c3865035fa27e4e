//! A process of its own for a test, numbers in its environment, and the memory of a process.

use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use crate::{secs, within};

/// The environment variable that is set in such a process.
const CHILD: &str = "WHEEL_TEST_CHILD";

/// The variable with the emulator that runs the tests, and its arguments, if they are built for another processor.
const RUNNER: &str = "WHEEL_TEST_RUNNER";

/// Returns the command that runs only the calling test of this test binary.
#[track_caller]
pub fn this_test() -> Command {
    let current = thread::current();
    let name = current.name().expect("a test has a name");
    let mut test = program(env::current_exe().unwrap());
    test.args(["--exact", name, "--nocapture"]);
    test
}

fn program(path: PathBuf) -> Command {
    let runner = env::var(RUNNER).unwrap_or_default();
    let mut words = runner.split_whitespace();
    let Some(first) = words.next() else {
        return Command::new(path);
    };
    let mut command = Command::new(first);
    command.args(words).arg(path);
    command
}

/// Runs a test in a process that runs no other test and may abort. For that, this test binary runs the calling test
/// again.
#[track_caller]
pub fn in_a_process_of_its_own(test: impl FnOnce() + Send + 'static) {
    run_elsewhere(this_test(), test);
}

/// Does the same from a shell that first runs this command, for example `ulimit`.
#[track_caller]
pub fn in_a_process_with(first: &str, test: impl FnOnce() + Send + 'static) {
    let this = this_test();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{first} && exec \"$0\" \"$@\"")]);
    shell.arg(this.get_program()).args(this.get_args());
    run_elsewhere(shell, test);
}

#[track_caller]
fn run_elsewhere(mut command: Command, test: impl FnOnce() + Send + 'static) {
    if env::var_os(CHILD).is_some() {
        return within(secs(300), test);
    }
    let child = command.env(CHILD, "1").output().unwrap();
    let [output, errors] = [&child.stdout, &child.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(child.status.success(), "{}: {errors}", child.status);
    assert!(output.contains("1 passed"), "no test has run: {output}");
}

/// Returns the number in an environment variable, or the default if it is not set.
pub fn number(variable: &str, default: u64) -> u64 {
    env::var(variable).map_or(default, |value| value.parse().expect("a number"))
}

/// Returns the memory that this process uses, if the system reports it.
pub fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}
