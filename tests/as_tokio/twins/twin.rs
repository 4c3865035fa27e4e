//! Runs a body on both timers, each time in a process of its own, and compares the two ends.
//!
//! The process is this test binary once more. A variable tells the process which body to run, and in
//! which case; a line of JSON tells the end of that. The body runs on a thread, and the main thread is
//! the watchdog.

use support::prelude::*;

use std::fmt::{self, Debug};
use std::fs::File;
use std::io::Write;
use std::panic::{self, Location};
use std::time::Instant;
use std::{env, process};

/// A body takes milliseconds, on a busy machine a few seconds; or the body hangs.
const LIMIT: f64 = 60.0;
/// How many times as long as on tokio's timers the body may take on this crate's.
const TIMES_LONGER: f64 = 8.0;
/// Number of failures after which no more cases are run.
const MOST: usize = 3;
/// A child's order: line, timers, case.
const ORDER: &str = "WHEEL_TWIN";
/// The seconds after which the child's body hangs.
const SECONDS: &str = "WHEEL_TWIN_SECONDS";
/// If set, a file to which each comparison adds its place, and the seconds that its bodies took on
/// tokio's timers and on ours: those that are to do the same.
const TIMES: &str = "WHEEL_TWINS_TIMES";
/// Begins the line of a child's outcome.
const MARK: &str = "\u{1}outcome ";

/// A program that is run on both timers, in a case.
pub(crate) trait Body<C, R>: Fn(C) -> R + Copy + Send + 'static {}

impl<C, R, F: Fn(C) -> R + Copy + Send + 'static> Body<C, R> for F {}

pub(crate) trait Case: Copy + Debug + Send + 'static {}

impl<C: Copy + Debug + Send + 'static> Case for C {}

/// The words of a panic; and the line, if the panic is at a body's line.
type Panic = (String, Option<String>);

/// How a body ended.
pub(crate) struct Outcome {
    pub(crate) end: String,
    /// All of them, on all threads, in alphabetical order.
    panics: Vec<Panic>,
    seconds: f64,
}

/// In each case both end in the same way, with the same panics.
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

/// In each case tokio's end with the first value, and ours, as is documented, with any of the others.
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

/// Runs both in all cases, and panics if any case is not right. Returns the seconds that each side
/// took.
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
        // They may be hangs.
        if failures.len() == MOST {
            break;
        }
    }
    let differ = failures.len();
    assert!(differ == 0, "{differ} differ\n{}", failures.join("\n"));
    seconds
}

/// Has a child run the body, for at most `limit` seconds. In a child: runs the body, if that is the
/// child's.
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

/// Runs a body in the process that is there for nothing else, and prints the body's end.
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
    /// Ours may name the caller's line where tokio's names a line of tokio.
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
