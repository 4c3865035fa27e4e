//! Runs a body on both timers, each in a process of its own, and compares how it ended.
//!
//! The process is this test binary, told by a variable which test, which of its bodies and which
//! timers; it writes its outcome to its standard output, as one line of JSON. The body runs on a
//! thread, and the main one is the watchdog: a body takes milliseconds, or it hangs.

use std::any::Any;
use std::fmt::{self, Debug};
use std::fs::File;
use std::io::Write;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::process::{self, Command};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{env, thread};

use crate::outcome::{End, Outcome, Panic};

/// No body takes as many milliseconds, on whatever machine.
const LIMIT: Duration = Duration::from_secs(10);
/// What a child is to run: `test index side ending`.
const VARIABLE: &str = "WHEEL_TWIN";
/// If set, tokio's run against themselves, and are shown: a body that differs is no good.
const ORACLE: &str = "WHEEL_TWINS_ORACLE";
/// If set, a file to which each test adds its name, and the seconds that its bodies took on tokio's
/// timers and on ours: those that are to do the same.
const TIMES: &str = "WHEEL_TWINS_TIMES";
/// Begins the line of a child's outcome.
const MARK: &str = "\u{1}outcome ";
/// Begins the line of how long the body took.
const TOOK: &str = "\u{1}took ";
const BODY: &str = "body";

/// The pairs of one test. All are run before it fails.
pub(crate) struct Twins {
    test: &'static str,
    /// No panic is at stake: not run again where one aborts.
    calm: bool,
    pairs: usize,
    failures: Vec<String>,
    /// Seconds of all bodies, by side.
    took: [f64; 2],
}

/// The pairs of the test that calls this.
macro_rules! twins {
    () => {{
        fn here() {}
        $crate::twin::Twins::new(std::any::type_name_of_val(&here))
    }};
}

/// Runs a body, generic over the timers, on both, and notes a failure if the outcomes differ.
macro_rules! same {
    ($twins:ident, $body:ident($($arg:expr),*)) => {
        $twins.same(&label!($body($($arg),*)), move || $body::<$crate::time::Tokio>($($arg),*),
            move || $body::<$crate::time::Ours>($($arg),*))
    };
}

/// Runs a body on both, where ours is documented to do something else than tokio's.
macro_rules! differs {
    ($twins:ident, $body:ident($($arg:expr),*), tokio: $theirs:expr, wheel: $($ours:expr),+) => {
        $twins.differs(&label!($body($($arg),*)), move || $body::<$crate::time::Tokio>($($arg),*),
            move || $body::<$crate::time::Ours>($($arg),*), &$theirs, &[$(&$ours),+])
    };
}

macro_rules! label {
    ($body:ident($($arg:expr),*)) => {
        format!("{}{:?}", stringify!($body), ($($arg,)*))
    };
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Unwind,
    Abort,
}

impl Twins {
    pub(crate) fn new(here: &'static str) -> Self {
        // "twins::guards::a_test::here", or with closures in between.
        let mut path = here.split("::").skip(1);
        let module = path.next().expect("a test is in a module");
        let name = path.next().expect("a test has a name");
        let start = here.find(module).unwrap();
        let test = &here[start..start + module.len() + 2 + name.len()];
        Twins {
            test,
            calm: false,
            pairs: 0,
            failures: Vec::new(),
            took: [0.0; 2],
        }
    }

    /// For bodies in which there is no panic to be expected.
    pub(crate) fn calm(mut self) -> Self {
        self.calm = true;
        self
    }

