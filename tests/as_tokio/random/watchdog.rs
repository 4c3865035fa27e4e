//! Programs are run on a thread of their own, and told to stop when they do not end.

use support::prelude::*;

use std::panic;
use std::sync::Once;
use std::sync::mpsc::{Receiver, Sender, channel};

use tokio::sync::watch;

use super::program::Program;

/// The name of threads whose panics are noted, and not reported.
pub(crate) const QUIET: &str = "differential";
/// A program takes a millisecond.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome<R> {
    Done(R),
    /// Its roots had to be stopped: its runtime was busy, but not with them, or slept for good.
    Stopped,
    /// Not even that helped.
    Hangs,
}

/// Runs one program after another.
pub(crate) struct Runner<R> {
    run: fn(&Program) -> R,
    worker: Option<Worker<R>>,
}

struct Worker<R> {
    programs: Sender<Program>,
    results: Receiver<R>,
    stop: watch::Sender<bool>,
}

impl<R: Send + 'static> Runner<R> {
    pub(crate) fn new(run: fn(&Program) -> R) -> Self {
        silence();
        Runner { run, worker: None }
    }

    pub(crate) fn run(&mut self, program: &Program, patience: Duration) -> Outcome<R> {
        let run = self.run;
        let worker = self.worker.get_or_insert_with(|| Worker::start(run));
        let sent = worker.programs.send(program.clone());
        sent.expect("the interpreter does not panic");
        if let Ok(result) = worker.results.recv_timeout(patience) {
            return Outcome::Done(result);
        }
        worker.stop.send_replace(true);
        let stopped = worker.results.recv_timeout(patience).is_ok();
        self.worker = None;
        match stopped {
            true => Outcome::Stopped,
            false => Outcome::Hangs,
        }
    }
}

impl<R: Send + 'static> Worker<R> {
    fn start(run: fn(&Program) -> R) -> Self {
        let (programs, next) = channel::<Program>();
        let (done, results) = channel();
        let (stop, stopped) = watch::channel(false);
        let work = move || {
            STOP.set(Some(stopped));
            for program in next {
                if done.send(run(&program)).is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name(QUIET.to_owned());
        thread.spawn(work).unwrap();
        Worker {
            programs,
            results,
            stop,
        }
    }
}

thread_local! {
    static STOP: RefCell<Option<watch::Receiver<bool>>> = const { RefCell::new(None) };
}

/// Tells a program's roots when to stop, on a thread that a watchdog watches.
pub(crate) struct Stop(Option<watch::Receiver<bool>>);

impl Stop {
    pub(crate) fn of_this_thread() -> Self {
        Stop(STOP.with_borrow(Option::clone))
    }

    pub(crate) async fn wait(&self) {
        match self.0.clone() {
            Some(mut stop) => drop(stop.wait_for(|stop| *stop).await),
            None => std::future::pending().await,
        }
    }
}

fn silence() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let default = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().name() != Some(QUIET) {
                default(info);
            }
        }));
    });
}
