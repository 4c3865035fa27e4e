//! Runs a body on both timers, each time in a process of its own, and compares the two ends.
//!
//! The process runs this test binary again. An environment variable selects the body and the case, and the process
//! prints how the body ended as a line of JSON. The body runs on a thread of its own; the test's thread is the watchdog.

use support::prelude::*;

use std::fmt::{self, Debug};
use std::fs::File;
use std::io::Write;
use std::panic::{self, Location};
use std::time::Instant;
use std::{env, process};

/// The seconds after which a body counts as hung. A body takes milliseconds, or a few seconds on a busy machine.
const LIMIT: f64 = 60.0;
/// The limit on this crate's timers, as a multiple of the time that the body took on Tokio's, if that is more than [`LIMIT`].
const TIMES_LONGER: f64 = 8.0;
/// Number of failures after which no more cases run.
const MOST: usize = 3;
/// The variable that tells a child what to run: the line of the comparison, the timers, and the case.
const ORDER: &str = "WHEEL_TWIN";
/// The variable with the child's limit in seconds.
const SECONDS: &str = "WHEEL_TWIN_SECONDS";
/// A variable that may name a file. Each call of [`same`] that passes adds a line to it: its place in the source, and
/// the seconds that its bodies took on Tokio's timers and on ours.
const TIMES: &str = "WHEEL_TWINS_TIMES";
/// Begins the line of a child's outcome.
const MARK: &str = "\u{1}outcome ";

/// A program that runs on both timers, for a case.
pub(crate) trait Body<C, R>: Fn(C) -> R + Copy + Send + 'static {}

impl<C, R, F: Fn(C) -> R + Copy + Send + 'static> Body<C, R> for F {}

pub(crate) trait Case: Copy + Debug + Send + 'static {}

impl<C: Copy + Debug + Send + 'static> Case for C {}

/// The message of a panic, and its line if that is in a body.
type Panic = (String, Option<String>);

/// How a body ended.
pub(crate) struct Outcome {
    pub(crate) end: String,
    /// All panics on all threads, sorted.
    panics: Vec<Panic>,
    seconds: f64,
}

/// Asserts that in each case both runs end in the same way, with the same panics.
#[track_caller]
pub(crate) fn same<C: Case, R: Debug>(
    cases: impl IntoIterator<Item = C>,
    theirs: impl Body<C, R>,
    ours: impl Body<C, R>,
) {
    let agree = |_, theirs: &Outcome, ours: &Outcome| ours.agrees_with(theirs);
    let seconds = compare(cases, theirs, ours, agree);
    if let Some(times) = env::var_os(TIMES) {
        let (place, [theirs, ours]) = (Location::caller(), seconds);
        let file = File::options().append(true).create(true).open(times);
        writeln!(file.unwrap(), "{place} {theirs:.3} {ours:.3}").unwrap();
    }
}

/// Asserts that in each case Tokio's run ends with `expected`, and ours with one of `allowed`, as documented.
#[track_caller]
pub(crate) fn differs<C: Case, R: Debug>(
    cases: impl IntoIterator<Item = C>,
    theirs: impl Body<C, R>,
    ours: impl Body<C, R>,
    expected: R,
    allowed: &[R],
) {
    compare(cases, theirs, ours, |_, theirs, ours| {
        theirs.end == finished(&expected) && allowed.iter().any(|end| ours.end == finished(end))
    });
}