    pub(crate) fn same<A: Debug, B: Debug>(
        &mut self,
        label: &str,
        theirs: impl FnOnce() -> A + Send + 'static,
        ours: impl FnOnce() -> B + Send + 'static,
    ) {
        let Some(index) = self.next(theirs, ours) else {
            return;
        };
        for ending in [Ending::Unwind, Ending::Abort] {
            let (theirs, their_time) = self.run_timed(index, 0, ending);
            let (ours, our_time) = self.run_timed(index, 1, ending);
            self.took[0] += their_time;
            self.took[1] += our_time;
            if env::var_os(ORACLE).is_some() {
                println!("{label}{ending}: {theirs}");
            }
            if !ours.agrees_with(&theirs) {
                let failure = format!("{label}{ending}\n  tokio: {theirs}\n  wheel: {ours}");
                return self.failures.push(failure);
            }
            if self.calm {
                return;
            }
        }
    }

    /// What ours ends with is to be one of `ours`; if nothing has panicked on the way, nothing
    /// does where that would abort.
    pub(crate) fn differs<A: Debug, B: Debug>(
        &mut self,
        label: &str,
        theirs: impl FnOnce() -> A + Send + 'static,
        ours: impl FnOnce() -> B + Send + 'static,
        expected: &End,
        allowed: &[&End],
    ) {
        let Some(index) = self.next(theirs, ours) else {
            return;
        };
        let theirs = self.run(index, 0, Ending::Unwind);
        if !theirs.end.is(expected) {
            let failure = format!("{label}\n  tokio: {theirs}\n  is not {expected}");
            return self.failures.push(failure);
        }
        if env::var_os(ORACLE).is_some() {
            return;
        }
        let ours = self.run(index, 1, Ending::Unwind);
        if !allowed.iter().any(|end| ours.end.is(end)) {
            let failure =
                format!("{label}\n  tokio: {theirs}\n  wheel: {ours}\n  is none of {allowed:?}");
            return self.failures.push(failure);
        }
        if self.calm {
            return;
        }
        let aborts = self.run(index, 1, Ending::Abort);
        if ours.panics.is_empty() && aborts.end != ours.end {
            let failure = format!("{label}{}\n  wheel: {aborts}", Ending::Abort);
            self.failures.push(failure);
        }
    }

    /// What a body ends with on both, for a test that compares it itself.
    pub(crate) fn both<A: Debug, B: Debug>(
        &mut self,
        theirs: impl FnOnce() -> A + Send + 'static,
        ours: impl FnOnce() -> B + Send + 'static,
    ) -> Option<[End; 2]> {
        let index = self.next(theirs, ours)?;
        let [theirs, ours] = [0, 1].map(|side| self.run(index, side, Ending::Unwind).end);
        if env::var_os(ORACLE).is_none() {
            return Some([theirs, ours]);
        }
        println!("{index}: {theirs}");
        if theirs != ours {
            self.fail(format!("{index}: {theirs}\n  and: {ours}"));
        }
        None
    }

    pub(crate) fn fail(&mut self, failure: String) {
        self.failures.push(failure);
    }

    /// The index of the next pair; `None` in a child that has another one to run.
    fn next<A: Debug, B: Debug>(
        &mut self,
        theirs: impl FnOnce() -> A + Send + 'static,
        ours: impl FnOnce() -> B + Send + 'static,
    ) -> Option<usize> {
        let index = self.pairs;
        self.pairs += 1;
        let Ok(order) = env::var(VARIABLE) else {
            return Some(index);
        };
        for ending in [Ending::Unwind, Ending::Abort] {
            if order == self.order(index, 0, ending) {
                play(theirs, ending);
            } else if order == self.order(index, 1, ending) {
                play(ours, ending);
            }
        }
        None
    }

    fn order(&self, index: usize, side: usize, ending: Ending) -> String {
        format!("{} {index} {side}{ending}", self.test)
    }

    fn run(&self, index: usize, side: usize, ending: Ending) -> Outcome {
        self.run_timed(index, side, ending).0
    }