/// Runs both in all cases, and panics if `is_right` rejects any. Returns how many seconds each of the two took.
#[track_caller]
pub(crate) fn compare<C: Case, R: Debug>(
    cases: impl IntoIterator<Item = C>,
    theirs: impl Body<C, R>,
    ours: impl Body<C, R>,
    is_right: impl Fn(C, &Outcome, &Outcome) -> bool,
) -> [f64; 2] {
    let line = Location::caller().line();
    let (mut failures, mut seconds) = (Vec::new(), [0.0; 2]);
    for case in cases {
        let theirs = run(format!("{line} tokio {case:?}"), LIMIT, move || {
            theirs(case)
        });
        let limit = LIMIT.max(theirs.as_ref().map_or(0.0, |it| TIMES_LONGER * it.seconds));
        let ours = run(format!("{line} wheel {case:?}"), limit, move || ours(case));
        let (Some(theirs), Some(ours)) = (theirs, ours) else {
            continue;
        };
        seconds[0] += theirs.seconds;
        seconds[1] += ours.seconds;
        if !is_right(case, &theirs, &ours) {
            failures.push(format!("{case:?}\n  tokio: {theirs}\n  wheel: {ours}"));
        }
        // Stop early, because each of these may be a hang.
        if failures.len() == MOST {
            break;
        }
    }
    let differ = failures.len();
    assert!(differ == 0, "{differ} differ\n{}", failures.join("\n"));
    seconds
}

/// Runs the body in a child process, for at most `limit` seconds. In a child, runs the body if it is the one that was
/// ordered.
fn run<R: Debug>(
    order: String,
    limit: f64,
    body: impl FnOnce() -> R + Send + 'static,
) -> Option<Outcome> {
    match env::var(ORDER) {
        Ok(ordered) if ordered == order => play(body),
        Ok(_) => None,
        Err(_) => Some(outcome_of_child(&order, limit)),
    }
}

fn outcome_of_child(order: &str, limit: f64) -> Outcome {
    let mut child = this_test();
    let child = child.env(ORDER, order).env(SECONDS, limit.to_string());
    let child = child.env_remove(TIMES).output().unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    let line = said
        .split_once(MARK)
        .and_then(|(_, rest)| rest.lines().next());
    let has_run = line.is_some() || !child.status.success();
    assert!(has_run, "no body is called {order}: {said}");
    let (end, panics, seconds) = match line {
        Some(line) => serde_json::from_str(line).unwrap(),
        None => (format!("died: {}", child.status), Vec::new(), 0.0),
    };
    Outcome {
        end,
        panics,
        seconds,
    }
}

/// Runs a body on a thread of this child process, prints how it ended, and exits.
fn play<R: Debug>(body: impl FnOnce() -> R + Send + 'static) -> ! {
    let panics = Arc::new(Mutex::new(Vec::<Panic>::new()));
    let hooks = panics.clone();
    panic::set_hook(Box::new(move |info| {
        let line = info.location().unwrap().to_string();
        let line = Some(line).filter(|line| line.starts_with("tests/as_tokio/twins"));
        hooks.lock().unwrap().push((words(info.payload()), line));
    }));
    let (done, ended) = mpsc::channel();
    let begin = Instant::now();
    thread::spawn(move || done.send(tried(|| finished(&body()))));
    let limit = env::var(SECONDS).unwrap().parse().unwrap();
    let end = match ended.recv_timeout(Duration::from_secs_f64(limit)) {
        Ok(Ok(finished)) => finished,
        Ok(Err(words)) => format!("panicked: {words}"),
        Err(_) => "hung".to_owned(),
    };
    let seconds = begin.elapsed().as_secs_f64();
    let mut panics = panics.lock().unwrap().clone();
    panics.sort();
    let line = serde_json::to_string(&(end, panics, seconds)).unwrap();
    println!("\n{MARK}{line}");
    process::exit(0);
}

fn finished(value: &impl Debug) -> String {
    format!("finished: {value:?}")
}

impl Outcome {
    /// Returns `true` if the ends are the same. A panic of ours may name the caller's line where Tokio's names a line of Tokio.
    fn agrees_with(&self, theirs: &Outcome) -> bool {
        let agree = |(ours, theirs): (&Panic, &Panic)| {
            ours.0 == theirs.0 && (theirs.1.is_none() || ours.1 == theirs.1)
        };
        self.end == theirs.end
            && self.panics.len() == theirs.panics.len()
            && self.panics.iter().zip(&theirs.panics).all(agree)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.end)?;
        for same in self.panics.chunk_by(|a, b| a == b) {
            let (words, line) = &same[0];
            let line = line.as_deref().unwrap_or("a line of a library");
            write!(f, "\n    {} × “{words}” at {line}", same.len())?;
        }
        Ok(())
    }
}