    /// The outcome, and the seconds that the body took; none if that has died.
    fn run_timed(&self, index: usize, side: usize, ending: Ending) -> (Outcome, f64) {
        let side = if env::var_os(ORACLE).is_some() {
            0
        } else {
            side
        };
        let child = Command::new(env::current_exe().unwrap())
            .args(["--exact", self.test, "--nocapture"])
            .env(VARIABLE, self.order(index, side, ending))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stdout);
        let line = |mark| {
            let (_, rest) = said.split_once(mark)?;
            rest.lines().next()
        };
        let outcome = line(MARK).and_then(Outcome::of_line);
        let outcome = outcome.unwrap_or_else(|| Outcome {
            end: End::Died(child.status.to_string()),
            panics: Vec::new(),
        });
        let took = line(TOOK).and_then(|seconds| seconds.parse().ok());
        (outcome, took.unwrap_or(0.0))
    }
}

impl Drop for Twins {
    fn drop(&mut self) {
        if let (Some(times), Err(_)) = (env::var_os(TIMES), env::var(VARIABLE)) {
            let [theirs, ours] = self.took;
            let line = format!("{} {theirs:.3} {ours:.3}\n", self.test);
            let file = File::options().append(true).create(true).open(times);
            file.and_then(|mut file| file.write_all(line.as_bytes()))
                .expect("the file of times can be written");
        }
        if !self.failures.is_empty() && !thread::panicking() {
            let of = if env::var_os(VARIABLE).is_some() {
                0
            } else {
                self.pairs
            };
            let differ = self.failures.len();
            panic!(
                "{differ} differ, in {of} pairs\n{}",
                self.failures.join("\n")
            );
        }
    }
}

static PANICS: Mutex<Vec<(bool, Panic)>> = Mutex::new(Vec::new());

fn panics() -> std::sync::MutexGuard<'static, Vec<(bool, Panic)>> {
    PANICS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a body in the process that is there for nothing else, and says how it ended.
fn play<R: Debug>(body: impl FnOnce() -> R + Send + 'static, ending: Ending) -> ! {
    panic::set_hook(Box::new(move |info| {
        let is_body = thread::current().name() == Some(BODY);
        let location = info.location().unwrap();
        let is_here = location.file().contains("twins");
        let panic = Panic {
            words: words(info.payload()),
            line: is_here.then(|| location.to_string()),
        };
        if ending == Ending::Abort {
            say(&Outcome {
                end: End::Aborted(panic),
                panics: Vec::new(),
            });
            process::abort();
        }
        panics().push((is_body, panic));
    }));
    let (done, ended) = mpsc::channel();
    let begin = Instant::now();
    let run = move || {
        let result = catch_unwind(AssertUnwindSafe(|| format!("{:?}", body())));
        done.send(result.ok()).unwrap();
    };
    let spawned = thread::Builder::new().name(BODY.to_owned()).spawn(run);
    let _runs = spawned.unwrap();
    let end = match ended.recv_timeout(LIMIT) {
        Ok(Some(value)) => End::Finished(value),
        Err(RecvTimeoutError::Timeout) => End::Hung,
        Ok(None) | Err(RecvTimeoutError::Disconnected) => {
            let panics = panics();
            let last = panics.iter().rfind(|(is_body, _)| *is_body);
            End::Panicked(last.unwrap().1.clone())
        }
    };
    println!("\n{TOOK}{}", begin.elapsed().as_secs_f64());
    let mut panics: Vec<_> = panics().drain(..).map(|(_, panic)| panic).collect();
    panics.sort();
    say(&Outcome { end, panics });
    process::exit(0);
}

fn say(outcome: &Outcome) {
    println!("\n{MARK}{}", outcome.to_line());
}

/// What a panic says.
pub(crate) fn words(payload: &(dyn Any + Send)) -> String {
    let literal = payload.downcast_ref::<&str>().copied();
    let formatted = payload.downcast_ref::<String>().map(String::as_str);
    literal.or(formatted).unwrap_or("").to_owned()
}

/// What `f` returns, or what it panics with.
pub(crate) fn tried<R>(f: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| words(&*payload))
}

pub(crate) fn finished(value: impl Debug) -> End {
    End::Finished(format!("{value:?}"))
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ending::Unwind => "",
            Ending::Abort => ", where panics abort",
        })
    }
}
